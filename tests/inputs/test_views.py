"""Two views of the same samples: shapes, names, errors."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from soft_clustering.inputs.views import BetaView, Views, check_unit_interval, column_mask, validate_views

X = np.arange(8.0).reshape(4, 2)
B = np.array([[0.1], [0.2], [0.9], [1.0]])


class Estimator(BaseEstimator):
    """Something that remembers its features."""


def fit(X, X_beta):
    estimator, seen = Estimator(), None if X_beta is None else BetaView()
    return validate_views(estimator, Views(X, X_beta), seen, reset=True), estimator, seen


def test_side_by_side():
    joined, estimator, seen = fit(X, B)
    np.testing.assert_array_equal(joined, np.hstack([X, B]))
    assert joined.flags.c_contiguous
    assert (estimator.n_features_in_, seen.n_features_in_) == (2, 1)


def test_one_view_is_not_copied():
    joined, _, _ = fit(X, None)
    assert np.shares_memory(joined, X)


@pytest.mark.parametrize("make", [np.asarray, list, pd.Series, lambda values: pd.Series(values, name="share")])
def test_one_dimension_is_a_column(make):
    joined, estimator, seen = fit(make(X[:, 0]), make(B[:, 0]))
    np.testing.assert_array_equal(joined, np.hstack([X[:, :1], B]))
    named = isinstance(make([0.0]), pd.Series) and make([0.0]).name == "share"
    assert hasattr(seen, "feature_names_in_") == named
    assert hasattr(estimator, "feature_names_in_") == named


def test_one_dimension_alone_is_refused():
    with pytest.raises(ValueError, match="Expected 2D array"):
        fit(X[:, 0], None)


def test_single_precision_is_kept():
    assert fit(X.astype(np.float32), B.astype(np.float32))[0].dtype == np.float32
    assert fit(X.astype(np.float32), B)[0].dtype == np.float64


def test_names_of_both_views_are_checked():
    frame, shares = pd.DataFrame(X, columns=["a", "b"]), pd.DataFrame(B, columns=["c"])
    _, estimator, seen = fit(frame, shares)
    assert list(estimator.feature_names_in_) == ["a", "b"]
    assert list(seen.feature_names_in_) == ["c"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        validate_views(estimator, Views(frame, shares), seen, reset=False)
    with pytest.raises(ValueError, match=r"X_beta is not valid: .*The feature names should match"):
        validate_views(estimator, Views(frame, shares.rename(columns={"c": "d"})), seen, reset=False)
    with pytest.raises(ValueError, match="The feature names should match"):
        validate_views(estimator, Views(frame[["b", "a"]], shares), seen, reset=False)


@pytest.mark.parametrize(
    "X_beta, message",
    [
        (B[:3], "X_beta must have as many rows as X, 4. Got 3"),
        (np.full((4, 1), np.nan), "X_beta is not valid: Input X contains NaN"),
        ("text", "X_beta is not valid"),
        ([[0.1], [0.2, 0.3], [0.1], [0.1]], "X_beta is not valid"),
        (np.zeros((4, 1, 1)), "X_beta is not valid"),
        (np.zeros((0, 1)), "X_beta is not valid"),
    ],
)
def test_bad_second_views(X_beta, message):
    with pytest.raises(ValueError, match=message):
        fit(X, X_beta)


def test_prediction_takes_the_views_of_fit():
    _, estimator, seen = fit(X, B)
    with pytest.raises(ValueError, match="X_beta must be given: this Estimator was fitted with X_beta"):
        validate_views(estimator, Views(X, None), seen, reset=False)
    with pytest.raises(ValueError, match="X_beta is not valid: X has 2 features, but BetaView is expecting 1"):
        validate_views(estimator, Views(X, np.hstack([B, B])), seen, reset=False)
    _, estimator, seen = fit(X, None)
    with pytest.raises(ValueError, match="X_beta must be None: this Estimator was fitted without X_beta"):
        validate_views(estimator, Views(X, B), seen, reset=False)


@pytest.mark.parametrize("lazy", ["both", "X", "X_beta"])
def test_dask(lazy):
    da = pytest.importorskip("dask.array")
    first = da.from_array(X, chunks=(3, 1)) if lazy != "X_beta" else X
    second = da.from_array(B[:, 0], chunks=2) if lazy != "X" else B
    joined, _, seen = fit(first, second)
    assert joined.numblocks[1] == 1
    np.testing.assert_array_equal(joined.compute(), np.hstack([X, B]))
    assert seen.n_features_in_ == 1


@pytest.mark.parametrize(
    "given, mask",
    [
        ([0, 2], [1, 0, 1]),
        (np.array([2]), [0, 0, 1]),
        ([True, False, False], [1, 0, 0]),
        ([], [0, 0, 0]),
        (range(3), [1, 1, 1]),
    ],
)
def test_beta_columns(given, mask):
    np.testing.assert_array_equal(column_mask("beta_features", given, 3), np.array(mask, dtype=bool))


@pytest.mark.parametrize("given", [[3], [-1], [0.0], [True, False], ["a"], [[0]], [True] * 4, [None]])
def test_bad_beta_columns(given):
    with pytest.raises(ValueError, match="beta_features must be column indices from 0 to 2 or a mask of 3 booleans"):
        column_mask("beta_features", given, 3)


def test_unit_interval():
    check_unit_interval("X_beta", np.array([0.0, 0.5]), np.array([0.5, 1.0]))
    check_unit_interval("X_beta", np.array([]), np.array([]))
    for low, high in ((-0.1, 0.5), (0.5, 1.1)):
        with pytest.raises(
            ValueError, match=rf"X_beta must have entries in \[0, 1\]. Got entries from {low} to {high}"
        ):
            check_unit_interval("X_beta", np.array([low]), np.array([high]))
