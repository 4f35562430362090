"""Focal sets, and what follows from masses: definitions by loops over sets."""

import math
from itertools import combinations

import numpy as np
import pytest

from soft_clustering import metrics
from soft_clustering.evidential.credal import CredalMixin, make_focal_sets, nonspecificity, pignistic, singletons

KINDS = ["full", "pairs", "simple", [(0,), (1, 3), (2,), (0, 1, 2), (3,)]]


def as_sets(F):
    return [frozenset(np.flatnonzero(row)) for row in F]


def partition(kind, K=4, n=30, seed=0):
    """A credal partition of random masses; the first row is an outlier, the second all doubt."""
    model = CredalMixin()
    model.focal_sets_ = make_focal_sets(kind, K)
    f = len(model.focal_sets_)
    model.masses_ = np.random.default_rng(seed).dirichlet(np.full(f, 0.5), n)
    model.masses_[:2] = np.eye(f)[[0, -1]]
    return model


# Focal sets -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", range(1, 8))
def test_kinds(K):
    clusters = range(K)
    full = {frozenset(c) for size in range(K + 1) for c in combinations(clusters, size)}
    pairs = {s for s in full if len(s) in (0, 1, 2, K)}
    simple = {s for s in full if len(s) in (0, 1, K)}
    for kind, expected in [("full", full), ("pairs", pairs), ("simple", simple)]:
        F = make_focal_sets(kind, K)
        assert F.dtype == bool
        assert len(F) == len(expected)  # none twice: for two clusters the pair is the whole, for one the cluster is
        assert set(as_sets(F)) == expected


@pytest.mark.parametrize("kind", ["full", "pairs", "simple"])
def test_order(kind):
    sets = [tuple(np.flatnonzero(row)) for row in make_focal_sets(kind, 5)]
    assert sets[0] == ()
    assert sets[1:6] == [(0,), (1,), (2,), (3,), (4,)]
    assert sets[-1] == (0, 1, 2, 3, 4)
    assert sets == sorted(sets, key=lambda members: (len(members), members))


def test_list():
    F = make_focal_sets([[2, 1], {0}, (1,), [], np.array([1, 2]), range(2, 3)], 3)
    assert as_sets(F) == [set(), {0}, {1}, {2}, {1, 2}]


@pytest.mark.parametrize("bad", [[(0,), (3,)], [(0,), (-1,)], [0, 1, 2], [(0.5,)], [("a",)], ["ab"], [(0,), None]])
def test_bad_list(bad):
    with pytest.raises(ValueError, match=r"focal_sets must be .* from 0 to n_clusters - 1 = 2\. Got the set"):
        make_focal_sets(bad, 3)


def test_every_cluster_must_be_in_a_set():
    with pytest.raises(ValueError, match=r"focal_sets must contain every cluster\. Got none with cluster 1"):
        make_focal_sets([(0,), (2,), (0, 2)], 3)


def test_too_many_sets():
    assert len(make_focal_sets("full", 12)) == 4096
    with pytest.raises(ValueError, match=r"n_clusters <= 12.*Got n_clusters=13 instead: use focal_sets='pairs' or"):
        make_focal_sets("full", 13)


def test_singletons():
    F = make_focal_sets([(1,), (0, 2), (2,)], 3)
    assert as_sets(singletons(F)) == [set(), {1}, {2}, set()]


# What follows from masses ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_definitions(kind):
    model = partition(kind)
    K, sets = 4, as_sets(model.focal_sets_)
    U = pignistic(model.masses_[:, 1:], model.focal_sets_[1:])
    whole = frozenset(range(K))
    for i, m in enumerate(model.masses_):
        masses = dict(zip(sets, m, strict=True))
        for k in range(K):
            assert model.belief_[i, k] == pytest.approx(masses.get(frozenset([k]), 0), abs=1e-15)
            assert model.plausibility_[i, k] == pytest.approx(sum(v for s, v in masses.items() if k in s), abs=1e-15)
            if m[0] < 1:
                shared = sum(v / len(s) for s, v in masses.items() if k in s) / (1 - m[0])
                assert U[i, k] == pytest.approx(shared, abs=1e-13)
        assert model.outlier_mass_[i] == m[0]
        assert model.ignorance_[i] == pytest.approx(masses.get(whole, 0), abs=1e-15)
        largest = max(sets, key=masses.get)
        assert sets[model.hard_credal_[i]] == largest
        assert set(np.flatnonzero(model.upper_approximation_[i])) == largest
        assert set(np.flatnonzero(model.lower_approximation_[i])) == (largest if len(largest) == 1 else set())
    np.testing.assert_allclose(U.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_array_equal(model._default_cover(), model.upper_approximation_)


@pytest.mark.parametrize("kind", KINDS)
def test_belief_and_plausibility_enclose_the_unnormalised_pignistic(kind):
    model = partition(kind)
    U = pignistic(model.masses_[:, 1:], model.focal_sets_[1:]) * (1 - model.outlier_mass_)[:, None]
    assert (model.belief_ <= U + 1e-14).all()
    assert (model.plausibility_ >= U - 1e-14).all()


@pytest.mark.parametrize("kind", KINDS)
def test_nonspecificity(kind):
    model = partition(kind)
    sizes = [len(s) or 4 for s in as_sets(model.focal_sets_)]
    expected = sum(m * math.log2(size) for row in model.masses_ for m, size in zip(row, sizes, strict=True))
    assert model.nonspecificity_ == pytest.approx(expected / (30 * math.log2(4)), rel=1e-13)
    assert model.nonspecificity_ == metrics.nonspecificity(model.masses_, model.focal_sets_)


def test_bounds_of_nonspecificity():
    F = make_focal_sets("simple", 3)
    certain, doubt, outlier = np.eye(5)[[1, 2]], np.eye(5)[[4]], np.eye(5)[[0]]
    assert [nonspecificity(masses, F) for masses in (certain, doubt, outlier)] == [0, 1, 1]
    assert nonspecificity(np.ones((2, 2)) / 2, make_focal_sets("full", 1)) == 0


@pytest.mark.parametrize("unit", [1.0, 1e-300, 1e-12, 1e200])
def test_pignistic_has_no_unit(unit):
    masses = np.random.default_rng(0).uniform(size=(5, 7))
    F = make_focal_sets("full", 3)[1:]
    np.testing.assert_allclose(pignistic(masses * unit, F), pignistic(masses, F), rtol=1e-13)


def test_pignistic_of_nothing():
    np.testing.assert_array_equal(pignistic(np.zeros((2, 5)), make_focal_sets("simple", 4)[1:]), 0.25)


def test_type_of_the_masses_is_kept():
    model = partition("full")
    model.masses_ = model.masses_.astype(np.float32)
    for name in ("belief_", "plausibility_", "outlier_mass_", "ignorance_"):
        assert getattr(model, name).dtype == np.float32, name


def test_before_fit_there_is_nothing():
    names = [name for name in vars(CredalMixin) if name.endswith("_") and not name.startswith("_")]
    assert len(names) == 8
    assert not any(hasattr(CredalMixin(), name) for name in names)


def test_lazy_where_the_masses_are():
    da = pytest.importorskip("dask.array")
    expected, model = partition("full"), partition("full")
    model.masses_ = da.from_array(model.masses_, chunks=(7, 16))
    names = ["belief_", "plausibility_", "outlier_mass_", "ignorance_", "hard_credal_"]
    for name in [*names, "lower_approximation_", "upper_approximation_"]:
        lazy = getattr(model, name)
        assert isinstance(lazy, da.Array), name
        assert lazy.shape == getattr(expected, name).shape
        np.testing.assert_allclose(lazy.compute(), getattr(expected, name), atol=1e-15)
    assert model.nonspecificity_ == pytest.approx(expected.nonspecificity_, rel=1e-13)
