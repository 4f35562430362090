"""Validation of feature matrices, weights and array parameters."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

from soft_clustering.inputs.features import check_enough_samples, validate_features, validate_matrix, validate_weights

X = np.arange(12.0).reshape(4, 3)


class Estimator(BaseEstimator):
    """Something that remembers its features."""


def validate(data, *, accept_sparse=True):
    return validate_features(Estimator(), data, reset=True, accept_sparse=accept_sparse)


# Features -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_are_not_copied(dtype):
    data = X.astype(dtype)
    data.flags.writeable = False
    result = validate(data)
    assert np.shares_memory(result, data)
    assert result.dtype == dtype


def test_columns_in_another_order_are_not_called_texts():
    frame, estimator = pd.DataFrame(X, columns=["a", "b", "c"]), Estimator()
    validate_features(estimator, frame, reset=True, accept_sparse=False)
    with pytest.raises(ValueError, match=r"^The feature names should match"):
        validate_features(estimator, frame[["c", "b", "a"]], reset=False, accept_sparse=False)


def test_memory_map_stays_on_disk(tmp_path):
    X.tofile(tmp_path / "rows")
    mapped = np.memmap(tmp_path / "rows", mode="r", shape=X.shape, dtype=np.float64)
    assert np.shares_memory(validate(mapped), mapped)


@pytest.mark.parametrize(
    "data",
    [
        X.astype(int),
        X.astype(np.float16),
        X.astype(np.int8),
        X.tolist(),
        X.astype(object),
        np.asfortranarray(X),
        X[:, ::-1][:, ::-1],
    ],
)
def test_everything_else_becomes_float_in_c_order(data):
    result = validate(data)
    np.testing.assert_array_equal(result, X)
    assert result.dtype in (np.float32, np.float64)
    assert result.flags.c_contiguous


def test_integers_become_double():
    assert validate(X.astype(np.int32)).dtype == np.float64


def test_data_frame_sets_the_names():
    estimator = Estimator()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    np.testing.assert_array_equal(validate_features(estimator, frame, reset=True, accept_sparse=False), X)
    assert list(estimator.feature_names_in_) == ["a", "b", "c"]
    assert estimator.n_features_in_ == 3
    with pytest.raises(ValueError, match="feature names should match"):
        validate_features(estimator, frame[["b", "a", "c"]], reset=False, accept_sparse=False)


@pytest.mark.parametrize(
    "data, error, message",
    [
        (np.array([[1.0, np.nan]]), ValueError, "NaN"),
        (np.array([[1.0, np.inf]]), ValueError, "infinity"),
        (sparse.csr_matrix([[1.0, np.nan]]), ValueError, "NaN"),
        (X[0], ValueError, "X has the wrong shape: Expected 2D array, got 1D array"),
        (X[None], ValueError, "X has the wrong shape: .*dim 3"),
        (np.empty((0, 3)), ValueError, "X has the wrong shape: .*0 sample"),
        (np.empty((3, 0)), ValueError, r"X has the wrong shape: .*0 feature\(s\)"),
        ([["a", "b"]], ValueError, "X must be numeric: could not convert string to float"),
        (X + 1j, ValueError, "X must be numeric: Complex data not supported"),
        (None, ValueError, "X has the wrong shape: Expected 2D array"),
        (np.full((20, 2), np.nan), ValueError, "X contains NaN"),
        (np.array([[1.0, -np.inf]]), ValueError, "X contains infinity"),
        (np.array([[1.0, np.inf]], dtype=np.float32), ValueError, "X contains infinity"),
        (sparse.csr_array([[1.0, np.inf]]), ValueError, "X contains infinity"),
        (np.empty((0, 0)), ValueError, "X has the wrong shape: .*0 sample"),
        (np.array(1.0), ValueError, "X has the wrong shape: Expected 2D array, got scalar array"),
        ("data", ValueError, "X must be numeric: could not convert string to float"),
        ([[1.0, 2.0], [3.0], [4.0, 5.0]], ValueError, "X must be numeric: setting an array element with a sequence"),
        (np.array([["a", 1.0]], dtype=object), ValueError, "X must be numeric: could not convert string to float"),
        (np.array([[1.0, None]], dtype=object), ValueError, "X contains NaN"),
        (np.array([[1.0, {}]], dtype=object), TypeError, "X must be numeric: .*'dict'"),
    ],
)
def test_bad_features(data, error, message):
    with pytest.raises(error, match=message):
        validate(data)


@pytest.mark.parametrize(
    "new, message",
    [
        (np.ones((4, 2)), "X has 2 features, but Estimator is expecting 3 features"),
        (np.ones((4, 4)), "X has 4 features, but Estimator is expecting 3 features"),
        (np.full((4, 3), np.nan), "X contains NaN"),
        (np.full((4, 3), np.inf), "X contains infinity"),
        (np.empty((0, 3)), "X has the wrong shape: .*0 sample"),
        (np.ones(3), "X has the wrong shape: Expected 2D array, got 1D array"),
        (np.ones((3, 3, 3)), "X has the wrong shape: .*dim 3"),
        (np.array([["a", "b", "c"]]), "X must be numeric"),
        (X + 1j, "X must be numeric: Complex data not supported"),
    ],
)
def test_bad_new_features(new, message):
    estimator = Estimator()
    validate_features(estimator, X, reset=True, accept_sparse=False)
    with pytest.raises(ValueError, match=message):
        validate_features(estimator, new, reset=False, accept_sparse=False)
    assert estimator.n_features_in_ == 3


# Sparse matrices ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array])
def test_canonical_csr_is_not_copied(container):
    data = container(X)
    result = validate(data)
    assert np.shares_memory(result.data, data.data)
    assert result.format == "csr"


@pytest.mark.parametrize("container", [sparse.csc_matrix, sparse.coo_array, sparse.lil_matrix, sparse.dok_matrix])
def test_other_formats_become_csr(container):
    result = validate(container(X))
    assert result.format == "csr"
    np.testing.assert_array_equal(result.toarray(), X)


def test_duplicate_and_unsorted_entries():
    data = sparse.csr_matrix((np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    kept = data.indices.copy()
    result = validate(data)
    assert result.has_canonical_format
    np.testing.assert_array_equal(result.toarray(), [[2.0, 0.0, 5.0]])
    np.testing.assert_array_equal(data.indices, kept)  # the input is not changed
    assert data.nnz == 3


def test_unsorted_entries_without_duplicates():
    data = sparse.csr_matrix((np.array([1.0, 2.0]), np.array([2, 0]), np.array([0, 2])), shape=(1, 3))
    np.testing.assert_array_equal(validate(data).indices, [0, 2])
    np.testing.assert_array_equal(data.indices, [2, 0])


@pytest.mark.parametrize(
    "dtype, expected", [(np.float32, np.float32), (np.float64, np.float64), (np.int64, np.float64)]
)
def test_types_of_sparse_data(dtype, expected):
    assert validate(sparse.csr_matrix(X.astype(dtype))).dtype == expected


def test_large_indices_are_accepted():
    data = sparse.csr_matrix(X)
    data.indices, data.indptr = data.indices.astype(np.int64), data.indptr.astype(np.int64)
    np.testing.assert_array_equal(validate(data).toarray(), X)


def test_sparse_data_refused():
    with pytest.raises(TypeError, match=r"[Ss]parse data was passed"):
        validate(sparse.csr_matrix(X), accept_sparse=False)


# Weights --------------------------------------------------------------------------------------------------------------


def test_no_weights():
    assert validate_weights(None, X) is None


@pytest.mark.parametrize("weights", [[1, 0, 2, 3], np.array([1, 0, 2, 3], dtype=np.float32), np.arange(8.0)[::2]])
def test_weights_become_a_double_vector(weights):
    result = validate_weights(weights, X)
    np.testing.assert_array_equal(result, weights)
    assert result.dtype == np.float64
    assert result.flags.c_contiguous


def test_a_number_is_the_weight_of_every_row():
    np.testing.assert_array_equal(validate_weights(2, X), [2.0, 2.0, 2.0, 2.0])


def test_weights_of_sparse_rows():
    np.testing.assert_array_equal(validate_weights([1, 2, 3, 4], sparse.csr_matrix(X)), [1, 2, 3, 4])


def test_weights_of_float32_rows_are_double():
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    np.testing.assert_array_equal(validate_weights(weights, X.astype(np.float32)), weights)


@pytest.mark.parametrize(
    "weights, message",
    [
        ([0, 0, 0, 0], "at least one non-zero number|must have a positive entry"),  # by version of scikit-learn
        ([0, 1e-110, 0, 0], "sample_weight must have its largest entry between 1e-100 and 1e100. Got 1e-110"),
        ([1, 1e120, 1, 1], r"sample_weight must have its largest entry between 1e-100 and 1e100. Got 1e\+120"),
        ([1, -1, 1, 1], "Negative values"),
        ([1, np.nan, 1, 1], "NaN"),
        ([1, np.inf, 1, 1], "infinity"),
        ([1, 1, 1], "sample_weight.shape"),
        ([1, 1, 1, 1, 1], "sample_weight.shape"),
        ([[1], [1], [1], [1]], "Sample weights must be 1D"),
        (np.ones((4, 2)), "Sample weights must be 1D"),
        (["a"] * 4, "sample_weight must be numeric"),
        ("balanced", "sample_weight must be numeric"),
        (np.ones(4) + 1j, "sample_weight must be numeric: Complex"),
        ({0: 1.0}, "sample_weight must be numeric"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises((ValueError, TypeError), match=message):
        validate_weights(weights, X)


# Array parameters -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [[[1, 2], [3, 4]], np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1, 3], [2, 4]]).T])
def test_matrix_is_a_copy(value):
    result = validate_matrix("init", value, (2, 2))
    np.testing.assert_array_equal(result, [[1, 2], [3, 4]])
    assert result.dtype == np.float64
    assert result.flags.c_contiguous
    assert not np.shares_memory(result, np.asarray(value))


@pytest.mark.parametrize("shape", [(4,), (2, 2), (1, 2, 2)])
def test_matrix_of_any_rank(shape):
    value = np.arange(4.0).reshape(shape)
    np.testing.assert_array_equal(validate_matrix("weights_init", value, shape), value)


@pytest.mark.parametrize(
    "value, message",
    [
        (np.zeros((2, 3)), r"means_init must have shape \(2, 2\). Got shape \(2, 3\) instead."),
        (np.zeros(4), r"means_init must have shape \(2, 2\). Got shape \(4,\) instead."),
        ([[1, np.nan], [1, 1]], "Input means_init contains NaN"),
        ([[1, np.inf], [1, 1]], "Input means_init contains infinity"),
        ([["a", "b"], ["c", "d"]], "could not convert string to float"),
        ([[1, 2], [3]], "inhomogeneous|setting an array element"),
    ],
)
def test_bad_matrix(value, message):
    with pytest.raises(ValueError, match=message):
        validate_matrix("means_init", value, (2, 2))


# Number of samples ----------------------------------------------------------------------------------------------------


def test_enough_samples():
    check_enough_samples(3, 3)
    check_enough_samples(4, 3)
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        check_enough_samples(2, 3)
