"""What the metrics read: units of the largest entry, entries at the ends of the range of floats, sparse duplicates."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from soft_clustering.metrics._validation import check_features, check_matrix, in_units


@pytest.mark.parametrize("largest", [0.0, 5e-324, 1e-300, 0.3, 1.0, 7.0, 1e300])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_units_are_a_power_of_two_near_the_largest_entry(largest, sign):
    X = sign * np.array([[largest, 0.0], [0.25 * largest, 0.5 * largest]])
    block = in_units(X)
    np.testing.assert_array_equal(block.take([0, 1]) / block.frame.scale, X)  # no rounding
    assert block.take([0, 1]).dtype == np.float64
    if largest == 0:
        assert block.frame.scale == 1
    elif largest > 2.0**-1000:
        assert 0.5 <= np.abs(block.take([0, 1])).max() < 1


@pytest.mark.parametrize("check", [lambda U: check_matrix("U", U, "n_clusters"), check_features])
def test_huge_entries_are_refused_or_taken_without_a_warning(check):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        huge = np.array([[1e308, 1e308], [1e308, 1e308]])
        np.testing.assert_array_equal(check(huge), huge)
        with pytest.raises(ValueError, match="infinity"):
            check(np.array([[1, 10]], dtype=np.longdouble) ** 1000)  # overflows in double precision


def test_duplicate_entries_are_summed_in_a_copy():
    X = sparse.csr_matrix((np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    read = check_features(X)
    assert read.has_canonical_format and read.nnz == 2
    np.testing.assert_array_equal(read.toarray(), [[0, 3], [4, 0]])
    assert X.nnz == 3
