"""Affinity matrices: what is accepted, what it becomes, what is refused."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

from soft_clustering.inputs.pairwise import validate_affinity

S = np.array([[4.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]])


@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_becomes_a_csr_array_without_a_diagonal(form, dtype):
    estimator = BaseEstimator()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = validate_affinity(estimator, form(S.astype(dtype)))
    assert isinstance(found, sparse.csr_array)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.toarray(), S - np.diag(np.diag(S)))
    assert found.nnz == 4
    assert estimator.n_features_in_ == 3


def test_is_made_symmetric_with_a_warning():
    with pytest.warns(UserWarning, match="X is not symmetric"):
        found = validate_affinity(BaseEstimator(), sparse.csr_array(np.triu(S)))
    np.testing.assert_array_equal(found.toarray(), (S - np.diag(np.diag(S))) / 2)


def test_large_affinities_do_not_overflow():
    found = validate_affinity(BaseEstimator(), S * 3e307)
    np.testing.assert_array_equal(found.toarray()[1], [3e307, 0, 6e307])


@pytest.mark.parametrize(
    "X, message",
    [
        (S[:2], r"X must be a square matrix .*affinity='precomputed'. Got shape \(2, 3\)"),
        (-S, r"X must have no negative entries .* Got -2 as the smallest"),
        (np.eye(3), "X must have positive entries off the diagonal"),
        (sparse.csr_array((3, 3)), "X must have positive entries off the diagonal"),
        (np.where(S == 2, np.nan, S), "X contains NaN"),
        (sparse.csr_array(np.where(S == 2, np.inf, S)), "X contains infinity"),
        (np.array([["a"] * 3] * 3), "X must be numeric|could not convert"),
    ],
)
def test_bad_matrix_is_named(X, message):
    with pytest.raises(ValueError, match=message):
        validate_affinity(BaseEstimator(), X)
