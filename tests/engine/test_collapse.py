"""Warnings of clusters that coincide: the rules, and fits on real data that are said or silent."""

import re
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from soft_clustering import BGMM, CAFHFCM, ENTROPYFCM, FCM, GMM
from soft_clustering.engine.blocks import make_blocks
from soft_clustering.engine.collapse import coinciding, collapse, rows_alike

IRIS = load_iris().data
WINE = scale(load_wine().data)
CANCER = scale(load_breast_cancer().data)


# The rules ------------------------------------------------------------------------------------------------------------


SQUARE = make_blocks(np.array([[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]]))
HARD = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
TWINS = np.array([[0.8, 0.1, 0.1], [0.2, 0.4, 0.4], [0.4, 0.305, 0.295]])  # the last two columns are the same cluster


@pytest.mark.parametrize(
    "V, memberships, message",
    [
        ([[0.0, 0], [1e-4, 0], [0, 1e-4]], HARD, "NAME collapsed: the prototypes coincide; the remedy"),
        ([[0.0, 0], [1, 0], [0, 1]], [[0.334, 0.333, 0.333], [0.333, 0.334, 0.333]], "NAME collapsed: all samples"),
        ([[0.0, 0], [1, 0], [0, 1]], [[0.25, 0.35, 0.4]] * 4, "NAME collapsed: all samples .*; the remedy"),
        ([[0.0, 0], [1, 0], [1, 0]], HARD, "NAME found 2 distinct prototypes, fewer than n_clusters=3"),
        ([[0.0, 0], [1, 0], [1 + 1e-7, 0]], HARD, "NAME found 2 distinct prototypes"),
        ([[0.0, 0], [1, 0], [1 + 9e-3, 0]], TWINS, "NAME found 2 distinct prototypes.*; the remedy"),
    ],
)
def test_collapse_is_said(V, memberships, message):
    (complaint,) = collapse("NAME", np.array(V), np.array(memberships), SQUARE, "the remedy")
    assert re.match(message, complaint)


@pytest.mark.parametrize(
    "V, memberships",
    [
        ([[0.0, 0], [1, 0], [0, 1]], HARD),
        ([[0.0, 0], [1, 0], [1.001, 0]], HARD),  # near, but with rows of their own
        ([[0.0, 0], [1, 0], [1 + 11e-3, 0]], TWINS),  # the same rows, but not in the same place
        ([[0.0, 0.0]], [[1.0]]),
    ],
)
def test_nothing_is_said_of_a_good_fit(V, memberships):
    V, memberships = np.array(V), np.array(memberships)
    assert collapse("NAME", V, memberships, SQUARE, "the remedy") == []
    assert coinciding("NAME", V, memberships, 2.0, "the remedy") == []


def test_one_row_of_many_that_differs_is_enough():
    """The quick look at every second of 2000 rows does not see row 1, which has other memberships."""
    memberships = np.full((2000, 2), 0.5)
    assert rows_alike(memberships)
    memberships[1] = [0.9, 0.1]
    assert not rows_alike(memberships)


def test_a_coarse_tolerance_tells_less_apart():
    V = np.array([[0.0, 0], [1, 0], [1 + 0.05, 0]])
    assert collapse("NAME", V, TWINS, SQUARE, "the remedy", tol=1e-4) == []
    (complaint,) = collapse("NAME", V, TWINS, SQUARE, "the remedy", tol=1e-3)
    assert complaint.startswith("NAME found 2 distinct prototypes")


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_duplicates_are_named_as_the_cause(container):
    X = np.repeat([[0.0, 0.0], [1.0, 2.0]], 5, axis=0)
    (complaint,) = collapse("NAME", np.eye(3)[[0, 1, 1]], HARD, make_blocks(container(X)), "the remedy")
    assert complaint.endswith("X has duplicates and only 2 distinct samples: use fewer clusters")


def test_twins_in_dask_arrays():
    dask_array = pytest.importorskip("dask.array")
    V = np.array([[0.0, 0], [1, 0], [1 + 9e-3, 0]])
    for memberships, said in (
        (TWINS, "found 2 distinct"),
        (np.full((4, 3), [0.2, 0.3, 0.5]), "collapsed: all samples"),
    ):
        (complaint,) = collapse("NAME", V, dask_array.from_array(memberships, chunks=(1, -1)), SQUARE, "the remedy")
        assert complaint.startswith(f"NAME {said}")


# Fits -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model, X, message",
    [
        (
            FCM(4, m=2.0, random_state=0),
            WINE,
            "FCM found 3 distinct prototypes.*try m='auto' or a smaller m",
        ),
        (FCM(8, m=2.0, random_state=0), WINE, "FCM found 3 distinct prototypes, fewer than n_clusters=8"),
        (FCM(5, m=2.0, random_state=0), CANCER, "FCM found 4 distinct prototypes"),  # 9e-4 deviations apart
        (CAFHFCM(5, m=2.0, random_state=0), WINE, "CAFHFCM found 4 distinct prototypes.*use fewer clusters"),
        (ENTROPYFCM(6, entropy_weight=0.3, random_state=0), IRIS, "ENTROPYFCM found 5 .*use a smaller entropy weight"),
        (FCM(m=300.0, random_state=0), IRIS, "FCM collapsed: all samples have the same memberships; m=300 may be too"),
        (GMM(3, random_state=0), 1e-4 * IRIS, "GMM collapsed: all samples .*reg_covar=1e-06 exceeds the mean variance"),
        (BGMM(3, random_state=0), 1e-4 * IRIS, "BGMM collapsed: all samples .*reg_covar=1e-06 exceeds the mean"),
    ],
)
def test_coinciding_clusters_are_said(model, X, message):
    with pytest.warns(ConvergenceWarning, match=message):
        model.fit(X)


@pytest.mark.parametrize("X", [IRIS, WINE, CANCER], ids=["iris", "wine", "breast_cancer"])
@pytest.mark.parametrize("m", [1.5, 2.0])
@pytest.mark.parametrize("K", [2, 3, 5, 7])
def test_said_just_where_centres_coincide(X, m, K):
    """Real twins are at most 2e-3 deviations apart, other centres at least half a deviation."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = FCM(K, m=m, random_state=0, n_init=1).fit(X)
    gap = pdist(model.centers_).min() / np.sqrt(X.var(axis=0).mean())
    assert gap < 2e-3 or gap > 0.4
    assert any("distinct prototypes" in str(warning.message) for warning in said) == (gap < 2e-3)


def test_small_clusters_beside_an_outlier_are_no_twins():
    rng = np.random.RandomState(0)
    X = np.concatenate([rng.randn(50, 2) * 0.1, rng.randn(50, 2) * 0.1 + [3, 0], [[2e5, 0]]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = FCM(3, init=[[0, 0], [3, 0], [2e5, 0]]).fit(X)
    assert pdist(model.centers_).min() < 0.01 * np.sqrt(X.var(axis=0).mean())
