"""StudentTMixture: SciPy's t distribution, the Gaussian limit, the fixed point, outliers, gaps, degenerate cases."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from soft_clustering import GMM, StudentTMixture
from soft_clustering.engine.blocks import Blocks
from soft_clustering.mixture.student_t import dof_of

IRIS = load_iris().data
WINE = StandardScaler().fit_transform(load_wine().data)
KINDS = ("full", "tied", "diag", "spherical")
each_kind = pytest.mark.parametrize("kind", KINDS)


def matrices(model):
    """The scale matrices of a model, (K, d, d)."""
    K, d = model.centers_.shape
    S = model.covariances_
    if model.covariance_type == "tied":
        return np.broadcast_to(S, (K, d, d))
    if model.covariance_type == "diag":
        return np.stack([np.diag(s) for s in S])
    return S if model.covariance_type == "full" else np.stack([s * np.eye(d) for s in S])


def densities(model, X):
    """pi_k t(x | k) by SciPy, (n, K)."""
    parts = zip(model.weights_, model.centers_, matrices(model), model.dof_, strict=True)
    return np.column_stack([w * stats.multivariate_t.pdf(X, m, S, nu) for w, m, S, nu in parts])


def with_outliers(X, seed, share=0.05):
    """The rows, and uniform ones in a box three times as wide."""
    rng = np.random.RandomState(seed)
    middle, half = (X.min(axis=0) + X.max(axis=0)) / 2, 1.5 * np.ptp(X, axis=0)
    return np.vstack([X, rng.uniform(middle - half, middle + half, (round(share * len(X)), X.shape[1]))])


# The model ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nu", [1.5, 4.5])
def test_one_component_in_one_dimension_is_the_fit_of_scipy(nu):
    x = stats.t.rvs(nu, 3, 2, size=3000, random_state=0)
    expected = stats.t.fit(x)
    model = StudentTMixture(1, reg_covar=0, tol=1e-12, max_iter=5000).fit(x[:, None])
    assert model.objective_ >= stats.t.logpdf(x, *expected).mean() - 1e-11
    assert model.dof_[0] == pytest.approx(expected[0], rel=0.02)  # the likelihood is flat in it
    found = [model.centers_[0, 0], np.sqrt(model.covariances_[0, 0, 0])]
    np.testing.assert_allclose(found, expected[1:], rtol=2e-3)


@each_kind
def test_memberships_and_likelihoods_are_those_of_scipys_densities(kind):
    model = StudentTMixture(3, covariance_type=kind, random_state=0).fit(IRIS)
    joint = densities(model, IRIS)
    np.testing.assert_allclose(model.memberships_, joint / joint.sum(axis=1, keepdims=True), rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.score_samples(IRIS), np.log(joint.sum(axis=1)), rtol=1e-12, atol=1e-12)
    assert model.objective_ == pytest.approx(np.log(joint.sum(axis=1)).mean(), rel=1e-12)


@each_kind
def test_many_degrees_of_freedom_are_the_gaussian_mixture(kind):
    start = GMM(3, max_iter=1, random_state=0).fit(IRIS).memberships_
    parameters = {"covariance_type": kind, "init": start / start.sum(axis=1, keepdims=True), "tol": 1e-9}
    gaussian = GMM(3, max_iter=1000, **parameters).fit(IRIS)
    model = StudentTMixture(3, dof=1e6, max_iter=1000, **parameters).fit(IRIS)
    np.testing.assert_allclose(model.memberships_, gaussian.memberships_, rtol=0, atol=1e-4)
    np.testing.assert_allclose(model.covariances_, gaussian.covariances_, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(model.outlier_weights_, 1, atol=1e-3)


@each_kind
@pytest.mark.parametrize("dof", ["auto", "tied", 4.0])
@pytest.mark.filterwarnings("ignore:StudentTMixture did not converge")
@pytest.mark.parametrize("holes", [0.0, 0.15])
def test_the_likelihood_never_falls_without_a_ridge(kind, dof, holes):
    X = np.where(np.random.RandomState(0).uniform(size=(178, 5)) < holes, np.nan, WINE[:, :5])
    model = StudentTMixture(
        3, dof=dof, covariance_type=kind, reg_covar=0, tol=0, max_iter=40, n_init=1, random_state=0
    ).fit(X)
    assert np.diff(model.objective_history_).min() >= -1e-12
    assert len(model.objective_history_) > 10


@pytest.mark.parametrize("dof", ["auto", "tied"])
def test_a_converged_fit_solves_the_equations(dof):
    model = StudentTMixture(3, dof=dof, reg_covar=0, tol=1e-13, max_iter=20000, n_init=1, random_state=0).fit(IRIS)
    joint = densities(model, IRIS)
    R = joint / joint.sum(axis=1, keepdims=True)
    away = IRIS[:, None] - model.centers_
    distances = np.einsum("ika,kab,ikb->ik", away, np.linalg.inv(model.covariances_), away)
    u = (model.dof_ + 4) / (model.dof_ + distances)
    N, W = R.sum(axis=0), R * u
    np.testing.assert_allclose(model.outlier_weights_, W.sum(axis=1), rtol=1e-10)
    np.testing.assert_allclose(model.weights_, N / 150, atol=2e-6)
    np.testing.assert_allclose(model.centers_, W.T @ IRIS / W.sum(axis=0)[:, None], atol=2e-5)
    S = np.einsum("ik,ika,ikb->kab", W, away, away) / N[:, None, None]
    np.testing.assert_allclose(model.covariances_, S, atol=2e-5)
    half, halves = model.dof_ / 2, (model.dof_ + 4) / 2
    scores = np.log(half) - digamma(half) + 1 + (R * (np.log(u) - u)).sum(axis=0) / N
    scores += digamma(halves) - np.log(halves)
    inside = (model.dof_ > 0.51) & (model.dof_ < 199)
    assert inside.any()
    if dof == "tied":
        assert np.ptp(model.dof_) == 0
        np.testing.assert_allclose(N @ scores / 150, 0, atol=1e-5)
    else:
        np.testing.assert_allclose(scores[inside], 0, atol=1e-5)


def test_degrees_of_freedom_stay_in_their_range():
    nu = np.exp(np.linspace(np.log(0.5), np.log(199.9), 500))
    np.testing.assert_allclose(dof_of(np.log(nu / 2) - digamma(nu / 2)), nu, rtol=1e-11)
    np.testing.assert_array_equal(dof_of(np.array([-1.0, 0.0, 1e-12])), 200)
    np.testing.assert_array_equal(dof_of(np.array([3.0, 50.0, 1e9])), 0.5)


def test_known_degrees_of_freedom_are_found():
    rng = np.random.RandomState(0)
    X = np.vstack([stats.multivariate_t.rvs([0, 0], np.eye(2), 3, 4000, rng), rng.normal(30, 1, (4000, 2))])
    model = StudentTMixture(2, random_state=0).fit(X)
    heavy = int(model.centers_[:, 0].argmin())
    assert 2.6 < model.dof_[heavy] < 3.5
    assert model.dof_[1 - heavy] > 25
    np.testing.assert_allclose(model.covariances_[heavy], np.eye(2), atol=0.1)


def test_acceleration_reaches_no_less():
    plain = StudentTMixture(3, tol=1e-9, max_iter=5000, random_state=0).fit(WINE[:, :5])
    fast = StudentTMixture(3, tol=1e-9, max_iter=5000, accelerate=True, random_state=0).fit(WINE[:, :5])
    assert fast.objective_ > plain.objective_ - 1e-4


# Outliers -------------------------------------------------------------------------------------------------------------


def test_an_outlier_moves_a_gaussian_component_but_not_this_one():
    X, y = make_blobs(300, centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
    dirty = np.vstack([X, [[60.0, 60.0], [-70.0, 50.0]]])
    robust = StudentTMixture(3, random_state=0).fit(dirty)
    assert adjusted_rand_score(y, robust.labels_[:300]) == 1
    assert robust.outlier_weights_[300:].max() < 0.05 < robust.outlier_weights_[:300].min()
    assert adjusted_rand_score(y, GMM(3, random_state=0).fit(dirty).labels_[:300]) < 0.9
    order = np.lexsort(robust.centers_.T.round())
    np.testing.assert_allclose(robust.centers_[order], [[0, 0], [8, 0], [0, 8]], atol=0.25)


def test_the_trimmed_start_holds_where_outliers_are_many():
    X, y = load_breast_cancer(return_X_y=True)
    dirty = with_outliers(StandardScaler().fit_transform(X), 0)
    model = StudentTMixture(2, init="trimmed", n_init=1, reg_covar=1e-3, random_state=0).fit(dirty)
    plain = GMM(2, reg_covar=1e-3, random_state=0).fit(dirty)
    assert adjusted_rand_score(y, model.labels_[: len(y)]) > 0.6
    assert adjusted_rand_score(y, plain.labels_[: len(y)]) < 0.1


@pytest.mark.filterwarnings("ignore:StudentTMixture. 1 of 3 components")
def test_every_second_start_is_a_trimmed_one():
    dirty = with_outliers(load_wine().data, 0)
    both = StudentTMixture(3, random_state=0, n_init=2).fit(dirty)
    first = StudentTMixture(3, random_state=0, n_init=1).fit(dirty)
    trimmed = StudentTMixture(3, init="trimmed", n_init=1, random_state=0).fit(dirty)
    assert both.objective_ >= max(first.objective_, trimmed.objective_) - 0.05
    assert trimmed.objective_ != first.objective_


# Gaps, weights, draws -------------------------------------------------------------------------------------------------


@each_kind
def test_rows_with_gaps_count_by_the_density_of_what_they_have(kind):
    X = IRIS.copy()
    X[np.random.RandomState(1).uniform(size=X.shape) < 0.2] = np.nan
    model = StudentTMixture(3, covariance_type=kind, random_state=0).fit(X)
    likelihoods, S = model.score_samples(X), matrices(model)
    for i in range(0, 150, 7):
        there = ~np.isnan(X[i])
        parts = [
            w * stats.multivariate_t.pdf(X[i][there], m[there], s[np.ix_(there, there)], nu) if there.any() else w
            for w, m, s, nu in zip(model.weights_, model.centers_, S, model.dof_, strict=True)
        ]
        assert likelihoods[i] == pytest.approx(np.log(np.sum(parts)), rel=1e-9, abs=1e-9)
        np.testing.assert_allclose(model.memberships_[i], parts / np.sum(parts), atol=1e-10)


@each_kind
def test_gaps_change_little_where_the_others_tell_the_clusters_apart(kind):
    X, y = make_blobs(400, n_features=5, centers=3, cluster_std=1, random_state=3)
    X[np.random.RandomState(0).uniform(size=X.shape) < 0.2] = np.nan
    model = StudentTMixture(3, covariance_type=kind, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.95


@each_kind
@pytest.mark.filterwarnings("ignore:StudentTMixture did not converge")
def test_weights_are_repetitions(kind):
    rng = np.random.RandomState(0)
    weight, start = rng.randint(1, 4, 150), rng.dirichlet(np.ones(3), 150)
    parameters = {"covariance_type": kind, "max_iter": 100, "tol": 1e-5}
    weighted = StudentTMixture(3, init=start, **parameters).fit(IRIS, sample_weight=weight)
    repeated = StudentTMixture(3, init=np.repeat(start, weight, axis=0), **parameters)
    repeated.fit(np.repeat(IRIS, weight, axis=0))
    first = np.cumsum(weight) - weight
    np.testing.assert_allclose(weighted.memberships_, repeated.memberships_[first], rtol=0, atol=1e-6)
    np.testing.assert_allclose(weighted.dof_, repeated.dof_, rtol=1e-4)


def test_criteria_count_the_degrees_of_freedom():
    for dof, learned in (("auto", 3), ("tied", 1), (5.0, 0)):
        model = StudentTMixture(3, dof=dof, random_state=0).fit(IRIS)
        count = 3 * 4 + 3 * 10 + 2 + learned
        assert model.aic(IRIS) == pytest.approx(-2 * 150 * model.objective_ + 2 * count)
        assert model.bic(IRIS) == pytest.approx(-2 * 150 * model.objective_ + np.log(150) * count)


@each_kind
def test_draws_follow_the_fitted_mixture(kind):
    model = StudentTMixture(3, covariance_type=kind, dof=5.0, random_state=0).fit(IRIS)
    X, labels = model.sample(60_000)
    np.testing.assert_allclose(np.bincount(labels) / 60_000, model.weights_, atol=0.01)
    for k, S in enumerate(matrices(model)):
        rows = X[labels == k]
        np.testing.assert_allclose(rows.mean(axis=0), model.centers_[k], atol=0.02)
        np.testing.assert_allclose(np.cov(rows.T), S * 5 / 3, atol=0.05)
        # the squared distances over d are an F distribution of d and nu degrees of freedom
        away = rows - model.centers_[k]
        distances = np.einsum("ia,ab,ib->i", away, np.linalg.inv(S), away) / 4
        assert stats.kstest(distances[:4000], stats.f(4, 5).cdf).pvalue > 1e-4


# Degenerate cases -----------------------------------------------------------------------------------------------------


def test_a_component_of_few_outliers_is_reported():
    model = StudentTMixture(3, n_init=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match="1 of 3 components hold fewer than 14 samples"):
        model.fit(with_outliers(load_wine().data, 0))
    assert model.dof_[model.weights_.argmin()] == 0.5


@pytest.mark.parametrize("kind", ["full", "tied"])
@pytest.mark.parametrize("init", ["kmeans", "trimmed"])
def test_fewer_rows_than_features_are_fitted_in_their_span(kind, init, monkeypatch):
    rng = np.random.RandomState(0)
    X = np.vstack([rng.normal(0, 1, (10, 40)), rng.normal(6, 1, (10, 40))])
    parameters = {"covariance_type": kind, "init": init, "reg_covar": 0.1, "random_state": 0}
    model = StudentTMixture(2, **parameters).fit(X)
    assert model._state.gaussian.means.shape == (2, 21)
    new = rng.normal(3, 2, (5, 40))
    joint = densities(model, new)
    np.testing.assert_allclose(model.score_samples(new), np.log(joint.sum(axis=1)), rtol=1e-8)
    assert adjusted_rand_score(np.repeat([0, 1], 10), model.labels_) == 1
    monkeypatch.setattr(Blocks, "in_subspace", lambda self: self)
    everywhere = StudentTMixture(2, **parameters).fit(X)
    assert model.objective_ == pytest.approx(everywhere.objective_, rel=1e-9)
    np.testing.assert_allclose(model.memberships_, everywhere.memberships_, atol=1e-12)  # the same draws
    np.testing.assert_allclose(model.covariances_, everywhere.covariances_, atol=1e-8)
    np.testing.assert_allclose(model.outlier_weights_, everywhere.outlier_weights_, rtol=1e-7)


def test_unsound_parameters_are_refused():
    for dof in (0, -1.0, 1e-20, 1e18, np.inf, "free"):  # the logarithms of the outer ones are those of no distance
        with pytest.raises(ValueError, match="dof"):
            StudentTMixture(2, dof=dof).fit(IRIS)
    with pytest.raises(ValueError, match="Increase reg_covar"):
        StudentTMixture(2, reg_covar=0, random_state=0).fit(np.ones((20, 2)))
