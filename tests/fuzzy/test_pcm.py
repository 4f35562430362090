"""Possibilistic c-means: published values, definitions by loops, invariances, degenerate data."""

import warnings

import numpy as np
import pytest
from helpers.tables import offline_sets
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCM, PCM, kernels

IRIS = load_iris().data
START = IRIS[[0, 60, 120]]
BUTTERFLY = np.array(
    [
        *[(-5, 0), (-3.34, 1.67), (-3.34, 0), (-3.34, -1.67), (-1.67, 0), (0, 0)],
        *[(1.67, 0), (3.34, 1.67), (3.34, 0), (3.34, -1.67), (5, 0), (0, 10)],
    ]
)
FORMS = [("exponential", 1.5), ("rational", 1.5), ("rational", 2.0), ("rational", 2.6)]
forms = pytest.mark.parametrize("typicality, m", FORMS)
pytestmark = pytest.mark.filterwarnings("ignore:PCM found")  # coinciding prototypes, which do not matter to most tests
property_test = settings(max_examples=30, deadline=None, derandomize=True)


def typicality_of(D, bandwidth, typicality, m):
    """The formula of the publication."""
    return np.exp(-D / bandwidth) if typicality == "exponential" else 1 / (1 + (D / bandwidth) ** (1 / (m - 1)))


def brute_force(X, centers, bandwidth, typicality, m, weight=None):
    """The published J, T, and the centres after one update: a loop over samples and clusters."""
    n, K = len(X), len(centers)
    weight = np.ones(n) if weight is None else weight
    T, J = np.zeros((n, K)), 0.0
    new = np.zeros_like(centers)
    for k in range(K):
        total = 0.0
        for i in range(n):
            D = sum((X[i, j] - centers[k, j]) ** 2 for j in range(X.shape[1]))
            t = T[i, k] = typicality_of(D, bandwidth[k], typicality, m)
            if typicality == "exponential":
                J += weight[i] * (t * D + bandwidth[k] * (t * np.log(t) - t))
                w = weight[i] * t
            else:
                J += weight[i] * (t**m * D + bandwidth[k] * (1 - t) ** m)
                w = weight[i] * t**m
            new[k] += w * X[i]
            total += w
        new[k] /= total
    return J, T, new


def fuzzy_spread(X, V, m, weight=None):
    """sum u^m D / sum u^m of each fuzzy cluster, by the definition."""
    D = cdist(X, V, "sqeuclidean")
    U = D ** (-1 / (m - 1))
    W = (U / U.sum(axis=1, keepdims=True)) ** m * (1 if weight is None else weight[:, None])
    return (W * D).sum(axis=0) / W.sum(axis=0)


def passes(X, start, n_passes, weight=None, **parameters):
    """So many plain passes, whether or not they converge."""
    model = PCM(len(start), init=start, tol=0, max_iter=n_passes, accelerate=False, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, sample_weight=weight)


def in_order(centers):
    return centers[np.argsort(centers[:, 0])]


# Published and measured values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "typicality, m, x, y, middle, outlier",
    [
        ("rational", 2.0, 2.1464, 0.0189, 0.6311, 0.0703),
        ("rational", 1.5, 2.9567, 0.0011, 0.4484, 0.0052),
        ("exponential", 1.5, 2.7789, 0.0, 0.3754, 0.0),
    ],
)
def test_butterfly(typicality, m, x, y, middle, outlier):
    model = PCM(2, m=m, typicality=typicality, bandwidth_scale=1.0, tol=1e-12, random_state=0).fit(BUTTERFLY)
    np.testing.assert_allclose(model.bandwidth_, 7.8814, rtol=0, atol=6e-5)
    np.testing.assert_allclose(in_order(model.centers_), [[-x, y], [x, y]], rtol=0, atol=6e-5)
    np.testing.assert_allclose(model.memberships_[5], middle, rtol=0, atol=6e-5)
    np.testing.assert_allclose(model.memberships_[11], outlier, rtol=0, atol=5e-5)
    # Fuzzy c-means is pulled to y = 0.54.
    assert FCM(2, m=2, random_state=0).fit(BUTTERFLY).centers_[:, 1].min() > 0.5
    assert model.n_effective_clusters_ == 2


@forms
@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_history_does_not_increase(typicality, m, accelerate, scale):
    X, _ = make_blobs(300, 3, centers=4, cluster_std=3, random_state=0)
    model = PCM(
        4,
        m=m,
        typicality=typicality,
        bandwidth_scale=scale,
        init=X[:4],
        accelerate=accelerate,
        tol=1e-8,
        max_iter=3000,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of coinciding prototypes
        history = model.fit(X).objective_history_
    assert model.converged_
    assert len(history) > 8
    assert np.all(np.diff(history) <= 3e-14 * np.abs(history[:-1]).max() if not accelerate else 1e-12 * abs(history[0]))
    assert history[-1] == model.objective_


def test_share_of_typical_rows():
    """Of a plane Gaussian cluster, a share of 1 - exp(-scale) has rational typicality above 1/2."""
    X = np.random.RandomState(0).normal(size=(40000, 2))
    for scale, typicality, share in (
        (1.0, "rational", 0.63),
        (0.25, "rational", 0.22),
        (0.1, "rational", 0.10),
        (0.1, "exponential", 0.07),
    ):
        model = PCM(1, typicality=typicality, bandwidth_scale=scale).fit(X)
        assert (model.memberships_ > 0.5).mean() == pytest.approx(share, abs=0.012)


TABLE = {
    ("exponential", 0.1, 0.659): [0.756, 0.394, 0.552, 0.654, 0.935, 0.406, -0.001, 0.947, 0.942, 1],
    ("rational", 0.25, 0.559): [0.802, 0.387, 0.081, -0.017, 0.941, 0.506, -0.001, 0.945, 0.944, 1],
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("typicality, scale, mean", TABLE)
def test_agreement_with_the_classes_of_ten_sets(typicality, scale, mean):
    sets = offline_sets()
    found = []
    for (name, (X, y)), expected in zip(sets.items(), TABLE[typicality, scale, mean], strict=True):
        model = PCM(len(np.unique(y)), typicality=typicality, bandwidth_scale=scale, random_state=0).fit(X)
        found.append(adjusted_rand_score(y, model.labels_))
        assert found[-1] >= expected - 0.02, name
    assert round(np.mean(found), 3) >= mean


# Definitions ----------------------------------------------------------------------------------------------------------


@forms
@pytest.mark.parametrize("weighted", [False, True])
def test_objective_and_memberships_by_brute_force(typicality, m, weighted):
    weight = np.random.RandomState(0).uniform(0.1, 3, 150) if weighted else None
    model = PCM(3, m=m, typicality=typicality, bandwidth_scale=0.5, init=START).fit(IRIS, sample_weight=weight)
    J, T, _ = brute_force(IRIS, model.centers_, model.bandwidth_, typicality, m, weight)
    assert model.objective_ == pytest.approx(J, rel=1e-13, abs=0)
    np.testing.assert_allclose(model.memberships_, T, rtol=0, atol=1e-13)
    assert model.score(IRIS, sample_weight=weight) == pytest.approx(-J, rel=1e-13, abs=0)
    J = brute_force(IRIS[:20], model.centers_, model.bandwidth_, typicality, m)[0]
    assert model.score(IRIS[:20]) == pytest.approx(-J, rel=1e-13, abs=0)


@forms
@pytest.mark.parametrize("weighted", [False, True])
def test_passes_by_brute_force(typicality, m, weighted):
    weight = np.random.RandomState(0).uniform(0.1, 3, 150) if weighted else None
    V, bandwidth = START, 0.5 * fuzzy_spread(IRIS + 1e-9, START, 2.0, weight)
    history = []
    for _ in range(3):
        J, _, V = brute_force(IRIS, V, bandwidth, typicality, m, weight)
        history.append(J)
    model = passes(IRIS, START, 3, weight, m=m, typicality=typicality, bandwidth_scale=0.5)
    np.testing.assert_allclose(model.bandwidth_, bandwidth, rtol=1e-6)
    np.testing.assert_allclose(model.centers_, V, rtol=0, atol=1e-6)
    np.testing.assert_allclose(model.objective_history_[:-1], history, rtol=1e-6)


@pytest.mark.parametrize("scale", [0.1, 1.0, 3.0])
def test_start_and_bandwidth_are_those_of_fuzzy_c_means(scale):
    X, _ = make_blobs(500, 8, centers=4, cluster_std=2, random_state=0)
    fcm = FCM(4, random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = PCM(4, bandwidth_scale=scale, random_state=0, max_iter=100).fit(X)
    assert fcm.m_ < 2
    np.testing.assert_allclose(model.bandwidth_, scale * fuzzy_spread(X, fcm.centers_, fcm.m_), rtol=1e-9)


def test_bandwidth_is_where_typicality_is_a_half():
    X, _ = make_blobs(200, 2, centers=2, random_state=0)
    for typicality, level in (("rational", 0.5), ("exponential", np.exp(-1))):
        model = PCM(2, typicality=typicality, random_state=0).fit(X)
        edge = model.centers_ + np.sqrt(model.bandwidth_)[:, None] * [0.6, 0.8]
        np.testing.assert_allclose(np.diag(model.predict_memberships(edge)), level, rtol=1e-12)
        far = model.predict_memberships([[1e3, 1e3]])
        assert far.max() < 1e-6


def test_m_matters_in_the_rational_form_only():
    same, other = (PCM(3, m=m, init=START).fit(IRIS).memberships_ for m in (1.5, 2.5))
    np.testing.assert_array_equal(same, other)
    same, other = (PCM(3, m=m, init=START, typicality="rational").fit(IRIS).memberships_ for m in (1.5, 2.5))
    assert np.abs(same - other).max() > 0.01


@forms
def test_clusters_are_independent(typicality, m):
    bandwidth = np.array([0.3, 0.5, 0.8])
    together = PCM(3, m=m, typicality=typicality, bandwidth=bandwidth, init=START, tol=1e-10).fit(IRIS)
    for k in range(3):
        alone = PCM(1, m=m, typicality=typicality, bandwidth=bandwidth[[k]], init=START[[k]], tol=1e-10).fit(IRIS)
        np.testing.assert_allclose(alone.centers_[0], together.centers_[k], rtol=0, atol=1e-8)


def test_given_bandwidth():
    model = PCM(3, bandwidth=[0.3, 0.5, 0.8], bandwidth_scale=99, init=START).fit(IRIS)
    np.testing.assert_allclose(model.bandwidth_, [0.3, 0.5, 0.8], rtol=1e-15)
    np.testing.assert_allclose(
        model.memberships_, np.exp(-cdist(IRIS, model.centers_, "sqeuclidean") / [0.3, 0.5, 0.8]), rtol=0, atol=1e-13
    )
    auto = PCM(3, init=START).fit(IRIS)
    again = PCM(3, bandwidth=auto.bandwidth_, init=START).fit(IRIS)
    np.testing.assert_allclose(again.memberships_, auto.memberships_, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "bandwidth, message",
    [
        ([1.0, 2.0], r"bandwidth must have shape \(3,\). Got shape \(2,\)"),
        ([1.0, 2.0, 0.0], "bandwidth must be positive. Got a least entry of 0"),
        ([1.0, 2.0, -1.0], "bandwidth must be positive. Got a least entry of -1"),
        ([1.0, np.nan, 2.0], "bandwidth contains NaN"),
        ([1.0, np.inf, 2.0], "bandwidth contains infinity"),
        (["a", "b", "c"], "bandwidth must be numeric"),
        ("scott", "'bandwidth' parameter of PCM must be"),
        (1.0, "'bandwidth' parameter of PCM must be"),
    ],
)
def test_bad_bandwidth(bandwidth, message):
    with pytest.raises(ValueError, match=message):
        PCM(3, bandwidth=bandwidth).fit(IRIS)


# Refinement -----------------------------------------------------------------------------------------------------------


@forms
@pytest.mark.parametrize("alpha", [0.3, 0.5])
@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-9), (np.float32, 1e-4)])
def test_refined_bandwidth_by_definition(typicality, m, alpha, dtype, tolerance):
    parameters = {"m": m, "typicality": typicality, "bandwidth_scale": 1.0, "tol": 1e-12, "max_iter": 3000}
    X, weight = make_blobs(300, 2, centers=[[0, 0], [9, 0]], random_state=0)[0], np.arange(300) % 4
    X = X.astype(dtype)
    parameters |= {"init": [[0.0, 0.0], [9.0, 0.0]]} | ({"tol": 1e-6} if dtype == np.float32 else {})
    first = PCM(2, **parameters).fit(X, sample_weight=weight)
    D = cdist(X, first.centers_, "sqeuclidean")
    inside = (typicality_of(D, first.bandwidth_, typicality, m) >= alpha) * weight[:, None]
    refined = (inside * D).sum(axis=0) / inside.sum(axis=0)
    model = PCM(2, n_refine=1, alpha_cut=alpha, **parameters).fit(X, sample_weight=weight)
    np.testing.assert_allclose(model.bandwidth_, refined, rtol=tolerance)
    expected = PCM(2, bandwidth=refined, **parameters | {"init": first.centers_}).fit(X, sample_weight=weight)
    np.testing.assert_allclose(model.centers_, expected.centers_, rtol=0, atol=10 * tolerance)
    assert model.objective_ == pytest.approx(expected.objective_, rel=10 * tolerance)
    assert len(model.objective_history_) <= model.n_iter_ + 1


def test_two_refinements_are_one_after_the_other():
    X = make_blobs(300, 2, centers=[[0, 0], [9, 0]], random_state=0)[0]
    parameters = {"bandwidth_scale": 1.0, "tol": 1e-10, "alpha_cut": 0.3}
    once = PCM(2, n_refine=1, random_state=0, **parameters).fit(X)
    twice = PCM(2, n_refine=2, random_state=0, **parameters).fit(X)
    again = PCM(2, n_refine=1, init=once.centers_, **parameters | {"bandwidth": once.bandwidth_}).fit(X)
    np.testing.assert_allclose(twice.bandwidth_, again.bandwidth_, rtol=1e-8)
    assert np.abs(twice.bandwidth_ / once.bandwidth_ - 1).min() > 0.01


@pytest.mark.parametrize("factor", [1.0, 1e-12, 1 / 7])
def test_refinement_skips_a_cut_of_one_row(factor):
    X = np.array([[0.0], [10.0], [10.5], [11.0]])
    parameters = {"bandwidth": [1e-4, 4.0], "init": [[0.0], [10.5]], "n_refine": 1}
    model = PCM(2, **parameters).fit(X, sample_weight=np.full(4, factor))
    assert model.bandwidth_[0] == pytest.approx(1e-4, rel=1e-12)
    assert model.bandwidth_[1] == pytest.approx(1 / 6, rel=1e-9)
    # A row that counts twice is two rows: their mean distance of 0 becomes the least bandwidth.
    model = PCM(2, **parameters).fit(X, sample_weight=[2, 1, 1, 1])
    assert 0 < model.bandwidth_[0] < 1e-8


def test_interrupted_refinement_keeps_its_state(monkeypatch):
    first = PCM(3, init=START).fit(IRIS)
    original, count = PCM._statistics, [0]

    def statistics(self, block, V):
        count[0] += 1
        if count[0] == first.n_iter_ + 1:
            raise KeyboardInterrupt
        return original(self, block, V)

    monkeypatch.setattr(PCM, "_statistics", statistics)
    model = PCM(3, init=START, n_refine=1, alpha_cut=0.1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(IRIS)
    np.testing.assert_array_equal(model.centers_, first.centers_)
    np.testing.assert_array_equal(model.predict_memberships(IRIS), model.memberships_)
    assert not model.converged_


# Coinciding prototypes and degenerate data ----------------------------------------------------------------------------


def test_coinciding_prototypes_are_said():
    with pytest.warns(ConvergenceWarning, match=r"PCM found 2 distinct prototypes, fewer than n_clusters=3.*smaller"):
        model = PCM(3, bandwidth_scale=1.0, random_state=0).fit(IRIS)
    assert model.n_effective_clusters_ == 2
    assert model.n_clusters_ == 3
    close = cdist(model.centers_, model.centers_, "sqeuclidean")[np.triu_indices(3, 1)]
    assert (close < 1e-3 * model.bandwidth_.min()).sum() == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        assert PCM(3, random_state=0).fit(IRIS).n_effective_clusters_ == 3


def test_ties_go_to_the_first():
    with pytest.warns(ConvergenceWarning, match="found 1 distinct"):
        model = PCM(2, init=[[5.0, 3.0, 1.0, 0.0]] * 2).fit(IRIS)
    np.testing.assert_array_equal(model.labels_, 0)


def test_one_cluster_is_a_robust_location():
    rng = np.random.RandomState(0)
    X = np.vstack([rng.normal(size=(200, 2)), np.full((20, 2), 30.0)])
    model = PCM(1, bandwidth_scale=0.1).fit(X)
    assert np.abs(model.centers_).max() < 0.2 < 2 < np.abs(X.mean(axis=0)).max()
    assert model.memberships_[200:].max() < 1e-9
    assert model.n_effective_clusters_ == 1


def test_far_outliers_have_no_label():
    X = np.vstack([IRIS, [[1e4] * 4]])
    model = PCM(3, init=START, bandwidth=[0.5] * 3).fit(X)
    np.testing.assert_array_equal(model.memberships_[-1], 0)
    assert model.labels_[-1] == -1
    assert model.labels_[:-1].min() == 0
    rational = PCM(3, init=START, bandwidth=[0.5] * 3, typicality="rational").fit(X)
    assert rational.memberships_[-1].min() > 0


@forms
@pytest.mark.parametrize("value", [0.0, 2.5, -1e-300])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_identical_points(typicality, m, value, container):
    with pytest.warns(ConvergenceWarning, match="PCM found 1 distinct prototypes"):
        model = PCM(3, m=m, typicality=typicality, random_state=0).fit(container(np.full((7, 3), value)))
    np.testing.assert_allclose(model.memberships_, 1, rtol=1e-12)
    np.testing.assert_allclose(model.centers_, value, rtol=1e-15)
    np.testing.assert_array_equal(model.bandwidth_, 1)
    assert model.converged_


def test_given_bandwidth_of_identical_points():
    model = PCM(1, bandwidth=[4.0]).fit(np.full((7, 2), 3.0))
    assert model.predict_memberships([[5.0, 3.0]])[0, 0] == pytest.approx(np.exp(-1))


@forms
def test_as_many_clusters_as_samples(typicality, m):
    X = IRIS[::15]
    model = PCM(10, m=m, typicality=typicality, random_state=0).fit(X)
    np.testing.assert_allclose(model.memberships_[np.arange(10), model.labels_], 1, rtol=0, atol=1e-12)
    assert sorted(model.labels_) == list(range(10))
    np.testing.assert_allclose(model.bandwidth_, 1e-12 * X.var(axis=0).sum(), rtol=1e-9)


@pytest.mark.parametrize("typicality, m", [("exponential", 1.5), ("rational", 1.01)])
def test_prototype_without_rows_stays(typicality, m):
    start = np.array([[5.0, 3.4, 1.5, 0.2], [100.0, 0.0, 0.0, 0.0]])
    with pytest.warns(ConvergenceWarning, match="PCM found 1 distinct prototypes.*no rows"):
        model = PCM(2, m=m, typicality=typicality, bandwidth=[0.5, 0.5], init=start).fit(IRIS)
    np.testing.assert_allclose(model.centers_[1], start[1], rtol=0, atol=1e-13)
    np.testing.assert_array_equal(model.memberships_[:, 1], 0)
    assert model.n_effective_clusters_ == 1


def test_rational_form_near_a_hard_cut():
    """At m = 1.01 the rows beyond the bandwidth have t = 0, and each adds its bandwidth to J."""
    model = PCM(3, m=1.01, typicality="rational", bandwidth=[0.5, 0.6, 0.7], init=START, accelerate=False, tol=1e-10)
    model.fit(IRIS)
    D = cdist(IRIS, model.centers_, "sqeuclidean")
    assert np.all(np.diff(model.objective_history_) <= 1e-13)
    hard = np.minimum(D, model.bandwidth_).sum()
    assert model.objective_ == pytest.approx(hard, rel=0.01)
    assert model.objective_ < hard


# Invariances ----------------------------------------------------------------------------------------------------------


shapes = st.tuples(st.integers(10, 60), st.integers(1, 5), st.integers(1, 4))
form = st.sampled_from(FORMS)


@property_test
@given(
    seed=st.integers(0, 10**6), shape=shapes, form=form, exponent=st.integers(-100, 100), given_bandwidth=st.booleans()
)
def test_similar_data_have_the_same_typicalities(seed, shape, form, exponent, given_bandwidth):
    n, d, K = shape
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d))
    start = X[:K] + 0.1 * rng.normal(size=(K, d))
    rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
    offset, scale = rng.normal(size=d) * 10, 10.0**exponent
    bandwidth = rng.uniform(0.5, 2, K) if given_bandwidth else None

    def move(Z):
        return (Z @ rotation + offset) * scale

    def run(data, centers, unit):
        extra = {"bandwidth": bandwidth * unit} if given_bandwidth else {"bandwidth_scale": 0.7}
        return passes(data, centers, 4, typicality=form[0], m=form[1], **extra)

    model, moved = run(X, start, 1.0), run(move(X), move(start), scale * scale)
    np.testing.assert_allclose(moved.memberships_, model.memberships_, rtol=0, atol=1e-11)
    np.testing.assert_allclose(moved.centers_, move(model.centers_), rtol=0, atol=1e-11 * scale)
    np.testing.assert_allclose(moved.bandwidth_, model.bandwidth_ * scale * scale, rtol=1e-11)
    np.testing.assert_allclose(moved.objective_history_, model.objective_history_ * scale * scale, rtol=1e-10)


@property_test
@given(seed=st.integers(0, 10**6), shape=shapes, form=form, n_refine=st.integers(0, 2))
def test_weights_are_repetitions(seed, shape, form, n_refine):
    n, d, K = shape
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d))
    weight = rng.randint(0, 4, n)
    weight[:K] = 1  # at least K rows remain
    start = X[:K] + 0.1 * rng.normal(size=(K, d))
    parameters = {"typicality": form[0], "m": form[1], "bandwidth_scale": 0.7, "n_refine": n_refine}
    weighted = passes(X, start, 4, weight, **parameters)
    repeated = passes(np.repeat(X, weight, axis=0), start, 4, **parameters)
    np.testing.assert_allclose(weighted.centers_, repeated.centers_, rtol=0, atol=1e-11)
    np.testing.assert_allclose(weighted.bandwidth_, repeated.bandwidth_, rtol=1e-11)
    np.testing.assert_allclose(weighted.objective_history_, repeated.objective_history_, rtol=1e-10)
    np.testing.assert_allclose(weighted.memberships_, repeated.predict_memberships(X), rtol=0, atol=1e-11)


@property_test
@given(seed=st.integers(0, 10**6), form=form)
def test_order_of_rows_and_clusters_does_not_matter(seed, form):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(40, 3))
    start, order, swap = X[:4] + 0.1, rng.permutation(40), rng.permutation(4)
    parameters = {"typicality": form[0], "m": form[1], "bandwidth_scale": 0.7}
    model, permuted = passes(X, start, 5, **parameters), passes(X[order], start[swap], 5, **parameters)
    np.testing.assert_allclose(permuted.memberships_, model.memberships_[order][:, swap], rtol=0, atol=1e-11)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_extreme_units(scale, container):
    expected = PCM(3, init=START).fit(container(IRIS))
    model = PCM(3, init=START * scale).fit(container(IRIS * scale))
    # CSR distances come from the expanded form.
    tolerance = 1e-11 if container is np.asarray else 1e-9
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=tolerance)
    np.testing.assert_allclose(model.centers_ / scale, expected.centers_, rtol=tolerance)
    if 1e-150 <= scale <= 1e150:
        np.testing.assert_allclose(model.bandwidth_ / scale / scale, expected.bandwidth_, rtol=tolerance)


@pytest.mark.parametrize("factor", [1e-90, 1e-20, 1e90])
@pytest.mark.parametrize("n_refine", [0, 1])
def test_unit_of_the_weights_does_not_matter(factor, n_refine):
    weight = np.random.RandomState(0).uniform(0.5, 2, 150)
    model = PCM(3, init=START, n_refine=n_refine).fit(IRIS, sample_weight=weight)
    other = PCM(3, init=START, n_refine=n_refine).fit(IRIS, sample_weight=weight * factor)
    np.testing.assert_allclose(other.centers_, model.centers_, rtol=1e-12)
    np.testing.assert_allclose(other.bandwidth_, model.bandwidth_, rtol=1e-12)
    assert other.objective_ == pytest.approx(model.objective_ * factor, rel=1e-12, abs=0)


# Types, containers, twins ---------------------------------------------------------------------------------------------


@forms
def test_float32_is_kept_and_close(typicality, m):
    parameters = {"typicality": typicality, "m": m, "init": START, "n_refine": 1}
    model, expected = PCM(3, **parameters).fit(IRIS.astype(np.float32)), PCM(3, **parameters).fit(IRIS)
    assert model.memberships_.dtype == model.centers_.dtype == np.float32
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=2e-4)
    np.testing.assert_allclose(model.centers_, expected.centers_, rtol=0, atol=1e-4)
    assert model.predict_memberships(IRIS.astype(np.float32)).dtype == np.float32


@forms
@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-10), (np.float32, 1e-5)])
def test_csr_equals_dense(typicality, m, dtype, tolerance):
    rng = np.random.RandomState(0)
    X = np.where(rng.uniform(size=(300, 20)) < 0.2, rng.gamma(2, size=(300, 20)), 0).astype(dtype)
    X[150:, :5] += 3
    weight = rng.uniform(0.5, 2, 300)
    parameters = {"typicality": typicality, "m": m, "bandwidth_scale": 0.5, "init": X[[0, 200]], "tol": 1e-6}
    dense = PCM(2, **parameters).fit(X, sample_weight=weight)
    model = PCM(2, **parameters).fit(sparse.csr_matrix(X), sample_weight=weight)
    np.testing.assert_allclose(model.memberships_, dense.memberships_, rtol=0, atol=tolerance)
    np.testing.assert_allclose(model.centers_, dense.centers_, rtol=0, atol=tolerance)
    np.testing.assert_allclose(model.bandwidth_, dense.bandwidth_, rtol=tolerance)
    np.testing.assert_allclose(model.predict_memberships(X), dense.memberships_, rtol=0, atol=tolerance)
    assert model.memberships_.dtype == dtype


@pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
@forms
@pytest.mark.parametrize("width", [16, 0])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_compiled_fit_equals_its_twin(monkeypatch, typicality, m, width, container):
    X, _ = make_blobs(300, 5, centers=3, cluster_std=2, random_state=1)
    weight = np.random.RandomState(0).uniform(0.5, 2, 300)
    model = PCM(3, typicality=typicality, m=m, n_refine=1, bandwidth_scale=0.5, n_init=1, random_state=0)
    kernels.compiled.vector_bytes(width)
    try:
        compiled = model.fit(container(X), sample_weight=weight)
        found = compiled.memberships_, compiled.centers_, compiled.bandwidth_, compiled.objective_history_
    finally:
        kernels.compiled.vector_bytes(0)
    monkeypatch.setattr(kernels, "compiled", None)
    twin = model.fit(container(X), sample_weight=weight)
    for a, b in zip(found, (twin.memberships_, twin.centers_, twin.bandwidth_, twin.objective_history_), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@forms
@pytest.mark.parametrize("weighted", [False, True])
def test_dask_equals_memory(typicality, m, weighted):
    da = pytest.importorskip("dask.array")
    X, _ = make_blobs(500, 3, centers=3, cluster_std=2, random_state=1)
    weight = np.random.RandomState(0).randint(0, 3, 500) if weighted else None
    model = PCM(3, typicality=typicality, m=m, init=X[:3], n_refine=1, alpha_cut=0.3, tol=1e-9)
    expected = PCM(**model.get_params()).fit(X, sample_weight=weight)
    lazy = model.fit(da.from_array(X, chunks=(97, 3)), sample_weight=weight)
    np.testing.assert_allclose(lazy.memberships_.compute(), expected.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(lazy.labels_.compute(), expected.labels_)
    np.testing.assert_allclose(lazy.centers_, expected.centers_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(lazy.bandwidth_, expected.bandwidth_, rtol=1e-9)
    assert lazy.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    assert lazy.n_effective_clusters_ == expected.n_effective_clusters_


# The protocol's own ---------------------------------------------------------------------------------------------------


@forms
def test_predict_as_trained(typicality, m):
    model = PCM(3, typicality=typicality, m=m, random_state=0).fit(IRIS)
    np.testing.assert_array_equal(model.predict_memberships(IRIS), model.memberships_)
    np.testing.assert_array_equal(model.predict(IRIS), model.labels_)
    assert not hasattr(model, "predict_proba")
    assert model.membership_kind == "possibilistic"
    assert not model.partition_constrained
    np.testing.assert_array_equal(model.get_cover(), model.memberships_ >= 0.5 * (1 - 1e-6))


@forms
def test_accelerated_equals_plain(typicality, m):
    X, _ = make_blobs(400, 3, centers=3, cluster_std=3, random_state=2)
    plain, fast = (
        PCM(
            3,
            typicality=typicality,
            m=m,
            bandwidth_scale=0.3,
            init=X[[0, 1, 2]],
            tol=1e-9,
            max_iter=5000,
            accelerate=on,
        ).fit(X)
        for on in (False, True)
    )
    assert fast.objective_ == pytest.approx(plain.objective_, rel=1e-12)
    np.testing.assert_allclose(fast.memberships_, plain.memberships_, rtol=0, atol=1e-6)
    assert fast.n_iter_ < plain.n_iter_


def test_callable_init():
    model = PCM(3, init=lambda X, n_clusters, rng: START).fit(IRIS)
    np.testing.assert_array_equal(model.memberships_, PCM(3, init=START).fit(IRIS).memberships_)


def test_seeds():
    X, _ = make_blobs(200, 3, centers=6, cluster_std=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        first, again, other = (PCM(6, n_init=1, random_state=seed).fit(X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.memberships_, again.memberships_)
    assert not np.array_equal(first.centers_, other.centers_)


def test_not_converged_is_said():
    with pytest.warns(ConvergenceWarning, match=r"PCM did not converge in max_iter=2 passes"):
        model = PCM(3, max_iter=2, tol=1e-9, init=START).fit(IRIS)
    assert not model.converged_
    assert model.n_iter_ == 2


@pytest.mark.parametrize(
    "parameters",
    [
        *({"n_clusters": 0}, {"m": 1.0}, {"m": 501.0}, {"m": "auto"}, {"typicality": "gaussian"}, {"n_refine": -1}),
        *({"bandwidth_scale": 0.0}, {"bandwidth_scale": np.inf}, {"alpha_cut": 0.0}, {"alpha_cut": 1.0}),
        *({"init": "k-means++"}, {"n_init": 0}, {"max_iter": 0}, {"tol": -1e-3}, {"accelerate": "yes"}),
    ],
)
def test_bad_parameters(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"'{name}' parameter of PCM must be"):
        PCM(**parameters).fit(IRIS)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
@forms
def test_any_bandwidth_scale_has_a_finite_result(scale, typicality, m):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = PCM(3, typicality=typicality, m=m, bandwidth_scale=scale, random_state=0).fit(IRIS)
    assert np.isfinite(model.centers_).all()
    assert np.isfinite(model.memberships_).all()


@pytest.mark.parametrize("far", [50.0, 1e3, 1e6])
def test_a_start_far_from_all_rows_takes_none(far):
    """Its bandwidth is not that of its distance from the rows, which would reach over all of them."""
    init = [[5.0, 3.4, 1.5, 0.2], [6.3, 3.0, 5.0, 1.8], [far] * 4]
    with pytest.warns(ConvergenceWarning, match="PCM found 2 distinct prototypes, fewer than n_clusters=3"):
        model = PCM(3, init=init).fit(IRIS)
    assert np.bincount(model.labels_, minlength=3).tolist() == [50, 100, 0]
    assert model.bandwidth_[2] == pytest.approx(0.1 * IRIS.var(axis=0).sum(), rel=1e-12)


def test_the_bandwidth_of_a_wide_cluster_is_its_own():
    """A solution of fuzzy c-means is left alone, also where a cluster is wider than the data are on average."""
    rng = np.random.RandomState(0)
    X = np.concatenate([0.1 * rng.randn(300, 2), [[40.0, 0.0], [50.0, 9.0], [60.0, -9.0], [70.0, 0.0]]])
    fcm = FCM(2, random_state=0).fit(X)
    wide = np.argmax(fcm.centers_[:, 0])
    U = fcm.memberships_[:, wide] ** fcm.m_
    expected = 0.1 * U @ ((X - fcm.centers_[wide]) ** 2).sum(axis=1) / U.sum()
    assert expected > 0.1 * X.var(axis=0).sum()
    assert PCM(2, init=fcm.centers_).fit(X).bandwidth_[wide] == pytest.approx(expected, rel=1e-9)
