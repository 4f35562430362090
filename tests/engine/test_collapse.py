"""Fits on real data whose clusters coincide say so, those whose clusters differ are silent."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from soft_clustering import BGMM, CAFHFCM, ENTROPYFCM, FCM, GMM

IRIS = load_iris().data
WINE = scale(load_wine().data)
CANCER = scale(load_breast_cancer().data)


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
