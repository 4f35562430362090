"""Beta-Gaussian mixture: densities, planted components, limits, the two forms of input, degenerate data."""

import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from soft_clustering import BGMM, GMM
from soft_clustering.engine import blocks as blocks_module
from soft_clustering.mixture.dirichlet import maximum_likelihood

pytestmark = pytest.mark.filterwarnings("ignore:BGMM did not converge", "ignore:GMM did not converge")

KINDS = ("diag", "full", "spherical", "tied")
IRIS = load_iris().data


def planted(separation, seed, n=600):
    """Three components, 4 Gaussian and 3 beta features; X, beta view, labels, labels of the true parameters."""
    rng = np.random.RandomState(seed)
    share = np.array([0.5, 0.3, 0.2])
    y = rng.choice(3, n, p=share)
    means = separation * rng.normal(size=(3, 4))
    a, b = rng.uniform(1, 1 + 3 * separation, (2, 3, 3))
    X, B = rng.normal(means[y]), rng.beta(a[y], b[y])
    joint = [
        np.log(share[k]) + stats.norm(means[k]).logpdf(X).sum(axis=1) + stats.beta(a[k], b[k]).logpdf(B).sum(axis=1)
        for k in range(3)
    ]
    return X, B, y, np.argmax(joint, axis=0)


X, B, _, _ = planted(1.5, 0, 300)
START = np.random.default_rng(0).dirichlet(np.ones(3), 300)


def covariance_matrices(model):
    K, d = model.means_.shape
    C = model.covariances_
    return {
        "full": lambda: C,
        "tied": lambda: np.broadcast_to(C, (K, d, d)),
        "diag": lambda: np.stack([np.diag(c) for c in C]),
        "spherical": lambda: np.stack([np.eye(d) * c for c in C]),
    }[model.covariance_type]()


def log_joint(model, X, B):
    """log(pi_k N(x | k) prod_j Beta(y_j | k)), by loops over components and features."""
    D = np.zeros((len(X), model.n_clusters_))
    for k, covariance in enumerate(covariance_matrices(model)):
        D[:, k] = np.log(model.weights_[k]) + stats.multivariate_normal(model.means_[k], covariance).logpdf(X)
        for j in range(B.shape[1]):
            D[:, k] += stats.beta(model.beta_a_[k, j], model.beta_b_[k, j]).logpdf(B[:, j])
    return D


# The model ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_densities_against_scipy(kind):
    model = BGMM(3, covariance_type=kind, random_state=0).fit(X, X_beta=B)
    D = log_joint(model, X, B)
    rows = np.logaddexp.reduce(D, axis=1)
    np.testing.assert_allclose(model.score_samples(X, X_beta=B), rows, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.memberships_, np.exp(D - rows[:, None]), rtol=0, atol=1e-10)
    assert model.objective_ == pytest.approx(rows.mean(), abs=1e-11)
    assert model.score(X, X_beta=B) == pytest.approx(model.objective_, abs=1e-12)


@pytest.mark.parametrize("update", ["ml", "moments"])
def test_one_pass_by_loops(update):
    weight = np.random.default_rng(1).uniform(0.5, 2, 300)
    model = BGMM(3, init=START, max_iter=1, beta_update=update).fit(X, X_beta=B, sample_weight=weight)

    def m_step(R):
        result = SimpleNamespace(n_clusters_=3, covariance_type="diag", means_=np.zeros((3, 4)), weights_=np.zeros(3))
        result.covariances_, result.beta_a_, result.beta_b_ = np.zeros((3, 4)), np.zeros((3, 3)), np.zeros((3, 3))
        for k in range(3):
            w = weight * R[:, k]
            result.weights_[k] = w.sum() / weight.sum()
            for j in range(4):
                mean = result.means_[k, j] = (w * X[:, j]).sum() / w.sum()
                result.covariances_[k, j] = (w * (X[:, j] - mean) ** 2).sum() / w.sum() + 1e-6
            for j in range(3):
                y = B[:, j]
                if update == "ml":
                    a, b = maximum_likelihood(np.array([[w @ np.log(y), w @ np.log(1 - y)]]) / w.sum())[0]
                else:
                    mean = (w * y).sum() / w.sum()
                    variance = (w * (y - mean) ** 2).sum() / w.sum()
                    a, b = np.array([mean, 1 - mean]) * (mean * (1 - mean) / variance - 1)
                result.beta_a_[k, j], result.beta_b_[k, j] = a, b
        return result

    start = m_step(START)
    D = log_joint(start, X, B)
    rows = np.logaddexp.reduce(D, axis=1)
    assert model.objective_history_[0] == pytest.approx(np.average(rows, weights=weight), abs=1e-10)
    expected = m_step(np.exp(D - rows[:, None]))
    for name in ("weights_", "means_", "covariances_", "beta_a_", "beta_b_"):
        np.testing.assert_allclose(getattr(model, name), getattr(expected, name), rtol=1e-8)


def test_one_component_is_a_normal_and_a_beta_fit():
    y = np.random.RandomState(0).beta(2.5, 7, 5000)
    x = np.random.RandomState(1).normal(3, 2, 5000)
    model = BGMM(1).fit(x, X_beta=y)
    assert (model.beta_a_.round(4)[0, 0], model.beta_b_.round(4)[0, 0]) == (2.5394, 7.1232)
    np.testing.assert_allclose([model.beta_a_[0, 0], model.beta_b_[0, 0]], stats.beta.fit(y, floc=0, fscale=1)[:2])
    assert model.means_[0, 0] == pytest.approx(x.mean(), rel=1e-12)
    assert model.covariances_[0, 0] == pytest.approx(x.var() + 1e-6, rel=1e-12)


def test_three_components_of_one_feature_each():
    # Identical starting components never part; this has to.
    for seed in range(3):
        rng = np.random.RandomState(seed)
        y = np.repeat(np.arange(3), 200)
        x, b = rng.normal(6.0 * y), rng.beta(np.array([2, 5, 8])[y], np.array([8, 5, 2])[y])
        model = BGMM(3, random_state=0).fit(x, X_beta=b)
        assert adjusted_rand_score(y, model.labels_) >= 0.98
        assert model.centers_.shape == (3, 2)


@pytest.mark.parametrize("separation, seed", [(1.0, 0), (1.0, 2), (1.5, 0), (1.5, 2), (3.0, 0), (3.0, 1), (3.0, 2)])
def test_planted_components(separation, seed):
    X, B, y, rule = planted(separation, seed)
    model = BGMM(3, random_state=0).fit(X, X_beta=B)
    found, best = adjusted_rand_score(y, model.labels_), adjusted_rand_score(y, rule)
    assert found >= best - 0.03
    if separation == 3:
        assert found >= 0.98
    else:
        alone = GMM(3, covariance_type="diag", n_init=3, random_state=0).fit(X)
        assert found > adjusted_rand_score(y, alone.labels_)
    assert np.diff(model.objective_history_).min() > -1e-11
    moments = BGMM(3, beta_update="moments", random_state=0).fit(X, X_beta=B)
    assert model.objective_ > moments.objective_
    assert adjusted_rand_score(y, moments.labels_) == pytest.approx(found, abs=0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_likelihood_never_falls(kind):
    for seed in range(3):
        X, B, _, _ = planted(1.0, seed, 200)
        history = BGMM(4, covariance_type=kind, random_state=seed).fit(X, X_beta=B).objective_history_
        assert np.diff(history).min() > -1e-11


# Limits ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_without_beta_features_it_is_a_gaussian_mixture(kind):
    U = START[:150]
    ours = BGMM(3, covariance_type=kind, init=U).fit(IRIS)
    expected = GMM(3, covariance_type=kind, init=U, tol=1e-9, max_iter=300, accelerate=True).fit(IRIS)
    assert ours.n_iter_ == expected.n_iter_
    np.testing.assert_allclose(ours.memberships_, expected.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(ours.covariances_, expected.covariances_, rtol=0, atol=1e-9)
    assert ours.bic(IRIS) == pytest.approx(expected.bic(IRIS), rel=1e-12)
    assert ours.aic(IRIS) == pytest.approx(expected.aic(IRIS), rel=1e-12)
    assert ours.beta_a_.shape == (3, 0)
    np.testing.assert_array_equal(ours.means_, ours.centers_)


def test_constant_beta_view_says_nothing():
    ours = BGMM(3, init=START, tol=1e-15, max_iter=1000).fit(X, X_beta=np.full(300, 0.3))
    expected = GMM(3, covariance_type="diag", init=START, tol=1e-15, max_iter=1000, accelerate=True).fit(X)
    np.testing.assert_allclose(ours.memberships_, expected.memberships_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.centers_[:, -1], 0.3, rtol=1e-5)


def test_constant_gaussian_view_says_nothing():
    model = BGMM(3, init=START).fit(np.zeros(300), X_beta=B)
    wide = BGMM(3, init=START).fit(np.full(300, 1e6), X_beta=B)
    np.testing.assert_allclose(wide.memberships_, model.memberships_, rtol=0, atol=1e-9)
    assert model.memberships_.max() > 0.9


# The two forms of input -----------------------------------------------------------------------------------------------


def test_columns_and_a_second_view_are_the_same():
    view = BGMM(3, init=START).fit(X, X_beta=B)
    mixed = np.column_stack([B[:, 0], X[:, :2], B[:, 1:], X[:, 2:]])
    order = [1, 2, 5, 6, 0, 3, 4]
    for columns in ([0, 3, 4], [True, False, False, True, True, False, False]):
        model = BGMM(3, init=START, beta_features=columns).fit(mixed)
        np.testing.assert_allclose(model.memberships_, view.memberships_, rtol=0, atol=1e-12)
        np.testing.assert_allclose(model.beta_a_, view.beta_a_, rtol=1e-10)
        np.testing.assert_allclose(model.means_, view.means_, rtol=1e-12)
        np.testing.assert_allclose(model.centers_[:, order], view.centers_, rtol=1e-12)
        np.testing.assert_allclose(model.predict_memberships(mixed), model.memberships_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(view.centers_, np.hstack([view.means_, view.beta_a_ / (view.beta_a_ + view.beta_b_)]))
    assert view.n_features_in_ == 4


def test_every_method_takes_the_second_view():
    model = BGMM(3, random_state=0).fit(X, X_beta=B)
    U = model.memberships_
    for name in ("predict_memberships", "predict_proba", "transform"):
        np.testing.assert_allclose(getattr(model, name)(X, X_beta=B), U, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X, X_beta=B), model.labels_)
    np.testing.assert_array_equal(BGMM(3, random_state=0).fit_predict(X, X_beta=B), model.labels_)
    np.testing.assert_allclose(BGMM(3, random_state=0).fit_transform(X, X_beta=B), U, rtol=0, atol=1e-12)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_memberships(X, X_beta=B), model.predict_memberships(X, X_beta=B))
    for name in ("predict", "predict_memberships", "transform", "score", "score_samples", "bic", "aic", "aic3", "icl"):
        with pytest.raises(ValueError, match="X_beta must be given"):
            getattr(model, name)(X)


def test_warnings_point_at_the_call_of_fit():
    with pytest.warns(ConvergenceWarning) as record:
        BGMM(3, init=START, max_iter=2, tol=0).fit(X, X_beta=B)
    assert {warning.filename for warning in record} == {__file__}


def test_a_refit_forgets_the_second_view():
    model = BGMM(3, random_state=0).fit(X, X_beta=B).fit(X)
    assert model.beta_a_.size == 0
    np.testing.assert_allclose(model.predict_memberships(X), model.memberships_, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="X_beta must be None"):
        model.predict(X, X_beta=B)


def test_frames_and_output():
    frame, shares = pd.DataFrame(X, columns=list("abcd")), pd.DataFrame(B, columns=list("efg"))
    model = BGMM(3, random_state=0).set_output(transform="pandas").fit(frame, X_beta=shares)
    out = model.transform(frame, X_beta=shares)
    assert list(out.columns) == ["bgmm0", "bgmm1", "bgmm2"]
    fresh = BGMM(3, random_state=0).set_output(transform="pandas").fit_transform(frame, X_beta=shares)
    np.testing.assert_allclose(fresh.to_numpy(), out.to_numpy(), rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="X_beta is not valid"):
        model.predict(frame, X_beta=shares[["g", "f", "e"]])


def test_dask_views():
    da = pytest.importorskip("dask.array")
    expected = BGMM(3, init=START).fit(X, X_beta=B)
    lazy, shares = da.from_array(X, chunks=(70, 2)), da.from_array(B, chunks=(50, 3))
    for second in (shares, B):
        model = BGMM(3, init=START).fit(lazy, X_beta=second)
        np.testing.assert_allclose(model.memberships_.compute(), expected.memberships_, rtol=0, atol=1e-9)
        assert model.icl(lazy, X_beta=second) == pytest.approx(expected.icl(X, X_beta=B), rel=1e-10)
    with pytest.raises(ValueError, match=r"X_beta must have entries in \[0, 1\]"):
        BGMM(3).fit(lazy, X_beta=shares * 2)


def test_memory_map(tmp_path):
    both = np.hstack([X, B])
    both.tofile(tmp_path / "rows")
    mapped = np.memmap(tmp_path / "rows", mode="r", shape=both.shape, dtype=np.float64)
    expected = BGMM(3, beta_features=[4, 5, 6], random_state=0).fit(both)
    model = BGMM(3, beta_features=[4, 5, 6], random_state=0).fit(mapped)
    np.testing.assert_array_equal(model.memberships_, expected.memberships_)


def test_float32():
    wide = BGMM(3, init=START).fit(X, X_beta=B)
    narrow = BGMM(3, init=START).fit(X.astype(np.float32), X_beta=B.astype(np.float32))
    assert narrow.memberships_.dtype == narrow.centers_.dtype == np.float32
    np.testing.assert_allclose(narrow.memberships_, wide.memberships_, atol=1e-3)


@pytest.mark.parametrize("scale, offset", [(2.0**-400, 0), (2.0**400, 0), (1.0, 2.0**26)])
def test_units_of_the_gaussian_view_do_not_matter(scale, offset):
    exact = np.round(X * 64) / 64
    plain = BGMM(3, init=START, reg_covar=0).fit(exact, X_beta=B)
    other = BGMM(3, init=START, reg_covar=0).fit(exact * scale + offset, X_beta=B)
    np.testing.assert_allclose(other.memberships_, plain.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(other.beta_a_, plain.beta_a_, rtol=1e-8)
    assert other.objective_ == pytest.approx(plain.objective_ - 4 * np.log(scale), rel=1e-12)


def test_reg_covar_is_in_input_units():
    for scale in (1.0, 1e-3):
        model = BGMM(1, reg_covar=0.5).fit(X * scale, X_beta=B)
        np.testing.assert_allclose(model.covariances_[0], (X * scale).var(axis=0) + 0.5, rtol=1e-10)


@pytest.mark.parametrize(
    "columns, X_beta, message",
    [
        ([0], None, r"The columns beta_features of X must have entries in \[0, 1\]"),
        ([4], None, "beta_features must be column indices from 0 to 3"),
        ([0, 1, 2, 3], None, "beta_features must leave a Gaussian feature"),
        ([0], B, "beta_features must be None if X_beta is given"),
        (None, B - 0.5, r"X_beta must have entries in \[0, 1\]"),
        (None, B[:10], "X_beta must have as many rows as X"),
        ("first", None, "'beta_features' parameter"),
    ],
)
def test_bad_views(columns, X_beta, message):
    with pytest.raises(ValueError, match=message):
        BGMM(3, beta_features=columns).fit(X, X_beta=X_beta)


def test_new_entries_outside_are_refused():
    model = BGMM(3, random_state=0).fit(X, X_beta=B)
    with pytest.raises(ValueError, match=r"X_beta must have entries in \[0, 1\]"):
        model.predict(X, X_beta=B + 1)


def test_entries_at_the_border_are_moved_inside():
    edged = B.copy()
    edged[:5], edged[5:10] = 0.0, 1.0
    model = BGMM(3, init=START).fit(X, X_beta=edged)
    moved = BGMM(3, init=START).fit(X, X_beta=np.clip(edged, 1e-6, 1 - 1e-6))
    np.testing.assert_allclose(model.memberships_, moved.memberships_, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"covariance_type": "round"}, "'covariance_type' parameter"),
        ({"beta_update": "em"}, "'beta_update' parameter"),
        ({"init": "k-means++"}, "'init' parameter"),
        ({"init": np.ones((300, 3))}, "rows that sum to 1"),
        ({"reg_covar": -1.0}, "'reg_covar' parameter"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        BGMM(3, **parameters).fit(X, X_beta=B)


# Criteria, weights, degenerate cases ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind, covariance", [("diag", 3 * 4), ("full", 3 * 10), ("spherical", 3), ("tied", 10)])
def test_criteria(kind, covariance):
    model = BGMM(3, covariance_type=kind, random_state=0).fit(X, X_beta=B)
    likelihood, p = 300 * model.objective_, 2 + 3 * 4 + covariance + 2 * 3 * 3
    assert model.bic(X, X_beta=B) == pytest.approx(-2 * likelihood + p * np.log(300), rel=1e-12)
    assert model.aic(X, X_beta=B) == pytest.approx(-2 * likelihood + 2 * p, rel=1e-12)
    assert model.aic3(X, X_beta=B) == pytest.approx(-2 * likelihood + 3 * p, rel=1e-12)
    U = np.maximum(model.memberships_, 1e-300)
    entropy = -(U * np.log(U)).sum()
    assert entropy > 1
    assert model.icl(X, X_beta=B) == pytest.approx(model.bic(X, X_beta=B) + 2 * entropy, rel=1e-10)
    for name in ("bic", "aic", "aic3", "icl"):
        twice = getattr(model, name)(np.repeat(X, 2, axis=0), X_beta=np.repeat(B, 2, axis=0))
        assert getattr(model, name)(X, X_beta=B, sample_weight=np.full(300, 2.0)) == pytest.approx(twice, rel=1e-12)


def test_criteria_find_the_number_of_components():
    X, B, _, _ = planted(3.0, 1)
    models = {K: BGMM(K, random_state=0).fit(X, X_beta=B) for K in (2, 3, 4)}
    for name in ("bic", "icl"):
        assert min(models, key=lambda K: getattr(models[K], name)(X, X_beta=B)) == 3


@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.integers(0, 10_000), st.sampled_from(KINDS), st.sampled_from(["ml", "moments"]))
def test_weights_are_repetitions(seed, kind, update):
    rng = np.random.default_rng(seed)
    X, B, _, _ = planted(1.5, seed, 60)
    start, counts = rng.dirichlet(np.ones(2), 60), rng.integers(0, 4, 60)
    counts[:5] = counts[-5:] = 2
    options = {"covariance_type": kind, "beta_update": update, "max_iter": 5, "tol": 0}
    weighted = BGMM(2, init=start, **options).fit(X, X_beta=B, sample_weight=counts)
    twice = [part.repeat(counts, axis=0) for part in (start, X, B)]
    repeated = BGMM(2, init=twice[0], **options).fit(twice[1], X_beta=twice[2])
    np.testing.assert_allclose(weighted.centers_, repeated.centers_, atol=1e-8)
    np.testing.assert_allclose(
        weighted.predict_memberships(X, X_beta=B), repeated.predict_memberships(X, X_beta=B), atol=1e-7
    )


def test_pieces_do_not_matter(monkeypatch):
    whole = BGMM(3, covariance_type="full", init=START).fit(X, X_beta=B)
    monkeypatch.setattr(blocks_module, "_PIECE", 70)
    pieces = BGMM(3, covariance_type="full", init=START).fit(X, X_beta=B)
    np.testing.assert_allclose(pieces.memberships_, whole.memberships_, rtol=0, atol=1e-9)


@pytest.mark.parametrize("update", ["ml", "moments"])
def test_empty_component_warns(update):
    start = np.zeros((300, 3))
    start[:150, 0] = start[150:, 1] = 1
    with pytest.warns(ConvergenceWarning, match="1 of 3 components empty"):
        model = BGMM(3, init=start, beta_update=update).fit(X, X_beta=B)
    assert np.isfinite(model.centers_).all()


def test_crossing_components_are_not_the_same():
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(400, 2)) * [5, 0.2]
    cross = np.concatenate([flat, flat[:, ::-1]])
    model = BGMM(2, init=np.repeat(np.eye(2), 400, axis=0) * 0.9 + 0.05).fit(cross)
    assert model._n_distinct(model._state) == 2


def test_fewer_distinct_points_than_components_warn():
    points = np.repeat([[0.0, 0.2], [3.0, 0.7]], 15, axis=0)
    with pytest.warns(ConvergenceWarning, match="2 distinct components, fewer than n_clusters=3"):
        BGMM(3, beta_features=[1], random_state=0).fit(points)


def test_singular_covariance_is_explained():
    with pytest.raises(ValueError, match="Increase reg_covar"):
        BGMM(2, reg_covar=0, init=START[:20, :2] + START[:20, 2:] / 2).fit(np.ones((20, 1)), X_beta=B[:20])


def test_moments_of_entries_at_both_ends():
    shares = np.tile([0.0, 1.0], 30)
    model = BGMM(1, beta_update="moments").fit(X[:60], X_beta=shares)
    np.testing.assert_allclose([model.beta_a_[0, 0], model.beta_b_[0, 0]], 0.05, rtol=1e-4)
