"""Adaptive fuzzy c-means without the graph: EM of tied balls, definitions by loops, units, small clusters, limits."""

import re
import warnings
from itertools import pairwise

import numpy as np
import pytest
from helpers.tables import offline_sets
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs, make_circles
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from soft_clustering import AFCMSimple, kernels
from soft_clustering.engine import acceleration
from soft_clustering.engine.blocks import make_blocks
from soft_clustering.fuzzy import afcm_simple

IRIS = load_iris().data
START = IRIS[[0, 60, 120]]


def brute_force(X, V, lam, weight=None):
    """The published J with its three terms, and U: a loop over samples and clusters."""
    n, K, d = len(X), len(V), X.shape[1]
    weight = np.ones(n) if weight is None else weight
    U, J = np.zeros((n, K)), 0.0
    for i in range(n):
        D = [sum((X[i, j] - V[k, j]) ** 2 for j in range(d)) for k in range(K)]
        bumps = [np.exp(-(D[k] - min(D)) / lam) for k in range(K)]
        for k in range(K):
            u = U[i, k] = bumps[k] / sum(bumps)
            J += weight[i] * u * D[k] / lam
            if u > 0:
                J += weight[i] * u * np.log(u)
    return J + weight.sum() * d / 2 * np.log(lam), U


def tied_balls(X, V, lam, n_passes, weight=None):
    """EM of a Gaussian mixture of equal weights and one isotropic covariance lam / 2."""
    weight = np.ones(len(X)) if weight is None else weight
    for _ in range(n_passes):
        log_density = -cdist(X, V, "sqeuclidean") / lam
        R = np.exp(log_density - log_density.max(axis=1, keepdims=True))
        R *= weight[:, None] / R.sum(axis=1, keepdims=True)
        V = R.T @ X / R.sum(axis=0)[:, None]
        lam = 2 * (R * cdist(X, V, "sqeuclidean")).sum() / (weight.sum() * X.shape[1])
    return V, lam


def first_weight(X, V, weight=None):
    return 2 * np.average(cdist(X, V, "sqeuclidean").min(axis=1), weights=weight) / X.shape[1]


def passes(X, start, n_passes, weight=None, **parameters):
    """So many plain passes, whether or not they converge."""
    model = AFCMSimple(len(start), init=start, tol=0, max_iter=n_passes, accelerate=False, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, sample_weight=weight)


# Definitions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_objective_and_memberships_by_brute_force(weighted):
    weight = np.random.RandomState(0).uniform(0.1, 3, 150) if weighted else None
    model = AFCMSimple(3, init=START).fit(IRIS, sample_weight=weight)
    J, U = brute_force(IRIS, model.centers_, model.entropy_weight_, weight)
    assert model.objective_ == pytest.approx(J, rel=1e-12)
    np.testing.assert_allclose(model.memberships_, U, rtol=0, atol=1e-13)
    assert model.score(IRIS, sample_weight=weight) == pytest.approx(-J, rel=1e-12)
    J, U = brute_force(IRIS[:20], model.centers_, model.entropy_weight_)
    assert model.score(IRIS[:20]) == pytest.approx(-J, rel=1e-12)
    np.testing.assert_allclose(model.predict_memberships(IRIS[:20]), U, rtol=0, atol=1e-13)


@pytest.mark.parametrize("weighted", [False, True])
def test_passes_are_those_of_tied_balls(weighted):
    weight = np.random.RandomState(0).uniform(0.1, 3, 150) if weighted else None
    lam, history = first_weight(IRIS, START, weight), []
    for n_passes in range(1, 6):
        history.append(brute_force(IRIS, *tied_balls(IRIS, START, lam, n_passes - 1, weight), weight)[0])
        model = passes(IRIS, START, n_passes, weight)
        V, expected = tied_balls(IRIS, START, lam, n_passes, weight)
        np.testing.assert_allclose(model.centers_, V, rtol=0, atol=1e-13)
        assert model.entropy_weight_ == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(model.objective_history_[:-1], history, rtol=1e-12)


@pytest.mark.parametrize("accelerate", [False, True])
def test_optimum_is_that_of_tied_balls(accelerate):
    X, _ = make_blobs(400, 3, centers=4, cluster_std=2.5, random_state=1)
    V, lam = tied_balls(X, X[:4], first_weight(X, X[:4]), 3000)
    model = AFCMSimple(4, init=X[:4], tol=1e-15, max_iter=3000, accelerate=accelerate).fit(X)
    np.testing.assert_allclose(model.memberships_, brute_force(X, V, lam)[1], rtol=0, atol=1e-8 if accelerate else 1e-7)
    assert model.entropy_weight_ == pytest.approx(lam, rel=1e-7)


def test_objective_is_the_likelihood_of_a_gaussian_mixture():
    model = AFCMSimple(3, random_state=0).fit(IRIS)
    mixture = GaussianMixture(3, covariance_type="spherical")
    mixture.weights_, mixture.means_ = np.full(3, 1 / 3), model.centers_
    mixture.covariances_ = np.full(3, model.entropy_weight_ / 2)
    mixture.precisions_cholesky_ = 1 / np.sqrt(mixture.covariances_)
    likelihood = mixture.score_samples(IRIS).sum()
    assert model.objective_ == pytest.approx(-likelihood - 150 * (np.log(3) + 2 * np.log(np.pi)), rel=1e-12)
    np.testing.assert_allclose(model.memberships_, mixture.predict_proba(IRIS), rtol=0, atol=1e-12)


@pytest.mark.parametrize("accelerate", [False, True])
def test_history_does_not_increase(accelerate):
    for seed in range(5):
        X, _ = make_blobs(300, 3, centers=4, cluster_std=3, random_state=seed)
        model = AFCMSimple(4, init=X[:4], accelerate=accelerate, tol=1e-10, max_iter=3000).fit(X)
        history = model.objective_history_
        assert model.converged_
        assert len(history) > 8
        assert np.all(np.diff(history) <= 1e-12 * np.abs(history[0]))
        assert history[-1] == model.objective_


def test_there_is_no_fuzziness_to_choose():
    assert not {"m", "entropy_weight"} & AFCMSimple().get_params().keys()


# Measured values ------------------------------------------------------------------------------------------------------

TABLE = [0.716, 0.371, 0.664, 0.491, 0.952, 0.239, -0.001, 0.940, 0.879, 1]


def test_agreement_with_the_classes_of_ten_sets():
    found = []
    for (name, (X, y)), expected in zip(offline_sets().items(), TABLE, strict=True):
        found.append(adjusted_rand_score(y, AFCMSimple(len(np.unique(y)), random_state=0).fit(X).labels_))
        assert found[-1] >= expected - 0.02, name
    assert np.mean(found) >= 0.624


def test_high_dimensional_blobs_are_found():
    """The older package reached 0.299 on such data."""
    X, y = make_blobs(3000, 100, centers=10, random_state=42)
    assert adjusted_rand_score(y, AFCMSimple(10, random_state=0).fit(X).labels_) == 1


@pytest.mark.parametrize("d", [100, 1000])
def test_many_features_give_the_clusters_of_kmeans(d):
    X = make_blobs(300, d, centers=5, cluster_std=8, random_state=0)[0]
    kmeans = KMeans(5, init=X[:5], n_init=1, tol=0).fit(X)
    model = AFCMSimple(5, init=kmeans.cluster_centers_).fit(X)
    assert model.memberships_.max(axis=1).min() > 0.999
    np.testing.assert_array_equal(model.labels_, kmeans.labels_)


def test_spread_of_planted_clusters_is_found():
    for std in (0.3, 1.0, 3.0):
        X, _ = make_blobs(6000, 4, centers=[[0] * 4, [9] * 4, [0, 9, 0, 9]], cluster_std=std, random_state=0)
        model = AFCMSimple(3, random_state=0).fit(X)
        assert model.entropy_weight_ == pytest.approx(2 * std**2, rel=0.03)


def test_acceleration_takes_fewer_passes(monkeypatch):
    monkeypatch.setattr(acceleration, "_CHEAP_PASS", 0)
    X = make_circles(1000, factor=0.5, noise=0.05, random_state=42)[0]
    plain, fast = (
        AFCMSimple(2, n_init=1, tol=1e-8, max_iter=5000, accelerate=on, random_state=0).fit(X) for on in (False, True)
    )
    assert fast.n_iter_ < plain.n_iter_ / 2
    assert fast.objective_ <= plain.objective_ + 1e-6


# Units and small clusters ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-6, 0.37, 1e5])
def test_objective_in_other_units(scale):
    weight = np.random.RandomState(0).uniform(0.1, 3, 150)
    model = AFCMSimple(3, init=START).fit(IRIS, sample_weight=weight)
    other = AFCMSimple(3, init=START * scale).fit(IRIS * scale, sample_weight=weight)
    shift = weight.sum() * 4 * np.log(scale)
    assert other.entropy_weight_ == pytest.approx(model.entropy_weight_ * scale**2, rel=1e-6)
    assert other.objective_ - shift == pytest.approx(model.objective_, rel=1e-6)
    score = other.score(IRIS[:9] * scale, sample_weight=weight[:9])
    expected = brute_force(IRIS[:9] * scale, other.centers_, other.entropy_weight_, weight[:9])[0]
    assert score == pytest.approx(-expected, rel=1e-10)


def test_powers_of_two_are_the_same_to_the_bit():
    model = AFCMSimple(3, init=START).fit(IRIS)
    for scale in (2.0**-400, 2.0**400):
        other = AFCMSimple(3, init=START * scale).fit(IRIS * scale)
        assert other.n_iter_ == model.n_iter_
        np.testing.assert_array_equal(other.memberships_, model.memberships_)


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-9), (np.float32, 2e-3)])
@pytest.mark.parametrize("distance", [1e2, 1e4, 1e6])
def test_small_clusters_keep_their_digits(distance, dtype, tolerance):
    """The variance within is down to 1e-12 of the whole; in float32 the data themselves are known to 0.06."""
    X, y = make_blobs(900, 3, centers=np.array([[0, 0, 0], [1, 0, 0], [0, 2, 1]]) * distance, random_state=0)
    X = X.astype(dtype)
    rows = [X[y == k].astype(np.float64) for k in range(3)]
    expected = 2 * np.mean([np.square(part - part.mean(axis=0)).mean() for part in rows])
    model = AFCMSimple(3, random_state=0).fit(X)
    assert model.entropy_weight_ == pytest.approx(expected, rel=tolerance)
    assert np.all(np.diff(model.objective_history_) <= 1e-9 * np.abs(model.objective_))


def test_one_look_at_the_rows_is_enough_where_clusters_are_not_small(monkeypatch):
    def refuse(*arguments):
        raise AssertionError("a second look")

    monkeypatch.setattr(afcm_simple, "center_scatter", refuse)
    AFCMSimple(3, random_state=0).fit(IRIS)
    with pytest.raises(AssertionError, match="a second look"):
        AFCMSimple(2, random_state=0).fit(np.array([[0.0], [1.0], [1e4], [1e4 + 1]]))


# Starts, stopping, degenerate data ------------------------------------------------------------------------------------


def test_entropy_weight_starts_from_the_nearest_centers():
    model = passes(IRIS, START, 1)
    assert model.objective_history_[0] == pytest.approx(brute_force(IRIS, START, first_weight(IRIS, START))[0])


@pytest.mark.filterwarnings("ignore:AFCMSimple found 7 distinct")
def test_best_start_is_kept():
    X = make_blobs(300, 2, centers=8, cluster_std=0.5, random_state=3)[0]
    single = [AFCMSimple(8, n_init=1, init="random", random_state=seed).fit(X).objective_ for seed in range(8)]
    assert np.ptp(single) > 1
    assert AFCMSimple(8, n_init=8, init="random", random_state=0).fit(X).objective_ <= np.median(single)


@pytest.mark.parametrize("tol", [1e-2, 1e-5])
def test_stops_when_centers_and_entropy_weight_rest(tol):
    model = AFCMSimple(3, init=START, tol=tol, accelerate=False).fit(IRIS)
    assert model.converged_
    states = [(START, first_weight(IRIS, START))]
    for n_passes in range(1, model.n_iter_ + 1):
        after = passes(IRIS, START, n_passes)
        states.append((after.centers_, after.entropy_weight_))
    spread = np.sqrt(IRIS.var(axis=0).mean())
    changes = np.array(
        [
            max(np.linalg.norm(V - before) / spread, abs(np.log(weight / last)))
            for (before, last), (V, weight) in pairwise(states)
        ]
    )
    assert changes[-1] <= tol < changes[:-1].min()


def test_every_sample_on_a_center():
    X = IRIS[[0, 60, 120]]
    model = AFCMSimple(3, random_state=0).fit(X)
    assert model.entropy_weight_ == pytest.approx(1e-12 * X.var(axis=0).sum(), rel=1e-9)
    np.testing.assert_allclose(model.memberships_.max(axis=1), 1, rtol=0, atol=1e-12)


def test_identical_samples():
    X = np.full((20, 3), 7.5)
    with pytest.warns(ConvergenceWarning, match="AFCMSimple collapsed"):
        model = AFCMSimple(3, random_state=0).fit(X)
    np.testing.assert_allclose(model.memberships_, 1 / 3, rtol=1e-12)
    np.testing.assert_array_equal(model.centers_, X[:3])
    assert model.entropy_weight_ == pytest.approx(1e-12, rel=1e-12)
    assert np.isfinite(model.objective_)


def test_one_cluster_is_a_ball():
    model = AFCMSimple(1).fit(IRIS)
    np.testing.assert_allclose(model.centers_[0], IRIS.mean(axis=0), rtol=1e-14)
    assert model.entropy_weight_ == pytest.approx(2 * IRIS.var(axis=0).mean(), rel=1e-13)
    assert model.objective_ == pytest.approx(150 * 2 * (1 + np.log(model.entropy_weight_)), rel=1e-13)


def test_empty_cluster_is_seeded_anew():
    model = AFCMSimple(3, init=np.vstack([START[:2], np.full((1, 4), 1e6)])).fit(IRIS)
    assert adjusted_rand_score(model.labels_, AFCMSimple(3, random_state=0).fit(IRIS).labels_) > 0.99


def test_sparse_rows():
    X = sparse.random(200, 30, 0.2, "csr", random_state=0)
    start = X[:4].toarray()
    model, dense = AFCMSimple(4, init=start).fit(X), AFCMSimple(4, init=start).fit(X.toarray())
    np.testing.assert_allclose(model.memberships_, dense.memberships_, rtol=0, atol=1e-9)
    assert model.objective_ == pytest.approx(dense.objective_, rel=1e-9)


def test_starts_join_a_better_one(capsys):
    AFCMSimple(3, random_state=0, verbose=1).fit(IRIS)
    assert capsys.readouterr().out.count("joined the best start") == 4


def test_reported_objective_is_in_input_units(capsys):
    model = AFCMSimple(3, init=START * 1e3, verbose=2).fit(IRIS * 1e3)
    shown = [float(value) for value in re.findall(r"objective (\S+),", capsys.readouterr().out)]
    np.testing.assert_allclose(shown[:-1], model.objective_history_[:-1], rtol=1e-6)


def test_denormal_data():
    """The least entropy weight underflows, but it stays positive."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    model, denormal = (AFCMSimple(3, random_state=0).fit(X * unit) for unit in (1.0, 1e-310))
    np.testing.assert_allclose(
        denormal.memberships_, model.memberships_, rtol=0, atol=1e-4
    )  # a denormal number has few digits


@pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
def test_fit_with_the_twins(monkeypatch):
    X, _ = make_blobs(500, 5, centers=4, cluster_std=3, random_state=0)
    compiled = AFCMSimple(4, n_init=1, random_state=0).fit(X)
    monkeypatch.setattr(kernels, "compiled", None)
    numpy = AFCMSimple(4, n_init=1, random_state=0).fit(X)
    np.testing.assert_allclose(numpy.memberships_, compiled.memberships_, rtol=0, atol=1e-11)
    np.testing.assert_allclose(numpy.objective_history_, compiled.objective_history_, rtol=1e-12)


@pytest.mark.parametrize("logarithm", [-1e4, 1e4])
def test_extrapolated_entropy_weight_stays_in_its_bounds(logarithm):
    """A proposal of the acceleration may lie far outside; memberships of its entropy weight must be finite."""
    model = AFCMSimple(3, random_state=0).fit(IRIS)
    blocks = make_blocks(IRIS)
    state = model._state.from_vector(np.append(model._state.centers.ravel(), logarithm))
    assert 0 < state.weight < np.inf
    assert np.sign(np.log(state.weight)) == np.sign(logarithm)
    U = model._memberships(blocks.joined(), state)
    np.testing.assert_allclose(U.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(state.centers, model._state.centers)
