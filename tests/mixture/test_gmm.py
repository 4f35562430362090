"""GMM: facts of its sheet, invariances, degenerate cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from soft_clustering import GMM, kernels
from soft_clustering.engine.blocks import Subspace

pytestmark = pytest.mark.filterwarnings("ignore:GMM did not converge")

KINDS = ("full", "tied", "diag", "spherical")
IRIS = load_iris().data


def covariance_matrices(model):
    K, d = model.centers_.shape
    C = model.covariances_
    return {
        "full": lambda: C,
        "tied": lambda: np.broadcast_to(C, (K, d, d)),
        "diag": lambda: np.stack([np.diag(c) for c in C]),
        "spherical": lambda: np.stack([np.eye(d) * c for c in C]),
    }[model.covariance_type]()


@pytest.mark.parametrize(
    "kind, bic, aic",
    [
        ("full", 580.861, 448.393),
        ("tied", 633.846, 561.591),
        ("diag", 744.640, 666.364),
        ("spherical", 853.824, 802.643),
    ],
)
def test_iris_criteria(kind, bic, aic):
    model = GMM(3, covariance_type=kind, random_state=0).fit(IRIS)
    assert model.bic(IRIS) == pytest.approx(bic, abs=1e-3)
    assert model.aic(IRIS) == pytest.approx(aic, abs=1e-3)
    if kind == "full":
        assert model.n_iter_ == 17


@pytest.mark.parametrize("kind", KINDS)
def test_densities_against_scipy(kind):
    model = GMM(3, covariance_type=kind, random_state=0).fit(IRIS)
    joint = np.stack(
        [
            w * multivariate_normal(mean, covariance).pdf(IRIS)
            for w, mean, covariance in zip(model.weights_, model.centers_, covariance_matrices(model), strict=True)
        ],
        axis=1,
    )
    np.testing.assert_allclose(model.score_samples(IRIS), np.log(joint.sum(axis=1)), atol=1e-11)
    np.testing.assert_allclose(model.memberships_, joint / joint.sum(axis=1, keepdims=True), atol=1e-11)
    assert model.score(IRIS) == pytest.approx(model.objective_, abs=1e-13)
    assert model.objective_ == pytest.approx(np.log(joint.sum(axis=1)).mean(), abs=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_precisions_invert_covariances(kind):
    model = GMM(3, covariance_type=kind, random_state=0).fit(IRIS)
    if kind in ("full", "tied"):
        product = model.precisions_ @ model.covariances_
        np.testing.assert_allclose(product, np.broadcast_to(np.eye(4), product.shape), atol=1e-9)
        assert np.all(np.tril(model.precisions_cholesky_, -1) == 0)
    else:
        np.testing.assert_allclose(model.precisions_ * model.covariances_, 1, atol=1e-12)


def test_likelihood_never_falls():
    for kind in KINDS:
        history = GMM(3, covariance_type=kind, random_state=0, tol=1e-9, max_iter=500).fit(IRIS).objective_history_
        assert np.diff(history).min() > -1e-11


def test_one_component_is_the_sample_covariance():
    model = GMM(1).fit(IRIS)
    np.testing.assert_allclose(model.centers_[0], IRIS.mean(axis=0), atol=1e-13)
    np.testing.assert_allclose(model.covariances_[0], np.cov(IRIS.T, bias=True) + 1e-6 * np.eye(4), atol=1e-13)
    assert np.all(model.memberships_ == 1)
    assert model.converged_


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(KINDS))
def test_weights_are_repetitions(seed, kind):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(30, 3)), rng.normal(size=(30, 3)) + 4])
    start = rng.dirichlet(np.ones(2), 60)
    counts = rng.integers(0, 4, 60)
    counts[:5] = counts[-5:] = 2
    weighted = GMM(2, covariance_type=kind, init=start, max_iter=5, tol=0).fit(X, sample_weight=counts)
    repeated = GMM(2, covariance_type=kind, init=start.repeat(counts, axis=0), max_iter=5, tol=0).fit(
        X.repeat(counts, axis=0)
    )
    np.testing.assert_allclose(weighted.centers_, repeated.centers_, atol=1e-9)
    np.testing.assert_allclose(weighted.predict_memberships(X), repeated.predict_memberships(X), atol=1e-8)
    assert weighted.bic(X, sample_weight=counts) == pytest.approx(repeated.bic(X.repeat(counts, axis=0)), rel=1e-9)
    assert weighted.aic(X, sample_weight=counts) == pytest.approx(repeated.aic(X.repeat(counts, axis=0)), rel=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(-1e6, 1e6), st.integers(-60, 60))
def test_affine_equivariance(seed, offset, power):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(40, 3)), rng.normal(size=(40, 3)) + 3])
    start = rng.dirichlet(np.ones(2), 80)
    A = rng.normal(size=(3, 3)) + 3 * np.eye(3)
    scale = 2.0**power
    plain = GMM(2, init=start, reg_covar=0, max_iter=10, tol=0).fit(X)
    moved = GMM(2, init=start, reg_covar=0, max_iter=10, tol=0).fit((X @ A + offset) * scale)
    np.testing.assert_allclose(moved.memberships_, plain.memberships_, atol=1e-6)
    shift = -np.log(abs(np.linalg.det(A))) - 3 * np.log(scale)
    assert moved.objective_ == pytest.approx(plain.objective_ + shift, abs=1e-6)


def test_tiny_clusters_far_apart_keep_their_covariances():
    # Moments about the global mean would lose these to cancellation.
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(400, 2)) * 1e-6
    X = noise + np.repeat([[0.0, 0.0], [1e3, 1e3]], 200, axis=0)
    model = GMM(2, reg_covar=0, random_state=0).fit(X)
    order = np.argsort(model.centers_[:, 0])
    for k, part in zip(order, (noise[:200], noise[200:]), strict=True):
        np.testing.assert_allclose(model.covariances_[k], np.cov(part.T, bias=True), rtol=1e-3)


def test_separated_blobs_are_recovered():
    X, y = make_blobs(1500, centers=4, random_state=42)
    assert adjusted_rand_score(y, GMM(4, random_state=0).fit(X).labels_) > 0.99
    X, y = make_blobs(1500, centers=4, cluster_std=[1, 2.5, 0.5, 3], random_state=42)
    assert adjusted_rand_score(y, GMM(4, random_state=0).fit(X).labels_) > 0.95


@pytest.mark.parametrize("kind", KINDS)
def test_samples_come_from_the_mixture(kind):
    model = GMM(2, covariance_type=kind, random_state=0).fit(IRIS)
    X, labels = model.sample(40_000)
    assert X.shape == (40_000, 4)
    np.testing.assert_allclose(np.bincount(labels) / len(labels), model.weights_, atol=0.01)
    for k, covariance in enumerate(covariance_matrices(model)):
        np.testing.assert_allclose(X[labels == k].mean(axis=0), model.centers_[k], atol=0.03)
        np.testing.assert_allclose(np.cov(X[labels == k].T), covariance, atol=0.03)
    assert model.sample()[0].shape == (1, X.shape[1])
    with pytest.raises(ValueError, match="n_samples"):
        model.sample(0)


@pytest.mark.parametrize("kind", KINDS)
def test_acceleration_reaches_the_same_optimum(kind):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(400, 2)), rng.normal([1.5, 0], size=(400, 2))])
    start = np.eye(2)[(X[:, 1] > 0).astype(int)] * 0.8 + 0.1
    plain = GMM(2, covariance_type=kind, init=start, tol=1e-10, max_iter=20_000).fit(X)
    fast = GMM(2, covariance_type=kind, init=start, tol=1e-10, max_iter=20_000, accelerate=True).fit(X)
    assert fast.converged_
    assert fast.objective_ >= plain.objective_ - 1e-7
    assert fast.n_iter_ < plain.n_iter_
    assert np.diff(fast.objective_history_).min() > -1e-11


@pytest.mark.parametrize("kind", KINDS)
def test_the_twins_give_the_same_fit(kind, monkeypatch):
    compiled = GMM(3, covariance_type=kind, random_state=0).fit(IRIS)
    monkeypatch.setattr(kernels, "compiled", None)
    twin = GMM(3, covariance_type=kind, random_state=0).fit(IRIS)
    np.testing.assert_allclose(twin.memberships_, compiled.memberships_, atol=1e-10)
    np.testing.assert_allclose(twin.score_samples(IRIS), compiled.score_samples(IRIS), atol=1e-10)


def test_float32():
    wide = GMM(3, random_state=0).fit(IRIS)
    narrow = GMM(3, random_state=0).fit(IRIS.astype(np.float32))
    assert narrow.memberships_.dtype == narrow.centers_.dtype == np.float32
    np.testing.assert_allclose(narrow.memberships_, wide.memberships_, atol=2e-4)


def test_identical_points_collapse_with_a_warning():
    X = np.ones((20, 3))
    with pytest.warns(ConvergenceWarning, match="collapsed"):
        model = GMM(2, init=np.full((20, 2), 0.5)).fit(X)
    np.testing.assert_allclose(model.memberships_, 0.5)
    np.testing.assert_allclose(model.covariances_, np.broadcast_to(1e-6 * np.eye(3), (2, 3, 3)), atol=1e-15)


@pytest.mark.parametrize(
    "reg_covar, remedy", [(1e-6, "use fewer clusters or another init"), (100.0, "reg_covar=100 exceeds")]
)
def test_collapse_names_the_remedy(reg_covar, remedy):
    """Equal memberships stay equal; the ridge is to blame only where it is larger than the variance of the features."""
    with pytest.warns(ConvergenceWarning, match=f"collapsed.*{remedy}"):
        GMM(2, init=np.full((150, 2), 0.5), reg_covar=reg_covar).fit(IRIS)


def test_empty_component_warns():
    X, _ = make_blobs(100, centers=2, random_state=0)
    start = np.zeros((100, 3))
    start[:50, 0] = start[50:, 1] = 1
    with pytest.warns(ConvergenceWarning, match="1 of 3 components empty"):
        model = GMM(3, init=start).fit(X)
    assert np.isfinite(model.memberships_).all()


@pytest.mark.parametrize("kind", KINDS)
def test_singular_covariance_is_explained(kind):
    X = np.ones((20, 3))
    with pytest.raises(ValueError, match="Increase reg_covar"):
        GMM(2, covariance_type=kind, reg_covar=0, init=np.full((20, 2), 0.5)).fit(X)


def test_given_start():
    reference = GMM(3, random_state=0).fit(IRIS)
    given = GMM(
        3,
        weights_init=reference.weights_,
        means_init=reference.centers_,
        precisions_init=reference.precisions_,
        max_iter=1,
    )
    given.fit(IRIS)
    assert given.objective_history_[0] == pytest.approx(reference.objective_, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_given_precisions_agree_with_sklearn(kind):
    ours = GMM(3, covariance_type=kind, random_state=0).fit(IRIS)
    P = ours.precisions_
    theirs = GaussianMixture(
        3, covariance_type=kind, precisions_init=P * 2, means_init=ours.centers_, random_state=1
    ).fit(IRIS)
    again = GMM(3, covariance_type=kind, precisions_init=P * 2, means_init=ours.centers_, random_state=1).fit(IRIS)
    np.testing.assert_allclose(again.memberships_, theirs.predict_proba(IRIS), atol=1e-10)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"weights_init": [0.5, 0.5, 0.5]}, "weights_init must be non-negative and sum to 1"),
        ({"weights_init": [0.5, 0.5]}, r"weights_init must have shape \(3,\)"),
        ({"means_init": np.zeros((2, 4))}, r"means_init must have shape \(3, 4\)"),
        ({"precisions_init": np.zeros((3, 4, 4))}, "precisions_init must be positive definite"),
        ({"precisions_init": np.triu(np.ones((3, 4, 4)))}, "precisions_init must be symmetric"),
        ({"precisions_init": [[1, 1, 1, 0.0]] * 3, "covariance_type": "diag"}, "precisions_init must be positive"),
        ({"init": np.ones((150, 3))}, "rows that sum to 1"),
        ({"init": np.ones((10, 3)) / 3}, r"init must have shape \(150, 3\)"),
        ({"init": "k-medoids"}, "'init' parameter"),
        ({"covariance_type": "round"}, "'covariance_type' parameter"),
        ({"reg_covar": -1.0}, "'reg_covar' parameter"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        GMM(3, **parameters).fit(IRIS)


def test_start_array_with_zero_weights():
    rng = np.random.default_rng(0)
    start = rng.dirichlet(np.ones(3), 150)
    weight = np.ones(150)
    weight[::3] = 0
    dropped = GMM(3, init=start[weight > 0]).fit(IRIS[weight > 0])
    zeroed = GMM(3, init=start).fit(IRIS, sample_weight=weight)
    assert zeroed.memberships_.shape == (150, 3)
    np.testing.assert_allclose(zeroed.memberships_[weight > 0], dropped.memberships_, atol=1e-14)


@pytest.mark.parametrize("init", ["kmeans", "k-means++", "random", "random_from_data"])
def test_starts_of_sklearn(init):
    X, _ = make_blobs(300, centers=3, random_state=1)
    theirs = GaussianMixture(3, init_params=init, n_init=3, random_state=5, max_iter=500).fit(X)
    ours = GMM(3, init=init, n_init=3, random_state=5, max_iter=500).fit(X)
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_allclose(ours.memberships_, theirs.predict_proba(X), atol=1e-10)


# Fewer rows than features ---------------------------------------------------------------------------------------------

WIDE, _ = make_blobs(60, 90, centers=3, cluster_std=6, random_state=1)


@pytest.mark.parametrize("kind", ["full", "tied"])
@pytest.mark.parametrize("reg_covar", [1e-3, 1000.0])
def test_wide_data_agree_with_sklearn(kind, reg_covar):
    theirs = GaussianMixture(3, covariance_type=kind, reg_covar=reg_covar, random_state=0).fit(WIDE)
    ours = GMM(3, covariance_type=kind, reg_covar=reg_covar, random_state=0).fit(WIDE)
    assert isinstance(ours._frame, Subspace)
    assert ours.n_iter_ == theirs.n_iter_
    new = WIDE[:20] + np.random.default_rng(0).normal(size=(20, 90))
    for rows in (WIDE, new):
        np.testing.assert_allclose(ours.predict_memberships(rows), theirs.predict_proba(rows), rtol=0, atol=1e-10)
        np.testing.assert_allclose(ours.score_samples(rows), theirs.score_samples(rows), rtol=1e-9)
    np.testing.assert_allclose(ours.centers_, theirs.means_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(ours.covariances_, theirs.covariances_, rtol=0, atol=1e-10)
    scale = np.abs(theirs.precisions_).max()
    np.testing.assert_allclose(ours.precisions_, theirs.precisions_, rtol=0, atol=1e-8 * scale)
    np.testing.assert_allclose(
        ours.precisions_cholesky_, theirs.precisions_cholesky_, rtol=0, atol=1e-8 * np.sqrt(scale)
    )
    assert ours.bic(WIDE) == pytest.approx(theirs.bic(WIDE), rel=1e-10)


def test_wide_data_have_soft_memberships_somewhere():
    memberships = GMM(3, reg_covar=1000.0, random_state=0).fit(WIDE).memberships_
    assert np.sort(memberships, axis=1)[:, -1].min() < 0.99  # else the agreement above says little


def test_wide_data_with_zero_weights_and_a_given_mean():
    weight = np.ones(60)
    weight[::4] = 0
    kept = weight > 0
    settings = {"n_clusters": 3, "means_init": WIDE[[1, 2, 3]] + 1, "reg_covar": 1.0, "random_state": 0}
    start = np.eye(3)[np.arange(60) % 3]
    zeroed = GMM(**settings, init=start).fit(WIDE, sample_weight=weight)
    dropped = GMM(**settings, init=start[kept]).fit(WIDE[kept])
    np.testing.assert_allclose(zeroed.memberships_[kept], dropped.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(zeroed.memberships_, dropped.predict_memberships(WIDE), rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["full", "tied"])
def test_samples_of_wide_data(kind):
    model = GMM(2, covariance_type=kind, reg_covar=4.0, random_state=0).fit(WIDE[:, :70][:40])
    assert isinstance(model._frame, Subspace)
    X, labels = model.sample(20_000)
    for k, covariance in enumerate(covariance_matrices(model)):
        rows = X[labels == k]
        np.testing.assert_allclose(rows.mean(axis=0), model.centers_[k], atol=0.6)
        gap = np.abs(np.cov(rows.T) - covariance).max()
        assert gap < 0.1 * np.abs(covariance).max()
        values = np.linalg.eigvalsh(np.cov(rows.T))
        assert values[0] == pytest.approx(4.0, rel=0.2)  # beyond the span


def test_wide_data_without_a_ridge_are_refused():
    with pytest.raises(ValueError, match="Increase reg_covar"):
        GMM(2, reg_covar=0, random_state=0).fit(WIDE[:20])


def test_wide_data_in_other_units():
    plain = GMM(3, reg_covar=1.0, random_state=0).fit(WIDE)
    for scale in (2.0**-30, 2.0**30):
        model = GMM(3, reg_covar=scale**2, random_state=0).fit(WIDE * scale)
        np.testing.assert_allclose(model.memberships_, plain.memberships_, rtol=0, atol=1e-9)
        assert model.objective_ == pytest.approx(plain.objective_ - 90 * np.log(scale), rel=1e-9)


def test_wide_dask_data_are_predicted():
    da = pytest.importorskip("dask.array")
    model = GMM(3, reg_covar=1.0, random_state=0).fit(WIDE)
    lazy = da.from_array(WIDE, chunks=(25, 90))
    np.testing.assert_allclose(model.predict_memberships(lazy).compute(), model.memberships_, rtol=0, atol=1e-9)
    assert model.score(lazy) == pytest.approx(model.objective_, rel=1e-9)
