"""A cluster of noise in FCM, GK, ENTROPYFCM and KFCM."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from soft_clustering import ENTROPYFCM, FCM, GK, GMM, KFCM
from soft_clustering.base import labels_from_memberships
from soft_clustering.engine.fitting import Fit

IRIS = load_iris().data
OUTLIERS = np.random.RandomState(0).uniform(-10, 20, (15, 4))
NOISY = np.vstack([IRIS, OUTLIERS])
METHODS = {
    "FCM": FCM(3, random_state=0),
    "FCM m=1.3": FCM(3, m=1.3, random_state=0),
    "GK": GK(3, random_state=0),
    "ENTROPYFCM": ENTROPYFCM(3, random_state=0, scaling=None),
    "ENTROPYFCM weights": ENTROPYFCM(3, random_state=0, learn_weights=True),
    "KFCM": KFCM(3, random_state=0),
}
every_method = pytest.mark.parametrize("name", METHODS)


def fitted(name, X=NOISY, sample_weight=None, *, quiet=False, **parameters):
    model = clone(METHODS[name]).set_params(**{"noise_distance": "auto"} | parameters)
    with warnings.catch_warnings():
        if quiet:
            warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, sample_weight=sample_weight)


def blobs(K, share, seed, n=300):
    """Round clusters of variance 1 and a share of uniform outliers in a box 15 wider on each side; the centres."""
    rng = np.random.RandomState(seed)
    while True:
        centers = rng.uniform(-8, 8, (K, 2))
        if cdist(centers, centers)[np.triu_indices(K, 1)].min() > 5:
            break
    X = np.concatenate([center + rng.standard_normal((n // K, 2)) for center in centers])
    outliers = rng.uniform(X.min(axis=0) - 15, X.max(axis=0) + 15, (round(share * n), 2))
    return np.vstack([X, outliers]), centers


def center_error(found, centers):
    D = cdist(found, centers)
    return D[linear_sum_assignment(D)].mean()


# What it is for -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [3, 5])
def test_outliers_do_not_move_centers(K):
    errors = {"auto": [], None: []}
    for seed in range(4):
        X, centers = blobs(K, 0.2, seed)
        for noise in errors:
            model = FCM(K, m=2.0, noise_distance=noise, random_state=seed).fit(X)
            errors[noise].append(center_error(model.centers_, centers))
            if noise:
                assert model.noise_mass_[300:].mean() > 5 * model.noise_mass_[:300].mean()
    assert np.mean(errors["auto"]) <= 0.25
    assert np.mean(errors[None]) > 1.5 * np.mean(errors["auto"])


@every_method
def test_outliers_are_noise(name):
    model = fitted(name)
    far = model.noise_mass_[150:] > 0.5
    assert far.mean() > 0.7
    assert np.median(model.noise_mass_[:150]) < 0.15
    assert (model.labels_[150:][far] == -1).mean() > 0.9


# The protocol ---------------------------------------------------------------------------------------------------------


@every_method
def test_protocol(name):
    model = fitted(name)
    plain = clone(METHODS[name])
    assert model.membership_kind == "subpartition"
    assert plain.membership_kind == "partition"
    assert not model.partition_constrained
    assert not hasattr(model, "predict_proba")
    assert hasattr(plain, "predict_proba")
    assert not hasattr(plain, "predict_noise_mass")
    np.testing.assert_allclose(model.memberships_.sum(axis=1) + model.noise_mass_, 1, atol=1e-12)
    np.testing.assert_array_equal(model.labels_, labels_from_memberships(model.memberships_, model.noise_mass_))
    assert (model.labels_ == -1).any()
    np.testing.assert_array_equal(model.predict(NOISY), model.labels_)
    np.testing.assert_allclose(model.predict_noise_mass(NOISY), model.noise_mass_, atol=1e-12)
    expected = (model.memberships_ >= 0.25 * (1 - 1e-6)) & (model.memberships_ > 0)
    np.testing.assert_array_equal(model.get_cover(), expected)
    model.set_params(noise_distance=None)  # it does not matter before the next fit
    assert model.membership_kind == "subpartition"
    np.testing.assert_array_equal(model.predict(NOISY), model.labels_)
    model.fit(NOISY)
    assert model.membership_kind == "partition"
    assert not hasattr(model, "noise_mass_")
    assert not hasattr(model, "noise_distance_")


def test_labels_of_ties():
    """A row is noise where the noise is as large as the largest membership."""
    U, noise = np.array([[0.4, 0.2], [0.3, 0.3], [0.0, 0.0], [0.5, 0.5]]), np.array([0.4, 0.2, 1.0, 0.0])
    np.testing.assert_array_equal(labels_from_memberships(U, noise), [-1, 0, -1, 0])


@pytest.mark.parametrize("name", ["FCM", "KFCM"])
def test_top_k_keeps_the_noise_apart(name):
    """Kept memberships are not divided by their sum: the rest is noise."""
    model = fitted(name)
    kept = model.predict_memberships(NOISY[-3:], top_k=1).toarray()
    np.testing.assert_allclose(kept.max(axis=1), model.memberships_[-3:].max(axis=1), rtol=1e-12)


# The model ------------------------------------------------------------------------------------------------------------


@every_method
def test_auto_is_a_multiple_of_the_median(name):
    """The median of the squared distances to the nearest centre in a fit without noise."""
    plain = clone(METHODS[name]).fit(NOISY)
    if name == "GK":
        E = NOISY[:, None] - plain.centers_
        D = np.einsum("nki,kij,nkj->nk", E, plain.norm_matrices_, E)
    elif name == "ENTROPYFCM weights":  # in the units of the scaled features
        unit = (NOISY.max(axis=0) - NOISY.min(axis=0)) / 2
        D = cdist(NOISY / unit, plain.centers_ / unit, "sqeuclidean")
    else:
        D = cdist(NOISY, plain.centers_, "sqeuclidean")
    median = np.sort(D.min(axis=1))[(len(NOISY) - 1) // 2]
    for scale in (10.0, 3.0):
        model = fitted(name, noise_scale=scale, quiet=True)
        assert model.noise_distance_**2 == pytest.approx(scale * median, rel=1e-3)


@pytest.mark.parametrize("m", [2.0, 1.4])
def test_objective_by_definition(m):
    model = fitted("FCM", m=m)
    U, noise = model.memberships_, model.noise_mass_
    D = cdist(NOISY, model.centers_, "sqeuclidean")
    J = np.sum(U**m * D) + model.noise_distance_**2 * np.sum(noise**m)
    assert model.objective_ == pytest.approx(J, rel=1e-9)
    W = U**m
    np.testing.assert_allclose(model.centers_, W.T @ NOISY / W.sum(axis=0)[:, None], atol=1e-4)
    assert model.score(NOISY) == pytest.approx(-J, rel=1e-9)


def test_entropy_objective_by_definition():
    model = fitted("ENTROPYFCM")
    U, noise, weight = model.memberships_, model.noise_mass_, model.entropy_weight_
    D = cdist(NOISY, model.centers_, "sqeuclidean")
    compactness = np.sum(U * D) + model.noise_distance_**2 * noise.sum()
    entropy = -np.sum(U * np.log(U, where=U > 0, out=np.zeros_like(U))) - np.sum(noise * np.log(noise))
    assert model.compactness_ == pytest.approx(compactness, rel=1e-9)
    assert model.entropy_ == pytest.approx(entropy, rel=1e-9)
    assert model.objective_ == pytest.approx(compactness - weight * entropy, rel=1e-9)


@every_method
def test_no_pass_makes_the_objective_worse(name):
    model = fitted(name, tol=1e-7, **({} if name == "GK" else {"accelerate": False}), quiet=True)
    steps = np.diff(model.objective_history_)
    assert steps.max() <= 1e-9 * abs(model.objective_)


@every_method
def test_far_noise_is_no_noise(name):
    """A distance of 1e6 medians: the noise has next to no mass, and the centres are those without it."""
    start = {"init": IRIS[[0, 70, 140]]}
    plain = clone(METHODS[name]).set_params(tol=1e-10, max_iter=3000, **start).fit(IRIS)
    model = fitted(name, IRIS, noise_distance=1e8, tol=1e-10, max_iter=3000, **start, quiet=True)
    if name == "KFCM":  # its distances are at most 1: the noise is as far as a row can be
        assert model.noise_mass_.max() < 0.5
        return
    np.testing.assert_allclose(model.noise_mass_, 0, atol=1e-9)
    np.testing.assert_allclose(model.memberships_, plain.memberships_, atol=1e-6)
    np.testing.assert_allclose(model.centers_, plain.centers_, atol=1e-6)


@every_method
def test_near_noise_takes_all_and_says_so(name):
    model = clone(METHODS[name]).set_params(noise_distance=1e-3)
    with pytest.warns(ConvergenceWarning, match=r"noise took \d+% of the rows; increase noise_distance or n_clusters"):
        model.fit(IRIS)
    assert np.isfinite(model.memberships_).all()


@every_method
def test_weights_are_repetitions(name):
    counts = np.random.RandomState(1).randint(0, 3, len(NOISY))
    to_the_end = {"tol": 1e-9, "max_iter": 3000, "quiet": True}
    weighted = fitted(name, sample_weight=counts, **to_the_end)
    repeated = fitted(name, np.repeat(NOISY, counts, axis=0), **to_the_end)
    assert weighted.noise_distance_ == pytest.approx(repeated.noise_distance_, rel=1e-7)
    np.testing.assert_allclose(weighted.centers_, repeated.centers_, atol=1e-5)
    np.testing.assert_allclose(np.repeat(weighted.noise_mass_, counts), repeated.noise_mass_, atol=1e-5)


@every_method
def test_units(name):
    """In other units the noise distance has these units, and the memberships are the same."""
    base = fitted(name)
    given = {}
    if name == "ENTROPYFCM":
        given["entropy_weight"] = "auto"
    other = fitted(name, NOISY * 1024.0 + 2.0**20, **given)
    np.testing.assert_allclose(other.memberships_, base.memberships_, atol=1e-6)
    scaled = 1.0 if name == "ENTROPYFCM weights" else 1024.0  # minmax scaling has its own units
    assert other.noise_distance_ == pytest.approx(scaled * base.noise_distance_, rel=1e-6)


@every_method
def test_given_distance_is_that_of_auto(name):
    start = {"init": IRIS[[0, 70, 140]], "tol": 1e-9, "max_iter": 1000}
    base = fitted(name, **start)
    given = fitted(name, noise_distance=base.noise_distance_, **start)
    assert given.noise_distance_ == pytest.approx(base.noise_distance_, rel=1e-12)
    np.testing.assert_allclose(given.memberships_, base.memberships_, atol=1e-6)


def test_median_of_duplicates():
    """The smallest positive distance if most rows lie on a centre, and 1 variance if all do."""
    X = np.repeat([[0.0, 0.0], [9.0, 9.0]], 20, axis=0)
    model = FCM(2, noise_distance="auto", random_state=0).fit(X)
    assert np.isfinite(model.noise_distance_)
    assert model.noise_distance_ > 0
    np.testing.assert_allclose(model.noise_mass_, 0, atol=1e-12)
    model = FCM(2, noise_distance="auto", random_state=0).fit(np.vstack([X, [[0.5, 0.0]]]))
    assert np.isfinite(model.memberships_).all()
    assert 0 < model.noise_distance_ < 9


# Every kind of rows ---------------------------------------------------------------------------------------------------


@every_method
def test_float32(name):
    single = fitted(name, NOISY.astype(np.float32))
    assert single.noise_mass_.dtype == single.memberships_.dtype == np.float32
    np.testing.assert_allclose(single.noise_mass_, fitted(name).noise_mass_, atol=2e-3)


@pytest.mark.parametrize("name", ["FCM", "ENTROPYFCM", "KFCM"])
def test_sparse_rows(name):
    dense = fitted(name)
    found = fitted(name, sparse.csr_array(NOISY))
    np.testing.assert_allclose(found.noise_mass_, dense.noise_mass_, atol=1e-3)
    assert np.mean(found.labels_ == dense.labels_) > 0.99


@pytest.mark.parametrize("name", ["FCM", "FCM m=1.3", "KFCM"])
def test_missing_values(name):
    holes = np.random.RandomState(0).uniform(size=NOISY.shape) < 0.1
    model = fitted(name, np.where(holes, np.nan, NOISY))
    np.testing.assert_allclose(model.memberships_.sum(axis=1) + model.noise_mass_, 1, atol=1e-12)
    assert np.median(model.noise_mass_[150:]) > 0.5 > 0.2 > np.median(model.noise_mass_[:150])
    row = model.predict_noise_mass(np.full((1, 4), np.nan))
    np.testing.assert_array_equal(row, 0)  # nothing speaks against any cluster


@every_method
def test_dask(name):
    da = pytest.importorskip("dask.array")
    lazy = fitted(name, da.from_array(NOISY, chunks=(40, 4)))
    memory = fitted(name)
    assert lazy.noise_distance_ == pytest.approx(memory.noise_distance_, rel=1e-5)
    np.testing.assert_allclose(lazy.noise_mass_.compute(), memory.noise_mass_, atol=1e-4)
    np.testing.assert_array_equal(lazy.labels_.compute(), memory.labels_)
    np.testing.assert_array_equal(lazy.predict(da.from_array(NOISY, chunks=(40, 4))).compute(), memory.labels_)


def test_many_rows_on_dask_are_seeded_within_the_cap():
    """k-means|| sees no distance above that of the noise, either."""
    da = pytest.importorskip("dask.array")
    rng = np.random.RandomState(0)
    X = rng.standard_normal((22_000, 2)) + np.repeat([[0, 0], [12, 0]], 11_000, axis=0)
    X = rng.permutation(np.vstack([X, rng.uniform(-400, 400, (200, 2))]))
    model = FCM(2, m=2.0, noise_distance=4.0, n_init=2, random_state=0).fit(da.from_array(X, chunks=(3000, 2)))
    assert center_error(model.centers_, np.array([[0, 0], [12, 0]])) < 0.1


@pytest.mark.parametrize("name", ["FCM", "ENTROPYFCM", "KFCM"])
def test_partial_fit_settles_the_distance_once(name):
    rows = np.random.RandomState(0).permutation(NOISY)
    model = clone(METHODS[name]).set_params(noise_distance="auto")
    model.partial_fit(rows[:80])
    first = model.noise_distance_
    model.partial_fit(rows[80:])
    assert model.noise_distance_ == first
    assert not hasattr(model, "noise_mass_")
    assert np.median(model.predict_noise_mass(OUTLIERS)) > 0.5


def test_batches():
    X, centers = blobs(3, 0.2, 0, n=1500)
    model = FCM(3, m=2.0, noise_distance="auto", batch_size=200, random_state=0).fit(X)
    assert center_error(model.centers_, centers) < 0.25


# Errors and interruptions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["path", "nsga2"])
def test_a_front_takes_no_noise(solver):
    with pytest.raises(ValueError, match="noise_distance needs solver='alternating'"):
        ENTROPYFCM(solver=solver, noise_distance="auto").fit(IRIS)


@pytest.mark.parametrize("value", [0.0, -1.0, np.inf, np.nan, "far"])
def test_refused_distances(value):
    with pytest.raises(ValueError, match="noise_distance"):
        FCM(noise_distance=value).fit(IRIS)


@every_method
def test_interrupted_before_the_noise(monkeypatch, name):
    """The fit without noise is kept: no sample is noise, and the distance is infinite."""
    report = Fit.report

    def interrupt(self, run):
        report(self, run)
        raise KeyboardInterrupt

    model = clone(METHODS[name]).set_params(noise_distance="auto")
    monkeypatch.setattr(Fit, "report", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(NOISY)
    assert model.noise_distance_ == np.inf
    np.testing.assert_array_equal(model.noise_mass_, 0)
    np.testing.assert_array_equal(model.predict(NOISY), model.labels_)


# The background of Gaussian mixtures beside missing values ------------------------------------------------------------


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_background_with_missing_values(covariance_type):
    """The density of the noise is that of the features that a row has: brute force, row by row."""
    from scipy.stats import multivariate_normal

    holes = np.random.RandomState(0).uniform(size=NOISY.shape) < 0.15
    X = np.where(holes, np.nan, NOISY)
    X = X[~np.isnan(X).all(axis=1)]
    model = GMM(3, covariance_type=covariance_type, noise="auto", random_state=0, tol=1e-6, max_iter=500).fit(X)
    edges = np.nanmax(X, axis=0) - np.nanmin(X, axis=0)
    covariances = model.covariances_
    full = {
        "full": lambda k: covariances[k],
        "tied": lambda k: covariances,
        "diag": lambda k: np.diag(covariances[k]),
        "spherical": lambda k: covariances[k] * np.eye(4),
    }[covariance_type]
    likelihoods, masses = np.empty(len(X)), np.empty(len(X))
    for i, x in enumerate(X):
        there = ~np.isnan(x)
        parts = [
            weight * multivariate_normal(center[there], full(k)[np.ix_(there, there)]).pdf(x[there])
            for k, (weight, center) in enumerate(zip(model.weights_, model.centers_, strict=True))
        ]
        background = model.noise_weight_ / np.prod(edges[there])
        likelihoods[i], masses[i] = np.log(sum(parts) + background), background / (sum(parts) + background)
    np.testing.assert_allclose(model.score_samples(X), likelihoods, rtol=1e-8)
    np.testing.assert_allclose(model.outlier_mass_, masses, rtol=0, atol=1e-10)
    assert np.diff(model.objective_history_).min() > -1e-6
