"""GMM with a background of noise: a brute-force EM, facts of its sheet, invariances, degenerate cases."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from soft_clustering import GMM, kernels

pytestmark = pytest.mark.filterwarnings("ignore:GMM did not converge")

KINDS = ("full", "tied", "diag", "spherical")
EYE = {"full": np.tile(np.eye(2), (4, 1, 1)), "tied": np.eye(2), "diag": np.ones((4, 2)), "spherical": np.ones(4)}


def with_noise(seed=0):
    """Four Gaussians of 150 rows, and 90 uniform rows of label -1 in a box that is half as long again."""
    rng = np.random.default_rng(seed)
    means = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [8.0, 8.0]])
    shapes = np.eye(2) + 0.4 * rng.normal(size=(4, 2, 2))
    X = np.concatenate([rng.normal(size=(150, 2)) @ shape + mean for shape, mean in zip(shapes, means, strict=True)])
    middle, half = (X.min(axis=0) + X.max(axis=0)) / 2, np.ptp(X, axis=0) / 2
    noise = rng.uniform(middle - 1.5 * half, middle + 1.5 * half, (90, 2))
    return np.concatenate([X, noise]), np.repeat([0, 1, 2, 3, -1], [150, 150, 150, 150, 90])


X, Y = with_noise()
MEANS = np.array([[1.0, 1.0], [7.0, 0.0], [0.0, 6.0], [7.0, 9.0]])


def given(kind):
    return {"weights_init": np.full(4, 0.25), "means_init": MEANS, "precisions_init": EYE[kind]}


def brute_force(X, means, kind, n_passes, weight=None, volume=None, reg_covar=1e-6, start=1.0):
    """EM with a softmax over K + 1 classes, the last of constant density, by SciPy's densities."""
    (n, d), K = X.shape, len(means)
    w = np.ones(n) if weight is None else weight
    volume = np.prod(np.ptp(X[w > 0], axis=0)) if volume is None else volume
    pi, covariances = np.append(np.full(K, 0.95 / K), 0.05), np.tile(start * np.eye(d), (K, 1, 1))
    history = []
    for step in range(n_passes + 1):
        logs = [multivariate_normal(m, C).logpdf(X) for m, C in zip(means, covariances, strict=True)]
        logs = np.column_stack([*logs, np.full(n, -np.log(volume))]) + np.log(pi)
        total = np.logaddexp.reduce(logs, axis=1)
        history.append(w @ total / w.sum())
        R = np.exp(logs - total[:, None])
        if step == n_passes:
            break
        N = w @ R
        pi = N / w.sum()
        means = (R[:, :K] * w[:, None]).T @ X / N[:K, None]
        scatter = [(X - m).T * (w * R[:, k]) @ (X - m) for k, m in enumerate(means)]
        if kind == "tied":
            scatter = [np.sum(scatter, axis=0) / N[:K].sum()] * K
        else:
            scatter = [S / N[k] for k, S in enumerate(scatter)]
        if kind == "diag":
            scatter = [np.diag(np.diag(S)) for S in scatter]
        if kind == "spherical":
            scatter = [np.eye(d) * np.trace(S) / d for S in scatter]
        covariances = np.stack(scatter) + reg_covar * np.eye(d)
    U = np.exp(logs[:, :K] - np.logaddexp.reduce(logs[:, :K], axis=1)[:, None])
    return {"pi": pi, "means": means, "covariances": covariances, "U": U, "mass": R[:, -1], "history": history}


def covariance_matrices(model):
    C, d = model.covariances_, model.centers_.shape[1]
    return {
        "full": lambda: C,
        "tied": lambda: np.tile(C, (4, 1, 1)),
        "diag": lambda: np.stack([np.diag(c) for c in C]),
        "spherical": lambda: np.stack([c * np.eye(d) for c in C]),
    }[model.covariance_type]()


def check_equal(model, expected, tolerance=1e-10):
    close = {"rtol": 0, "atol": tolerance}
    np.testing.assert_allclose(model.weights_, expected["pi"][:-1], **close)
    assert model.noise_weight_ == pytest.approx(expected["pi"][-1], abs=tolerance)
    np.testing.assert_allclose(model.centers_, expected["means"], **close)
    np.testing.assert_allclose(covariance_matrices(model), expected["covariances"], **close)
    np.testing.assert_allclose(model.memberships_, expected["U"], **close)
    np.testing.assert_allclose(model.outlier_mass_, expected["mass"], **close)
    np.testing.assert_allclose(model.objective_history_, expected["history"], **close)


# Against a brute-force EM ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_passes_of_brute_force(monkeypatch, kind, compiled):
    if not compiled:
        monkeypatch.setattr(kernels, "compiled", None)
    model = GMM(4, covariance_type=kind, noise="auto", **given(kind), tol=0, max_iter=15).fit(X)
    check_equal(model, brute_force(X, MEANS, kind, 15))
    assert model.noise_volume_ == pytest.approx(np.prod(np.ptp(X, axis=0)))


@pytest.mark.parametrize("kind", KINDS)
def test_passes_of_brute_force_with_weights_and_a_volume(kind):
    weight = np.random.default_rng(1).integers(0, 4, len(X)).astype(float)
    model = GMM(4, covariance_type=kind, noise=3000.0, **given(kind), tol=0, max_iter=15).fit(X, sample_weight=weight)
    check_equal(model, brute_force(X, MEANS, kind, 15, weight, 3000.0))
    assert model.noise_volume_ == pytest.approx(3000)


@pytest.mark.parametrize("kind", KINDS)
def test_likelihood_never_falls(kind):
    """Without a ridge, which is no part of the likelihood."""
    model = GMM(4, covariance_type=kind, noise="auto", **given(kind), reg_covar=0, tol=0, max_iter=40).fit(X)
    assert np.diff(model.objective_history_).min() > -1e-13


def test_wide_data():
    """Fewer rows than features: the noise is uniform in the box of all features, not in the span of the rows."""
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(40, 60)) + 3 * (np.arange(40) % 2)[:, None]
    means, precisions = wide[:2], np.tile(np.eye(60), (2, 1, 1))
    settings = {"weights_init": [0.5, 0.5], "means_init": means, "precisions_init": precisions, "reg_covar": 1.0}
    model = GMM(2, noise="auto", **settings, tol=0, max_iter=3).fit(wide)
    check_equal(model, brute_force(wide, means, "full", 3, reg_covar=1.0), 1e-9)
    drawn = GMM(2, noise="auto", reg_covar=1.0, random_state=0).fit(wide)
    assert adjusted_rand_score(np.arange(40) % 2, drawn.labels_) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_acceleration_reaches_the_same_optimum(kind):
    settings = {"covariance_type": kind, "noise": "auto", **given(kind), "tol": 1e-12, "max_iter": 3000}
    plain = GMM(4, **settings).fit(X)
    fast = GMM(4, **settings, accelerate=True).fit(X)
    assert plain.converged_ and fast.converged_
    assert fast.objective_ == pytest.approx(plain.objective_, abs=1e-9)
    assert fast.noise_weight_ == pytest.approx(plain.noise_weight_, abs=1e-4)


# What it finds --------------------------------------------------------------------------------------------------------


def test_noise_among_gaussians():
    """On such data the sheet has recall .71, precision .94, ARI of the rest .991; another draw, so about these."""
    found = []
    for seed in range(5):
        X, y = with_noise(seed)
        model = GMM(4, noise="auto", tol=1e-6, max_iter=1000, random_state=0).fit(X)
        out = model.outlier_mass_ > 0.5
        found.append([out[y < 0].mean(), (y < 0)[out].mean(), adjusted_rand_score(y[y >= 0], model.labels_[y >= 0])])
        assert model.noise_weight_ == pytest.approx(90 / 690, abs=0.03)
    recall, precision, agreement = np.mean(found, axis=0)
    assert recall > 0.68 and precision > 0.9 and agreement > 0.97


def test_a_trimmed_start_ignores_gross_outliers():
    """The plain k-means start gives the outliers a component of their own, the trimmed one does not."""
    rng = np.random.default_rng(3)
    B, y = make_blobs(300, centers=[[0, 0], [6, 0], [3, 5]], random_state=3)
    rows = np.concatenate([B, rng.uniform(-60, 60, (12, 2))])
    means = {}
    for init in ("kmeans", "trimmed"):
        model = GMM(3, init=init)
        blocks = model._blocks(rows)
        (state,) = model._starts(blocks, np.random.RandomState(0))
        means[init] = blocks.frame.to_input(state.means)
    assert np.abs(means["kmeans"]).max() > 10
    for center in ([0, 0], [6, 0], [3, 5]):
        assert np.linalg.norm(means["trimmed"] - center, axis=1).min() < 0.5
    plain, noise = (GMM(3, noise=noise, random_state=0).fit(rows).labels_[:300] for noise in (None, "auto"))
    assert adjusted_rand_score(y, plain) < 0.7
    assert adjusted_rand_score(y, noise) > 0.97


def test_clean_data_have_no_noise():
    iris = load_iris().data
    model = GMM(3, noise="auto", tol=1e-12, max_iter=10_000, random_state=0).fit(iris)
    assert 0 < model.noise_weight_ < 1e-12
    plain = GMM(3, init=model.memberships_, tol=1e-12, max_iter=10_000).fit(iris)
    assert model.objective_ == pytest.approx(plain.objective_, abs=1e-9)
    np.testing.assert_allclose(model.memberships_, plain.memberships_, rtol=0, atol=1e-4)


def test_noise_that_takes_most_rows_is_reported():
    moons = make_moons(800, noise=0.05, random_state=0)[0]
    with pytest.warns(ConvergenceWarning, match=r"not Gaussian: noise took 7\d% of the rows; use noise=None"):
        model = GMM(2, noise="auto", tol=1e-5, max_iter=1000, random_state=0).fit(moons)
    assert model.noise_weight_ > 0.7


def test_rows_far_from_everything_are_noise():
    model = GMM(4, noise="auto", random_state=0).fit(X)
    far = np.array([[1e3, 1e3], [-1e150, 1e150]])
    np.testing.assert_allclose(model.predict_outlier_mass(far), 1)
    U = model.predict_memberships(far)
    assert np.isfinite(U).all()
    np.testing.assert_allclose(U.sum(axis=1), 1)
    clean = GMM(1, noise="auto", tol=1e-9, max_iter=1000, random_state=0).fit(
        np.random.default_rng(0).normal(size=(500, 2))
    )
    assert clean.predict_outlier_mass([[50.0, 50.0]])[0] == pytest.approx(1)


# Likelihoods and draws ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_likelihood_and_criteria_include_the_noise(kind):
    model = GMM(4, covariance_type=kind, noise="auto", random_state=0).fit(X)
    parts = zip(model.weights_, model.centers_, covariance_matrices(model), strict=True)
    density = sum(w * multivariate_normal(m, C).pdf(X) for w, m, C in parts)
    uniform = model.noise_weight_ / np.prod(np.ptp(X, axis=0))
    np.testing.assert_allclose(model.score_samples(X), np.log(density + uniform), atol=1e-11)
    np.testing.assert_allclose(model.outlier_mass_, uniform / (density + uniform), atol=1e-12)
    assert model.score(X) == pytest.approx(np.log(density + uniform).mean(), abs=1e-12)
    assert model.weights_.sum() + model.noise_weight_ == pytest.approx(1, abs=1e-14)
    # K means, covariances, and K + 1 weights that sum to 1.
    n_parameters = 8 + {"full": 12, "tied": 3, "diag": 8, "spherical": 4}[kind] + 4
    log_likelihood = len(X) * model.score(X)
    assert model.bic(X) == pytest.approx(-2 * log_likelihood + n_parameters * np.log(len(X)))
    assert model.aic(X) == pytest.approx(-2 * log_likelihood + 2 * n_parameters)


@pytest.mark.parametrize("volume", ["auto", 2000.0])
def test_samples_of_the_noise_fill_its_box(volume):
    model = GMM(4, noise=volume, random_state=0).fit(X)
    drawn, labels = model.sample(40_000)
    shares = np.bincount(labels + 1) / len(labels)
    np.testing.assert_allclose(shares, [model.noise_weight_, *model.weights_], atol=0.01)
    noise = drawn[labels == -1]
    middle, half = (X.max(axis=0) + X.min(axis=0)) / 2, np.ptp(X, axis=0) / 2
    if volume != "auto":
        half = half * np.sqrt(volume / np.prod(2 * half))
    assert np.all(np.abs(noise - middle) <= half * (1 + 1e-12))
    np.testing.assert_allclose(noise.mean(axis=0), middle, atol=0.4)
    np.testing.assert_allclose(noise.std(axis=0), half / np.sqrt(3), rtol=0.03)
    for k in range(4):
        np.testing.assert_allclose(drawn[labels == k].mean(axis=0), model.centers_[k], atol=0.1)


# Invariances ----------------------------------------------------------------------------------------------------------


def test_weights_are_repetitions():
    counts = np.random.default_rng(2).integers(0, 3, len(X))
    settings = {"noise": "auto", **given("full"), "tol": 0, "max_iter": 8}
    weighted = GMM(4, **settings).fit(X, sample_weight=counts)
    repeated = GMM(4, **settings).fit(X.repeat(counts, axis=0))
    assert weighted.outlier_mass_.shape == (len(X),)
    np.testing.assert_allclose(weighted.outlier_mass_, repeated.predict_outlier_mass(X), atol=1e-10)
    assert weighted.noise_weight_ == pytest.approx(repeated.noise_weight_, abs=1e-12)


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**40])
def test_units_do_not_matter(scale):
    plain = GMM(4, noise="auto", random_state=0).fit(X)
    model = GMM(4, noise="auto", reg_covar=1e-6 * scale**2, random_state=0).fit(X * scale)
    np.testing.assert_allclose(model.outlier_mass_, plain.outlier_mass_, atol=1e-9)
    assert model.noise_volume_ == pytest.approx(plain.noise_volume_ * scale**2)
    assert model.objective_ == pytest.approx(plain.objective_ - 2 * np.log(scale))


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_volumes_beyond_the_range_of_floats(scale):
    """The volume of 200 features is no float; its logarithm is."""
    rng = np.random.default_rng(0)
    B = rng.normal(size=(300, 200)) + 4 * (np.arange(300) % 2)[:, None]
    model = GMM(2, covariance_type="diag", noise="auto", reg_covar=0, random_state=0).fit(B * scale)
    assert model.noise_volume_ in (0, np.inf)
    assert model.noise_weight_ < 1e-6
    assert np.isfinite(model.objective_)
    assert adjusted_rand_score(np.arange(300) % 2, model.labels_) == 1


def test_constant_features_are_left_out_of_the_volume():
    with_constant = np.column_stack([X, np.full(len(X), 7.0)])
    model = GMM(4, noise="auto", random_state=0).fit(with_constant)
    assert model.noise_volume_ == pytest.approx(np.prod(np.ptp(X, axis=0)))
    drawn, labels = model.sample(1000)
    assert np.all(drawn[labels == -1][:, 2] == 7)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_identical_rows():
    model = GMM(2, noise="auto", random_state=0).fit(np.ones((30, 2)))
    assert np.isfinite(model.memberships_).all() and model.noise_volume_ == 1


def test_float32():
    settings = {"noise": "auto", **given("full"), "tol": 0, "max_iter": 8}
    single, double = GMM(4, **settings).fit(X.astype(np.float32)), GMM(4, **settings).fit(X)
    assert single.outlier_mass_.dtype == single.predict_outlier_mass(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.outlier_mass_, double.outlier_mass_, atol=1e-4)


def test_dask():
    da = pytest.importorskip("dask.array")
    settings = {"noise": "auto", **given("full"), "tol": 0, "max_iter": 8}
    model, lazy = GMM(4, **settings).fit(X), da.from_array(X, chunks=(100, 2))
    chunked = GMM(4, **settings).fit(lazy)
    assert chunked.noise_weight_ == pytest.approx(model.noise_weight_, abs=1e-12)
    np.testing.assert_allclose(chunked.outlier_mass_.compute(), model.outlier_mass_, atol=1e-10)
    np.testing.assert_allclose(model.predict_outlier_mass(lazy).compute(), model.outlier_mass_, atol=1e-12)
    assert GMM(4, noise="auto", random_state=0).fit(lazy).noise_weight_ == pytest.approx(0.1, abs=0.05)


# The protocol ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["kmeans", "trimmed", "k-means++", "random", "random_from_data"])
def test_the_noise_starts_at_five_percent(init):
    model = GMM(4, noise="auto", init=init, random_state=0)
    blocks = model._blocks(X)
    model._resolve(blocks)
    (state,) = model._starts(blocks, np.random.RandomState(0))
    assert state.noise == 0.05
    assert state.weights.sum() == pytest.approx(0.95)


def test_one_more_batch():
    """Online EM by its equations: shares of components and noise move by the step size towards those of the batch."""
    first, batch = X[::2], X[1::2]
    model = GMM(4, noise="auto", **given("full"), random_state=0).fit(first)
    seen = (1 - model.outlier_mass_).sum()
    past, noise = model.weights_.copy(), model.noise_weight_
    mass, U = model.predict_outlier_mass(batch), model.predict_memberships(batch)
    new = U * (1 - mass)[:, None]
    rate = (new.sum() / (seen + new.sum())) ** 0.6
    model.partial_fit(batch)
    np.testing.assert_allclose(model.weights_, (1 - rate) * past + rate * new.mean(axis=0), atol=1e-10)
    assert model.noise_weight_ == pytest.approx((1 - rate) * noise + rate * mass.mean(), abs=1e-10)
    assert not hasattr(model, "outlier_mass_")


def test_parameters_set_after_the_fit_do_not_matter():
    model = GMM(4, noise="auto", random_state=0).fit(X)
    bic = model.bic(X)
    model.set_params(noise=None)
    np.testing.assert_array_equal(model.predict_outlier_mass(X), model.outlier_mass_)
    assert model.bic(X) == bic
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_outlier_mass(X), model.outlier_mass_)
    model.fit(X)
    assert not any(hasattr(model, name) for name in ("outlier_mass_", "noise_weight_", "noise_volume_"))
    assert not hasattr(model, "predict_outlier_mass") and hasattr(GMM(noise=2.0), "predict_outlier_mass")
    assert model.weights_.sum() == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("noise", [0, -1.0, np.inf, "box"])
def test_bad_noise_is_named(noise):
    with pytest.raises(ValueError, match="'noise' parameter of GMM"):
        GMM(4, noise=noise).fit(X)


def test_fewer_rows_than_a_trimmed_start_would_leave():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n in (1, 2, 5, 25):
            model = GMM(n, noise="auto", random_state=0).fit(X[:n])
            assert model.memberships_.shape == (n, n)
