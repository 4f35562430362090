"""Validity from memberships and prototypes: brute force, published values, laws of scale, degenerate and bad input."""

import math
import re
import tracemalloc
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.metrics import silhouette_samples, silhouette_score

from soft_clustering import FCM, kernels
from soft_clustering.metrics import (
    METRICS,
    fukuyama_sugeno,
    fuzzy_compactness,
    fuzzy_hypervolume,
    fuzzy_silhouette,
    kwon,
    membership,
    modified_partition_coefficient,
    nonspecificity,
    partition_coefficient,
    partition_entropy,
    partition_index,
    pbmf,
    separation,
    separation_index,
    soft_clustering_metrics,
    xie_beni,
)

IRIS = load_iris().data
PROTOTYPE_INDICES = [fuzzy_compactness, xie_beni, kwon, fukuyama_sugeno, pbmf, partition_index, fuzzy_hypervolume]
property_test = settings(max_examples=40, deadline=None, derandomize=True)
exactly = {"rel": 1e-12, "abs": 0}


def random_case(seed, n=23, d=3, K=4):
    """Samples, memberships (some of them 0) and prototypes."""
    rng = np.random.RandomState(seed)
    X, U = rng.normal(size=(n, d)) * 3 + 1, rng.dirichlet(np.ones(K), n)
    U[: n // 4, 0] = 0
    return X, U / U.sum(axis=1, keepdims=True), rng.normal(size=(K, d)) * 2


CASES = [
    pytest.param(*random_case(seed, n, d, K), m, id=f"n={n}, d={d}, K={K}, m={m}")
    for seed, (n, d, K, m) in enumerate([(23, 3, 4, 2.0), (12, 1, 2, 1.5), (30, 2, 5, 1.0), (17, 4, 3, 3.2)])
]


# The formulas as plain loops ------------------------------------------------------------------------------------------


def squared_distance(x, v):
    return sum((float(a) - float(b)) ** 2 for a, b in zip(x, v, strict=True))


def scatter(X, U, V, m, i):
    return sum(U[k, i] ** m * squared_distance(X[k], V[i]) for k in range(len(X)))


def total_scatter(X, U, V, m):
    return sum(scatter(X, U, V, m, i) for i in range(len(V)))


def closest(V):
    return min(squared_distance(v, w) for v, w in combinations(V, 2))


def mean(X):
    return [sum(float(x[j]) for x in X) / len(X) for j in range(X.shape[1])]


def determinant(F):
    """By elimination in exact arithmetic."""
    F, value = [list(row) for row in F], Fraction(1)
    for j in range(len(F)):
        pivot = next((i for i in range(j, len(F)) if F[i][j] != 0), None)
        if pivot is None:
            return Fraction(0)
        if pivot != j:
            F[j], F[pivot], value = F[pivot], F[j], -value
        value *= F[j][j]
        for i in range(j + 1, len(F)):
            factor = F[i][j] / F[j][j]
            F[i] = [a - factor * b for a, b in zip(F[i], F[j], strict=True)]
    return value


def brute_hypervolume(X, U, V, m):
    total = 0.0
    for i in range(len(V)):
        w = [Fraction(float(U[k, i]) ** m) for k in range(len(X))]
        C = [[Fraction(float(a)) - Fraction(float(b)) for a, b in zip(x, V[i], strict=True)] for x in X]
        d = X.shape[1]
        F = [[sum(w[k] * C[k][a] * C[k][b] for k in range(len(X))) / sum(w) for b in range(d)] for a in range(d)]
        total += math.sqrt(determinant(F))
    return total


def brute_pbmf(X, U, V, m):
    center = mean(X)
    around_mean = sum(math.sqrt(squared_distance(x, center)) for x in X)
    around = sum(U[k, i] ** m * math.sqrt(squared_distance(X[k], V[i])) for k in range(len(X)) for i in range(len(V)))
    widest = max(math.sqrt(squared_distance(v, w)) for v, w in combinations(V, 2))
    return (around_mean * widest / (len(V) * around)) ** 2


def brute_partition_index(X, U, V, m):
    total = 0.0
    for i in range(len(V)):
        size = sum(U[k, i] for k in range(len(X)))
        total += scatter(X, U, V, m, i) / (size * sum(squared_distance(V[j], V[i]) for j in range(len(V))))
    return total


def brute_fukuyama_sugeno(X, U, V, m):
    center = mean(X)
    return sum(
        U[k, i] ** m * (squared_distance(X[k], V[i]) - squared_distance(V[i], center))
        for k in range(len(X))
        for i in range(len(V))
    )


def brute_kwon(X, U, V, m):
    center = mean(X)
    penalty = sum(squared_distance(v, center) for v in V) / len(V)
    return (total_scatter(X, U, V, m) + penalty) / closest(V)


BRUTE = {
    fuzzy_compactness: total_scatter,
    xie_beni: lambda X, U, V, m: total_scatter(X, U, V, m) / (len(X) * closest(V)),
    kwon: brute_kwon,
    fukuyama_sugeno: brute_fukuyama_sugeno,
    pbmf: brute_pbmf,
    partition_index: brute_partition_index,
    fuzzy_hypervolume: brute_hypervolume,
}


@pytest.mark.parametrize("X, U, V, m", CASES)
@pytest.mark.parametrize("index", PROTOTYPE_INDICES)
def test_prototype_indices_by_brute_force(index, X, U, V, m):
    assert index(X, U, V, m=m) == pytest.approx(BRUTE[index](X, U, V, m), **exactly)


@pytest.mark.parametrize("X, U, V, m", CASES)
@pytest.mark.parametrize("index", [xie_beni, fuzzy_hypervolume])
def test_without_compiled_kernels(index, X, U, V, m, monkeypatch):
    monkeypatch.setattr(kernels, "compiled", None)
    assert index(X, U, V, m=m) == pytest.approx(BRUTE[index](X, U, V, m), **exactly)


@pytest.mark.parametrize("X, U, V, m", CASES)
def test_covariances_one_after_the_other(X, U, V, m, monkeypatch):
    monkeypatch.setattr(membership, "_TOGETHER", 0)
    assert fuzzy_hypervolume(X, U, V, m=m) == pytest.approx(brute_hypervolume(X, U, V, m), **exactly)


@pytest.mark.parametrize("X, U, V, m", CASES)
def test_separation_index_by_brute_force(X, U, V, m):
    assert separation_index(X, U, V) == pytest.approx(BRUTE[xie_beni](X, U, V, 2), **exactly)


@pytest.mark.parametrize("X, U, V, m", CASES)
def test_separation_by_brute_force(X, U, V, m):
    distances = [math.sqrt(squared_distance(v, w)) for v, w in combinations(V, 2)]
    assert separation(V) == pytest.approx(sum(distances) / len(distances), **exactly)


@pytest.mark.parametrize("X, U, V, m", CASES)
def test_membership_indices_by_brute_force(X, U, V, m):
    n, K = U.shape
    coefficient = sum(U[k, i] ** 2 for k in range(n) for i in range(K)) / n
    entropy = -sum(U[k, i] * math.log(U[k, i]) for k in range(n) for i in range(K) if U[k, i] > 0) / n
    assert partition_coefficient(U) == pytest.approx(coefficient, **exactly)
    assert modified_partition_coefficient(U) == pytest.approx((coefficient - 1 / K) / (1 - 1 / K), **exactly)
    assert partition_entropy(U) == pytest.approx(entropy, **exactly)


def brute_silhouettes(X, labels):
    values = []
    for k in range(len(X)):
        distances = {}
        for j in range(len(X)):
            if j != k:
                distances.setdefault(labels[j], []).append(math.sqrt(squared_distance(X[k], X[j])))
        means = {label: sum(found) / len(found) for label, found in distances.items()}
        inside = means.pop(labels[k], None)
        outside = min(means.values())
        values.append(0.0 if inside is None else (outside - inside) / max(inside, outside))
    return values


@pytest.mark.parametrize("X, U, V, m", CASES)
@pytest.mark.parametrize("alpha", [0.0, 1.0, 2.5])
def test_fuzzy_silhouette_by_brute_force(X, U, V, m, alpha):
    labels = [max(range(len(u)), key=lambda i, u=u: u[i]) for u in U]
    weights = [(sorted(u)[-1] - sorted(u)[-2]) ** alpha for u in U]
    values = brute_silhouettes(X, labels)
    expected = sum(w * s for w, s in zip(weights, values, strict=True)) / sum(weights)
    assert fuzzy_silhouette(X, U, alpha=alpha) == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_nonspecificity_by_brute_force():
    rng = np.random.RandomState(0)
    focal_sets = [[bool(bits & 1), bool(bits & 2), bool(bits & 4)] for bits in range(8)]
    masses = rng.dirichlet(np.ones(8), 20)
    total = 0.0
    for k in range(20):
        for A in range(8):
            total += masses[k, A] * math.log2(sum(focal_sets[A]) or 3)
    assert nonspecificity(masses, focal_sets) == pytest.approx(total / (20 * math.log2(3)), **exactly)


# Values known otherwise -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "K, coefficient, modified, entropy, xb", [(2, 0.892, 0.784, 0.196, 0.054), (3, 0.783, 0.675, 0.395, 0.137)]
)
def test_values_of_iris(K, coefficient, modified, entropy, xb):
    """The three digits that the literature on fuzzy c-means (m = 2) prints for the iris data."""
    model = FCM(K, m=2.0, tol=1e-8, random_state=0).fit(IRIS)
    values = soft_clustering_metrics(IRIS, model.memberships_, centers=model.centers_, m=2.0)
    assert values["partition_coefficient"] == pytest.approx(coefficient, abs=6e-4)
    assert values["modified_partition_coefficient"] == pytest.approx(modified, abs=6e-4)
    assert values["partition_entropy"] == pytest.approx(entropy, abs=6e-4)
    assert values["xie_beni"] == pytest.approx(xb, abs=6e-4)
    assert values["fuzzy_compactness"] == pytest.approx(model.objective_, rel=1e-12)


def test_by_hand():
    """Two clusters on a line, every number small enough for the head."""
    X, V = [[0.0], [2.0], [6.0], [8.0]], [[1.0], [7.0]]
    U = [[1, 0], [0.5, 0.5], [0, 1], [0, 1]]
    assert partition_coefficient(U) == 3.5 / 4
    assert partition_entropy(U) == pytest.approx(math.log(2) / 4, **exactly)
    J = 1 + 0.25 * 1 + 0.25 * 25 + 1 + 1
    assert fuzzy_compactness(X, U, V) == J
    assert xie_beni(X, U, V) == J / (4 * 36)
    assert kwon(X, U, V) == (J + (9 + 9) / 2) / 36
    assert fukuyama_sugeno(X, U, V) == J - 9 * (1.25 + 2.25)
    assert partition_index(X, U, V) == pytest.approx(1.25 / (1.5 * 36) + 8.25 / (2.5 * 36), **exactly)
    assert pbmf(X, U, V) == pytest.approx(((4 + 2 + 2 + 4) * 6 / (2 * (1 + 0.25 + 0.25 * 5 + 2))) ** 2, **exactly)
    assert fuzzy_hypervolume(X, U, V) == pytest.approx(math.sqrt(1.25 / 1.25) + math.sqrt(8.25 / 2.25), **exactly)
    assert separation(V) == 6


@pytest.mark.parametrize(
    "masses, expected", [([1, 0, 0, 0], 1), ([0, 1, 0, 0], 0), ([0, 0, 0, 1], 1), ([0, 0.5, 0, 0.5], 0.5)]
)
def test_nonspecificity_by_hand(masses, expected):
    focal_sets = [[False, False], [True, False], [False, True], [True, True]]
    assert nonspecificity([masses], focal_sets) == pytest.approx(expected, abs=1e-15)


def test_nonspecificity_of_one_cluster():
    assert nonspecificity([[0.5, 0.5]], [[0], [1]]) == 0


def test_fuzzy_silhouette_of_a_hard_partition_is_the_silhouette():
    labels = load_iris().target
    assert fuzzy_silhouette(IRIS, np.eye(3)[labels]) == pytest.approx(silhouette_score(IRIS, labels), abs=1e-12)


def test_fuzzy_silhouette_weighs_scikit_learns_silhouettes():
    U = FCM(3, m=2.0, random_state=0).fit(IRIS).memberships_
    ordered = np.sort(U, axis=1)
    expected = np.average(silhouette_samples(IRIS, U.argmax(axis=1)), weights=(ordered[:, -1] - ordered[:, -2]) ** 2)
    assert fuzzy_silhouette(IRIS, U, alpha=2) == pytest.approx(expected, abs=1e-12)


def test_fuzzy_silhouette_with_a_large_alpha():
    """Powers of small differences underflow together; their ratios do not."""
    X, U, _ = random_case(0)
    U = 0.25 + (U - 0.25) * 1e-3
    assert -1 <= fuzzy_silhouette(X, U, alpha=200) <= 1


def test_fuzzy_silhouette_leaves_out_samples_without_membership():
    X, U, _ = random_case(1)
    more = np.vstack([X, 100 * np.ones((2, 3))]), np.vstack([U, np.zeros((2, 4))])
    assert fuzzy_silhouette(*more) == fuzzy_silhouette(X, U)


def test_hypervolume_of_a_square():
    """Corners at +-1 have the identity as covariance, whatever the sides are."""
    corners = np.array([[a, b] for a in (-1, 1) for b in (-1, 1)])
    assert fuzzy_hypervolume(corners * [2, 3], np.ones((4, 1)), [[0, 0]]) == pytest.approx(6, **exactly)


# Laws -----------------------------------------------------------------------------------------------------------------


def all_values(X, U, V):
    values = {index.__name__: index(X, U, V) for index in PROTOTYPE_INDICES}
    return values | {"separation": separation(V), "fuzzy_silhouette": fuzzy_silhouette(X, U)}


@property_test
@given(seed=st.integers(0, 10**6), n=st.integers(6, 25), d=st.integers(1, 4), K=st.integers(2, 4))
def test_order_does_not_matter(seed, n, d, K):
    X, U, V = random_case(seed, n, d, K)
    rng = np.random.RandomState(seed)
    rows, clusters = rng.permutation(n), rng.permutation(K)
    expected = all_values(X, U, V)
    assert all_values(X[rows], U[rows][:, clusters], V[clusters]) == pytest.approx(
        expected, rel=1e-9, abs=1e-9, nan_ok=True
    )


POWER_OF_SCALE = {
    "fuzzy_compactness": 2,
    "xie_beni": 0,
    "kwon": 0,
    "fukuyama_sugeno": 2,
    "pbmf": 2,
    "partition_index": 0,
    "fuzzy_hypervolume": 3,  # the number of features
    "separation": 1,
    "fuzzy_silhouette": 0,
}


@property_test
@given(seed=st.integers(0, 10**6), exponent=st.integers(-60, 60))
def test_units_do_not_matter(seed, exponent):
    """By powers of two, up to the last bit; a change of unit by 1e18 costs nothing."""
    X, U, V = random_case(seed)
    scale = 2.0**exponent
    expected = all_values(X, U, V)
    for name, value in all_values(X * scale, U, V * scale).items():
        assert value == pytest.approx(expected[name] * scale ** POWER_OF_SCALE[name], rel=1e-11, abs=0)


@pytest.mark.parametrize("scale", [1e-170, 1e-100, 1e100, 1e170, 1e300])
def test_extreme_units(scale):
    X, U, V = random_case(0)
    for name in ("xie_beni", "kwon", "partition_index", "fuzzy_silhouette"):
        arguments = {"X": X * scale, "U": U, "centers": V * scale}
        assert METRICS[name](**arguments) == pytest.approx(METRICS[name](X=X, U=U, centers=V), rel=1e-12, abs=0)
    assert separation(V * scale) == pytest.approx(separation(V) * scale, rel=1e-12, abs=0)
    J = fuzzy_compactness(X * scale, U, V * scale)
    expected = fuzzy_compactness(X, U, V) * scale * scale  # inf and 0 included
    assert pytest.approx(expected, rel=1e-12, abs=0) == J


def test_volume_too_large_for_a_float():
    X, U, V = random_case(0)
    assert fuzzy_hypervolume(X * 1e150, U, V * 1e150) == math.inf
    assert fuzzy_hypervolume(X * 1e-150, U, V * 1e-150) == 0


@pytest.mark.parametrize("index", PROTOTYPE_INDICES)
def test_offset(index):
    """X and V are exact in binary after the shift, so that nothing but the means is rounded differently."""
    X, U, V = random_case(3)
    X, V = np.round(X * 2**10) / 2**10, np.round(V * 2**10) / 2**10
    assert index(X + 2.0**30, U, V + 2.0**30) == pytest.approx(index(X, U, V), rel=1e-9)


def test_bounds_of_crispness():
    equal, hard = np.full((7, 4), 0.25), np.eye(4)[[0, 1, 2, 3, 0]]
    assert partition_coefficient(equal) == 0.25 and partition_coefficient(hard) == 1
    assert modified_partition_coefficient(equal) == 0 and modified_partition_coefficient(hard) == 1
    assert partition_entropy(equal) == pytest.approx(math.log(4), **exactly)
    assert partition_entropy(hard) == 0


def test_fuzzifier_of_one_is_no_power():
    X, U, V = random_case(0)
    assert fuzzy_compactness(X, U, V, m=1) == pytest.approx(fuzzy_compactness(X, np.sqrt(U), V, m=2), rel=1e-12)


# Degenerate cases -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [xie_beni, kwon, pbmf, partition_index, separation_index])
def test_one_cluster_has_no_separation(index):
    X, _, V = random_case(0)
    assert math.isnan(index(X, np.ones((len(X), 1)), V[:1]))


def test_one_cluster_elsewhere():
    X, _, V = random_case(0)
    one = np.ones((len(X), 1))
    values = soft_clustering_metrics(X, one, centers=V[:1])
    defined = {"partition_coefficient", "partition_entropy", "fuzzy_hypervolume", "fuzzy_compactness"}
    assert {name for name, value in values.items() if not math.isnan(value)} == defined
    assert values["partition_coefficient"] == 1 and values["partition_entropy"] == 0
    assert math.isnan(fuzzy_silhouette(X, one))
    J = fuzzy_compactness(X, one, V[:1])
    assert fukuyama_sugeno(X, one, V[:1]) == pytest.approx(
        J - len(X) * squared_distance(V[0], mean(X)), rel=1e-12, abs=1e-12
    )


@pytest.mark.parametrize("index", [xie_beni, kwon, separation_index])
def test_coinciding_prototypes(index):
    X, U, V = random_case(0)
    assert index(X, U, V[[0, 1, 2, 2]]) == math.inf


def test_all_prototypes_coincide():
    X, U, V = random_case(0)
    assert partition_index(X, U, V[[0, 0, 0, 0]]) == math.inf
    assert pbmf(X, U, V[[0, 0, 0, 0]]) == 0
    assert separation(V[[0, 0, 0, 0]]) == 0


@pytest.mark.parametrize("index", [xie_beni, kwon, partition_index, pbmf, separation_index])
def test_nothing_over_nothing(index):
    X, U, _ = random_case(0)
    assert math.isnan(index(np.ones_like(X), U, np.ones((4, 3))))


def test_every_sample_on_its_prototype():
    X, V = np.array([[0.0, 1.0], [4.0, 2.0], [0.0, 1.0]]), np.array([[0.0, 1.0], [4.0, 2.0]])
    U = np.eye(2)[[0, 1, 0]]
    assert xie_beni(X, U, V) == 0 and partition_index(X, U, V) == 0 and fuzzy_hypervolume(X, U, V) == 0
    assert pbmf(X, U, V) == math.inf


def test_cluster_without_membership():
    X, U, V = random_case(0)
    empty = np.column_stack([U, np.zeros(len(U))])
    more = np.vstack([V, 50 * np.ones(3)])
    assert fuzzy_hypervolume(X, empty, more) == pytest.approx(fuzzy_hypervolume(X, U, V), **exactly)
    assert fuzzy_compactness(X, empty, more) == pytest.approx(fuzzy_compactness(X, U, V), **exactly)
    assert math.isfinite(partition_index(X, empty, more))
    assert math.isfinite(fuzzy_silhouette(X, empty))


def test_fuzzy_silhouette_where_it_is_not_defined():
    X, U, _ = random_case(0)
    assert math.isnan(fuzzy_silhouette(X, np.full((len(X), 2), 0.5)))  # no sample prefers a cluster
    assert math.isnan(fuzzy_silhouette(X, np.zeros((len(X), 2))))
    assert math.isnan(fuzzy_silhouette(X, np.tile([0.9, 0.1], (len(X), 1))))  # one cluster is taken
    assert math.isnan(fuzzy_silhouette(X[:3], np.eye(3)))  # each sample has its own
    assert math.isnan(fuzzy_silhouette(X[:1], U[:1]))


# Rank of the fuzzy covariances ----------------------------------------------------------------------------------------


def test_more_features_than_samples_have_no_volume():
    rng = np.random.RandomState(0)
    assert fuzzy_hypervolume(rng.normal(size=(10, 11)), np.ones((10, 1)), rng.normal(size=(1, 11))) == 0


def test_as_many_features_as_samples():
    """About the weighted mean n samples span n - 1 dimensions, about another point n."""
    X, w = np.random.RandomState(0).normal(size=(4, 4)), np.array([0.2, 0.9, 0.5, 0.7])
    assert fuzzy_hypervolume(X, w[:, None], [(w**2 @ X) / (w**2).sum()]) == 0
    V = np.full((1, 4), 5.0)
    assert fuzzy_hypervolume(X, w[:, None], V) == pytest.approx(brute_hypervolume(X, w[:, None], V, 2), rel=1e-11)


@pytest.mark.parametrize(
    "dependent",
    [
        lambda X: X[:, 0],
        lambda X: 1e6 * X[:, 0] - 3e-4 * X[:, 1],
        lambda X: X.sum(axis=1) + 1e5,
        lambda X: np.full(len(X), 5.1),
        lambda X: np.zeros(len(X)),
        lambda X: np.full(len(X), 1e8 / 3),
    ],
)
def test_dependent_features_have_no_volume(dependent):
    rng = np.random.RandomState(0)
    X, U = rng.normal(size=(200, 3)) * [1e-3, 1, 1e4], rng.dirichlet(np.ones(3), 200)
    X = np.column_stack([X, dependent(X)])
    V = (U**2).T @ X / (U**2).sum(axis=0)[:, None]
    for columns in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 3, 0, 1]):
        assert fuzzy_hypervolume(X[:, columns], U, V[:, columns]) == 0


def test_units_of_features_are_no_dependence():
    """Variances that differ by 1e24 make no covariance singular."""
    X, U, V = random_case(0)
    units = np.array([1e-6, 1, 1e6])
    assert fuzzy_hypervolume(X * units, U, V * units) == pytest.approx(fuzzy_hypervolume(X, U, V), rel=1e-11)


@pytest.mark.parametrize("spread", [1e-1, 1e-3, 1e-4])
def test_a_thin_cluster_has_a_volume(spread):
    rng = np.random.RandomState(0)
    t, e = rng.normal(size=50), rng.normal(size=50)
    X, U, V = np.column_stack([t, t + spread * e]), np.ones((50, 1)), np.zeros((1, 2))
    assert fuzzy_hypervolume(X, U, V) == pytest.approx(brute_hypervolume(X, U, V, 2), rel=1e-7)


def test_few_samples_with_weight_have_no_volume():
    X = random_case(0)[0]
    U = np.zeros((len(X), 1))
    U[:3] = 1
    assert fuzzy_hypervolume(X, U, X[:3].mean(axis=0, keepdims=True)) == 0


# Memory ---------------------------------------------------------------------------------------------------------------


def peak_memory(function, *arguments):
    """Peak of the memory that NumPy and Python take in a call, in MB."""
    tracemalloc.start()
    try:
        function(*arguments)
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


def test_large_covariances_are_not_held_together():
    rng = np.random.RandomState(0)
    X, U, V = rng.normal(size=(400, 300)), rng.dirichlet(np.ones(40), 400), rng.normal(size=(40, 300))
    assert peak_memory(fuzzy_hypervolume, X, U, V) < 10  # (K, d, d) would be 27 MB


def test_no_work_where_features_are_more_than_samples():
    rng = np.random.RandomState(0)
    X, U, V = rng.normal(size=(100, 2000)), rng.dirichlet(np.ones(3), 100), rng.normal(size=(3, 2000))
    assert peak_memory(fuzzy_hypervolume, X, U, V) < 5  # one covariance would be 31 MB


@pytest.mark.parametrize("index", [xie_beni, fuzzy_compactness, fuzzy_hypervolume, pbmf, kwon])
def test_memory_is_that_of_the_memberships(index):
    rng = np.random.RandomState(0)
    X, U, V = rng.normal(size=(50_000, 16)), rng.dirichlet(np.ones(10), 50_000), rng.normal(size=(10, 16))
    assert peak_memory(index, X, U, V) < U.nbytes / 2**20 + 6  # X alone is 6.1 MB, (n, K, d) would be 61


# What may come in -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.ndarray.tolist, pd.DataFrame, np.asfortranarray, np.float32, sparse.csr_array])
@pytest.mark.parametrize("index", PROTOTYPE_INDICES)
def test_kinds_of_data(index, kind):
    X, U, V = random_case(0)
    X, V = np.round(X * 16) / 16, np.round(V * 16) / 16  # the same numbers in float32
    assert index(kind(X), U, V) == pytest.approx(index(X, U, V), rel=1e-12)


def test_kinds_of_memberships_and_prototypes():
    X, U, V = random_case(0)
    expected = soft_clustering_metrics(X, U, centers=V)
    assert soft_clustering_metrics(X, U.tolist(), centers=V.tolist()) == expected
    frames = soft_clustering_metrics(X, pd.DataFrame(U), centers=pd.DataFrame(V))
    assert frames == pytest.approx(expected, rel=1e-14)


def test_sparse_fuzzy_silhouette():
    X, U, _ = random_case(0)
    X[X < 0] = 0
    assert fuzzy_silhouette(sparse.csr_array(X), U) == pytest.approx(fuzzy_silhouette(X, U), abs=1e-9)


def test_duplicate_entries_of_sparse_data_are_summed():
    X, U, V = random_case(0)
    twice = sparse.csr_array(X)
    doubled = sparse.csr_array(
        (np.repeat(twice.data / 2, 2), np.repeat(twice.indices, 2), 2 * twice.indptr), shape=X.shape
    )
    assert fuzzy_compactness(doubled, U, V) == pytest.approx(fuzzy_compactness(X, U, V), rel=1e-12)
    assert doubled.nnz == 2 * twice.nnz  # the caller's matrix is untouched


def test_dask():
    da = pytest.importorskip("dask.array")
    X, U, V = random_case(0)
    lazy = da.from_array(X, chunks=(7, 3)), da.from_array(U, chunks=(7, 4))
    assert soft_clustering_metrics(*lazy, centers=V) == soft_clustering_metrics(X, U, centers=V)


def test_arguments_are_not_changed():
    X, U, V = random_case(0)
    copies = X.copy(), U.copy(), V.copy()
    soft_clustering_metrics(X, U, centers=V, m=1)
    fuzzy_silhouette(X, U)
    for after, before in zip((X, U, V), copies, strict=True):
        np.testing.assert_array_equal(after, before)


# All of them together -------------------------------------------------------------------------------------------------

SCHEMA = [
    "partition_coefficient",
    "modified_partition_coefficient",
    "partition_entropy",
    "fuzzy_hypervolume",
    "xie_beni",
    "fuzzy_compactness",
    "separation",
]


@pytest.mark.parametrize("X, U, V, m", CASES)
def test_together_as_alone(X, U, V, m):
    values = soft_clustering_metrics(X, U, centers=V, m=m)
    assert list(values) == SCHEMA
    assert values == {name: METRICS[name](X=X, U=U, centers=V, m=m) for name in SCHEMA}
    assert all(type(value) is float for value in values.values())


def undefined(values):
    assert list(values) == SCHEMA
    return [name for name, value in values.items() if math.isnan(value)]


def test_what_does_not_apply_is_nan():
    X, U, V = random_case(0)
    assert undefined(soft_clustering_metrics(X, U, centers=V)) == []
    assert undefined(soft_clustering_metrics(X, 3 * U, centers=V, partition_constrained=False)) == SCHEMA[:3]
    assert undefined(soft_clustering_metrics(X, U)) == SCHEMA[3:]
    assert undefined(soft_clustering_metrics(X, U, partition_constrained=False)) == SCHEMA


@pytest.mark.parametrize("X", [None, ["a text", "another", "a third"], sparse.eye_array(3).tocsr()])
def test_without_prototypes_the_data_may_be_of_any_kind(X):
    assert undefined(soft_clustering_metrics(X, np.eye(3)[:, :2] + 0.1)) == SCHEMA[3:]


# Bad input ------------------------------------------------------------------------------------------------------------


def with_entry(U, value):
    U = U.copy()
    U[1, 1] = value
    return U


X0, U0, V0 = random_case(0)


@pytest.mark.parametrize(
    "X, U, centers, message",
    [
        (X0, with_entry(U0, np.nan), V0, "Input U contains NaN"),
        (X0, with_entry(U0, np.inf), V0, "Input U contains infinity"),
        (X0, with_entry(U0, -0.1), V0, r"U must be >= 0 everywhere\. Got a smallest entry of -0\.1 instead"),
        (X0, U0[:-1], V0, r"U must have one row per sample, 23 rows\. Got shape \(22, 4\) instead"),
        (X0, U0[:, 0], V0, r"U must be a matrix with n_clusters columns\. Got shape \(23,\) instead"),
        (X0, U0.astype(str), V0, None),
        (X0, np.full(U0.shape, "a"), V0, "U must be numeric"),
        (X0, U0[:0], V0, "Found array with 0 sample"),
        (X0, U0, V0[:3], r"centers must have shape \(4, 3\)\. Got shape \(3, 3\) instead"),
        (X0, U0, V0[:, :2], r"centers must have shape \(4, 3\)\. Got shape \(4, 2\) instead"),
        (X0, U0, with_entry(V0, np.nan), "Input centers contains NaN"),
        (with_entry(X0, np.nan), U0, V0, "Input X contains NaN"),
        (X0[:, 0], U0, V0, "Expected 2D array, got 1D array instead"),
        (with_entry(X0, 1e308), U0, V0, "X and centers must have entries below 1e307 in absolute value. Got 1e\\+308"),
        (None, U0, V0, r"X must be given with centers\. Got None instead"),
    ],
)
def test_bad_arrays(X, U, centers, message):
    if message is None:  # numbers in strings are numbers, as in scikit-learn
        assert soft_clustering_metrics(X, U, centers=centers) == soft_clustering_metrics(X0, U0, centers=V0)
        return
    with pytest.raises(ValueError, match=re.sub(r"\bU\b", "memberships", message)):
        soft_clustering_metrics(X, U, centers=centers)
    if X is not None:
        for index in (*PROTOTYPE_INDICES, separation_index):
            with pytest.raises(ValueError, match=message):
                index(X, U, centers)


@pytest.mark.parametrize("m", [0.5, -1, 0, np.nan, np.inf, "2", None])
@pytest.mark.parametrize("index", PROTOTYPE_INDICES)
def test_bad_fuzzifier(index, m):
    with pytest.raises(ValueError, match=r"m must be a finite number >= 1\. Got .* instead"):
        index(X0, U0, V0, m=m)


def test_memberships_too_large_for_their_power():
    with pytest.raises(ValueError, match=r"U \*\* m must be at most 1e100\. Got a largest entry of 1e\+60 and m=2"):
        fuzzy_compactness(X0, with_entry(U0, 1e60), V0)


@pytest.mark.parametrize("alpha", [-1, np.nan, np.inf, "1"])
def test_bad_alpha(alpha):
    with pytest.raises(ValueError, match=r"alpha must be a finite number >= 0\. Got .* instead"):
        fuzzy_silhouette(X0, U0, alpha=alpha)


@pytest.mark.parametrize("bad", [with_entry(U0, np.nan), with_entry(U0, -1), U0[:-1], U0[0]])
def test_bad_memberships_for_the_silhouette(bad):
    with pytest.raises(ValueError, match="U"):
        fuzzy_silhouette(X0, bad)


@pytest.mark.parametrize("index", [partition_coefficient, modified_partition_coefficient, partition_entropy])
@pytest.mark.parametrize("bad", [with_entry(U0, np.nan), with_entry(U0, -1), U0[0], [], "U"])
def test_bad_memberships_alone(index, bad):
    with pytest.raises(ValueError, match=r"U|0 sample"):
        index(bad)


@pytest.mark.parametrize(
    "masses, focal_sets, message",
    [
        ([[0.5, np.nan]], [[1, 0], [0, 1]], "Input masses contains NaN"),
        ([[1.5, -0.5]], [[1, 0], [0, 1]], "masses must be >= 0 everywhere"),
        ([0.5, 0.5], [[1, 0], [0, 1]], r"masses must be a matrix with n_focal_sets columns\. Got shape \(2,\)"),
        ([[0.5, 0.5]], [[1, 0, 1]], r"focal_sets must have one row per column of masses, 2 rows\. Got shape \(1, 3\)"),
        ([[0.5, 0.5]], [[1, 0], [0, 2]], r"focal_sets must be True or False, 1 or 0 everywhere\. Got 2 instead"),
        ([[0.5, 0.5]], [1, 0], r"focal_sets must be a matrix with n_clusters columns\. Got shape \(2,\)"),
    ],
)
def test_bad_masses(masses, focal_sets, message):
    with pytest.raises(ValueError, match=message):
        nonspecificity(masses, focal_sets)


@pytest.mark.parametrize("bad, message", [([[np.nan, 0]], "Input centers contains NaN"), ([1.0, 2.0], "centers|2D")])
def test_bad_prototypes(bad, message):
    with pytest.raises(ValueError, match=message):
        separation(bad)
