"""External agreement: brute-force references, crisp limits, published and oracle values, hostile input."""

import math
import re
import tracemalloc
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.metrics import (
    adjusted_rand_score,
    mutual_info_score,
    normalized_mutual_info_score,
    rand_score,
)

from soft_clustering import FCM
from soft_clustering.metrics import (
    adjusted_fuzzy_rand,
    average_f1,
    external,
    fuzzy_rand,
    omega_index,
    overlapping_nmi,
    soft_mutual_information,
)

property_test = settings(max_examples=40, deadline=None, derandomize=True)
METHODS = ["huellermeier", "campello"]
NORMALIZATIONS = ["arithmetic", "geometric", "min", "max"]

SOFT = {
    "fuzzy_rand": fuzzy_rand,
    "fuzzy_rand campello": lambda U, V: fuzzy_rand(U, V, method="campello"),
    "adjusted_fuzzy_rand": adjusted_fuzzy_rand,
    "adjusted_fuzzy_rand campello": lambda U, V: adjusted_fuzzy_rand(U, V, method="campello"),
    "soft_mutual_information": soft_mutual_information,
    "soft_mutual_information raw": lambda U, V: soft_mutual_information(U, V, normalization=None),
}
OVERLAPPING = {
    "overlapping_nmi": overlapping_nmi,
    "overlapping_nmi lfk": lambda X, Y, **given: overlapping_nmi(X, Y, normalization="lfk", **given),
    "omega_index": omega_index,
    "average_f1": average_f1,
}
soft_metric = pytest.mark.parametrize("metric", SOFT.values(), ids=SOFT.keys())
cover_metric = pytest.mark.parametrize("metric", OVERLAPPING.values(), ids=OVERLAPPING.keys())


def close(value):
    return pytest.approx(value, rel=0, abs=1e-12)


def random_memberships(seed, n, n_clusters):
    return np.random.RandomState(seed).dirichlet(np.full(n_clusters, 0.7), n)


@st.composite
def membership_pairs(draw, max_samples=9):
    """Two membership matrices of the same samples; small integers make ties, zeros and crisp rows frequent."""
    n = draw(st.integers(1, max_samples))
    pair = []
    for _ in range(2):
        n_clusters = draw(st.integers(1, 4))
        U = draw(hnp.arrays(np.int64, (n, n_clusters), elements=st.integers(0, 3)))
        U[:, draw(st.integers(0, n_clusters - 1))] += U.sum(axis=1) == 0
        pair.append(U / U.sum(axis=1, keepdims=True))
    return pair


@st.composite
def label_pairs(draw):
    n = draw(st.integers(1, 25))
    return [draw(hnp.arrays(np.int64, n, elements=st.integers(-1, 4))) for _ in range(2)]


@st.composite
def cover_pairs(draw):
    """Two covers of the same nodes; empty, full and equal communities and uncovered nodes occur."""
    n = draw(st.integers(1, 12))
    return [draw(hnp.arrays(np.bool_, (n, draw(st.integers(0, 4))))) for _ in range(2)]


def node_sets(cover):
    return [set(np.flatnonzero(column).tolist()) for column in cover.T]


# References by plain loops --------------------------------------------------------------------------------------------


def brute_likeness(U):
    """E(i, j) = 1 - |u_i - u_j|_1 / 2 of the pairs i < j."""
    return {
        (i, j): 1 - sum(abs(U[i][k] - U[j][k]) for k in range(len(U[0]))) / 2 for i, j in combinations(range(len(U)), 2)
    }


def brute_discordance(U, V):
    of_u, of_v = brute_likeness(U), brute_likeness(V)
    return sum(abs(of_u[pair] - of_v[pair]) for pair in of_u) / len(of_u)


def brute_expected_discordance(U, V):
    """Mean over all pairs of U and all pairs of V."""
    of_u, of_v = brute_likeness(U).values(), brute_likeness(V).values()
    return sum(abs(p - q) for p in of_u for q in of_v) / (len(of_u) * len(of_v))


def brute_campello_counts(U, V):
    def together(W, i, j):
        return max(min(W[i][k], W[j][k]) for k in range(len(W[0])))

    def apart(W, i, j):
        columns = range(len(W[0]))
        return max((min(W[i][k], W[j][m]) for k in columns for m in columns if k != m), default=0)

    counts = []
    for of_u in (together, apart):
        for of_v in (together, apart):
            counts.append(sum(min(of_u(U, i, j), of_v(V, i, j)) for i, j in combinations(range(len(U)), 2)))
    return counts


def brute_information(U, V):
    """I(U, V), H(U), H(V)."""
    n, rows, columns = len(U), range(len(U[0])), range(len(V[0]))
    joint = {(k, m): sum(U[i][k] * V[i][m] for i in range(n)) / n for k in rows for m in columns}
    p = [sum(joint[k, m] for m in columns) for k in rows]
    q = [sum(joint[k, m] for k in rows) for m in columns]
    information = sum(N * math.log(N / (p[k] * q[m])) for (k, m), N in joint.items() if N > 0)
    return information, -sum(x * math.log(x) for x in p if x > 0), -sum(x * math.log(x) for x in q if x > 0)


def brute_overlapping_nmi(X, Y, normalization):
    n = len(X)

    def h(count):
        return -count * math.log2(count / n) if count > 0 else 0.0

    def entropy(x):
        return h(len(x)) + h(n - len(x))

    def conditional(x, y):
        neither, only_y, only_x, both = n - len(x | y), len(y - x), len(x - y), len(x & y)
        if h(neither) + h(both) >= h(only_y) + h(only_x):
            return h(neither) + h(only_y) + h(only_x) + h(both) - entropy(y)
        return entropy(x)

    X, Y = ([x for x in node_sets(cover) if 0 < len(x) < n] for cover in (X, Y))
    if not X or not Y:
        return 0.0
    of_x, of_y = [min(conditional(x, y) for y in Y) for x in X], [min(conditional(y, x) for x in X) for y in Y]
    if normalization == "lfk":
        x_part = sum(given / entropy(x) for given, x in zip(of_x, X, strict=True)) / len(X)
        y_part = sum(given / entropy(y) for given, y in zip(of_y, Y, strict=True)) / len(Y)
        return 1 - (x_part + y_part) / 2
    total_x, total_y = sum(map(entropy, X)), sum(map(entropy, Y))
    return (total_x - sum(of_x) + total_y - sum(of_y)) / 2 / max(total_x, total_y)


def brute_omega(X, Y):
    pairs = list(combinations(range(len(X)), 2))
    in_x, in_y = ([sum(1 for c in node_sets(cover) if i in c and j in c) for i, j in pairs] for cover in (X, Y))
    if not pairs or len(set(in_x + in_y)) == 1:
        return 1.0
    observed = sum(x == y for x, y in zip(in_x, in_y, strict=True)) / len(pairs)
    expected = sum(in_x.count(j) * in_y.count(j) for j in set(in_x)) / len(pairs) ** 2
    return (observed - expected) / (1 - expected)


def brute_average_f1(X, Y):
    X, Y = ([c for c in node_sets(cover) if c] for cover in (X, Y))
    if not X or not Y:
        return 0.0

    def f1(x, y):
        precision, recall = len(x & y) / len(y), len(x & y) / len(x)
        return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0

    of_x, of_y = [max(f1(x, y) for y in Y) for x in X], [max(f1(x, y) for x in X) for y in Y]
    return (sum(of_x) / len(X) + sum(of_y) / len(Y)) / 2


@given(membership_pairs())
@property_test
def test_fuzzy_rand_by_brute_force(pair):
    U, V = pair
    expected = 1 - brute_discordance(U, V) if len(U) > 1 else 1
    assert fuzzy_rand(U, V) == close(expected)


@given(membership_pairs())
@property_test
def test_adjusted_fuzzy_rand_by_brute_force(pair):
    U, V = pair
    expected = brute_expected_discordance(U, V) if len(U) > 1 else 0
    score = 1 - brute_discordance(U, V) / expected if expected > 1e-14 else 1
    assert adjusted_fuzzy_rand(U, V) == close(score)


@given(membership_pairs())
@property_test
def test_campello_by_brute_force(pair):
    U, V = pair
    if len(U) == 1:
        rand = adjusted = 1
    else:
        a, b, c, d = brute_campello_counts(U, V)
        total = a + b + c + d
        rand = (a + d) / total
        by_chance = (a + b) * (a + c) / total  # Hubert and Arabie's form
        most = (a + b + a + c) / 2
        adjusted = (a - by_chance) / (most - by_chance) if b + c > 0 else 1
    assert fuzzy_rand(U, V, method="campello") == close(rand)
    assert adjusted_fuzzy_rand(U, V, method="campello") == close(adjusted)


@given(membership_pairs())
@property_test
def test_soft_mutual_information_by_brute_force(pair):
    information, of_u, of_v = brute_information(*pair)
    means = {
        "arithmetic": (of_u + of_v) / 2,
        "geometric": math.sqrt(abs(of_u * of_v)),
        "min": min(of_u, of_v),
        "max": max(of_u, of_v),
    }
    assert soft_mutual_information(*pair, normalization=None) == close(information)
    for normalization, mean in means.items():
        expected = information / mean if information > 1e-14 else float(max(of_u, of_v) < 1e-14)
        assert soft_mutual_information(*pair, normalization=normalization) == close(expected)


@pytest.mark.parametrize("normalization", ["max", "lfk"])
@given(pair=cover_pairs())
@property_test
def test_overlapping_nmi_by_brute_force(normalization, pair):
    expected = brute_overlapping_nmi(*pair, normalization)
    assert overlapping_nmi(*pair, normalization=normalization) == close(expected)


@given(cover_pairs())
@property_test
def test_omega_index_by_brute_force(pair):
    assert omega_index(*pair) == close(brute_omega(*pair))


@given(cover_pairs())
@property_test
def test_average_f1_by_brute_force(pair):
    assert average_f1(*pair) == close(brute_average_f1(*pair))


def test_larger_partitions_by_brute_force():
    U, V = random_memberships(0, 40, 3), random_memberships(1, 40, 5)
    observed, expected = brute_discordance(U, V), brute_expected_discordance(U, V)
    assert fuzzy_rand(U, V) == close(1 - observed)
    assert adjusted_fuzzy_rand(U, V) == close(1 - observed / expected)
    a, b, c, d = brute_campello_counts(U, V)
    assert fuzzy_rand(U, V, method="campello") == close((a + d) / (a + b + c + d))


def test_larger_covers_by_brute_force():
    rng = np.random.RandomState(0)
    X, Y = rng.uniform(size=(60, 9)) < 0.2, rng.uniform(size=(60, 6)) < 0.3
    X[:, :4] |= Y[:, :4]
    assert overlapping_nmi(X, Y) == close(brute_overlapping_nmi(X, Y, "max"))
    assert overlapping_nmi(X, Y, normalization="lfk") == close(brute_overlapping_nmi(X, Y, "lfk"))
    assert omega_index(X, Y) == close(brute_omega(X, Y))
    assert average_f1(X, Y) == close(brute_average_f1(X, Y))


# Crisp input: the measures of scikit-learn ----------------------------------------------------------------------------


def one_hot(labels):
    return (labels[:, None] == np.unique(labels)).astype(float)


@given(label_pairs())
@property_test
def test_crisp_partitions_as_in_sklearn(pair):
    u, v = pair
    for U, V in [(u, v), (one_hot(u), one_hot(v)), (one_hot(u), v)]:
        for method in METHODS:
            assert fuzzy_rand(U, V, method=method) == close(rand_score(u, v))
            assert adjusted_fuzzy_rand(U, V, method=method) == close(adjusted_rand_score(u, v))
        assert soft_mutual_information(U, V, normalization=None) == close(mutual_info_score(u, v))
        for normalization in NORMALIZATIONS:
            expected = normalized_mutual_info_score(u, v, average_method=normalization)
            assert soft_mutual_information(U, V, normalization=normalization) == close(expected)


@given(label_pairs())
@property_test
def test_omega_index_of_disjoint_covers_is_the_adjusted_rand_index(pair):
    u, v = pair
    assert omega_index(one_hot(u), one_hot(v)) == close(adjusted_rand_score(u, v))
    assert omega_index(u, v) == close(adjusted_rand_score(u, v))


def test_omega_index_of_many_nodes():
    """The products of pair counts exceed 64 bits, and a dense (n, n) matrix 80 GB."""
    rng = np.random.RandomState(0)
    u = rng.randint(5000, size=100_000)
    v = np.where(rng.uniform(size=len(u)) < 0.7, u, rng.randint(5000, size=len(u)))
    assert omega_index(u, v) == close(adjusted_rand_score(u, v))


def test_adjusted_fuzzy_rand_of_more_samples_than_two_soft_partitions_may_have():
    rng = np.random.RandomState(0)
    u, v = rng.randint(3, size=(2, external._MAX_ROWS + 1000))
    v[:3000] = u[:3000]
    assert adjusted_fuzzy_rand(u, v) == close(adjusted_rand_score(u, v))


# Published values, other packages, hand-computed cases ----------------------------------------------------------------

UNEVEN = np.array(
    [
        *[(0.95, 0.025, 0.025), (0.98, 0.01, 0.01), (0.96, 0.02, 0.02), (0.95, 0.04, 0.01), (0.95, 0.01, 0.04)],
        *[(0.99, 0.005, 0.005), (0.025, 0.95, 0.025), (0.97, 0.02, 0.01), (0.025, 0.025, 0.95)],
    ]
)
HIGH = np.array(
    [
        *[(0.34, 0.33, 0.33), (0.36, 0.32, 0.32), (0.40, 0.25, 0.35), (0.33, 0.34, 0.33), (0.32, 0.32, 0.36)],
        *[(0.25, 0.40, 0.35), (0.33, 0.33, 0.34), (0.32, 0.32, 0.36), (0.35, 0.40, 0.25)],
    ]
)
UNEVEN_HARD, EVEN_HARD = np.array([0, 0, 0, 0, 0, 0, 1, 0, 2]), np.repeat([0, 1, 2], 3)


@pytest.mark.parametrize(
    "U, V, score",
    [
        (UNEVEN, HIGH, 0.61375),
        (UNEVEN, UNEVEN_HARD, 0.9615277777777778),
        (UNEVEN, EVEN_HARD, 0.4895833333333333),
        (HIGH, UNEVEN_HARD, 0.5777777777777777),
        (HIGH, EVEN_HARD, 0.2816666666666667),
        (UNEVEN_HARD, EVEN_HARD, 0.5),
    ],
)
def test_fuzzy_rand_of_the_toy_example(U, V, score):
    """The toy example of R. DeWolfe and J. L. Andrews, as printed by their FuzzyClusteringSimilarity.jl (ndc)."""
    assert fuzzy_rand(U, V) == close(score)


@pytest.mark.parametrize(
    "U, V, score",
    [
        ([[0.34, 0.33, 0.33], [0.5, 0.5, 0], [0, 0.5, 0.5]], [[0.5, 0.5]] * 3, 0.61),
        ([[1, 0], [0, 1], [0.5, 0.5]], [[0.5, 0.5], [0.3, 0.7], [0.5, 0.5]], 7 / 15),
    ],
)
def test_fuzzy_rand_of_three_samples(U, V, score):
    """Values of the R package FARI, as quoted by FuzzyClusteringSimilarity.jl."""
    assert fuzzy_rand(U, V) == close(score)


def test_adjusted_fuzzy_rand_by_hand():
    """Distances of pairs (1, 1/2, 1/2) and (1/5, 0, 1/5): D = 8/15, and E[D] = (2.6 + 1.1 + 1.1) / 9 = 8/15."""
    U, V = [[1, 0], [0, 1], [0.5, 0.5]], [[0.5, 0.5], [0.3, 0.7], [0.5, 0.5]]
    assert adjusted_fuzzy_rand(U, V) == close(0)
    # (1, 1/2, 1/2) and (1, 1/5, 4/5): D = 1/5 and E[D] = (1.0 + 1.1 + 1.1) / 9
    assert adjusted_fuzzy_rand(U, [[1, 0], [0, 1], [0.8, 0.2]]) == close(1 - (1 / 5) / (3.2 / 9))


def test_campello_by_hand():
    """Together: U (0, 1/2, 1/2), V (0.2, 0.8, 0.2); apart: U (1, 1/2, 1/2), V (1, 0.2, 0.8).

    Hence a = 0 + 1/2 + 0.2, b = 0 + 0.2 + 1/2, c = 0.2 + 1/2 + 0.2, d = 1 + 0.2 + 1/2.
    """
    U, V = [[1, 0], [0, 1], [0.5, 0.5]], [[1, 0], [0, 1], [0.8, 0.2]]
    a, b, c, d = 0.7, 0.7, 0.7, 1.7
    assert fuzzy_rand(U, V, method="campello") == close((a + d) / (a + b + c + d))
    assert adjusted_fuzzy_rand(U, V, method="campello") == close(
        2 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d))
    )


def test_soft_mutual_information_by_hand():
    """N = [[0.425, 0.075], [0.075, 0.425]]: the information of a channel that errs with probability 0.15."""
    U = [[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.2, 0.8]]
    information = math.log(2) + 0.15 * math.log(0.15) + 0.85 * math.log(0.85)
    assert soft_mutual_information(U, list("aabb"), normalization=None) == close(information)
    assert soft_mutual_information(U, list("aabb")) == close(information / math.log(2))


@pytest.mark.parametrize("normalization, score", [("max", 0.8049932735), ("lfk", 0.8095557473)])
def test_overlapping_nmi_of_the_unit_case(normalization, score):
    X, Y = [range(5), range(5, 10)], [range(6), range(5, 10)]
    measured = overlapping_nmi(X, Y, normalization=normalization, n=10)
    assert measured == pytest.approx(score, rel=0, abs=6e-11)


# Covers of the nodes 0, ..., n - 1, each node in a community of X or of Y. Values of CDlib 0.4.1:
# overlapping_normalized_mutual_information_MGH, overlapping_normalized_mutual_information_LFK, omega (only where X and
# Y cover the same nodes; clusim 0.4 gives the same). CDlib leaves nodes out that are in no community, as done here by
# hand: the original covers of the last two had n = 12. Its f1 is another measure, rounded to two digits.
ORACLE = [
    (
        10,
        [[3, 6, 9], [0, 1, 2, 4, 5, 7, 8, 9]],
        [[3, 5, 6, 7, 8, 9], [0, 1, 2, 4, 5, 7, 8, 9]],
        (0.5926112724048612, 0.6522218100429591, 0.4327731092436976),
    ),
    (
        10,
        [[4, 5, 6, 7, 9], [1, 3, 6, 7, 8], [0, 1, 2, 3, 6, 8]],
        [[0, 2, 4, 5, 6, 7, 9], [1, 3, 6, 7, 8, 9], [0, 2, 3, 6, 8, 9]],
        (0.4248566243586546, 0.43522762551369887, 0.2736356648731744),
    ),
    (
        12,
        [[0, 8, 11], [1, 3, 5], [2, 3, 4, 5, 8, 9, 10], [0, 3, 4, 5, 6, 7]],
        [[0, 2, 4, 6, 7, 8, 10, 11], [1, 3, 5, 7, 9, 10]],
        (0.13785917338434917, 0.20302536314669595, 0.08945260347129495),
    ),
    (
        10,
        [[1, 8], [3, 4, 6, 9], [1, 4, 7, 9], [0, 2, 4, 5, 8]],
        [[1, 3, 4, 5, 7, 9], [0, 2, 6, 7, 8]],
        (0.12990339644508703, 0.18035577351477117, -0.03846153846153837),
    ),
    (
        9,
        [[0, 2, 7, 8], [1, 5, 6], [0, 4]],
        [[2, 3, 6, 7, 8], [0, 1, 5, 6, 8], [0, 2, 4, 6]],
        (0.26561362233964425, 0.28662721315602036, None),
    ),
    (
        10,
        [[0, 1, 2, 3, 5, 8], [0, 1, 2, 6, 7, 8]],
        [[0, 1, 2, 4, 6], [0, 1, 2, 3, 5, 8, 9]],
        (0.3508370575813581, 0.3644906845666638, None),
    ),
]


@pytest.mark.parametrize("n, X, Y, scores", ORACLE)
def test_values_of_cdlib(n, X, Y, scores):
    largest, lfk, omega = scores
    assert overlapping_nmi(X, Y, n=n) == close(largest)
    assert overlapping_nmi(X, Y, normalization="lfk", n=n) == close(lfk)
    if omega is not None:
        assert omega_index(X, Y, n=n) == close(omega)


def test_overlapping_nmi_of_a_tie():
    """n = 8, |x| = 2, |y| = 3, one shared: h(4) + h(1) = h(2) + h(1), and McDaid et al. count a tie as related.

    CDlib 0.4.1 asks for > instead of >=, and its ``onmi`` gives 0 for these nodes.
    """
    entropy_x, entropy_y = 2 * 2 + 6 * math.log2(8 / 6), 3 * math.log2(8 / 3) + 5 * math.log2(8 / 5)
    joint = 4 * 1 + 2 * 2 + 1 * 3 + 1 * 3
    expected = (entropy_x + entropy_y - joint) / max(entropy_x, entropy_y)
    assert overlapping_nmi([[0, 1]], [[1, 2, 3]], n=8) == close(expected)


def test_complements_share_no_information():
    """The condition on h: without it the complement of a community would count as the community."""
    X = np.array([True] * 3 + [False] * 7)[:, None]
    assert overlapping_nmi(X, ~X) == 0
    assert overlapping_nmi(X, ~X, normalization="lfk") == 0


def test_nodes_in_no_community_count():
    """Removing them changes the score, as CDlib does by itself."""
    n, X, Y, scores = ORACLE[-1]
    assert overlapping_nmi(X, Y, n=n + 2) != pytest.approx(scores[0], abs=0.01)
    assert overlapping_nmi(X, Y, n=n + 2) == close(brute_overlapping_nmi(cover(X, n + 2), cover(Y, n + 2), "max"))


def cover(communities, n):
    return np.array([[i in community for community in communities] for i in range(n)])


def test_omega_index_by_hand():
    """Pairs 01 02 03 12 13 23 share 2 1 0 1 0 1 in X, 1 1 0 1 0 1 in Y: 5/6 agree, by chance (2 * 2 + 3 * 4) / 36."""
    X, Y = [{0, 1}, {0, 1, 2}, {2, 3}], [{0, 1, 2}, {2, 3}]
    assert omega_index(X, Y, n=4) == close((5 / 6 - 16 / 36) / (1 - 16 / 36))


def test_average_f1_by_hand():
    """Best matches of X 4/5 and 2/3, of Y 4/5, 2/3 and 2/4."""
    X, Y = [{0, 1, 2}, {3, 4}], [{0, 1}, {3}, {2, 4}]
    assert average_f1(X, Y, n=6) == close(((4 / 5 + 2 / 3) / 2 + (4 / 5 + 2 / 3 + 1 / 2) / 3) / 2)


def test_one_community_of_all_nodes_scores_high_only_in_average_f1():
    halves, everything = [range(10), range(10, 20)], [range(20)]
    assert average_f1(halves, everything, n=20) == close(2 / 3)
    assert overlapping_nmi(halves, everything, n=20) == 0
    assert overlapping_nmi(halves, everything, normalization="lfk", n=20) == 0
    assert omega_index(halves, everything, n=20) == 0


# Properties -----------------------------------------------------------------------------------------------------------


@soft_metric
@given(pair=membership_pairs(), seed=st.integers(0, 2**31))
@property_test
def test_soft_metrics_are_symmetric_and_blind_to_order(metric, pair, seed):
    U, V = pair
    score, rng = metric(U, V), np.random.RandomState(seed)
    rows, columns = rng.permutation(len(U)), rng.permutation(U.shape[1])
    assert metric(V, U) == close(score)
    assert metric(U[rows], V[rows]) == close(score)
    assert metric(U[:, columns], V) == close(score)
    assert metric(np.hstack([U, np.zeros((len(U), 1))]), V) == close(score)


@cover_metric
@given(pair=cover_pairs(), seed=st.integers(0, 2**31))
@property_test
def test_cover_metrics_are_symmetric_and_blind_to_order(metric, pair, seed):
    X, Y = pair
    score, rng = metric(X, Y), np.random.RandomState(seed)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    assert metric(Y, X) == close(score)
    assert metric(X[rows], Y[rows]) == close(score)
    assert metric(X[:, columns], Y) == close(score)
    assert metric(np.hstack([X, np.zeros((len(X), 1), dtype=bool)]), Y) == close(score)


@given(membership_pairs())
@property_test
def test_bounds_of_soft_metrics(pair):
    for name, metric in SOFT.items():
        score = metric(*pair)
        assert isinstance(score, float)
        assert score <= 1 or name == "soft_mutual_information raw"
        assert score >= 0 or name.startswith("adjusted")


@given(cover_pairs())
@property_test
def test_bounds_of_cover_metrics(pair):
    for name, metric in OVERLAPPING.items():
        score = metric(*pair)
        assert isinstance(score, float)
        assert score <= 1
        assert score >= 0 or name == "omega_index"


@given(membership_pairs())
@property_test
def test_a_partition_agrees_with_itself(pair):
    U, _ = pair
    assert fuzzy_rand(U, U) == 1
    assert adjusted_fuzzy_rand(U, U) == 1


@given(cover_pairs())
@property_test
def test_a_cover_agrees_with_itself(pair):
    X, _ = pair
    sizes = X.sum(axis=0)
    assert omega_index(X, X) == 1
    assert average_f1(X, X) == float((sizes > 0).any())
    for normalization in ("max", "lfk"):
        assert overlapping_nmi(X, X, normalization=normalization) == float(((sizes > 0) & (sizes < len(X))).any())


def test_campello_and_information_of_a_soft_partition_with_itself_are_below_1():
    U = random_memberships(0, 50, 3)
    assert fuzzy_rand(U, U, method="campello") < 0.9
    assert adjusted_fuzzy_rand(U, U, method="campello") < 0.9
    assert soft_mutual_information(U, U) < 0.9


def test_adjusted_fuzzy_rand_is_0_on_average_over_all_permutations():
    U, V = random_memberships(0, 5, 3), random_memberships(1, 5, 2)
    orders = [list(order) for order in permutations(range(5))]
    mean = np.mean([fuzzy_rand(U, V[order]) for order in orders])
    assert adjusted_fuzzy_rand(U, V) == close((fuzzy_rand(U, V) - mean) / (1 - mean))
    assert np.mean([adjusted_fuzzy_rand(U, V[order]) for order in orders]) == close(0)


def test_unrelated_partitions():
    U, V = random_memberships(0, 800, 4), random_memberships(1, 800, 4)
    assert abs(adjusted_fuzzy_rand(U, V)) < 0.01
    assert fuzzy_rand(U, V) > 0.7
    # Not corrected exactly where memberships are soft, as documented.
    assert 0.02 < adjusted_fuzzy_rand(U, V, method="campello") < 0.2
    assert soft_mutual_information(U, V) < 0.01


def test_noise_lowers_every_score():
    truth = np.repeat([0, 1, 2], 40)
    rng = np.random.RandomState(0)
    scores = {name: [] for name in [*SOFT, *OVERLAPPING]}
    for noise in (0.0, 0.4, 0.8):
        U = (1 - noise) * one_hot(truth) + noise * rng.dirichlet([1, 1, 1], len(truth))
        found = U > 1 / 3
        for name, metric in SOFT.items():
            scores[name].append(metric(U, truth))
        for name, metric in OVERLAPPING.items():
            scores[name].append(metric(found, truth))
    for name, (clean, noisy, noisier) in scores.items():
        assert clean == close(math.log(3) if name == "soft_mutual_information raw" else 1)
        assert clean > noisy > noisier, name


def test_adjusted_fuzzy_rand_of_iris_prefers_the_truth():
    X, y = load_iris(return_X_y=True)
    U = FCM(3, m=2.0, random_state=0).fit(X).memberships_
    shuffled = np.random.RandomState(0).permutation(y)
    for method in METHODS:
        assert adjusted_fuzzy_rand(U, y, method=method) > 0.5
        assert abs(adjusted_fuzzy_rand(U, shuffled, method=method)) < 0.05


# What is accepted -----------------------------------------------------------------------------------------------------


@soft_metric
def test_forms_of_partitions(metric):
    U, y = random_memberships(0, 6, 3), np.array([0, 0, 1, 2, 2, 2])
    score = metric(U, y)
    assert metric(U.tolist(), y.tolist()) == score
    assert metric(pd.DataFrame(U), pd.Series(list("aabccc"), index=range(10, 16))) == score
    assert metric(np.asfortranarray(U), np.array(["a", "a", "b", "c", "c", "c"], dtype=object)) == score
    assert metric(U, [True, True, False, 2, 2, 2]) == score
    assert metric(U, -y.astype(float)) == close(score)
    assert metric(U, one_hot(y)) == score
    assert metric(U.astype(np.float32), y) == pytest.approx(score, abs=1e-6)


@soft_metric
@pytest.mark.parametrize("largest", [1e-300, 0.3, 1.7e308])
def test_rows_are_divided_by_their_sums(metric, largest):
    U, V = random_memberships(0, 8, 3), random_memberships(1, 8, 2)
    strengths = U / U.max(axis=1, keepdims=True) * np.linspace(0.5, 1, 8)[:, None] * largest
    assert metric(strengths, V) == close(metric(U, V))


@cover_metric
def test_forms_of_covers(metric):
    rng = np.random.RandomState(0)
    X, Y = rng.uniform(size=(12, 3)) < 0.5, rng.uniform(size=(12, 4)) < 0.4
    score = metric(X, Y)
    for dtype in (np.int8, np.float32, float, object):
        assert metric(X.astype(dtype), Y) == score
    for form in (sparse.csr_matrix, sparse.coo_array, sparse.csc_array, pd.DataFrame):
        assert metric(form(X), form(Y.astype(int))) == score
    assert metric(node_sets(X), Y) == score
    assert metric(X, tuple(np.flatnonzero(column) for column in Y.T), n=12) == score
    assert metric(node_sets(X), [list(nodes) for nodes in node_sets(Y)], n=12) == score
    assert metric([*node_sets(X), set()], Y) == score
    explicit_zeros = sparse.csr_array(X.astype(float))
    explicit_zeros.data[:] = 0
    assert metric(explicit_zeros + sparse.csr_array(X.astype(float)), Y) == score


@cover_metric
def test_labels_are_disjoint_covers(metric):
    labels = np.array([0, 0, 1, 2, 2, -1, -1])
    X = np.random.RandomState(0).uniform(size=(7, 3)) < 0.5
    assert metric(X, labels) == metric(X, one_hot(labels))
    assert metric(X, labels.tolist()) == metric(X, labels)
    for form in (list, tuple, pd.Series):
        assert metric(X, form(list("aabccdd"))) == close(metric(X, labels))


@cover_metric
def test_input_is_left_alone(metric):
    X = sparse.csr_array(np.array([[1.0, 0.5], [0.0, 1.0], [0.0, 1.0]]))
    X.data[1] = 0
    before = X.data.copy(), X.indices.copy(), X.indptr.copy()
    metric(X, X)
    for array, was in zip((X.data, X.indices, X.indptr), before, strict=True):
        np.testing.assert_array_equal(array, was)


def test_results_do_not_depend_on_the_size_of_blocks(monkeypatch):
    rng = np.random.RandomState(0)
    X, Y = rng.uniform(size=(50, 4)) < 0.4, rng.uniform(size=(50, 3)) < 0.4
    U, V = random_memberships(0, 50, 3), random_memberships(1, 50, 4)
    omega, adjusted = omega_index(X, Y), adjusted_fuzzy_rand(U, V)
    monkeypatch.setattr(external, "_CHUNK", 7)
    assert omega_index(X, Y) == omega
    assert adjusted_fuzzy_rand(U, V) == close(adjusted)


def test_the_mean_of_a_crisp_side_equals_sorting(monkeypatch):
    U, y = random_memberships(0, 60, 3), np.random.RandomState(1).randint(4, size=60)
    by_means = adjusted_fuzzy_rand(U, y)
    monkeypatch.setattr(external, "_is_crisp", lambda U: False)
    assert adjusted_fuzzy_rand(U, y) == close(by_means)


@pytest.mark.parametrize("score", [fuzzy_rand, adjusted_fuzzy_rand])
@pytest.mark.parametrize("method", METHODS)
def test_memory_does_not_grow_with_the_number_of_pairs(score, method):
    n = 2000
    U, y = random_memberships(0, n, 3), np.arange(n) % 3
    tracemalloc.start()
    score(U, y, method=method)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n * n / 20


def test_max_samples(monkeypatch):
    U = random_memberships(0, 400, 3)
    V = 0.7 * U + 0.3 * random_memberships(1, 400, 3)
    full = adjusted_fuzzy_rand(U, V)
    some = adjusted_fuzzy_rand(U, V, max_samples=200, random_state=0)
    assert some == adjusted_fuzzy_rand(U, V, max_samples=200, random_state=0)
    assert some != adjusted_fuzzy_rand(U, V, max_samples=200, random_state=1)
    assert some == pytest.approx(full, abs=0.1)
    nearly_all = [adjusted_fuzzy_rand(U, V, max_samples=399, random_state=seed) for seed in range(5)]
    np.testing.assert_allclose(nearly_all, full, rtol=0, atol=3e-3)  # different samples, each once
    assert adjusted_fuzzy_rand(U, V, max_samples=400) == full
    assert adjusted_fuzzy_rand(U, V, max_samples=10**9) == full

    monkeypatch.setattr(external, "_MAX_ROWS", 399)
    with pytest.raises(ValueError, match=r"n_samples=400 is more than 399.*max_samples=399.*max_samples=400"):
        adjusted_fuzzy_rand(U, V)
    assert adjusted_fuzzy_rand(U, V, max_samples=400) == full
    assert adjusted_fuzzy_rand(U, V, max_samples=200, random_state=0) == some
    assert adjusted_fuzzy_rand(U, V, method="campello") < 1
    assert adjusted_fuzzy_rand(U, U.argmax(axis=1)) < 1


# Limits and bad input -------------------------------------------------------------------------------------------------


def test_one_sample():
    for name, metric in SOFT.items():
        assert metric([[0.3, 0.7]], [[1.0]]) == (0 if "information" in name else 1), name
    assert soft_mutual_information(["a"], ["b"]) == 1
    assert omega_index(np.ones((1, 1)), np.zeros((1, 1))) == 1
    assert overlapping_nmi(np.ones((1, 1)), np.ones((1, 1))) == 0
    assert average_f1(np.ones((1, 1)), np.ones((1, 1))) == 1


def test_one_cluster():
    """K = 1, or one label: 1 on both sides; on one side no score above chance."""
    U, one = random_memberships(0, 7, 3), np.ones((7, 1))
    for other in (one, np.full(7, "a"), np.full((7, 2), [0.0, 1.0])):
        for name, metric in SOFT.items():
            assert metric(one, other) == (0 if name.endswith("raw") else 1), name
        assert adjusted_fuzzy_rand(U, other) == close(0)
        assert adjusted_fuzzy_rand([0, 0, 0, 1, 1, 2, 2], other, method="campello") == close(0)
        for normalization in NORMALIZATIONS:
            assert soft_mutual_information(U, other, normalization=normalization) == 0
        assert soft_mutual_information(U, other, normalization=None) == close(0)


def test_equal_memberships_of_all_samples():
    """Nothing to tell apart: every pair is alike in both, whatever the number of clusters."""
    U, V = np.full((6, 3), 1 / 3), np.tile([0.1, 0.2, 0.3, 0.4], (6, 1))
    assert fuzzy_rand(U, V) == 1
    assert adjusted_fuzzy_rand(U, V) == 1
    assert soft_mutual_information(U, V) == 0


def test_rounding_is_no_structure():
    rng = np.random.RandomState(0)
    U, V = (1 / 3 + 1e-16 * rng.uniform(size=(20, 3)) for _ in range(2))
    assert adjusted_fuzzy_rand(U, V) == 1


def test_covers_without_communities():
    empty, X = np.zeros((5, 2)), np.eye(5)[:, :2]
    for nothing in (empty, np.zeros((5, 0)), sparse.csr_array((5, 3)), [], [[], []]):
        for normalization in ("max", "lfk"):
            assert overlapping_nmi(X, nothing, normalization=normalization) == 0
            assert overlapping_nmi(nothing, empty, normalization=normalization) == 0
        assert average_f1(X, nothing) == 0
        assert average_f1(nothing, empty) == 0
        assert omega_index(nothing, empty) == 1
        assert omega_index(np.ones((5, 1)), nothing) == 0


GOOD = np.array([[0.2, 0.8], [0.5, 0.5], [1.0, 0.0]])


@soft_metric
@pytest.mark.parametrize(
    "bad, error, message",
    [
        ([[np.nan, 1], [0, 1], [1, 0]], ValueError, "Input {} contains NaN"),
        ([[np.inf, 1], [0, 1], [1, 0]], ValueError, "Input {} contains infinity"),
        ([[-0.5, 1.5], [0, 1], [1, 0]], ValueError, "{} must be >= 0 everywhere. Got a smallest entry of -0.5"),
        ([[0, 0], [0, 1], [1, 0]], ValueError, r"Each row of {} must have a positive entry. Got 1 row\(s\) of zeros"),
        ([["a", "b"], ["c", "d"], ["e", "f"]], ValueError, "{} must be numeric"),
        ([[1, 0], [0, 1]], ValueError, "U and V must have the same number of samples"),
        ([0, 1], ValueError, "U and V must have the same number of samples"),
        ([[1], [2], [2]], ValueError, "{} has one column of different values"),
        ([], ValueError, r"Found array with 0 sample\(s\) \({}\)"),
        (np.ones((0, 2)), ValueError, r"Found array with 0 sample\(s\)"),
        (np.ones((3, 0)), ValueError, r"Found array with 0 feature\(s\)"),
        (np.ones((3, 2, 2)), ValueError, "{} must be a membership matrix.* Got an array of 3 dimensions"),
        (3, ValueError, "{} must be a membership matrix.* Got an array of 0 dimensions"),
        (None, ValueError, "{} must be a membership matrix.* Got an array of 0 dimensions"),
        ([[1, 0], [1], [0, 1]], ValueError, "{} must be numeric"),
        ([0.0, np.nan, 1.0], ValueError, "Input {} contains NaN"),
        (np.array([0.0, np.nan, 1.0], dtype=object), ValueError, "Input {} contains NaN"),
        (np.array([0, "a", None], dtype=object), TypeError, "{} must hold labels of one type"),
        (sparse.csr_array(GOOD), TypeError, "Sparse data was passed for {}"),
    ],
)
def test_bad_memberships(metric, bad, error, message):
    with pytest.raises(error, match=message.format("U")):
        metric(bad, GOOD)
    with pytest.raises(error, match=message.format("V")):
        metric(GOOD, bad)


@cover_metric
@pytest.mark.parametrize(
    "bad, error, message",
    [
        (GOOD, ValueError, r"{} must be a cover: True or False, 1 or 0 everywhere. Got 0.2;.*get_cover\(\)"),
        (np.array([[np.nan, 1], [0, 1], [1, 0]]), ValueError, "{} must be a cover: .* Got nan"),
        (np.array([[-1, 1], [0, 1], [1, 0]]), ValueError, "{} must be a cover: .* Got -1"),
        (sparse.csr_array(2 * np.eye(3)), ValueError, "{} must be a cover: .* Got 2"),
        (np.eye(4), ValueError, r"covers of the same nodes. Got these numbers of nodes instead: {{.*4.*}}"),
        (np.array([0, 1]), ValueError, r"covers of the same nodes. Got these numbers of nodes instead: {{.*2.*}}"),
        (np.array([["a", "b"]] * 3), ValueError, "{} must be numeric"),
        (np.ones((0, 2)), ValueError, r"Found array with 0 sample\(s\)"),
        (np.ones((3, 2, 2)), ValueError, "Found array with dim 3"),
        ([[0, 3]], ValueError, "The nodes of community 0 of {} must be between 0 and n - 1 = 2. Got 0 to 3"),
        ([[0], [-1, 1]], ValueError, "The nodes of community 1 of {} must be between 0 and n - 1 = 2. Got -1 to 1"),
        ([[0, 0, 1]], ValueError, "Community 0 of {} names a node twice"),
        ([[1, 0, 0], [0, 1, 1], [0, 0, 1]], ValueError, "Community 0 of {} names a node twice"),
        ([[0, 1], 1], TypeError, "{} must be a list of collections of nodes. Got 1 as its entry 1 instead"),
        ([0, 1], ValueError, r"covers of the same nodes. Got these numbers of nodes instead: {{.*2.*}}"),
        ([[0.5, 1.0]], TypeError, "The nodes of community 0 of {} must be integers"),
        ([["a", "b"]], TypeError, "The nodes of community 0 of {} must be integers"),
        ([[True, False]], TypeError, "The nodes of community 0 of {} must be integers"),
        ("abc", ValueError, "{}"),
        (None, ValueError, "{}"),
    ],
)
def test_bad_covers(metric, bad, error, message):
    X = np.eye(3)
    with pytest.raises(error, match=message.format("X")):
        metric(bad, X)
    with pytest.raises(error, match=message.format("Y")):
        metric(X, bad)


@cover_metric
@pytest.mark.parametrize("n", [0, -1, 2.5, "3"])
def test_bad_n(metric, n):
    with pytest.raises(ValueError, match=r"The 'n' parameter .* must be an int in the range \[1, inf\) or None"):
        metric([[0, 1]], [[0, 1]], n=n)


@cover_metric
def test_n_of_lists(metric):
    with pytest.raises(ValueError, match="n, the number of nodes, must be given when X and Y are both lists"):
        metric([[0, 1]], [[0, 1]])
    with pytest.raises(ValueError, match=re.escape("Got these numbers of nodes instead: {'X': 3, 'n': 4}")):
        metric(np.eye(3), [[0, 1]], n=4)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: fuzzy_rand(GOOD, GOOD, method="rand"), "The 'method' parameter of fuzzy_rand must be a str among"),
        (lambda: adjusted_fuzzy_rand(GOOD, GOOD, method=None), "The 'method' parameter of adjusted_fuzzy_rand"),
        (lambda: adjusted_fuzzy_rand(GOOD, GOOD, max_samples=1), r"The 'max_samples' parameter.*range \[2, inf\)"),
        (lambda: adjusted_fuzzy_rand(GOOD, GOOD, max_samples=2.5), r"The 'max_samples' parameter.*range \[2, inf\)"),
        (lambda: adjusted_fuzzy_rand(GOOD, GOOD, random_state="a"), "'a' cannot be used to seed"),
        (lambda: soft_mutual_information(GOOD, GOOD, normalization="sum"), "The 'normalization' parameter of soft"),
        (lambda: overlapping_nmi(np.eye(3), np.eye(3), normalization="min"), "The 'normalization' parameter of over"),
    ],
)
def test_bad_options(call, message):
    with pytest.raises(ValueError, match=message):
        call()
