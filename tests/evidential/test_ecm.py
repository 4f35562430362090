"""Evidential c-means: the published updates by loops, limits, measured values, degenerate data."""

import warnings

import numpy as np
import pytest
from helpers.tables import offline_sets
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score

from soft_clustering import ECM, FCM
from soft_clustering.engine import acceleration, blocks
from soft_clustering.evidential.credal import make_focal_sets
from soft_clustering.fuzzy.fuzzifier import auto_fuzzifier

IRIS, CLASSES = load_iris(return_X_y=True)
START = IRIS[[0, 60, 120]] + 0.05
START4 = IRIS[[0, 60, 100, 140]] + 0.05
SINGLE = [(0,), (1,), (2,)]
# start, focal sets, alpha, beta, delta
CASES = [
    (START, "full", 1.0, 2.0, 10.0),
    (START, "full", 2.0, 1.5, 5.0),
    (START, "simple", 1.0, 2.0, 10.0),
    (START, "simple", 2.0, 2.0, 5.0),
    (START, "pairs", 1.0, 1.5, 5.0),
    (START4, "full", 1.0, 2.0, 10.0),
    (START, [*SINGLE, (0, 2)], 0.5, 1.3, 2.0),
    (START, "full", 1.5, 2.5, np.inf),
]
each_case = pytest.mark.parametrize("case", CASES)
property_test = settings(max_examples=25, deadline=None, derandomize=True)


def named(case):
    return dict(zip(("init", "focal_sets", "alpha", "beta", "delta"), case, strict=True))


def published(X, V, sets, alpha, beta, delta, weight=None):
    """Masses, J and new prototypes of one pass: loops over samples and sets, as the publication writes them."""
    sets = [tuple(np.flatnonzero(row)) for row in sets]
    n, K, f = len(X), len(V), len(sets)
    weight = np.ones(n) if weight is None else weight
    M, J = np.zeros((n, f)), 0.0
    H, B = np.zeros((K, K)), np.zeros_like(V)
    for i in range(n):
        distances = {A: sum((X[i] - V[list(A)].mean(axis=0)) ** 2) for A in sets[1:]}
        total = sum((len(A) ** alpha * d2) ** (-1 / (beta - 1)) for A, d2 in distances.items())
        total += delta ** (-2 / (beta - 1))
        for j, A in enumerate(sets[1:], 1):
            M[i, j] = (len(A) ** alpha * distances[A]) ** (-1 / (beta - 1)) / total
            w = weight[i] * M[i, j] ** beta
            J += len(A) ** alpha * w * distances[A]
            for k in A:
                B[k] += len(A) ** (alpha - 1) * w * X[i]
                for other in A:
                    H[k, other] += len(A) ** (alpha - 2) * w
        M[i, 0] = delta ** (-2 / (beta - 1)) / total
        if np.isfinite(delta):
            J += weight[i] * delta**2 * M[i, 0] ** beta
    return M, J, np.linalg.solve(H, B)


def passes(X, n_passes, weight=None, **parameters):
    """So many plain passes, whether or not they converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = ECM(len(parameters["init"]), tol=0, max_iter=n_passes, accelerate=False, **parameters)
        return model.fit(X, sample_weight=weight)


# The published algorithm ----------------------------------------------------------------------------------------------


@each_case
@pytest.mark.parametrize("weighted", [False, True])
def test_passes_by_brute_force(case, weighted):
    V, kind, *rest = case
    X = IRIS[::3]
    weight = np.random.default_rng(0).uniform(0.1, 3, len(X)) if weighted else None
    sets, history = make_focal_sets(kind, len(V)), []
    for _ in range(3):
        _, J, V = published(X, V, sets, *rest, weight)
        history.append(J)
    model = passes(X, 3, weight, **named(case))
    M, J, _ = published(X, V, sets, *rest, weight)
    np.testing.assert_array_equal(model.focal_sets_, sets)
    # the ridge shortens a step by 1e-9 of it; at the fixed point, below, it does nothing
    np.testing.assert_allclose(model.centers_, V, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.masses_, M, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.objective_history_, [*history, J], rtol=1e-9)
    assert model.delta_ == pytest.approx(case[-1], rel=1e-15)


@each_case
def test_fixed_point_by_brute_force(case):
    V, _, *rest = case
    model = ECM(len(V), tol=1e-12, max_iter=3000, **named(case)).fit(IRIS)
    assert model.converged_
    M, J, V = published(IRIS, model.centers_, model.focal_sets_, *rest)
    np.testing.assert_allclose(V, model.centers_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.masses_, M, rtol=0, atol=1e-12)
    assert model.objective_ == pytest.approx(J, rel=1e-12)
    np.testing.assert_allclose(model.masses_.sum(axis=1), 1, rtol=1e-14)
    shared = [M[:, model.focal_sets_[:, k]] @ (1 / model.focal_sets_.sum(axis=1)[model.focal_sets_[:, k]]) for k in
              range(len(V))]  # fmt: skip
    np.testing.assert_allclose(model.memberships_, np.transpose(shared) / (1 - M[:, [0]]), rtol=0, atol=1e-12)


def test_set_prototypes_are_means():
    model = ECM(4, random_state=0).fit(IRIS)
    assert model.focal_centers_.shape == (15, 4)
    for members, center in zip(model.focal_sets_[1:], model.focal_centers_, strict=True):
        np.testing.assert_allclose(center, model.centers_[members].mean(axis=0), rtol=1e-13)


@pytest.mark.parametrize("m", [1.3, 2.0, 3.0])
def test_single_clusters_without_outliers_are_fuzzy_c_means(m):
    options = {"init": START, "tol": 1e-12, "max_iter": 2000}
    model = ECM(3, focal_sets=SINGLE, delta=np.inf, beta=m, **options).fit(IRIS)
    fcm = FCM(3, m=m, **options).fit(IRIS)
    np.testing.assert_allclose(model.centers_, fcm.centers_, rtol=0, atol=1e-11)
    np.testing.assert_allclose(model.memberships_, fcm.memberships_, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(model.masses_[:, 0], 0)
    np.testing.assert_allclose(model.belief_, model.memberships_, rtol=0, atol=1e-14)
    assert model.objective_ == pytest.approx(fcm.objective_, rel=1e-13)


@each_case
@pytest.mark.parametrize("accelerate", [False, True])
def test_objective_does_not_increase(monkeypatch, case, accelerate):
    monkeypatch.setattr(acceleration, "_CHEAP_PASS", 0)  # accelerate small data, too
    model = ECM(len(case[0]), accelerate=accelerate, max_iter=3000, **named(case)).fit(IRIS)
    assert model.converged_
    assert np.all(np.diff(model.objective_history_) <= 1e-12 * model.objective_history_[0])
    assert model.objective_history_[-1] == model.objective_


def test_acceleration_reaches_the_same_optimum_sooner():
    X, _ = make_blobs(1000, 4, centers=3, cluster_std=3, random_state=1)
    options = {"init": X[:3], "beta": 2.0, "tol": 1e-8, "max_iter": 3000}
    plain, fast = (ECM(3, accelerate=on, **options).fit(X) for on in (False, True))
    assert fast.objective_ == pytest.approx(plain.objective_, rel=1e-10)
    assert fast.n_iter_ < 0.7 * plain.n_iter_


# Measured values ------------------------------------------------------------------------------------------------------


def test_outlier():
    clean = np.array([IRIS[k == CLASSES].mean(axis=0) for k in range(3)])
    X = np.vstack([IRIS, np.full(4, 30.0)])
    model = ECM(3, alpha=1.0, beta=2.0, delta=np.sqrt(9.79), init=clean).fit(X)
    assert model.outlier_mass_[-1] == pytest.approx(0.983, abs=5e-4)
    assert model.outlier_mass_[:-1].max() == pytest.approx(0.098, abs=5e-4)
    assert model.hard_credal_[-1] == 0
    assert not model.get_cover()[-1].any()
    assert model.labels_[-1] >= 0
    assert model.memberships_[-1].sum() == pytest.approx(1, rel=1e-14)


def test_agreement_with_the_classes_of_ten_sets():
    found = [
        adjusted_rand_score(y, ECM(len(np.unique(y)), random_state=0).fit(X).labels_)
        for X, y in offline_sets().values()
    ]
    assert np.mean(found) >= 0.595


def test_simple_sets_of_ten_sets():
    found = [
        adjusted_rand_score(y, ECM(len(np.unique(y)), focal_sets="simple", random_state=0).fit(X).labels_)
        for X, y in offline_sets().values()
    ]
    assert np.mean(found) >= 0.605


def test_nonspecificity_finds_the_number_of_blobs():
    X, _ = make_blobs(400, centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=0)
    found = {K: ECM(K, focal_sets="full", random_state=0).fit(X).nonspecificity_ for K in range(2, 7)}
    assert min(found, key=found.get) == 4


def test_doubt_goes_to_the_pair():
    X, _ = make_blobs(200, centers=[[-5, 0], [5, 0], [0, 9]], cluster_std=0.5, random_state=0)
    model = ECM(3, alpha=1.0, random_state=0).fit(np.vstack([X, [0, 0]]))
    pair = model.focal_sets_[model.hard_credal_[-1]]
    assert set(np.flatnonzero(pair)) == set(model.predict([[-5, 0], [5, 0]]))
    assert set(np.flatnonzero(model.get_cover()[-1])) == set(np.flatnonzero(pair))
    assert not model.lower_approximation_[-1].any()
    np.testing.assert_array_equal(model.lower_approximation_[:-1].sum(axis=1), 1)


@pytest.mark.parametrize("alpha, more", [(0.5, True), (4.0, False)])
def test_alpha_avoids_large_sets(alpha, more):
    usual = ECM(3, beta=2.0, random_state=0).fit(IRIS).nonspecificity_
    assert (ECM(3, alpha=alpha, beta=2.0, random_state=0).fit(IRIS).nonspecificity_ > usual) == more


# Automatic parameters -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K, kind", [(1, "full"), (5, "full"), (6, "pairs"), (14, "pairs")])
def test_automatic_focal_sets(K, kind):
    model = ECM(K, random_state=0, n_init=1).fit(IRIS)
    np.testing.assert_array_equal(model.focal_sets_, make_focal_sets(kind, K))


@pytest.mark.parametrize("weighted", [False, True])
def test_automatic_delta(weighted):
    weight = np.random.default_rng(0).uniform(0.1, 3, 150) if weighted else None
    model = passes(IRIS, 1, weight, init=START, delta_scale=7.0)
    squared = np.square(IRIS[:, None] - START).sum(axis=2).mean(axis=1)
    assert model.delta_**2 == pytest.approx(7 * np.average(squared, weights=weight), rel=1e-12)


def test_delta_is_that_of_the_first_start():
    X, _ = make_blobs(120, 2, centers=6, cluster_std=2, random_state=3)
    first, *others = (
        ECM(5, init="k-means++", n_init=n, random_state=0, max_iter=5, tol=1e9).fit(X).delta_ for n in (1, 2, 5)
    )
    assert others == [first, first]


def test_automatic_beta():
    X, _ = make_blobs(300, 20, centers=3, random_state=0)
    model = ECM(3, random_state=0).fit(X)
    assert model.beta_ == auto_fuzzifier(300, 20) < 2
    assert ECM(3, random_state=0).fit(IRIS).beta_ == 2
    assert ECM(3, beta=1.7, random_state=0).fit(IRIS).beta_ == 1.7


@pytest.mark.parametrize("unit", [1e6, 1e-9, 3.7])
def test_units_do_not_matter(unit):
    model, other = (ECM(3, init=scale * START).fit(scale * IRIS) for scale in (1, unit))
    np.testing.assert_allclose(other.memberships_, model.memberships_, rtol=0, atol=1e-13)
    np.testing.assert_allclose(other.masses_, model.masses_, rtol=0, atol=1e-13)
    assert other.delta_ == pytest.approx(unit * model.delta_, rel=1e-13)


# Prediction -----------------------------------------------------------------------------------------------------------


def test_masses_of_the_training_data():
    model = ECM(3, random_state=0).fit(IRIS)
    np.testing.assert_allclose(model.predict_masses(IRIS), model.masses_, rtol=0, atol=1e-14)
    np.testing.assert_allclose(model.predict_masses(IRIS[3:5]), model.masses_[3:5], rtol=0, atol=1e-14)


def test_far_away_all_mass_is_on_the_empty_set():
    model = ECM(3, random_state=0).fit(IRIS)
    far = np.array([[1e3] * 4, [1e9] * 4, [1e100] * 4])
    empty = model.predict_masses(far)[:, 0]
    assert empty[0] > 0.999
    assert np.all(np.diff(empty) >= 0)
    assert empty[-1] == 1
    U = model.predict_memberships(far)
    np.testing.assert_allclose(U.sum(axis=1), 1, rtol=1e-14)
    # the share of the clusters does not drown in the mass of the empty set
    np.testing.assert_allclose(U[1:], 1 / 3, rtol=1e-6)


def test_not_fitted():
    with pytest.raises(NotFittedError):
        ECM().predict_masses(IRIS)


def test_lazy_masses():
    da = pytest.importorskip("dask.array")
    expected = ECM(3, init=START).fit(IRIS)
    model = ECM(3, init=START).fit(da.from_array(IRIS, chunks=(40, 4)))
    for name in ("masses_", "plausibility_", "upper_approximation_", "outlier_mass_"):
        lazy = getattr(model, name)
        assert isinstance(lazy, da.Array)
        np.testing.assert_allclose(lazy.compute(), getattr(expected, name), rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.predict_masses(IRIS), expected.masses_, rtol=0, atol=1e-9)


# Degenerate data ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.0, 2.5, -1e-300, 1e200])
@pytest.mark.parametrize("K", [2, 3])
def test_identical_points(value, K):
    with pytest.warns(ConvergenceWarning, match="ECM collapsed"):
        model = ECM(K, random_state=0).fit(np.full((7, 3), value))
    expected = np.zeros((7, 2**K))
    expected[:, 1 : K + 1] = 1 / K
    np.testing.assert_allclose(model.masses_, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.memberships_, 1 / K, rtol=1e-14)
    np.testing.assert_allclose(model.centers_, value, rtol=1e-15)
    assert model.converged_
    assert np.isfinite(model.delta_)


def test_one_cluster():
    model = ECM(1, beta=2.0, delta=1.0).fit(IRIS)
    assert model.masses_.shape == (150, 2)
    distance = np.linalg.norm(IRIS - model.centers_, axis=1)
    np.testing.assert_allclose(model.masses_[:, 0], distance**2 / (1 + distance**2), rtol=1e-12)
    np.testing.assert_array_equal(model.memberships_, 1)
    assert model.nonspecificity_ == 0


def test_sample_on_a_prototype():
    model = ECM(3, random_state=0).fit(IRIS)
    masses = model.predict_masses(np.vstack([model.focal_centers_, model.centers_]))
    on = np.r_[1:8, 1:4]
    np.testing.assert_allclose(masses[np.arange(10), on], 1, rtol=1e-9)


def test_coincident_prototypes_share():
    X = np.array([[0.0, 0], [0, 1], [8, 0], [8, 1], [4, 9], [5, 9]])
    # only a few passes: rounding breaks the symmetry in the end
    model = passes(X, 2, init=np.array([[0, 0.5], [0, 0.5], [8, 0]]), beta=2.0)
    np.testing.assert_allclose(model.centers_[0], model.centers_[1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.masses_[:, 1], model.masses_[:, 2], rtol=0, atol=1e-12)
    on = model.predict_masses(model.centers_[:1])[0]
    # clusters 0 and 1 and the set of both are in one place: mass by size, as everywhere
    np.testing.assert_allclose(on[[1, 2, 4]] / on[1], [1, 1, 1 / 4], rtol=1e-12)
    np.testing.assert_allclose(on[[0, 3, 5, 6, 7]], 0, atol=1e-12)


def test_collapse_onto_two_prototypes_is_named():
    with pytest.warns(ConvergenceWarning, match="found 2 distinct prototypes"):
        ECM(3, init=[[0, 0.5], [0, 0.5], [8, 0]], beta=2.0).fit(np.repeat([[0.0, 0], [8, 0]], 5, axis=0))


def test_as_many_clusters_as_samples():
    X = np.random.default_rng(0).normal(size=(6, 3))
    model = ECM(6, init=X).fit(X)
    np.testing.assert_allclose(model.belief_, np.eye(6), rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.centers_, X, rtol=0, atol=1e-9)


def test_prototype_without_samples_stays_and_is_named():
    X, _ = make_blobs(100, centers=[[0, 0], [9, 0]], cluster_std=0.3, random_state=0)
    start = np.array([[0.0, 0], [9, 0], [1e9, 1e9]])
    with pytest.warns(ConvergenceWarning, match="ECM left 1 of n_clusters=3 clusters without samples; try another"):
        model = ECM(3, init=start, beta=1.02, delta=5.0).fit(X)
    np.testing.assert_allclose(model.centers_[2], 1e9, rtol=1e-6)
    np.testing.assert_allclose(model.centers_[:2], [[0, 0], [9, 0]], rtol=0, atol=0.2)


@pytest.mark.parametrize("beta", [1.001, 1.01, 10.0, 50.0])
@pytest.mark.filterwarnings("ignore:ECM")
def test_extreme_fuzzifiers(beta):
    model = ECM(3, beta=beta, random_state=0).fit(IRIS)
    np.testing.assert_allclose(model.masses_.sum(axis=1), 1, rtol=1e-12)
    assert np.isfinite(model.objective_history_).all()
    if beta < 1.1:
        assert model.masses_.max(axis=1).min() > 0.5


@pytest.mark.parametrize("alpha", [0.0, 50.0])
def test_extreme_alpha(alpha):
    model = ECM(14, alpha=alpha, random_state=0, n_init=1, max_iter=20, tol=1e9).fit(IRIS)
    np.testing.assert_allclose(model.masses_.sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("delta", [1e-200, 1e-3, 1e200])
@pytest.mark.filterwarnings("ignore:ECM")
def test_extreme_delta(delta):
    model = ECM(3, delta=delta, random_state=0).fit(IRIS)
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1, rtol=1e-12)
    # not all of them: a prototype may settle on a sample
    assert (np.median(model.outlier_mass_) > 0.9) if delta < 1 else (model.outlier_mass_.max() < 1e-9)


@property_test
@given(st.integers(0, 10**6), st.sampled_from(["full", "pairs", "simple"]), st.floats(1.1, 3), st.floats(0, 3))
def test_random_problems(seed, kind, beta, alpha):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rng.integers(8, 40), rng.integers(1, 5)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = ECM(4, init=X[:4], focal_sets=kind, beta=beta, alpha=alpha).fit(X)
    np.testing.assert_allclose(model.masses_.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1, rtol=1e-12)
    assert np.all(np.diff(model.objective_history_) <= 1e-10 * model.objective_history_[0])
    assert (model.belief_ <= model.plausibility_ + 1e-15).all()


# Scale ----------------------------------------------------------------------------------------------------------------


def test_pieces_do_not_matter(monkeypatch):
    X, _ = make_blobs(500, 3, centers=5, cluster_std=2, random_state=0)
    whole = ECM(5, init=X[:5]).fit(X)
    monkeypatch.setattr(blocks, "_PIECE", 200)
    pieces = ECM(5, init=X[:5]).fit(X)
    assert max(len(Z) for _, Z, _ in blocks.make_blocks(X).blocks[0].pieces(32)) == 6
    np.testing.assert_allclose(pieces.masses_, whole.masses_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(pieces.memberships_, whole.memberships_, rtol=0, atol=1e-10)


def test_float32():
    X = IRIS.astype(np.float32)
    model, double = ECM(3, init=START).fit(X), ECM(3, init=START).fit(IRIS)
    for name in ("masses_", "memberships_", "centers_", "focal_centers_", "belief_"):
        assert getattr(model, name).dtype == np.float32, name
        np.testing.assert_allclose(getattr(model, name), getattr(double, name), rtol=0, atol=1e-5)
    assert model.predict_masses(X).dtype == np.float32


# Parameters -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, value",
    [
        ("focal_sets", "all"),
        ("focal_sets", 3),
        ("focal_sets", [(0,), (1,), (3,)]),
        ("focal_sets", [(0,), (1,), (1, 2)]),  # cluster 2 alone is missing
        ("alpha", -1.0),
        ("alpha", np.nan),
        ("alpha", 51),
        ("beta", 1.0),
        ("beta", 51.0),
        ("beta", "two"),
        ("delta", 0.0),
        ("delta", -1.0),
        ("delta", np.nan),
        ("delta", "far"),
        ("delta_scale", 0.0),
        ("delta_scale", np.inf),
        ("init", "random"),
    ],
)
def test_bad_parameters(name, value):
    with pytest.raises(ValueError, match=rf"\b{name}\b"):
        ECM(3, **{name: value}).fit(IRIS)


def test_collapse_is_named():
    X = np.random.default_rng(0).normal(size=(200, 30))
    with pytest.warns(
        ConvergenceWarning, match=r"ECM collapsed.*beta=2 may be too large for 30 features, try beta='auto'"
    ):
        ECM(4, beta=2.0, random_state=0).fit(X)
