"""Partitions: label vectors and membership matrices in every form, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from soft_clustering.inputs.partitions import validate_partition_weights, validate_partitions


def dense(U):
    return U.toarray() if sparse.issparse(U) else U


def only(partition, columns=None):
    """The memberships and the labels of the columns of a single partition."""
    found = validate_partitions([partition], None if columns is None else [np.asarray(columns)])
    return dense(found.memberships[0]), found.columns[0]


# Labels -------------------------------------------------------------------------------------------------------------

ONE_HOT = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 1], [1, 0, 0]], dtype=float)


@pytest.mark.parametrize(
    "labels",
    [
        [3, 1, -1, 7, 1],
        (3, 1, -1, 7, 1),
        np.array([3, 1, -1, 7, 1], dtype=np.int8),
        [3.0, 1.0, np.nan, 7.0, 1.0],
        np.array([3, 1, -1, 7, 1], dtype=np.float32),
        np.array([3, 1, None, 7, 1], dtype=object),
        pd.Series([3, 1, None, 7, 1], dtype="Int64"),
        pd.Series([3, 1, -1, 7, 1], index=list("abcde")),
    ],
    ids=["list", "tuple", "int8", "nan", "float32", "None", "nullable", "series"],
)
def test_labels(labels):
    U, columns = only(labels)
    np.testing.assert_array_equal(U, ONE_HOT)
    np.testing.assert_array_equal(columns, [1, 3, 7])
    assert sparse.issparse(validate_partitions([labels]).memberships[0])


def test_labels_of_other_types():
    for labels in ([True, False, True], np.array([9, 4, 9], dtype=np.uint64)):
        np.testing.assert_array_equal(only(labels)[0], [[0, 1], [1, 0], [0, 1]])
    large = 2**53 + np.arange(2)  # no float is between them
    np.testing.assert_array_equal(only(large)[0], np.eye(2))


def test_labels_of_nobody():
    U, columns = only([-1, -1, np.nan])
    assert U.shape == (3, 0)
    assert len(columns) == 0


# Memberships --------------------------------------------------------------------------------------------------------

U = np.array([[0.2, 0.6, 0.2], [0, 0, 0], [0, 3, 1], [1, 0, 0]])
ROWS = np.array([[0.2, 0.6, 0.2], [0, 0, 0], [0, 0.75, 0.25], [1, 0, 0]])


def duplicated(X):
    S = sparse.coo_array(X)
    index = np.concatenate([S.row, S.row]), np.concatenate([S.col, S.col])
    return sparse.coo_array((np.concatenate([S.data * 0.25, S.data * 0.75]), index), shape=X.shape)


FORMS = {
    "array": np.array,
    "list": np.ndarray.tolist,
    "Fortran order": np.asfortranarray,
    "a data frame": pd.DataFrame,
    "integers": lambda X: np.round(10 * X).astype(np.int16),
    "objects": lambda X: X.astype(object),
    "csr_array": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "coo with duplicates": duplicated,
    "sparse integers": lambda X: sparse.csr_array(np.round(10 * X).astype(int)),
    "huge": lambda X: X * 5e307,
    "sparse, huge": lambda X: sparse.csr_array(X * 5e307),
    "tiny": lambda X: X * 1e-300,
    "a read-only array": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("error")
def test_memberships(form):
    data = FORMS[form](U)
    before = dense(data).copy() if hasattr(data, "copy") else None
    found, columns = only(data)
    np.testing.assert_allclose(found, ROWS, atol=1e-15)
    np.testing.assert_array_equal(columns, [0, 1, 2])
    assert found.dtype == np.float64
    assert sparse.issparse(validate_partitions([data]).memberships[0]) == sparse.issparse(data)
    if before is not None:
        np.testing.assert_array_equal(dense(data), before)


def test_negligible_memberships_are_none():
    np.testing.assert_array_equal(only([[1.0, 1e-150], [1e-150, 1e-150]])[0], [[1, 0], [0.5, 0.5]])
    assert validate_partitions([sparse.csr_array([[1.0, 1e-150]])]).memberships[0].nnz == 1


@pytest.mark.parametrize(
    "X, expected",
    [
        ([U], np.float64),
        ([U.astype(np.float32)], np.float32),
        ([sparse.csr_array(U.astype(np.float32)), [0, 0, 1, 1]], np.float32),
        ([U.astype(np.float32), U], np.float64),
        ([U.astype(int)], np.float64),
        ([[0, 1, 1, 0]], np.float64),
        ([np.array([0, 1, 1, np.nan], dtype=np.float32)], np.float64),
    ],
    ids=["double", "single", "single and labels", "both", "integers", "labels", "float32 labels"],
)
def test_precision(X, expected):
    assert validate_partitions(X).dtype is expected


# The same partitions again ------------------------------------------------------------------------------------------


def test_known_columns():
    U, columns = only([7, 3, 7, -1], [1, 3, 7])
    np.testing.assert_array_equal(U, [[0, 0, 1], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(columns, [1, 3, 7])
    np.testing.assert_allclose(only([[0.5, 0.5, 1.0]], [1, 3, 7])[0], [[0.25, 0.25, 0.5]])
    np.testing.assert_array_equal(only([2, 0], [0, 1, 2])[0], [[0, 0, 1], [1, 0, 0]])


@pytest.mark.parametrize("label", [0, 2, 8])
def test_new_label(label):
    with pytest.raises(ValueError, match=rf"X\[1\] has the label {label}, which did not occur in fit; .*\[1 3 7\]"):
        validate_partitions([[0, 1], [3, label]], [np.array([0, 1]), np.array([1, 3, 7])])


def test_other_partitions():
    known = [np.array([0, 1]), np.array([1, 3, 7])]
    with pytest.raises(ValueError, match="X has 1 partitions, but there were 2 partitions in fit"):
        validate_partitions([[0, 1]], known)
    with pytest.raises(ValueError, match=r"X\[1\] has 2 columns, but there were 3 clusters in fit"):
        validate_partitions([[0, 1], [[0.5, 0.5], [1, 0]]], known)


# Refused ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "X", [np.zeros((4, 3), int), pd.DataFrame({"a": [0, 1]}), "partitions", None, {0: [0, 1]}, iter([[0, 1]]), 3]
)
def test_not_a_list(X):
    with pytest.raises(TypeError, match="X must be a list or tuple of partitions"):
        validate_partitions(X)


REFUSED = {
    "empty list": ([], "at least one partition"),
    "unequal numbers": ([[0, 1], [0, 1], [0, 1, 1]], r"same number of objects. Got 2 in X\[0\] and 3 in X\[2\]"),
    "one vector, no list": ([0, 1, 1], r"X\[0\] must be a label vector .* a single partition is a list of one"),
    "three dimensions": ([np.zeros((2, 2, 2))], r"X\[0\] must be a label vector"),
    "no objects": ([[0], []], r"X\[1\] must have at least one object"),
    "no objects, a matrix": ([np.empty((0, 3))], r"X\[0\] must have at least one object"),
    "no columns": ([np.empty((3, 0))], r"X\[0\] must have at least one column"),
    "fractional labels": ([[0.2, 0.8]], r"X\[0\] has one dimension, so that it must hold integer labels. Got 0.2"),
    "label -2": ([[0, -2]], r"X\[0\] must hold labels >= 0, or -1 and NaN"),
    "infinite label": ([[0, np.inf]], r"X\[0\]"),
    "labels that are strings": ([["a", "b"]], r"X\[0\]"),
    "complex labels": ([np.array([1j, 0])], r"X\[0\]|[Cc]omplex"),
    "dates": ([np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]")], r"X\[0\] must be numeric"),
    "ragged": ([[[0.5, 0.5], [1.0]]], r"X\[0\] must be numeric"),
    "negative memberships": ([[0, 1], [[1.2, -0.2], [0, 1]]], r"X\[1\] must hold memberships >= 0. Got -0.2"),
    "negative, sparse": ([sparse.csr_array([[1.2, -0.2]])], r"X\[0\] must hold memberships >= 0"),
    "nan memberships": ([[[np.nan, 1], [0, 1]]], r"X\[0\] contains NaN"),
    "nan, sparse": ([sparse.csr_array([[np.nan, 1]])], r"X\[0\] contains NaN"),
    "infinite memberships": ([[[np.inf, 1], [0, 1]]], r"X\[0\]"),
    "labels as a column": ([np.array([[0], [1], [2]])], r"Labels must have shape \(n,\)"),
    "a dict": ([{"a": 1}], r"X\[0\]"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    X, message = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=message):
        validate_partitions(X)


# Weights ------------------------------------------------------------------------------------------------------------


def test_weights():
    np.testing.assert_array_equal(validate_partition_weights(None, 3), np.ones(3))
    np.testing.assert_allclose(validate_partition_weights([1, 3], 2), [0.5, 1.5])
    np.testing.assert_allclose(validate_partition_weights([1e300, 0, 3e300], 3), [0.5, 0, 1.5])


@pytest.mark.parametrize(
    "weights",
    [[1, 2], [[1, 2, 3]], 1.0, [], [1, -1, 1], [0, 0, 0], [1, np.nan, 1], [1, np.inf, 1], ["a", 1, 2], [1, 1, 1e-60]],
)
def test_bad_weights(weights):
    with pytest.raises((ValueError, TypeError), match="partition_weights"):
        validate_partition_weights(weights, 3)
