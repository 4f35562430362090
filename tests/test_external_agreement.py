"""Agreement with independent implementations.

Fuzzy c-means: scikit-fuzzy from the same starting memberships, scikit-learn's k-means in the limit. Gaussian mixtures:
scikit-learn's from the same seed.
"""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.mixture import GaussianMixture

from soft_clustering import FCM, GMM


def by_first_coordinate(centers):
    return np.argsort(centers[:, 0])


# FCM ------------------------------------------------------------------------------------------------------------------


def fuzzy_sets():
    iris, _ = load_iris(return_X_y=True)
    blobs, _ = make_blobs(1000, 8, centers=3, random_state=42)
    # The tolerance is what is left where both have stopped moving: iris converges slowly, blobs at once.
    for m in (1.3, 2.0, 3.0):
        yield pytest.param(iris, m, 2e-12, id=f"iris-{m}")
        yield pytest.param(blobs, m, 2e-14, id=f"blobs-{m}")


@pytest.mark.parametrize("X, m, tolerance", list(fuzzy_sets()))
@pytest.mark.parametrize("accelerate", [False, True])
def test_scikit_fuzzy(X, m, tolerance, accelerate):
    cluster = pytest.importorskip("skfuzzy.cluster")
    memberships = np.random.RandomState(0).dirichlet(np.ones(3), len(X))
    theirs, their_memberships, _, _, objectives, _, _ = cluster.cmeans(
        X.T, 3, m, error=1e-13, maxiter=5000, init=memberships.T
    )
    weights = memberships**m
    start = weights.T @ X / weights.sum(axis=0)[:, None]
    model = FCM(3, m=m, init=start, tol=1e-13, max_iter=5000, accelerate=accelerate).fit(X)
    ours, other = by_first_coordinate(model.centers_), by_first_coordinate(theirs)
    np.testing.assert_allclose(model.memberships_[:, ours], their_memberships.T[:, other], rtol=0, atol=tolerance)
    np.testing.assert_allclose(model.centers_[ours], theirs[other], rtol=1e-12)
    assert model.objective_ == pytest.approx(objectives[-1], rel=1e-14, abs=0)


@pytest.mark.parametrize("m", [1.3, 2.0, 3.0])
def test_scikit_fuzzy_prediction(m):
    cluster = pytest.importorskip("skfuzzy.cluster")
    X = load_iris().data
    model = FCM(3, m=m, random_state=0).fit(X[::2])
    theirs = cluster.cmeans_predict(X[1::2].T, model.centers_, m, error=1e-13, maxiter=1, seed=0)[0]
    np.testing.assert_allclose(model.predict_memberships(X[1::2]), theirs.T, rtol=0, atol=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_kmeans_is_the_limit(seed):
    X, _ = make_blobs(500, 4, centers=5, cluster_std=2.5, random_state=seed)
    start = X[np.random.RandomState(seed).choice(500, 5, replace=False)]
    kmeans = KMeans(5, init=start, n_init=1, tol=0, max_iter=1000, algorithm="lloyd").fit(X)
    distances = []
    for m in (1.1, 1.03, 1.01, 1.003, 1.001):
        model = FCM(5, m=m, init=kmeans.cluster_centers_, max_iter=1000).fit(X)
        distances.append(np.abs(model.centers_ - kmeans.cluster_centers_).max())
        assert model.objective_ <= kmeans.inertia_ * (1 + 1e-12)
    assert distances[-1] < 0.02 * distances[0]
    assert distances[-1] < 1e-3


# GMM ------------------------------------------------------------------------------------------------------------------


def mixture_sets():
    varied, _ = make_blobs(1500, centers=4, cluster_std=[1, 2.5, 0.5, 3], random_state=42)
    return {
        "iris": (load_iris().data, 3),
        "wine": (load_wine().data, 3),
        "breast_cancer": (load_breast_cancer().data, 2),
        "varied": (varied, 4),
        "digits": (load_digits().data, 10),
    }


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("name", mixture_sets())
def test_gaussian_mixture(name, kind):
    X, K = mixture_sets()[name]
    theirs = GaussianMixture(K, covariance_type=kind, random_state=0).fit(X)
    ours = GMM(K, covariance_type=kind, random_state=0).fit(X)
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_allclose(ours.memberships_, theirs.predict_proba(X), rtol=0, atol=1e-10)
    # Whitening loses the digits of the root of the condition number, 3e5 for breast_cancer and one shared covariance.
    spread = np.sqrt(np.linalg.cond(theirs.covariances_).max()) if kind in ("full", "tied") else 1.0
    lost = np.finfo(float).eps * spread * X.shape[1]
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=0, atol=1e-9 + lost)
    np.testing.assert_allclose(ours.centers_, theirs.means_, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ours.weights_, theirs.weights_, rtol=1e-10)
    np.testing.assert_allclose(ours.covariances_, theirs.covariances_, rtol=1e-8, atol=1e-9)
    assert ours.bic(X) == pytest.approx(theirs.bic(X), rel=1e-12)
    assert ours.aic(X) == pytest.approx(theirs.aic(X), rel=1e-12)
