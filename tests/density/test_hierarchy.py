"""The condensed hierarchy against its definition, read from above, on random trees; and the selection of clusters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from soft_clustering import kernels
from soft_clustering.density.hierarchy import Hierarchy, condense, snapped


@pytest.fixture(params=["compiled", "NumPy"])
def either(request, monkeypatch):
    if request.param == "NumPy":
        monkeypatch.setattr(kernels, "compiled", None)
        monkeypatch.setattr(kernels, "_silent", True)
    elif kernels.compiled is None:
        pytest.skip("needs the compiled kernels")


def random_tree(seed):
    """Edges and levels of a tree with many ties, core distances that are no greater, and weights."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    ends = np.array([[rng.integers(0, i), i] for i in range(1, n)], dtype=np.intp).reshape(-1, 2)
    levels = rng.integers(1, (3, 8, 1000)[seed % 3], n - 1).astype(float)
    nearest = np.full(n, np.inf)
    for side in ends.T:
        np.minimum.at(nearest, side, levels)
    core = np.where(n > 1, np.maximum(nearest - rng.integers(0, 2, n), 0), 1.0)
    weight = np.ones(n) if seed % 2 else rng.integers(1, 6, n).astype(float)
    return ends, levels, core, weight


def by_definition(ends, levels, core, weight, least):
    """Clusters as (rows, birth), and the exits of the rows: from above, level by level."""
    n = len(weight)
    clusters, exits = [], np.empty(n)

    def parts_below(rows, level):
        kept = (levels < level) & np.isin(ends[:, 0], rows)
        number = connected_components(coo_array((kept[kept], tuple(ends[kept].T)), shape=(n, n)))[1]
        return [rows[number[rows] == one] for one in np.unique(number[rows])]

    def follow(rows, birth):
        clusters.append((frozenset(rows.tolist()), birth))
        while len(rows) > 1:
            level = levels[np.isin(ends[:, 0], rows) & np.isin(ends[:, 1], rows)].max()
            parts = parts_below(rows, level)
            dense = [p for p in parts if weight[p].sum() >= least and (len(p) > 1 or core[p[0]] < level)]
            fallen = [p for p in parts if not any(p is d for d in dense)]
            exits[np.concatenate([*fallen, []]).astype(int)] = level
            if len(dense) != 1:
                for part in dense:
                    follow(part, level)
                return
            rows = dense[0]
        exits[rows] = core[rows]

    follow(np.arange(n), np.inf)
    return clusters, exits


def subtree(tree, c):
    inside = {c}
    for k in range(c + 1, len(tree.parent)):
        if tree.parent[k] in inside:
            inside.add(k)
    return frozenset(np.flatnonzero(np.isin(tree.cluster, list(inside))).tolist())


@pytest.mark.parametrize("least", [2, 3, 5])
def test_hierarchy_is_its_definition(either, least):
    for seed in range(48):
        ends, levels, core, weight = random_tree(seed)
        tree = condense(ends, levels, core, weight, least)
        clusters, exits = by_definition(ends, levels, core, weight, least)
        found = [(subtree(tree, c), birth) for c, birth in enumerate(tree.birth)]
        assert set(found) == set(clusters)
        assert len(found) == len(clusters)
        np.testing.assert_array_equal(tree.exit, exits)
        np.testing.assert_array_equal(tree.size, [weight[list(rows)].sum() for rows, _ in found])
        assert (tree.parent[1:] < np.arange(1, len(tree.parent))).all()
        assert tree.parent[0] == -1


def test_another_spanning_tree_of_the_same_components(either):
    # Three pairs, all joined at level 5: any two of the three connections span them.
    pairs = [[0, 1], [2, 3], [4, 5]]
    levels, core, weight = np.array([1.0, 2, 1, 5, 5]), np.ones(6), np.ones(6)
    trees = [
        condense(np.array([*pairs, one, other], dtype=np.intp), levels, core, weight, 2)
        for one, other in [([0, 2], [2, 4]), ([1, 3], [0, 5]), ([0, 4], [4, 3])]
    ]
    for tree in trees:
        assert len(tree.parent) == 4
        for one, other in zip(tree, trees[0], strict=True):
            np.testing.assert_array_equal(one, other)


def test_stability_by_its_sum():
    ends, levels, core, weight = random_tree(7)
    tree = condense(ends, levels, core, weight, 2)
    for c, stability in enumerate(tree.stabilities(weight)):
        total = 0.0
        for i in subtree(tree, c):
            k, level = tree.cluster[i], tree.exit[i]
            while k != c:
                k, level = tree.parent[k], tree.birth[k]
            total += weight[i] * (1 / level - 1 / tree.birth[c])
        assert stability == pytest.approx(total, rel=1e-12, abs=1e-12)


@pytest.fixture
def chain():
    """The root; its parts 1 and 2; the parts 3 and 4 of 1; the parts 5 and 6 of 3."""
    parent = np.array([-1, 0, 0, 1, 1, 3, 3])
    birth = np.array([np.inf, 8, 8, 4, 4, 2, 2.0])
    size = np.array([70, 40, 30, 22, 18, 12, 10.0])
    return Hierarchy(parent, birth, size, np.array([2, 4, 5, 6]), np.ones(4))


@pytest.mark.parametrize(
    ("stabilities", "method", "epsilon", "root", "expected"),
    [
        ([9, 5, 2, 1, 1, 1, 1], "eom", 0, False, [1, 2]),
        ([9, 5, 2, 1, 1, 1, 1], "eom", 0, True, [0]),
        ([5, 3, 2, 4, 1, 1, 1], "eom", 0, False, [2, 3, 4]),
        ([5, 3, 2, 1, 1, 2, 2], "eom", 0, True, [2, 4, 5, 6]),
        ([5, 2, 2, 1, 1, 0, 0], "eom", 0, False, [1, 2]),  # a tie goes to the cluster itself
        ([9] * 7, "leaf", 0, False, [2, 4, 5, 6]),
        ([9] * 7, "leaf", 2, False, [2, 4, 5, 6]),
        ([9] * 7, "leaf", 3, False, [2, 3, 4]),
        ([9] * 7, "leaf", 5, False, [1, 2]),
        ([9] * 7, "leaf", 99, False, [1, 2]),
        ([9] * 7, "leaf", 99, True, [0]),
    ],
)
def test_selection(chain, stabilities, method, epsilon, root, expected):
    selected = chain.select(np.array(stabilities, dtype=float), method, epsilon, root)
    assert sorted(selected.tolist()) == expected
    assert (np.diff(chain.size[selected]) <= 0).all()
    labels = chain.labels(selected)
    for row, cluster in enumerate(chain.cluster):
        while cluster not in selected and cluster >= 0:
            cluster = chain.parent[cluster]
        assert labels[row] == (list(selected).index(cluster) if cluster >= 0 else -1)


def test_snapped_is_monotone_and_keeps_0_and_infinity():
    levels = np.sort(np.random.default_rng(0).lognormal(sigma=30, size=1000))
    assert (np.diff(snapped(levels)) >= 0).all()
    np.testing.assert_allclose(snapped(levels), levels, rtol=2.0**-36)
    np.testing.assert_array_equal(snapped(np.array([0.0, np.inf, 3.0])), [0, np.inf, 3])
    np.testing.assert_array_equal(snapped(snapped(levels)), snapped(levels))
    np.testing.assert_array_equal(np.sqrt(np.square(snapped(levels))), snapped(levels))
