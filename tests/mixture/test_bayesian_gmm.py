"""BayesianGMM: scikit-learn's model, the bound, the prior, degenerate cases."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture

from soft_clustering import GMM, BayesianGMM, kernels

pytestmark = pytest.mark.filterwarnings(
    "ignore:(Bayesian)?GMM did not converge", "ignore:Best performing initialization did not converge"
)

KINDS = ("full", "tied", "diag", "spherical")
WEIGHTS = ("process", "distribution")
SETS = {"iris": load_iris().data, "wine": load_wine().data, "breast cancer": load_breast_cancer().data}
IRIS = SETS["iris"]

each_kind = pytest.mark.parametrize("kind", KINDS)
each_prior = pytest.mark.parametrize("weights", WEIGHTS)


class GivenStart(BayesianGaussianMixture):
    """scikit-learn's model from given memberships."""

    def starting_from(self, memberships):
        self.start = memberships
        return self

    def _initialize_parameters(self, X, random_state, xp=None):
        self._initialize(X, self.start)


def both(X, start, kind, weights, **parameters):
    """scikit-learn's model and ours from the same memberships; ``parameters`` have the same names in both."""
    K = start.shape[1]
    peer = GivenStart(
        n_components=K, covariance_type=kind, weight_concentration_prior_type=f"dirichlet_{weights}", **parameters
    )
    ours = BayesianGMM(K, covariance_type=kind, weight_prior=weights, init=start, **parameters)
    return peer.starting_from(start).fit(X), ours.fit(X)


def start(n, K, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(K), n)


# The model of scikit-learn --------------------------------------------------------------------------------------------


@each_kind
@each_prior
@pytest.mark.parametrize("name", SETS)
def test_the_same_as_scikit_learn_after_the_same_passes(name, weights, kind):
    X = SETS[name]
    peer, ours = both(X, start(len(X), 5), kind, weights, max_iter=30, tol=1e-12)
    assert ours.n_iter_ == peer.n_iter_ == 30
    # The squares that scikit-learn takes tied covariances from are 1e6 times the variances of this set.
    loss = 10 if (name, kind) == ("breast cancer", "tied") else 1
    np.testing.assert_allclose(ours.memberships_, peer.predict_proba(X), atol=1e-8 * loss)
    np.testing.assert_allclose(ours.score_samples(X), peer.score_samples(X), atol=1e-8 * loss)
    np.testing.assert_allclose(ours.objective_history_[:-1], np.ravel(peer.lower_bounds_), rtol=1e-12, atol=1e-6)
    np.testing.assert_allclose(ours.centers_, peer.means_, rtol=1e-8 * loss)
    np.testing.assert_allclose(ours.weights_, peer.weights_, atol=1e-9 * loss)
    np.testing.assert_allclose(ours.mean_precision_, peer.mean_precision_, rtol=1e-8 * loss)
    np.testing.assert_allclose(ours.dof_, peer.degrees_of_freedom_, rtol=1e-8 * loss)
    np.testing.assert_allclose(ours.weight_concentration_, np.array(peer.weight_concentration_), rtol=1e-7 * loss)
    assert np.shape(ours.covariances_) == np.shape(peer.covariances_)
    np.testing.assert_allclose(ours.covariances_, peer.covariances_, rtol=1e-6, atol=1e-9 * np.abs(X).max() ** 2)


@each_kind
@each_prior
@pytest.mark.parametrize("name", SETS)
def test_it_stops_in_the_same_pass(name, weights, kind):
    X = SETS[name]
    peer, ours = both(X, start(len(X), 5), kind, weights, max_iter=500, tol=1e-3)
    assert peer.converged_ and ours.converged_
    assert ours.n_iter_ == peer.n_iter_


@pytest.mark.parametrize(
    "kind, init",
    [(kind, init) for kind in KINDS for init in ("kmeans", "random")]
    + [("diag", "k-means++"), ("diag", "random_from_data")],
)
def test_the_same_start_from_the_same_seed(kind, init):
    peer = BayesianGaussianMixture(n_components=4, covariance_type=kind, init_params=init, random_state=3).fit(IRIS)
    ours = BayesianGMM(4, covariance_type=kind, init=init, random_state=3).fit(IRIS)
    np.testing.assert_allclose(ours.memberships_, peer.predict_proba(IRIS), atol=1e-8)
    assert ours.n_effective_clusters_ == len(np.unique(peer.predict(IRIS)))


@each_kind
def test_given_priors(kind):
    covariance = {
        "full": np.diag([1.0, 2, 3, 4]),
        "tied": np.eye(4) / 3,
        "diag": np.array([1.0, 2, 3, 4]),
        "spherical": 0.7,
    }
    priors = {"mean_prior": [5.0, 3, 2, 1], "covariance_prior": covariance[kind]}
    R = start(150, 4)
    peer = GivenStart(
        n_components=4,
        covariance_type=kind,
        weight_concentration_prior=3.0,
        mean_precision_prior=0.2,
        degrees_of_freedom_prior=7.5,
        reg_covar=0.01,
        max_iter=20,
        tol=1e-12,
        **priors,
    )
    ours = BayesianGMM(
        4,
        covariance_type=kind,
        weight_concentration=3.0,
        mean_precision=0.2,
        dof_prior=7.5,
        reg_covar=0.01,
        max_iter=20,
        tol=1e-12,
        init=R,
        **priors,
    )
    peer.starting_from(R).fit(IRIS)
    np.testing.assert_allclose(ours.fit(IRIS).memberships_, peer.predict_proba(IRIS), atol=1e-10)
    np.testing.assert_allclose(ours.objective_history_[:-1], np.ravel(peer.lower_bounds_), rtol=1e-12)


# The bound ------------------------------------------------------------------------------------------------------------


@each_prior
def test_bound_never_falls_without_a_ridge(weights):
    history = (
        BayesianGMM(6, weight_prior=weights, reg_covar=0, tol=1e-9, max_iter=1000, random_state=0)
        .fit(IRIS)
        .objective_history_
    )
    assert np.diff(history).min() > -1e-9


def test_score_is_the_bound_at_the_memberships_of_the_rows():
    model, rows = BayesianGMM(4, random_state=0).fit(IRIS), IRIS[::2]
    assert model.score(IRIS) == model.objective_
    peer = GivenStart(n_components=4, mean_prior=IRIS.mean(axis=0), covariance_prior=np.cov(IRIS.T), max_iter=1)
    U = model.predict_memberships(rows)
    peer.starting_from(U).fit(rows)  # settles the priors
    peer._initialize(rows, U)
    bound = peer._compute_lower_bound(np.log(np.maximum(U, 1e-300)), None)
    assert model.score(rows) == pytest.approx(float(bound), rel=1e-10)


def test_other_units_change_the_bound_by_a_constant():
    plain, scaled = (
        BayesianGMM(4, reg_covar=0, random_state=0, max_iter=20, tol=1e-12).fit(IRIS * scale) for scale in (1.0, 1e-3)
    )
    change = scaled.objective_history_ - plain.objective_history_
    np.testing.assert_allclose(change, change[0], atol=1e-6)
    np.testing.assert_allclose(scaled.memberships_, plain.memberships_, atol=1e-8)


# What the library adds ------------------------------------------------------------------------------------------------


@each_kind
@each_prior
def test_weights_are_repetitions(weights, kind):
    counts = np.random.default_rng(1).integers(0, 4, 150)
    R = start(150, 4)
    given = {"covariance_type": kind, "weight_prior": weights, "max_iter": 20, "tol": 1e-12}
    weighted = BayesianGMM(4, init=R, **given).fit(IRIS, sample_weight=counts)
    repeated = BayesianGMM(4, init=R.repeat(counts, axis=0), **given).fit(IRIS.repeat(counts, axis=0))
    np.testing.assert_allclose(weighted.predict_memberships(IRIS), repeated.predict_memberships(IRIS), atol=1e-9)
    np.testing.assert_allclose(weighted.objective_history_, repeated.objective_history_, rtol=1e-12)
    np.testing.assert_allclose(weighted.dof_, repeated.dof_, rtol=1e-10)


def test_shares_as_weights_are_no_counts():
    """A uniform weight below 1 has no effect, above 1 the prior has less."""
    plain, shares, counts = (
        BayesianGMM(4, random_state=0).fit(IRIS, sample_weight=np.full(150, weight)) for weight in (1.0, 1 / 150, 10.0)
    )
    np.testing.assert_allclose(shares.memberships_, plain.memberships_, atol=1e-9)
    assert counts.mean_precision_.sum() == pytest.approx(1500 + 4)
    few = BayesianGMM(4, random_state=0).fit(IRIS, sample_weight=list(np.full(150, 0.5)))
    np.testing.assert_allclose(few.memberships_, plain.memberships_, atol=1e-9)


@each_kind
def test_dask_is_the_same_as_memory(kind):
    dask_array = pytest.importorskip("dask.array")
    R = start(150, 4)
    given = {"covariance_type": kind, "max_iter": 10, "tol": 1e-12}
    memory = BayesianGMM(4, init=R, **given).fit(IRIS, sample_weight=np.full(150, 0.1))
    lazy = BayesianGMM(4, init=R, **given).fit(
        dask_array.from_array(IRIS, chunks=(40, 4)), sample_weight=dask_array.full(150, 0.1, chunks=40)
    )
    np.testing.assert_allclose(np.asarray(lazy.memberships_), memory.memberships_, atol=1e-9)
    assert lazy.objective_ == pytest.approx(memory.objective_, rel=1e-10)
    assert lazy.n_effective_clusters_ == memory.n_effective_clusters_


@each_kind
def test_the_twins_give_the_same_fit(kind, monkeypatch):
    compiled = BayesianGMM(4, covariance_type=kind, random_state=0).fit(IRIS)
    monkeypatch.setattr(kernels, "compiled", None)
    twin = BayesianGMM(4, covariance_type=kind, random_state=0).fit(IRIS)
    np.testing.assert_allclose(twin.memberships_, compiled.memberships_, atol=1e-9)


@each_kind
def test_samples_come_from_the_mixture(kind):
    model = BayesianGMM(3, covariance_type=kind, random_state=0).fit(IRIS)
    X, labels = model.sample(40_000)
    np.testing.assert_allclose(np.bincount(labels, minlength=3) / len(labels), model.weights_, atol=0.01)
    for k in range(3):
        np.testing.assert_allclose(X[labels == k].mean(axis=0), model.centers_[k], atol=0.05)


@each_kind
def test_precisions_invert_covariances(kind):
    model = BayesianGMM(3, covariance_type=kind, random_state=0).fit(IRIS)
    if kind in ("full", "tied"):
        product = model.precisions_ @ model.covariances_
        np.testing.assert_allclose(product, np.broadcast_to(np.eye(4), product.shape), atol=1e-9)
    else:
        np.testing.assert_allclose(model.precisions_ * model.covariances_, 1, atol=1e-12)


# The prior ------------------------------------------------------------------------------------------------------------


@each_prior
def test_components_that_are_not_needed_stay_empty(weights):
    rng = np.random.default_rng(0)
    centers = np.repeat([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]], 300, axis=0)
    X = centers + rng.normal(size=(900, 2))
    model = BayesianGMM(8, weight_prior=weights, weight_concentration=1e-3, max_iter=1000, random_state=0).fit(X)
    assert model.n_effective_clusters_ == 3 and model.n_clusters_ == 8
    assert np.sort(model.weights_)[:5].max() < 0.01
    assert adjusted_rand_score(np.repeat(range(3), 300), model.labels_) > 0.99


def test_more_and_more_samples_outweigh_the_prior():
    """The limit is the Gaussian mixture of largest likelihood."""
    R = np.eye(3)[np.repeat(range(3), 50)]
    plain = GMM(3, init=R, max_iter=30, tol=1e-12).fit(IRIS)
    gaps = []
    for weight in (1.0, 1e2, 1e4, 1e6):
        model = BayesianGMM(3, init=R, max_iter=30, tol=1e-12).fit(IRIS, sample_weight=np.full(150, weight))
        gaps.append(np.abs(model.memberships_ - plain.memberships_).max())
    assert gaps[0] > gaps[1] > gaps[2] > gaps[3]
    assert gaps[3] < 1e-4


def test_there_are_no_criteria_of_largest_likelihood():
    assert not hasattr(BayesianGMM(), "bic") and not hasattr(BayesianGMM(), "aic")


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"dof_prior": 3.0}, "dof_prior must be greater than n_features - 1 = 3. Got 3 instead"),
        ({"covariance_prior": -np.eye(4)}, "covariance_prior must be symmetric and positive definite"),
        ({"covariance_prior": np.triu(np.ones((4, 4)))}, "covariance_prior must be symmetric"),
        ({"covariance_prior": 1.0}, "covariance_prior must have shape"),
        ({"covariance_type": "diag", "covariance_prior": [1.0, 0, 1, 1]}, "positive definite"),
        ({"mean_prior": [1.0, 2.0]}, "mean_prior must have shape"),
        ({"weight_concentration": 0.0}, "weight_concentration"),
        ({"mean_precision": 0.0}, "mean_precision"),
    ],
)
def test_bad_priors_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        BayesianGMM(3, **parameters).fit(IRIS)


def test_one_sample_has_no_covariance():
    with pytest.raises(ValueError, match="n_samples=1"):
        BayesianGMM(1).fit([[1.0, 2.0]])
    model = BayesianGMM(1, covariance_prior=np.eye(2)).fit([[1.0, 2.0]])
    np.testing.assert_allclose(model.centers_, [[1.0, 2.0]])


@each_kind
def test_a_constant_feature_does_not_spoil_the_rest(kind):
    """The prior of a constant feature has the ridge: without it, empty components would take all rows."""
    species = np.repeat(range(3), 50)
    X = np.column_stack([IRIS, np.full(150, 7.0)])
    for data in (IRIS, X):
        model = BayesianGMM(3, covariance_type=kind, random_state=0).fit(data)
        assert adjusted_rand_score(species, model.labels_) > 0.5


def test_duplicates_are_told():
    X = np.repeat([[0.0, 0.0], [5.0, 1.0]], 15, axis=0)
    with pytest.warns(ConvergenceWarning, match="only 2 distinct samples"):
        BayesianGMM(3, random_state=0).fit(X)
