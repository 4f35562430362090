"""Batches of rows: ``partial_fit`` against its rules written in NumPy, and against the fit of all rows."""

from copy import deepcopy

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.special import softmax
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import NotFittedError

from soft_clustering import ECM, ENTROPYFCM, FCM, GMM, KFCM, PCM, PFCM

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

IRIS = load_iris().data
START = IRIS[[0, 60, 120]]
A, B, C = IRIS[::3], IRIS[1::3], IRIS[2::3]
WEIGHT = np.random.RandomState(0).randint(0, 4, len(B)).astype(float)
SHAPES = ("full", "tied", "diag", "spherical")
CENTERS = {
    "FCM": FCM(3, m=2.0, init=START),
    "PCM": PCM(3, bandwidth_scale=0.5, init=START),
    "PCM rational": PCM(3, typicality="rational", m=1.7, n_refine=1, init=START),
    "PFCM": PFCM(3, m=1.8, typicality_weight=2.0, init=START),
    "ENTROPYFCM": ENTROPYFCM(3, init=START),
    "ENTROPYFCM weights": ENTROPYFCM(3, scaling=None, learn_weights=True, init=START),
    "KFCM": KFCM(3, m=1.8, init=START),
}
SETS = {"ECM": ECM(3, init=START), "ECM pairs": ECM(3, alpha=1.0, delta=2.0, focal_sets="pairs", init=START)}
MIXTURES = {f"GMM {shape}": GMM(3, covariance_type=shape, random_state=0) for shape in SHAPES}
MODELS = CENTERS | SETS | MIXTURES
every_model = pytest.mark.parametrize("name", MODELS)
of_rows = ("memberships_", "labels_", "objective_", "objective_history_", "converged_")


def fresh(name, **options):
    return clone(MODELS[name]).set_params(**options)


# The rules in NumPy ---------------------------------------------------------------------------------------------------


def fuzzy(D, m):
    powers = (D / D.min(axis=1, keepdims=True)) ** (-1 / (m - 1))
    return powers / powers.sum(axis=1, keepdims=True)


def scaled(model, X):
    """Rows in the units that the method works in: each feature of the first batch to a range of 2."""
    return X * 2 / np.ptp(A, axis=0) if getattr(model, "scaling", None) else X


def row_weights(model, X, V):
    """What each row weighs in each centre, at centres V."""
    D = cdist(scaled(model, X), scaled(model, V), "sqeuclidean")
    if isinstance(model, FCM):
        return fuzzy(D, model.m_) ** model.m_
    if isinstance(model, KFCM):
        kernel = np.exp(-model.gamma_ * D)
        return fuzzy(1 - kernel, model.m_) ** model.m_ * kernel
    if isinstance(model, PCM) and model.typicality == "exponential":
        return np.exp(-D / model.bandwidth_)
    if isinstance(model, PCM):
        return (1 + (D / model.bandwidth_) ** (1 / (model.m - 1))) ** -model.m
    if isinstance(model, PFCM):
        b, e = model.typicality_weight, model.typicality_exponent
        typicality = 1 / (1 + (b * D / model.bandwidth_) ** (1 / (e - 1)))
        return model.membership_weight * fuzzy(D, model.m_) ** model.m_ + b * typicality**e
    prior = np.log(model.weights_) if model.learn_weights else 0.0
    return softmax(prior - D / model.entropy_weight_, axis=1)


class CenterLoop:
    """Sums over all rows seen, and their quotient."""

    def __init__(self, fitted):
        self.model, self.V = deepcopy(fitted), fitted.centers_
        self.size, self.total = np.zeros((3, 1)), np.zeros((3, 4))

    def step(self, X, w):
        W = row_weights(self.model, X, self.V) * w[:, None]
        self.size, self.total = self.size + W.sum(axis=0)[:, None], self.total + W.T @ X
        self.V = self.total / self.size
        if getattr(self.model, "learn_weights", False):
            self.model.weights_ = (self.size / self.size.sum()).ravel()

    def check(self, model, atol):
        np.testing.assert_allclose(model.centers_, self.V, rtol=0, atol=atol)
        if hasattr(self.model, "weights_"):
            np.testing.assert_allclose(model.weights_, self.model.weights_, rtol=0, atol=atol)


class SetLoop(CenterLoop):
    """The same for a linear system: one equation per row and focal set, weighted, by least squares."""

    def __init__(self, fitted):
        super().__init__(fitted)
        self.shares, self.targets = [], []

    def step(self, X, w):
        model = self.model
        F = model.focal_sets_[1:]
        size = F.sum(axis=1)
        mean = F / size[:, None]
        costs = np.column_stack([np.full(len(X), model.delta_**2), size**model.alpha * cdist(X, mean @ self.V) ** 2])
        masses = fuzzy(costs, model.beta_)[:, 1:]
        for x, row in zip(X, np.sqrt(w[:, None] * size**model.alpha * masses**model.beta_), strict=True):
            self.shares.append(row[:, None] * mean)
            self.targets.append(row[:, None] * x)
        self.V = np.linalg.lstsq(np.concatenate(self.shares), np.concatenate(self.targets), rcond=None)[0]


class MixtureLoop:
    """Online EM with raw moments; ``rate(t)`` of the t-th batch."""

    def __init__(self, fitted, rate=lambda t: t**-0.6):
        self.shape, self.ridge, self.rate, self.t = fitted.covariance_type, fitted.reg_covar, rate, 0
        self.weights, self.means, self.covariances = fitted.weights_, fitted.centers_, fitted.covariances_
        self.moments = None

    def step(self, X, w):
        self.t += 1
        K, d = self.means.shape
        full = {
            "full": lambda k: self.covariances[k],
            "tied": lambda k: self.covariances,
            "diag": lambda k: np.diag(self.covariances[k]),
            "spherical": lambda k: self.covariances[k] * np.eye(d),
        }[self.shape]
        joint = [np.log(self.weights[k]) + multivariate_normal(self.means[k], full(k)).logpdf(X) for k in range(K)]
        R = softmax(np.transpose(joint), axis=1) * w[:, None] / w.sum()
        batch = R.sum(axis=0), R.T @ X, np.einsum("ik,ip,iq->kpq", R, X, X)
        r = self.rate(self.t)
        past = self.moments or batch
        self.moments = N, first, second = tuple((1 - r) * old + r * new for old, new in zip(past, batch, strict=True))
        self.weights, self.means = N / N.sum(), first / N[:, None]
        scatter = second - np.einsum("k,kp,kq->kpq", N, self.means, self.means)
        each = scatter / N[:, None, None] + self.ridge * np.eye(d)
        diagonal = np.diagonal(each, axis1=1, axis2=2)
        self.covariances = {
            "full": each,
            "tied": scatter.sum(axis=0) / N.sum() + self.ridge * np.eye(d),
            "diag": diagonal,
            "spherical": diagonal.mean(axis=1),
        }[self.shape]

    def check(self, model, atol):
        for found, expected in (
            (model.weights_, self.weights),
            (model.centers_, self.means),
            (model.covariances_, self.covariances),
        ):
            np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


def loop_of(name, fitted):
    if name in MIXTURES:
        return MixtureLoop(fitted)
    return (SetLoop if name in SETS else CenterLoop)(fitted)


def accuracy(name):
    """The ridge of ECM is 1e-9 of the diagonal; the others differ by rounding."""
    return 1e-9 if name in SETS else 1e-12


# Against the rules ----------------------------------------------------------------------------------------------------


@every_model
def test_one_batch_is_one_update_of_its_fit(name):
    fitted = fresh(name).fit(IRIS[::3])
    loop = loop_of(name, fitted)
    loop.step(A, np.ones(len(A)))
    model = fresh(name).partial_fit(A)
    loop.check(model, accuracy(name))
    # Unconverged fits move visibly, so that the update is seen.
    early = fresh(name, max_iter=2)
    loop = loop_of(name, clone(early).fit(A))
    before = clone(early).fit(A).centers_
    loop.step(A, np.ones(len(A)))
    early.partial_fit(A)
    loop.check(early, accuracy(name))
    assert abs(early.centers_ - before).max() > 1e-5


@every_model
def test_more_batches_equal_a_loop_in_numpy(name):
    model, loop = fresh(name), loop_of(name, fresh(name).fit(A))
    for X in (A, B, C):
        before = getattr(model, "centers_", None)
        model.partial_fit(X)
        loop.step(X, np.ones(len(X)))
        loop.check(model, accuracy(name))
        assert before is None or abs(model.centers_ - before).max() > 1e-3


@pytest.mark.parametrize("name", CENTERS | SETS)
def test_a_fit_counts_with_the_weight_of_its_rows(name):
    model = fresh(name, tol=1e-12, max_iter=5000).fit(A)
    loop = loop_of(name, model)
    loop.step(A, np.ones(len(A)))
    model.partial_fit(B, sample_weight=WEIGHT)
    loop.step(B, WEIGHT)
    loop.check(model, accuracy(name))


@pytest.mark.parametrize("name", MIXTURES)
def test_the_steps_of_a_mixture_follow_the_weights(name):
    sizes = np.cumsum([50, WEIGHT.sum(), 5])
    rates = [1, (WEIGHT.sum() / sizes[1]) ** 0.6, (5 / sizes[2]) ** 0.6]
    loop = MixtureLoop(fresh(name).fit(A), lambda t: rates[t - 1])
    model = fresh(name)
    for X, w in ((A, np.ones(50)), (B, WEIGHT), (C[:5], np.ones(5))):
        model.partial_fit(X, sample_weight=w)
        loop.step(X, w)
        loop.check(model, 1e-12)


@pytest.mark.parametrize("name", MIXTURES)
def test_a_mixture_goes_on_from_the_moments_behind_its_fit(name):
    model = fresh(name, tol=0, max_iter=3000).fit(A)
    loop = loop_of(name, model)
    for X in (A, B):
        loop.step(X, np.ones(len(X)))
    # A fit ends where the likelihood no longer changes, which leaves its state a little off the fixed point.
    loop.check(model.partial_fit(B), 1e-9)


@every_model
def test_weights_are_repetitions(name):
    models = [fresh(name).partial_fit(A, sample_weight=None) for _ in range(2)]
    models[0].partial_fit(B, sample_weight=WEIGHT).partial_fit(C, sample_weight=np.full(len(C), 2.0))
    models[1].partial_fit(np.repeat(B, WEIGHT.astype(int), axis=0)).partial_fit(np.concatenate([C, C]))
    np.testing.assert_allclose(models[0].centers_, models[1].centers_, rtol=0, atol=1e-13)
    np.testing.assert_allclose(models[0].predict_memberships(A), models[1].predict_memberships(A), rtol=0, atol=1e-12)
    once = fresh(name).partial_fit(A).partial_fit(B).partial_fit(C)
    assert abs(once.centers_ - models[0].centers_).max() > 1e-3


# What there is afterwards ---------------------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("fitted", [False, True])
def test_the_model_and_no_stale_rows(name, fitted):
    model = fresh(name)
    with pytest.raises(NotFittedError):
        model.predict_memberships(A)
    if fitted:
        model.fit(IRIS)
    of_fit = set(of_rows) | set(model._policy.rows) | ({"compactness_", "entropy_"} if "ENTROPY" in name else set())
    assert not fitted or all(hasattr(model, attribute) for attribute in of_fit)
    passes = model.n_iter_ if fitted else 0
    assert model.partial_fit(A) is model
    assert model.partial_fit(B).n_iter_ == passes + 2
    assert model.centers_.shape == (3, 4)
    assert model.n_clusters_ == 3
    assert model.n_features_in_ == 4
    assert not [attribute for attribute in of_fit if hasattr(model, attribute)]
    documented = {attribute for attribute in vars(fresh(name).fit(IRIS)) if attribute.endswith("_")}
    assert {attribute for attribute in vars(model) if attribute.endswith("_")} == documented - of_fit
    memberships = model.predict_memberships(C)
    assert memberships.shape == (50, 3)
    np.testing.assert_array_equal(model.predict(C), memberships.argmax(axis=1))
    assert np.isfinite(model.score(C))
    model.fit(IRIS)
    np.testing.assert_array_equal(model.centers_, fresh(name).fit(IRIS).centers_)


def test_what_else_follows_the_batches():
    model = fresh("ECM").partial_fit(A).partial_fit(B)
    F = model.focal_sets_[1:]
    expected = F @ model.centers_ / F.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.focal_centers_, expected, rtol=0, atol=1e-13)
    assert not hasattr(model, "belief_")
    np.testing.assert_allclose(model.predict_masses(C).sum(axis=1), 1, rtol=0, atol=1e-12)
    far = np.vstack([START[:2], [[50.0] * 4]])
    empty = PCM(3, bandwidth=np.ones(3), init=far).partial_fit(A)
    assert empty.n_effective_clusters_ == 2
    assert empty.partial_fit(np.full((2, 4), 50.0)).n_effective_clusters_ == 3
    mixture = fresh("GMM full").partial_fit(A).partial_fit(B)
    assert mixture.sample(5)[0].shape == (5, 4)
    np.testing.assert_allclose(mixture.precisions_ @ mixture.covariances_, np.tile(np.eye(4), (3, 1, 1)), atol=1e-9)


@every_model
def test_what_the_first_batch_settles_stays(name):
    model = fresh(name).partial_fit(A)
    settled = ("m_", "beta_", "gamma_", "bandwidth_", "entropy_weight_", "delta_", "focal_sets_")
    before = {attribute: deepcopy(getattr(model, attribute)) for attribute in settled if hasattr(model, attribute)}
    assert before or name in MIXTURES
    model.partial_fit(10 * B).partial_fit(C[:1])
    for attribute, value in before.items():
        np.testing.assert_array_equal(getattr(model, attribute), value)


@every_model
def test_parameters_set_later_do_not_matter(name):
    same = fresh(name).partial_fit(A).partial_fit(B)
    others = {"m": 3.0, "bandwidth_scale": 5.0, "typicality_weight": 0.0, "learn_weights": True, "scaling": None}
    others |= {"gamma": 7.0, "alpha": 3.0, "delta": 0.1, "focal_sets": "simple", "reg_covar": 1.0}
    others |= {"covariance_type": "diag" if name == "GMM full" else "full", "n_clusters": 5, "solver": "path"}
    model = fresh(name).partial_fit(A)
    model.set_params(**{key: value for key, value in others.items() if key in model.get_params()})
    model.partial_fit(B)
    assert model.n_clusters == 5
    assert model.n_clusters_ == 3
    np.testing.assert_array_equal(model.centers_, same.centers_)
    np.testing.assert_array_equal(model.predict_memberships(C), same.predict_memberships(C))
    assert model.score(C) == same.score(C)


@every_model
def test_single_precision(name):
    single, double = fresh(name), fresh(name)
    for X in (A, B, C):
        single.partial_fit(X.astype(np.float32))
        double.partial_fit(X.astype(np.float32).astype(np.float64))
    assert single.centers_.dtype == np.float32
    assert single.predict_memberships(A.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.centers_, double.centers_, rtol=0, atol=2e-5)


@pytest.mark.parametrize("name", CENTERS)
def test_sparse_batches(name):
    dense, rows = fresh(name), fresh(name)
    for X in (A, B, C):
        dense.partial_fit(X)
        rows.partial_fit(sparse.csr_matrix(X))
    np.testing.assert_allclose(rows.centers_, dense.centers_, rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", ["PCM", "ECM", "GMM full", "GMM diag"])
def test_dask_batches(name):
    da = pytest.importorskip("dask.array")
    model, expected = fresh(name), fresh(name)
    for X in (A, B):
        model.partial_fit(da.from_array(X, chunks=(20, 4)))
        expected.partial_fit(X)
    centers = (one.centers_[one.centers_[:, 0].argsort()] for one in (model, expected))
    np.testing.assert_allclose(*centers, rtol=0, atol=1e-12)


# What is refused ------------------------------------------------------------------------------------------------------


@every_model
def test_bad_batches_are_refused_and_change_nothing(name):
    model = fresh(name)
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        model.partial_fit(A[:2])
    with pytest.raises(NotFittedError):
        model.predict(A)
    model.partial_fit(A)
    before = deepcopy(model)
    for bad, complaint in ((B[:, :3], "X has 3 features"), (np.full((5, 4), np.inf), "infinity")):
        with pytest.raises(ValueError, match=complaint):
            model.partial_fit(bad)
    with pytest.raises(ValueError, match="at least one non-zero"):
        model.partial_fit(B, sample_weight=np.zeros(len(B)))
    np.testing.assert_array_equal(model.centers_, before.centers_)
    np.testing.assert_array_equal(model.partial_fit(B).centers_, before.partial_fit(B).centers_)
    model.partial_fit(C[:1])  # later batches may be as small as they come


@pytest.mark.parametrize("solver", ["path", "nsga2"])
def test_a_front_has_no_batches(solver):
    model = ENTROPYFCM(3, solver=solver, n_path_steps=2, n_generations=2, random_state=0)
    with pytest.raises(ValueError, match="partial_fit needs solver='alternating'"):
        model.partial_fit(A)
    model.fit(A)
    with pytest.raises(ValueError, match=f"Got '{solver}' instead"):
        model.set_params(solver="alternating").partial_fit(B)
    assert hasattr(model, "memberships_")


@pytest.mark.parametrize("shape", SHAPES)
def test_a_mixture_in_the_span_of_few_rows_takes_no_batches(shape):
    X = np.random.RandomState(0).normal(size=(40, 30))
    model = GMM(2, covariance_type=shape, random_state=0)
    if shape in ("diag", "spherical"):
        assert model.partial_fit(X[:10]).partial_fit(X[10:]).n_iter_ == 2
        return
    with pytest.raises(ValueError, match="needs at least as many rows in the first batch"):
        model.partial_fit(X[:10])
    with pytest.raises(ValueError, match="there are features, 30"):
        clone(model).fit(X[:10]).partial_fit(X)
    assert model.partial_fit(X[:30]).partial_fit(X[30:]).n_iter_ == 2


def test_a_first_batch_that_fails_is_none():
    model = GMM(2, reg_covar=0.0, random_state=0)
    with pytest.raises(ValueError, match="not positive definite"):
        model.partial_fit(np.ones((10, 4)))
    model.partial_fit(A)
    np.testing.assert_array_equal(model.centers_, GMM(2, reg_covar=0.0, random_state=0).partial_fit(A).centers_)


def test_the_first_batch_reports_like_a_fit(capsys):
    model = PFCM(3, random_state=0, verbose=1)
    clone(model).fit(A)
    expected = capsys.readouterr().out
    model.partial_fit(A)
    assert capsys.readouterr().out == expected
    assert expected.startswith("PFCM start 1: objective ")
    model.partial_fit(B)
    assert capsys.readouterr().out == ""


# One epoch ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def overlapping():
    return make_blobs(5000, 5, centers=4, cluster_std=3.0, random_state=0)[0]


@pytest.mark.parametrize(
    "model",
    [
        FCM(4, m=2.0),
        PCM(4, bandwidth=np.full(4, 45.0)),  # the mean squared distance within a cluster
        PFCM(4, m=2.0),
        ENTROPYFCM(4, scaling=None, entropy_weight=10.0),
        KFCM(4, m=2.0, gamma=0.01),
        ECM(4, beta=2.0, delta=40.0),
        *[GMM(4, covariance_type=shape) for shape in SHAPES],
    ],
    ids=repr,
)
def test_one_epoch_comes_close_to_the_fit_of_all_rows(model, overlapping):
    fitted = clone(model).set_params(random_state=0).fit(overlapping)
    stream = clone(model).set_params(random_state=0)
    for batch in np.array_split(overlapping, 10):
        stream.partial_fit(batch)
    assert stream.score(overlapping) == pytest.approx(fitted.score(overlapping), rel=0.02)
    first = clone(model).set_params(random_state=0).partial_fit(overlapping[:500])
    assert stream.score(overlapping) > first.score(overlapping)
