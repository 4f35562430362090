"""Soft DBSCAN-GM: against scikit-learn's DBSCAN and a loop of the formulas, radii, noise, weights, hostile data."""

import warnings

import numpy as np
import pytest
from helpers.tables import offline_sets, planted_mixture
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.cluster import DBSCAN
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import scale

from soft_clustering import SoftDBSCANGM
from soft_clustering.density import soft_dbscan_gm
from soft_clustering.density.eps import gaussian_means
from soft_clustering.engine import neighbors
from soft_clustering.engine.blocks import Blocks, Subspace

IRIS = load_iris().data
BLOBS, BLOB_CLASSES = make_blobs(300, centers=3, cluster_std=0.6, random_state=2)
property_test = settings(max_examples=25, deadline=None, derandomize=True)
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def passes(X, labels, n_passes, m=2.0, reg_covar=1e-6, weight=None, singletons=0, shrinkage="auto"):
    """Centres, covariances, memberships and J of each pass, by the formulas; the last columns are singletons."""
    n, d = X.shape
    weight = np.ones(n) if weight is None else weight
    K = labels.max() + 1
    density = K - singletons
    ball = (weight @ (X - weight @ X / weight.sum()) ** 2 / weight.sum()).mean() * np.eye(d)
    U, history = (labels[:, None] == np.arange(K)).astype(float), []
    for _ in range(n_passes):
        V, S, D = np.zeros((K, d)), np.zeros((K, d, d)), np.zeros((n, K))
        W = weight[:, None] * U**m
        for k in range(K):
            V[k] = sum(W[i, k] * X[i] for i in range(n)) / W[:, k].sum()
            S[k] = sum(W[i, k] * np.outer(X[i] - V[k], X[i] - V[k]) for i in range(n)) / W[:, k].sum()
            share = (d + 1) / 2 / (W[:, k].sum() + (d + 1) / 2) if shrinkage == "auto" else shrinkage
            S[k] = (1 - share) * S[k] + share * ball
        S[density:] = np.average(S[:density], axis=0, weights=W.sum(axis=0)[:density])
        S += reg_covar * ball
        for k in range(K):
            D[:, k] = [(x - V[k]) @ np.linalg.solve(S[k], x - V[k]) for x in X]
        for i in range(n):
            near = D[i] <= 1e-25
            U[i] = near / near.sum() if near.any() else D[i] ** (-1 / (m - 1)) / (D[i] ** (-1 / (m - 1))).sum()
        history.append((weight[:, None] * U**m * D).sum())
    return V, S, U, history


# The formulas ---------------------------------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("n_passes", [1, 2, 6])
@pytest.mark.parametrize("m, reg_covar, shrinkage", [(2.0, 1e-6, "auto"), (1.4, 1e-2, 0.0), (3.0, 0.0, 0.2)])
@pytest.mark.parametrize("weighted", [False, True])
def test_passes_by_the_formulas(n_passes, m, reg_covar, shrinkage, weighted):
    weight = np.random.RandomState(0).uniform(0.8, 2, 300) if weighted else None
    model = SoftDBSCANGM(max_iter=n_passes, tol=0, m=m, reg_covar=reg_covar, shrinkage=shrinkage)
    model.fit(BLOBS, sample_weight=weight)
    assert model.n_clusters_ == 3
    assert (model.dbscan_labels_ == -1).any()
    V, S, U, history = passes(BLOBS, model.dbscan_labels_, n_passes, m, reg_covar, weight, shrinkage=shrinkage)
    np.testing.assert_allclose(model.centers_, V, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.covariances_, S, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.memberships_, U, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.objective_history_, history, rtol=1e-9)
    assert model.n_iter_ == n_passes
    assert model.score(BLOBS, sample_weight=weight) == pytest.approx(-history[-1], rel=1e-9)


@quiet
@pytest.mark.parametrize("n_passes", [1, 4])
def test_singletons_by_the_formulas(n_passes):
    model = SoftDBSCANGM(max_iter=n_passes, tol=0, noise="singleton").fit(BLOBS)
    noise = np.flatnonzero(model.dbscan_labels_ == -1)
    noise = noise[np.lexsort(BLOBS[noise].T[::-1])]
    labels = model.dbscan_labels_.copy()
    labels[noise] = 3 + np.arange(len(noise))
    assert model.n_clusters_ == 3 + len(noise)
    V, S, U, history = passes(BLOBS, labels, n_passes, singletons=len(noise))
    np.testing.assert_allclose(model.centers_, V, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.covariances_, S, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.memberships_, U, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.objective_history_, history, rtol=1e-8)
    if n_passes == 1:
        np.testing.assert_array_equal(model.labels_[noise], labels[noise])
        np.testing.assert_allclose(model.centers_[3:], BLOBS[noise], rtol=1e-12)
        pooled = np.average(model.covariances_[:3], axis=0, weights=np.bincount(model.dbscan_labels_[labels < 3]))
        np.testing.assert_allclose(model.covariances_[3:], np.tile(pooled, (len(noise), 1, 1)), rtol=1e-9)


def test_copies_of_a_noise_sample_are_one_column():
    X = np.vstack([BLOBS, [[50.0, 50.0]] * 3])
    model = SoftDBSCANGM(1.0, noise="singleton").fit(X)
    assert (model.dbscan_labels_[-3:] == -1).all()
    assert model.n_clusters_ == model.dbscan_labels_.max() + 1 + len(np.unique(X[model.dbscan_labels_ == -1], axis=0))
    np.testing.assert_allclose(model.memberships_[-3:, model.labels_[-1]], 1, rtol=1e-12)


# The density clusters -------------------------------------------------------------------------------------------------


def same_partition(a, b):
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))


@pytest.mark.parametrize("offset", [0.0, 1e5])
@pytest.mark.parametrize("data", ["iris", "wine", "moons", "grid"])
def test_density_clusters_are_those_of_scikit_learn(data, offset):
    X, eps = {
        "iris": (IRIS, 0.5),
        "wine": (load_wine().data, 35.0),
        "moons": (make_moons(500, noise=0.08, random_state=0)[0], 0.15),
        "grid": (np.stack(np.meshgrid(range(9), [0, 1, 3, 4, 5, 9]), axis=-1).reshape(-1, 2).astype(float), 1.0),
    }[data]
    X = X + offset
    model = SoftDBSCANGM(eps, min_samples=4).fit(X)
    expected = DBSCAN(eps=eps * (1 + 1e-9), min_samples=4).fit(X)
    np.testing.assert_array_equal(model.core_sample_indices_, expected.core_sample_indices_)
    np.testing.assert_array_equal(model.dbscan_labels_ == -1, expected.labels_ == -1)
    core = expected.core_sample_indices_
    assert same_partition(model.dbscan_labels_[core], expected.labels_[core])
    assert model.eps_ == eps
    assert model.n_clusters_ == expected.labels_.max() + 1 > 1
    sizes = np.bincount(model.dbscan_labels_[model.dbscan_labels_ >= 0])
    assert (np.diff(sizes) <= 0).all()  # largest first


def auto_radius(X, min_samples):
    """The largest percentile of the core distances that separates the core samples nearly best, by all paths."""
    n = len(X)
    D = cdist(X, X)
    reach = np.sort(D, axis=1)[:, min_samples - 1]
    joined = np.maximum(D, np.maximum(reach, reach[:, None]))  # the radius at which two samples are joined
    for k in range(n):
        joined = np.minimum(joined, np.maximum(joined[:, [k]], joined[k]))
    radii = [np.quantile(reach, q) for q in np.arange(95, 0, -1) / 100]
    found = []
    for eps in radii:
        # Two samples that are each other's last neighbour are at exactly this distance: within, however it is rounded.
        core = reach <= eps * (1 + 1e-9)
        levels = joined[np.ix_(core, core)]
        apart = levels > eps * (1 + 1e-9)
        found.append((1 - eps * (1 + 1e-9) / levels[apart]).sum() / core.sum() ** 2 * core.mean() ** 1.4)
    return next(eps for eps, value in zip(radii, found, strict=True) if value >= 0.95 * max(found) * (1 - 1e-9))


@quiet
@pytest.mark.parametrize("min_samples", [3, 5, 10])
def test_auto_radius_by_definition(min_samples):
    found = set()
    for name, (X, _) in offline_sets().items():
        X = X[:200]
        eps = SoftDBSCANGM(min_samples=min_samples).fit(X).eps_
        assert eps == pytest.approx(auto_radius(X, min_samples), rel=1e-8), name
        found.add(eps)
    assert len(found) == 10


@quiet
def test_auto_radius_of_many_rows(monkeypatch):
    """Of more rows than the rule looks at, a sample gives the percentile; the weights may be repetitions."""
    X = make_blobs(1200, 2, centers=4, cluster_std=0.7, random_state=3)[0]
    weight = np.random.RandomState(0).randint(1, 3, 1200)
    reach = np.sort(cdist(X, X), axis=1)[:, 4]
    monkeypatch.setattr(soft_dbscan_gm, "_RULED", 400)
    model = SoftDBSCANGM().fit(X)
    place = np.mean(reach <= model.eps_ * (1 + 1e-9))
    assert 0.8 <= place <= 0.96
    assert model.n_clusters_ == 4
    weighted, repeated = SoftDBSCANGM().fit(X, sample_weight=weight), SoftDBSCANGM().fit(np.repeat(X, weight, axis=0))
    assert weighted.eps_ == pytest.approx(repeated.eps_, rel=1e-12)


def test_breast_cancer_has_two_clusters_and_more():
    X, y = load_breast_cancer(return_X_y=True)
    for data in (X, scale(X)):
        model = SoftDBSCANGM().fit(data)
        assert 2 <= model.n_clusters_ <= 12
        assert np.sort(np.bincount(model.labels_))[-2] >= 0.08 * len(X)
        assert adjusted_rand_score(y, model.labels_) > 0.3


@pytest.mark.parametrize("first, least", [(200, 0.35), (1500, 0.44)])
def test_planted_mixtures(first, least):
    """Overlapping ellipsoids of unequal size in 5 to 40 features, which one radius for all separates in part."""
    sets = [planted_mixture(seed) for seed in range(first, first + 12)]
    models = [SoftDBSCANGM().fit(X) for X, _ in sets]
    assert min(model.n_clusters_ for model in models) >= 2
    assert np.mean([adjusted_rand_score(y, m.labels_) for (_, y), m in zip(sets, models, strict=True)]) > least


def test_g_means_radius_by_definition():
    reach = NearestNeighbors(n_neighbors=5).fit(BLOBS).kneighbors(BLOBS)[0][:, -1]
    parts = gaussian_means(BLOBS, np.ones(300))
    assert parts.max() == 2
    expected = np.mean([np.quantile(reach[parts == k], 0.9) for k in range(3)])
    assert SoftDBSCANGM("gmeans").fit(BLOBS).eps_ == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("noise", ["absorb", "singleton"])
@pytest.mark.parametrize("max_iter", [1, 10])
def test_no_cluster(noise, max_iter):
    X = np.arange(20.0).reshape(10, 2)
    with pytest.warns(ConvergenceWarning, match=r"found no cluster and put all samples into one: .* within eps=0.1"):
        model = SoftDBSCANGM(0.1, noise=noise, max_iter=max_iter, shrinkage=0).fit(X)
    np.testing.assert_array_equal(model.memberships_, np.ones((10, 1)))
    np.testing.assert_array_equal(model.dbscan_labels_, -1)
    assert len(model.core_sample_indices_) == 0
    np.testing.assert_allclose(model.centers_, X.mean(axis=0)[None], rtol=1e-12)
    np.testing.assert_allclose(model.covariances_[0], np.cov(X.T, bias=True), rtol=1e-5)


def test_number_of_clusters_is_read_only_and_known_after_the_fit():
    model = SoftDBSCANGM()
    assert not hasattr(model, "n_clusters")
    with pytest.raises(AttributeError):
        model.n_clusters  # noqa: B018
    assert "n_clusters" not in model.get_params()
    assert model.fit(BLOBS).n_clusters == model.n_clusters_ == 3
    with pytest.raises(AttributeError):
        model.n_clusters = 5
    with pytest.raises(ValueError, match="min_samples"):
        model.set_params(min_samples=0).fit(BLOBS)
    model.set_params(min_samples=5)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((5, 2), np.nan))


@pytest.mark.parametrize("d", [2, 20])
@pytest.mark.parametrize("scanned", [0, 1000])
def test_copies_of_points_by_trees_and_by_all_pairs(monkeypatch, d, scanned):
    """Core distances of 0: every point is a cluster."""
    monkeypatch.setattr(neighbors, "_SCANNED", scanned)
    points = np.random.RandomState(0).normal(size=(4, d)) + 100
    model = SoftDBSCANGM().fit(np.repeat(points, 10, axis=0))
    assert model.n_clusters_ == 4
    assert model.eps_ < 1e-5
    assert same_partition(model.labels_, np.repeat(np.arange(4), 10))


def test_all_pairs_equal_trees(monkeypatch):
    X, _ = make_blobs(400, 30, centers=4, cluster_std=2, random_state=0)
    expected = SoftDBSCANGM().fit(X)
    monkeypatch.setattr(neighbors, "_SCANNED", 0)
    model = SoftDBSCANGM().fit(X)
    np.testing.assert_array_equal(model.dbscan_labels_, expected.dbscan_labels_)
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-12)


# Invariances ----------------------------------------------------------------------------------------------------------


@quiet
@property_test
@given(
    seed=st.integers(0, 10**6),
    eps=st.sampled_from(["auto", "gmeans", 0.9]),
    noise=st.sampled_from(["absorb", "singleton"]),
)
def test_order_of_the_rows_does_not_matter(seed, eps, noise):
    X = make_blobs(80, 2, centers=3, random_state=seed)[0]
    order = np.random.RandomState(seed).permutation(80)
    model, permuted = (SoftDBSCANGM(eps, noise=noise).fit(data) for data in (X, X[order]))
    assert permuted.eps_ == pytest.approx(model.eps_, rel=1e-12)
    np.testing.assert_array_equal(permuted.dbscan_labels_, model.dbscan_labels_[order])
    np.testing.assert_array_equal(np.sort(order[permuted.core_sample_indices_]), model.core_sample_indices_)
    np.testing.assert_allclose(permuted.memberships_, model.memberships_[order], rtol=0, atol=1e-9)


@quiet
@property_test
@given(
    seed=st.integers(0, 10**6),
    eps=st.sampled_from(["auto", "gmeans", 0.9]),
    noise=st.sampled_from(["absorb", "singleton"]),
)
def test_weights_are_repetitions(seed, eps, noise):
    X, rng = make_blobs(80, 2, centers=3, random_state=seed)[0], np.random.RandomState(seed)
    weight = rng.randint(0, 4, 80)
    copies = rng.permutation(np.repeat(np.arange(80), weight))
    weighted = SoftDBSCANGM(eps, noise=noise, max_iter=3, tol=0).fit(X, sample_weight=weight)
    repeated = SoftDBSCANGM(eps, noise=noise, max_iter=3, tol=0).fit(X[copies])
    assert weighted.eps_ == pytest.approx(repeated.eps_, rel=1e-12)
    np.testing.assert_array_equal(weighted.dbscan_labels_[copies], repeated.dbscan_labels_)
    np.testing.assert_array_equal(weighted.dbscan_labels_[weight == 0], -1)
    assert set(weighted.core_sample_indices_) == set(copies[repeated.core_sample_indices_])
    np.testing.assert_allclose(weighted.centers_, repeated.centers_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(weighted.memberships_, repeated.predict_memberships(X), rtol=0, atol=1e-8)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-9)


@quiet
@property_test
@given(seed=st.integers(0, 10**6), power=st.integers(-100, 100))
def test_similar_data_have_the_same_result(seed, power):
    rng = np.random.RandomState(seed)
    X = make_blobs(90, 3, centers=3, random_state=seed)[0]
    scale, offset = 10.0**power, rng.normal(size=3)
    model, moved = (SoftDBSCANGM(max_iter=3, tol=0).fit(data) for data in (X, (X + offset) * scale))
    assert moved.eps_ == pytest.approx(model.eps_ * scale, rel=1e-9)
    np.testing.assert_array_equal(moved.dbscan_labels_, model.dbscan_labels_)
    np.testing.assert_allclose(moved.memberships_, model.memberships_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(moved.covariances_ / scale / scale, model.covariances_, rtol=1e-6, atol=1e-9)
    assert moved.objective_ == pytest.approx(model.objective_, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_extreme_units(scale):
    model, expected = SoftDBSCANGM().fit(BLOBS * scale), SoftDBSCANGM().fit(BLOBS)
    np.testing.assert_array_equal(model.dbscan_labels_, expected.dbscan_labels_)
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-9)
    given = SoftDBSCANGM(expected.eps_ * scale).fit(BLOBS * scale)
    np.testing.assert_array_equal(given.dbscan_labels_, expected.dbscan_labels_)


def test_float32_is_kept_and_close():
    model, exact = SoftDBSCANGM().fit(BLOBS.astype(np.float32)), SoftDBSCANGM().fit(BLOBS)
    assert model.memberships_.dtype == model.centers_.dtype == np.float32
    np.testing.assert_array_equal(model.dbscan_labels_, exact.dbscan_labels_)
    np.testing.assert_allclose(model.memberships_, exact.memberships_, rtol=0, atol=1e-4)


# More features than rows ----------------------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("parameters", [{}, {"max_iter": 4, "tol": 0}, {"eps": "gmeans"}, {"noise": "singleton"}])
def test_span_of_the_rows(monkeypatch, parameters):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 60)) + 5
    X[15:, :20] += 8
    X[0] += 20
    new = X[:6] + 0.1 * rng.normal(size=(6, 60))
    compact = SoftDBSCANGM(reg_covar=1e-2, **parameters).fit(X)
    assert isinstance(compact._frame, Subspace)
    assert compact._state.means.shape[1] == 31
    monkeypatch.setattr(Blocks, "in_subspace", lambda self: self)
    plain = SoftDBSCANGM(reg_covar=1e-2, **parameters).fit(X)
    assert plain.n_clusters_ > 1 or parameters.get("eps") == "gmeans"
    np.testing.assert_array_equal(compact.dbscan_labels_, plain.dbscan_labels_)
    np.testing.assert_allclose(compact.memberships_, plain.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(compact.predict_memberships(new), plain.predict_memberships(new), rtol=0, atol=1e-9)
    np.testing.assert_allclose(compact.centers_, plain.centers_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(compact.covariances_, plain.covariances_, rtol=0, atol=1e-9)
    assert compact.objective_ == pytest.approx(plain.objective_, rel=1e-9)


@quiet
def test_faces(shared_data):
    X = np.load(shared_data / "tabular" / "olivetti_faces.npz")["X"]
    assert X.shape == (400, 4096)
    model = SoftDBSCANGM().fit(X)
    assert model._state.means.shape[1] == 401
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1, rtol=1e-5)


# Quality, as told in the docstring ------------------------------------------------------------------------------------


@quiet
def test_agreement_with_the_classes_of_ten_sets():
    expected = [0.568, 0.350, 0.800, 0.545, 0.774, 0.577, 0.602, 0.789, 0.618, 1]
    soft, dense, loop = [], [], []
    for (name, (X, y)), value in zip(offline_sets().items(), expected, strict=True):
        model = SoftDBSCANGM().fit(X)
        soft.append(adjusted_rand_score(y, model.labels_))
        assert soft[-1] == pytest.approx(value, abs=6e-4), name
        dense.append(adjusted_rand_score(y, model.dbscan_labels_))
        if len(X) < 1700:  # but for the two large ones
            loop.append(adjusted_rand_score(y, SoftDBSCANGM(model.eps_, max_iter=100).fit(X).labels_) - soft[-1])
    assert np.mean(soft) == pytest.approx(0.662, abs=1e-3)
    assert np.mean(dense) == pytest.approx(0.694, abs=1e-3)
    assert np.mean(loop) < -0.06  # 0.54 over all ten


# The protocol's own ---------------------------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("parameters", [{}, {"max_iter": 20}, {"eps": "gmeans"}, {"noise": "singleton"}, {"m": 1.3}])
def test_predict_as_trained(parameters):
    model = SoftDBSCANGM(**parameters).fit(BLOBS)
    np.testing.assert_array_equal(model.predict_memberships(BLOBS), model.memberships_)
    np.testing.assert_array_equal(model.predict(BLOBS), model.labels_)


def test_one_pass_does_not_warn_and_more_may():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SoftDBSCANGM().fit(BLOBS)
    assert (model.n_iter_, model.converged_) == (1, False)
    with pytest.warns(ConvergenceWarning, match="SoftDBSCANGM did not converge in max_iter=2 passes"):
        model = SoftDBSCANGM(max_iter=2, tol=1e-12).fit(BLOBS)
    assert (model.n_iter_, model.converged_) == (2, False)
    model = SoftDBSCANGM(max_iter=100).fit(BLOBS)
    assert model.converged_
    assert model.n_iter_ == len(model.objective_history_) < 100


def test_a_collapse_is_said():
    X = make_blobs(150, 5, centers=2, random_state=0)[0]
    with pytest.warns(ConvergenceWarning, match=r"SoftDBSCANGM collapsed: .* use fewer passes \(max_iter=1\) or"):
        model = SoftDBSCANGM(max_iter=300, m=4.0, shrinkage=0.0).fit(X)
    assert model.n_clusters_ == 2
    np.testing.assert_allclose(model.memberships_, 0.5, rtol=0, atol=1e-3)


@quiet
def test_interruption_keeps_the_last_state(monkeypatch):
    model = SoftDBSCANGM(max_iter=50, tol=0)
    update, calls = SoftDBSCANGM._update, []

    def interrupted(self, *arguments):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return update(self, *arguments)

    monkeypatch.setattr(SoftDBSCANGM, "_update", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(BLOBS)
    monkeypatch.undo()
    np.testing.assert_array_equal(model.memberships_, SoftDBSCANGM(max_iter=4, tol=0).fit(BLOBS).memberships_)


def test_verbose(capsys):
    SoftDBSCANGM().fit(BLOBS)
    assert capsys.readouterr().out == ""
    model = SoftDBSCANGM(max_iter=100, verbose=2).fit(BLOBS)
    lines = capsys.readouterr().out.splitlines()
    noise = (model.dbscan_labels_ == -1).sum()
    assert lines[0] == f"SoftDBSCANGM eps {model.eps_:.4g}: 3 density clusters, {noise} noise samples"
    objective = model.objective_history_[-2]
    assert lines[-1] == f"SoftDBSCANGM start 1: objective {objective:.8g}, {model.n_iter_} passes, converged"
    assert len(lines) == model.n_iter_ + 1


def test_jobs_do_not_matter():
    np.testing.assert_array_equal(
        SoftDBSCANGM(n_jobs=2).fit(BLOBS).memberships_, SoftDBSCANGM().fit(BLOBS).memberships_
    )


def test_sparse_and_dask_are_refused():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        SoftDBSCANGM().fit(sparse.csr_matrix(IRIS))
    lazy = pytest.importorskip("dask.array").from_array(IRIS, chunks=(50, 4))
    with pytest.raises(TypeError, match="takes no Dask array"):
        SoftDBSCANGM().fit(lazy)
    model = SoftDBSCANGM().fit(IRIS)
    np.testing.assert_allclose(model.predict_memberships(lazy).compute(), model.memberships_, rtol=0, atol=1e-12)


def test_a_failed_fit_is_no_fit():
    model = SoftDBSCANGM().fit(IRIS)
    with pytest.raises(ValueError, match="too large for n_clusters"):
        model.set_params(m=1e5).fit(IRIS)
    with pytest.raises(NotFittedError):
        model.predict(IRIS)
    for name in ("memberships_", "n_clusters", "covariances_", "dbscan_labels_", "core_sample_indices_"):
        assert not hasattr(model, name)


@pytest.mark.parametrize(
    "parameters",
    [
        *({"eps": 0.0}, {"eps": -1.0}, {"eps": "best"}, {"eps": np.inf}, {"min_samples": 0}, {"min_samples": 2.5}),
        *({"m": 1.0}, {"m": "auto"}, {"noise": "drop"}, {"reg_covar": -1.0}, {"max_iter": 0}, {"tol": -1.0}),
        *({"n_jobs": 1.5}, {"verbose": "loud"}),
    ],
)
def test_bad_parameters(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"'{name}' parameter of SoftDBSCANGM must be"):
        SoftDBSCANGM(**parameters).fit(IRIS)
