"""Validation of labels of which some may be missing."""

import numpy as np
import pandas as pd
import pytest

from soft_clustering.inputs.labels import resolve_n_clusters, validate_partial_labels

X = np.zeros((5, 2))


@pytest.mark.parametrize(
    "y, classes, codes",
    [
        ([7, -1, 3, 7, -1], [3, 7], [1, -1, 0, 1, -1]),
        (np.array([7, -1, 3, 7, -1], dtype=np.int8), [3, 7], [1, -1, 0, 1, -1]),
        (np.array([2, 0, 1, 1, 0], dtype=np.uint8), [0, 1, 2], [2, 0, 1, 1, 0]),
        ([1.0, np.nan, -1.0, -2.0, 1.0], [-2, 1], [1, -1, -1, 0, 1]),
        (np.array([1.0, np.nan, -1.0, -2.0, 1.0]), [-2, 1], [1, -1, -1, 0, 1]),
        ([1, None, 0, None, 1], [0, 1], [1, -1, 0, -1, 1]),
        (["b", -1, "a", None, "b"], ["a", "b"], [1, -1, 0, -1, 1]),
        (np.array(["b", "c", "a", "c", "b"]), ["a", "b", "c"], [1, 2, 0, 2, 1]),
        (np.array(["b", -1, "a", np.nan, "b"], dtype=object), ["a", "b"], [1, -1, 0, -1, 1]),
        ([True, False, True, True, False], [False, True], [1, 0, 1, 1, 0]),
        (np.array([True, False, True, True, False]), [False, True], [1, 0, 1, 1, 0]),
        (pd.Series([7, -1, 3, 7, -1], index=list("vwxyz")), [3, 7], [1, -1, 0, 1, -1]),
        (pd.Series(["b", None, "a", None, "b"]), ["a", "b"], [1, -1, 0, -1, 1]),
        (pd.Series([1, pd.NA, 0, pd.NA, 1], dtype="Int64"), [0, 1], [1, -1, 0, -1, 1]),
        (pd.Series([1, pd.NA, 0, pd.NA, 1], dtype=object), [0, 1], [1, -1, 0, -1, 1]),
        (pd.Categorical(["b", None, "a", None, "b"]), ["a", "b"], [1, -1, 0, -1, 1]),
    ],
)
def test_classes_and_codes(y, classes, codes):
    labels = validate_partial_labels(y, X)
    assert labels.classes.tolist() == classes
    assert labels.codes.dtype == np.intp
    np.testing.assert_array_equal(labels.codes, codes)


@pytest.mark.parametrize("y", [None, [-1] * 5, [None] * 5, [np.nan] * 5, np.full(5, -1), np.full(5, -1.0)])
def test_no_labels(y):
    assert validate_partial_labels(y, X) is None


@pytest.mark.parametrize(
    "y, error, message",
    [
        ([0, 1], ValueError, "inconsistent numbers of samples"),
        (np.zeros((5, 2)), ValueError, "y should be a 1d array"),
        ([0.5, 1, -1, -1, 0], ValueError, "y must hold class labels.*Got the number 0.5"),
        (np.array([0.5, 1, -1, -1, 0]), ValueError, "y must hold class labels.*Got the number 0.5"),
        (np.array([0, np.inf, -1, -1, 0]), ValueError, "y must hold class labels. Got infinity"),
        (["a", 1, -1, -1, "b"], TypeError, "y must hold labels of one type"),
        (np.array(["a", "-1", "b", "a", "b"]), ValueError, "y must not hold the string '-1'"),
        ([1j, 2j, -1, -1, 1j], TypeError, "y must hold class labels.*Got dtype complex128"),
        (
            np.array([0, 1, 2, 3, 4]).astype("datetime64[D]"),
            TypeError,
            "y must hold class labels.*Got dtype datetime64",
        ),
        ([{}, {}, {}, {}, {}], TypeError, "y must hold class labels.*Got dtype object"),
    ],
)
def test_refused(y, error, message):
    with pytest.raises(error, match=message):
        validate_partial_labels(y, X)


def test_a_column_is_a_vector_with_a_warning():
    with pytest.warns(UserWarning, match="column-vector y"):
        labels = validate_partial_labels(np.array([[0], [1], [-1], [0], [1]]), X)
    np.testing.assert_array_equal(labels.codes, [0, 1, -1, 0, 1])


def test_number_of_clusters():
    labels = validate_partial_labels([4, 2, -1, 9, 4], X)
    assert resolve_n_clusters(None, None) == 3
    assert resolve_n_clusters(None, labels) == 3
    assert resolve_n_clusters(7, None) == 7
    assert resolve_n_clusters(7, labels) == 7
    assert resolve_n_clusters(3, labels) == 3
    with pytest.raises(ValueError, match="n_clusters=2 should be >= the number of classes in y, 3"):
        resolve_n_clusters(2, labels)
