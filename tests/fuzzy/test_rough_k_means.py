"""Rough k-means: measured values, a transcription with sets, the axioms of interval sets, cycles, degenerate data."""

import tracemalloc
import warnings

import numpy as np
import pytest
from helpers.tables import offline_sets
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from soft_clustering import RoughKMeans
from soft_clustering.engine import blocks as blocks_module
from soft_clustering.engine.blocks import make_blocks

IRIS = load_iris().data
START = IRIS[[0, 60, 120]]
# rule, threshold (in units of the standard deviation for the difference), lower weight
SETTINGS = [
    ("ratio", 1.2, 0.7),
    ("ratio", 1.0, 0.7),
    ("ratio", 2.0, 0.4),
    ("difference", 0.3, 0.7),
    ("difference", 1, 1),
]
each_setting = pytest.mark.parametrize("setting", SETTINGS)
property_test = settings(max_examples=30, deadline=None, derandomize=True)
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
# Data on a line, start, threshold, length of the cycle
CYCLES = [
    ([0, 0, 3, 5, 12, 12, 19], [12, 5], 2.0, 2),
    ([1, 1, 2, 2, 2, 2, 5, 7, 8, 18, 19], [6, 0], 2.0, 2),
    ([0, 4, 4, 4, 6, 8, 11, 12, 13, 14, 18], [7, 2], 2.0, 3),
    ([0, 1, 4, 6, 7, 10, 10, 11, 12, 12, 17], [4, 15], 2.0, 3),
]


def named(setting):
    return dict(zip(("boundary_rule", "boundary_threshold", "lower_weight"), setting, strict=True))


def transcription(X, centers, setting, weight=None):
    """(lower sets, upper sets, new centres, criterion) of one pass: a loop over objects and clusters."""
    rule, threshold, lower_weight = setting
    weight = np.ones(len(X)) if weight is None else weight
    K = len(centers)
    lower, upper, criterion = [set() for _ in range(K)], [set() for _ in range(K)], 0.0
    for i, x in enumerate(X):
        d = [float(np.sqrt(((x - v) ** 2).sum())) for v in centers]
        h = int(np.argmin(d))
        criterion += weight[i] * d[h] ** 2
        if rule == "ratio":
            T = [k for k in range(K) if d[k] <= threshold * d[h]]
        else:
            T = [k for k in range(K) if d[k] - d[h] <= threshold]
        for k in T:
            upper[k].add(i)
        if len(T) == 1:
            lower[h].add(i)
    new = centers.copy()
    for k in range(K):
        parts = [sorted(lower[k]), sorted(upper[k] - lower[k])]
        means = [np.average(X[part], axis=0, weights=weight[part]) if part else None for part in parts]
        if all(parts):
            new[k] = lower_weight * means[0] + (1 - lower_weight) * means[1]
        elif any(parts):
            new[k] = means[0] if parts[0] else means[1]
    return lower, upper, new, criterion


def as_sets(approximation):
    return [set(np.flatnonzero(column)) for column in approximation.T]


def passes(X, start, n_passes, weight=None, **parameters):
    model = RoughKMeans(len(start), init=start, tol=0, max_iter=n_passes, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, sample_weight=weight)


def assert_axioms(lower, upper):
    """At most one lower set; lower within upper; in no lower set: at least two upper sets."""
    assert lower.dtype == upper.dtype == bool
    assert (lower.sum(axis=1) <= 1).all()
    assert not (lower & ~upper).any()
    assert (upper.sum(axis=1)[~lower.any(axis=1)] >= 2).all()
    assert (upper.sum(axis=1)[lower.any(axis=1)] == 1).all()


# Measured values ------------------------------------------------------------------------------------------------------


def test_threshold_one_is_k_means():
    expected = KMeans(3, n_init=10, tol=0, random_state=0).fit(IRIS)
    model = RoughKMeans(3, boundary_threshold=1.0, tol=0, random_state=0).fit(IRIS)
    assert model.objective_ == pytest.approx(78.85144, abs=6e-6)
    assert model.objective_ == pytest.approx(expected.inertia_, rel=1e-12)
    assert adjusted_rand_score(model.labels_, expected.labels_) == 1
    np.testing.assert_array_equal(model.lower_approximation_, model.upper_approximation_)
    np.testing.assert_array_equal(model.memberships_, model.lower_approximation_)
    zero = RoughKMeans(3, boundary_rule="difference", boundary_threshold=0.0, tol=0, random_state=0).fit(IRIS)
    np.testing.assert_array_equal(zero.memberships_, model.memberships_)


@pytest.mark.parametrize("threshold, boundary, lower", [(1.2, 11, [38, 50, 51]), (1.5, 21, [36, 43, 50])])
def test_iris(threshold, boundary, lower):
    model = RoughKMeans(3, boundary_threshold=threshold, random_state=0).fit(IRIS)
    assert sorted(model.lower_approximation_.sum(axis=0)) == lower
    assert (~model.lower_approximation_.any(axis=1)).sum() == boundary
    assert model.converged_


@quiet
def test_agreement_with_the_classes_of_ten_sets():
    expected = [0.692, 0.363, 0.603, 0.461, 0.950, 0.239, -0.001, 0.940, 0.858, 1]
    means = []
    for (name, (X, y)), least in zip(offline_sets().items(), expected, strict=True):
        found = [
            adjusted_rand_score(y, RoughKMeans(len(np.unique(y)), random_state=seed).fit(X).labels_)
            for seed in range(3)
        ]
        assert min(found) >= least - 0.02, name
        means.append(np.mean(found))
    assert np.mean(means) >= 0.61  # 0.6165 over eight seeds


@quiet
def test_equal_memberships_lose_the_nearest_centre():
    X, y = load_digits(return_X_y=True)
    distance, uniform = (
        RoughKMeans(10, boundary_memberships=kind, n_init=3, random_state=0).fit(X) for kind in ("distance", "uniform")
    )
    np.testing.assert_array_equal(distance.centers_, uniform.centers_)
    np.testing.assert_array_equal(distance.labels_, cdist(X, distance.centers_).argmin(axis=1))
    assert adjusted_rand_score(y, distance.labels_) > adjusted_rand_score(y, uniform.labels_) + 0.05


# The publication ------------------------------------------------------------------------------------------------------


@quiet
@each_setting
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("data", ["iris", "wine", "blobs"])
def test_passes_by_transcription(setting, weighted, data):
    X = {"iris": IRIS, "wine": load_wine().data / 100, "blobs": make_blobs(200, 3, cluster_std=4, random_state=0)[0]}
    X = X[data]
    weight = np.random.RandomState(0).uniform(0.1, 3, len(X)) if weighted else None
    V = X[[0, 70, 140]]
    history = []
    for n_passes in range(1, 5):
        _, _, V, criterion = transcription(X, V, setting, weight)
        history.append(criterion)
        model = passes(X, X[[0, 70, 140]], n_passes, weight, **named(setting))
        if model.n_iter_ < n_passes:
            break  # a fixed point
        lower, upper, _, criterion = transcription(X, V, setting, weight)
        np.testing.assert_allclose(model.centers_, V, rtol=0, atol=1e-12)
        np.testing.assert_allclose(model.objective_history_, [*history, criterion], rtol=1e-12)
        assert as_sets(model.lower_approximation_) == lower
        assert as_sets(model.upper_approximation_) == upper
    assert n_passes > 2


@quiet
@property_test
@given(seed=st.integers(0, 10**6), setting=st.sampled_from(SETTINGS), K=st.integers(1, 6), grid=st.booleans())
def test_axioms_on_every_row(seed, setting, K, grid):
    rng = np.random.RandomState(seed)
    X = rng.randint(0, 5, (60, 2)).astype(float) if grid else rng.normal(size=(60, 2))
    model = RoughKMeans(K, n_init=2, random_state=seed, **named(setting)).fit(X)
    assert_axioms(model.lower_approximation_, model.upper_approximation_)
    np.testing.assert_array_equal(model.get_cover(), model.upper_approximation_)
    assert not (model.memberships_ > 0)[~model.upper_approximation_].any()
    np.testing.assert_array_equal(model.memberships_[model.lower_approximation_], 1)
    new = rng.normal(size=(50, 2)) * 3
    assert_axioms(*model.predict_approximations(new))
    for found, known in zip(
        model.predict_approximations(X), (model.lower_approximation_, model.upper_approximation_), strict=True
    ):
        np.testing.assert_array_equal(found, known)


@each_setting
def test_memberships_by_definition(setting):
    model = passes(IRIS, START, 3, **named(setting))
    D = cdist(IRIS, model.centers_, "sqeuclidean")
    upper = model.upper_approximation_
    inverse = np.where(upper, 1 / D, 0)
    np.testing.assert_allclose(model.memberships_, inverse / inverse.sum(axis=1, keepdims=True), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.labels_, D.argmin(axis=1))
    uniform = passes(IRIS, START, 3, boundary_memberships="uniform", **named(setting))
    np.testing.assert_allclose(uniform.memberships_, upper / upper.sum(axis=1, keepdims=True), rtol=1e-15)


@pytest.mark.parametrize("weighted", [False, True])
def test_objective_and_score(weighted):
    weight = np.random.RandomState(0).uniform(0.1, 3, 150) if weighted else None
    model = RoughKMeans(3, init=START).fit(IRIS, sample_weight=weight)
    nearest = cdist(IRIS, model.centers_, "sqeuclidean").min(axis=1)
    expected = nearest.sum() if weight is None else weight @ nearest
    assert model.objective_ == pytest.approx(expected, rel=1e-12)
    assert model.objective_ == model.objective_history_[-1]
    assert model.score(IRIS, sample_weight=weight) == pytest.approx(-expected, rel=1e-12)


@quiet
def test_best_start_is_kept():
    X, _ = make_blobs(300, 3, centers=6, cluster_std=2.5, random_state=3)
    rng = np.random.RandomState(0)
    starts = [X[rng.choice(300, 6, replace=False)] for _ in range(8)]
    queue = iter(starts)
    model = RoughKMeans(6, init=lambda X, K, rng: next(queue), n_init=8).fit(X)
    single = [RoughKMeans(6, init=start).fit(X).objective_ for start in starts]
    assert len({round(value, 6) for value in single}) > 2
    assert model.objective_ <= min(single) * 1.001


# Cycles ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("points, start, threshold, period", CYCLES)
def test_best_member_of_a_cycle(points, start, threshold, period):
    X, V = np.array(points, dtype=float)[:, None], np.array(start, dtype=float)[:, None]
    with pytest.warns(ConvergenceWarning) as caught:
        model = RoughKMeans(len(V), boundary_threshold=threshold, init=V).fit(X)
    (message,) = [str(warning.message) for warning in caught]
    assert f"goes round in a cycle of {period} states. More passes change nothing." in message
    assert "max_iter" not in message
    assert not model.converged_
    # After many passes only the cycle is left.
    for _ in range(60):
        V = transcription(X, V, ("ratio", threshold, 0.7))[2]
    members = []
    for _ in range(period):
        members.append((transcription(X, V, ("ratio", threshold, 0.7))[3], V))
        V = transcription(X, V, ("ratio", threshold, 0.7))[2]
    np.testing.assert_allclose(V, members[0][1], rtol=0, atol=1e-12)
    criterion, best = min(members, key=lambda member: member[0])
    assert model.objective_ == pytest.approx(criterion, rel=1e-12)
    np.testing.assert_allclose(model.centers_, best, rtol=0, atol=1e-12)
    assert model.n_iter_ < 100


@pytest.mark.parametrize("name", ["iris", "anisotropic_blobs"])
def test_a_cycle_of_almost_the_same_partitions_is_no_warning(name):
    X, y = offline_sets()[name]
    X = StandardScaler().fit_transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = RoughKMeans(len(np.unique(y)), random_state=0).fit(X)
    assert not model.converged_
    V, labels = model.centers_, []
    for _ in range(4):
        V = transcription(X, V, ("ratio", 1.2, 0.7))[2]
        labels.append(cdist(X, V).argmin(axis=1))
    np.testing.assert_allclose(cdist(V, model.centers_).min(axis=1), 0, rtol=0, atol=1e-9)  # a cycle of two states
    assert np.mean(np.array(labels) != model.labels_) < 0.01


def test_a_better_state_before_the_cycle_is_no_result():
    points, start, threshold, _ = CYCLES[1]
    X, V = np.array(points, dtype=float)[:, None], np.array(start, dtype=float)[:, None]
    with pytest.warns(ConvergenceWarning, match="cycle of 2 states"):
        model = RoughKMeans(2, boundary_threshold=threshold, init=V).fit(X)
    assert model.objective_ > model.objective_history_.min() + 5


def test_a_cycle_that_max_iter_cuts_short_is_none():
    points, start, threshold, _ = CYCLES[2]
    X, V = np.array(points, dtype=float)[:, None], np.array(start, dtype=float)[:, None]
    with pytest.warns(ConvergenceWarning, match="RoughKMeans did not converge in max_iter=4 passes"):
        model = RoughKMeans(2, boundary_threshold=threshold, init=V, max_iter=4).fit(X)
    for _ in range(4):
        V = transcription(X, V, ("ratio", threshold, 0.7))[2]
    np.testing.assert_allclose(model.centers_, V, rtol=0, atol=1e-12)  # the last state, not the best
    assert model.objective_ > model.objective_history_.min() + 10


def test_verbose_names_the_endings(capsys):
    X, _ = make_blobs(2000, 8, centers=5, cluster_std=3, random_state=0)
    RoughKMeans(5, random_state=0, verbose=1).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 10
    assert any(line.endswith("in a cycle of 2 states") for line in lines)
    assert any(line.endswith("converged") and "not" not in line for line in lines)


# Parts that are empty, ties, units ------------------------------------------------------------------------------------


def test_a_cluster_without_members_starts_again_from_the_worst_row():
    X = np.array([[0.0], [1.0], [10.0], [12.0]])
    model = RoughKMeans(3, init=[[0.5], [10.9], [1000.0]]).fit(X)
    np.testing.assert_allclose(model.centers_, [[0.5], [10.0], [12.0]], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(model.labels_, [0, 0, 1, 2])
    dask_array = pytest.importorskip("dask.array")
    blocks = make_blocks(dask_array.from_array(X, chunks=(1, -1)))
    statistics = blocks.reduce(model._statistics, blocks.frame.from_input([[0.5], [10.9], [1000.0]]))
    np.testing.assert_allclose(blocks.frame.to_input(statistics.worst_row), [12.0], rtol=1e-15)


def test_the_worst_row_is_that_of_all_pieces(monkeypatch):
    monkeypatch.setattr(blocks_module, "_PIECE", 2)  # two rows at a time
    X = np.array([[0.0], [12.0], [1.0], [10.0], [0.2], [0.3]])
    blocks = make_blocks(X)
    statistics = blocks.reduce(RoughKMeans(3)._statistics, blocks.frame.from_input([[0.5], [10.9], [1000.0]]))
    np.testing.assert_allclose(blocks.frame.to_input(statistics.worst_row), [12.0], rtol=1e-15)
    assert statistics.worst / blocks.frame.scale**2 == pytest.approx(1.1**2, rel=1e-12)


def test_a_cluster_that_stays_empty_is_said():
    with pytest.warns(ConvergenceWarning, match="RoughKMeans left 1 of 3 clusters empty; use fewer clusters"):
        model = RoughKMeans(3, init=[[0.0], [1.0], [1000.0]]).fit([[0.0], [0.0], [1.0], [1.0]])
    assert not model.upper_approximation_[:, 2].any()


def test_one_empty_cluster_a_pass_starts_again():
    X = np.array([[0.0], [1.0], [10.0], [12.0]])
    model = passes(X, np.array([[5.0], [1000.0], [2000.0]]), 1)
    np.testing.assert_allclose(model.centers_, [[5.75], [12.0], [2000.0]], rtol=1e-12)


def test_a_cluster_of_boundary_alone_and_of_lower_alone():
    X = np.array([[-3.0], [-1.0], [1.0], [3.0]])
    model = passes(X, np.array([[-1.0], [1.0]]), 1, boundary_threshold=10.0, lower_weight=0.9)
    # -1 and 1 are on the centres, -3 and 3 at ratio 2
    np.testing.assert_allclose(model.centers_, [[0.9 * -1], [0.9 * 1]], rtol=0, atol=1e-15)
    everyone = passes(X, np.array([[-2.0], [2.1]]), 1, boundary_threshold=100.0)
    np.testing.assert_allclose(everyone.centers_, 0, rtol=0, atol=1e-15)


@pytest.mark.parametrize("rule, threshold", [("ratio", 1.0), ("difference", 0.0)])
@pytest.mark.parametrize("offset, scale", [(0.0, 1.0), (1e6, 1.0), (0.1, 0.3), (0.0, 1e-150)])
def test_ties_are_boundary_whatever_the_rounding(rule, threshold, offset, scale):
    X = np.array([[-1.3, 0.0], [-0.7, 0.0], [0.0, 0.4], [0.0, -0.9], [0.7, 0.0], [1.3, 0.0]]) * scale + offset
    model = RoughKMeans(2, boundary_rule=rule, boundary_threshold=threshold, init=X[[0, 5]]).fit(X)
    np.testing.assert_array_equal(~model.lower_approximation_.any(axis=1), [False, False, True, True, False, False])
    np.testing.assert_allclose(model.memberships_[2:4], 0.5, rtol=0, atol=1e-5)


def test_difference_is_in_the_units_of_the_data():
    for scale in (1.0, 1e-150, 3.7, 1e150):
        model = RoughKMeans(
            3, boundary_rule="difference", boundary_threshold=0.4 * scale, init=START * scale, tol=0
        ).fit(IRIS * scale)
        d = cdist(IRIS, model.centers_ / scale)
        np.testing.assert_array_equal(model.upper_approximation_, d - d.min(axis=1, keepdims=True) <= 0.4)


def test_a_sample_on_a_centre():
    X = np.array([[0.0], [0.0], [4.0], [4.0]])
    ratio = RoughKMeans(2, init=[[0.0], [4.0]], boundary_threshold=1e300).fit(X)
    np.testing.assert_array_equal(ratio.memberships_, [[1, 0], [1, 0], [0, 1], [0, 1]])
    np.testing.assert_array_equal(ratio.lower_approximation_, ratio.memberships_ == 1)
    # By the difference it may belong elsewhere, but all of its degree is here.
    model = passes(X, np.array([[0.0], [4.0]]), 1, boundary_rule="difference", boundary_threshold=5.0)
    lower, upper = model.predict_approximations([[2.0], [7.0]])
    assert upper.all() and not lower.any()


@quiet
def test_everything_possible_collapses_with_a_warning():
    with pytest.warns(ConvergenceWarning, match="collapsed: .*try a smaller boundary_threshold or fewer clusters"):
        model = RoughKMeans(3, boundary_threshold=1e300, random_state=0).fit(IRIS)
    np.testing.assert_allclose(model.memberships_, 1 / 3, rtol=0, atol=1e-6)
    with pytest.warns(ConvergenceWarning, match="2 distinct prototypes, fewer than n_clusters=3"):
        RoughKMeans(3, random_state=0).fit(np.repeat([[0.0, 0.0], [5.0, 1.0]], 15, axis=0))


def test_one_cluster_and_one_cluster_per_row():
    one = RoughKMeans(1).fit(IRIS)
    np.testing.assert_allclose(one.centers_[0], IRIS.mean(axis=0), rtol=1e-12)
    assert one.lower_approximation_.all()
    X = IRIS[::15]
    many = RoughKMeans(10, random_state=0).fit(X)
    assert many.objective_ == pytest.approx(0, abs=1e-20)
    assert sorted(many.labels_) == list(range(10))


# Invariances ----------------------------------------------------------------------------------------------------------

shapes = st.tuples(st.integers(10, 60), st.integers(1, 5), st.integers(2, 4))


@property_test
@given(
    seed=st.integers(0, 10**6), shape=shapes, rule=st.sampled_from(["ratio", "difference"]), power=st.integers(-90, 90)
)
def test_similar_data_have_the_same_result(seed, shape, rule, power):
    n, d, K = shape
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d))
    start = X[:K] + 0.1 * rng.normal(size=(K, d))
    rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
    offset, scale = rng.normal(size=d) * 10, 10.0**power

    def move(Z):
        return (Z @ rotation + offset) * scale

    def fit(X, start, unit):
        threshold = 1.3 if rule == "ratio" else 0.3 * unit
        return passes(X, start, 3, boundary_rule=rule, boundary_threshold=threshold)

    model, moved = fit(X, start, 1.0), fit(move(X), move(start), scale)
    np.testing.assert_array_equal(moved.upper_approximation_, model.upper_approximation_)
    np.testing.assert_allclose(moved.memberships_, model.memberships_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(moved.centers_, move(model.centers_), rtol=0, atol=1e-11 * scale)
    np.testing.assert_allclose(moved.objective_history_, model.objective_history_ * scale * scale, rtol=1e-11)


@property_test
@given(seed=st.integers(0, 10**6), shape=shapes, setting=st.sampled_from(SETTINGS))
def test_weights_are_repetitions_and_order_does_not_matter(seed, shape, setting):
    n, d, K = shape
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d))
    weight = rng.randint(0, 4, n)
    weight[:K] = 1
    start = X[:K] + 0.1 * rng.normal(size=(K, d))
    weighted = passes(X, start, 3, weight, **named(setting))
    copies = rng.permutation(np.repeat(np.arange(n), weight))
    repeated = passes(X[copies], start, 3, **named(setting))
    np.testing.assert_allclose(weighted.centers_, repeated.centers_, rtol=0, atol=1e-11)
    np.testing.assert_allclose(weighted.objective_history_, repeated.objective_history_, rtol=1e-11)
    np.testing.assert_allclose(weighted.memberships_, repeated.predict_memberships(X), rtol=0, atol=1e-10)
    assert weighted.upper_approximation_.shape == (n, K)  # rows of weight 0, too


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_extreme_units(scale):
    expected = RoughKMeans(3, init=START).fit(IRIS)
    model = RoughKMeans(3, init=START * scale).fit(IRIS * scale)
    np.testing.assert_array_equal(model.upper_approximation_, expected.upper_approximation_)
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-11)
    np.testing.assert_allclose(model.centers_ / scale, expected.centers_, rtol=1e-11)


# Types, containers, memory --------------------------------------------------------------------------------------------


def test_float32_is_kept_and_close():
    X = IRIS.astype(np.float32)
    model, expected = (RoughKMeans(3, init=START).fit(data) for data in (X, IRIS))
    assert model.memberships_.dtype == model.centers_.dtype == np.float32
    np.testing.assert_array_equal(model.upper_approximation_, expected.upper_approximation_)
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-5)
    np.testing.assert_allclose(model.centers_, expected.centers_, rtol=1e-5)


@quiet
@each_setting
@pytest.mark.parametrize("weighted", [False, True])
def test_dask_equals_memory(setting, weighted):
    da = pytest.importorskip("dask.array")
    X, _ = make_blobs(500, 3, centers=3, cluster_std=2, random_state=1)
    weight = np.random.RandomState(0).randint(0, 3, 500) if weighted else None
    model = RoughKMeans(3, init=X[:3], max_iter=5, **named(setting))
    expected = RoughKMeans(**model.get_params()).fit(X, sample_weight=weight)
    data = da.from_array(X, chunks=(97, 3))
    lazy = model.fit(data, sample_weight=weight)
    np.testing.assert_allclose(lazy.centers_, expected.centers_, rtol=0, atol=1e-11)
    assert lazy.objective_ == pytest.approx(expected.objective_, rel=1e-11)
    np.testing.assert_allclose(lazy.memberships_.compute(), expected.memberships_, rtol=0, atol=1e-9)
    found = (lazy.lower_approximation_, lazy.upper_approximation_, *lazy.predict_approximations(data))
    known = (expected.lower_approximation_, expected.upper_approximation_) * 2
    for result, value in zip(found, known, strict=True):
        assert isinstance(result, da.Array)
        np.testing.assert_array_equal(result.compute(), value)


@quiet
def test_no_membership_matrix_is_kept_while_iterating():
    X = np.random.RandomState(0).normal(size=(40_000, 8))
    tracemalloc.start()
    model = passes(X, X[:20], 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    kept = model.memberships_.nbytes + 2 * model.upper_approximation_.nbytes
    assert peak < 1.3 * kept + 6e6  # a second (n, K) matrix of distances has 6.4 MB


def test_sparse_is_refused():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        RoughKMeans().fit(sparse.csr_matrix(IRIS))


# The protocol's own ---------------------------------------------------------------------------------------------------


def test_predict_as_trained():
    for kind in ("distance", "uniform"):
        model = RoughKMeans(3, boundary_memberships=kind, random_state=0).fit(IRIS)
        np.testing.assert_array_equal(model.predict_memberships(IRIS), model.memberships_)
        np.testing.assert_array_equal(model.predict(IRIS), model.labels_)


def test_cover():
    model = RoughKMeans(3, random_state=0).fit(IRIS)
    np.testing.assert_array_equal(model.get_cover(), model.upper_approximation_)
    np.testing.assert_array_equal(model.get_cover(threshold=0.5), model.memberships_ >= 0.5)
    assert (model.get_cover(top_k=1).sum(axis=1) == 1).all()


def test_approximations_need_a_fit_and_the_same_features():
    with pytest.raises(NotFittedError):
        RoughKMeans().predict_approximations(IRIS)
    model = RoughKMeans(random_state=0).fit(IRIS)
    with pytest.raises(ValueError, match="X has 3 features, but RoughKMeans is expecting 4"):
        model.predict_approximations(IRIS[:, :3])
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        model.fit(IRIS[:2])
    assert not hasattr(model, "upper_approximation_")  # a failed fit is no fit
    assert not hasattr(model, "lower_approximation_")


@pytest.mark.parametrize(
    "parameters",
    [
        *({"n_clusters": 0}, {"boundary_threshold": -1.0}, {"boundary_threshold": np.inf}, {"boundary_rule": "both"}),
        *({"lower_weight": 1.1}, {"lower_weight": -0.1}, {"boundary_memberships": "equal"}, {"init": "fcm"}),
        *({"n_init": 0}, {"max_iter": 0}, {"tol": -1e-3}),
    ],
)
def test_bad_parameters(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"'{name}' parameter of RoughKMeans must be"):
        RoughKMeans(**parameters).fit(IRIS)


def test_a_ratio_below_one_is_refused():
    with pytest.raises(
        ValueError, match=r"boundary_threshold must be >= 1 with boundary_rule='ratio'. Got 0.9 instead"
    ):
        RoughKMeans(boundary_threshold=0.9).fit(IRIS)
    RoughKMeans(boundary_threshold=0.9, boundary_rule="difference", random_state=0).fit(IRIS)
