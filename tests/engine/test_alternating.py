"""The template: what the engine does around the functions of a method, with fuzzy c-means as the method."""

import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import soft_clustering
from soft_clustering import FCM
from soft_clustering._registry import REGISTRY
from soft_clustering.engine.alternating import AlternatingClusterer, is_drawn, new_centers
from soft_clustering.kernels.centers import CenterStatistics

IRIS = load_iris().data


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_stopping_is_scale_free(scale):
    model = FCM(3, m=2, init=IRIS[[0, 60, 120]] * scale).fit(IRIS * scale)
    assert model.n_iter_ == FCM(3, m=2, init=IRIS[[0, 60, 120]]).fit(IRIS).n_iter_


def test_no_more_clusters_than_samples():
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=4"):
        FCM(4).fit(IRIS[:3])
    assert FCM(3).fit(IRIS[:3]).memberships_.shape == (3, 3)


# New centres ----------------------------------------------------------------------------------------------------------


def test_new_centers():
    V = np.zeros((2, 2))
    statistics = CenterStatistics(np.array([2.0, 4.0]), np.array([[2.0, 4.0], [4.0, 0.0]]), 0.0, 1.0, None)
    np.testing.assert_array_equal(new_centers(V, statistics), [[1.0, 2.0], [1.0, 0.0]])


def test_new_centers_of_empty_clusters():
    V = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    weight, total = np.array([0.0, 2.0, 1e-300]), np.array([[0.0, 0.0], [2.0, 4.0], [0.0, 0.0]])
    statistics = CenterStatistics(weight, total, 5.0, 4.0, np.array([9.0, 8.0]))
    # The first empty one moves, the other waits for its turn.
    np.testing.assert_array_equal(new_centers(V, statistics), [[9.0, 8.0], [1.0, 2.0], [3.0, 3.0]])
    np.testing.assert_array_equal(V, [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])


def test_new_centers_where_all_rows_are_covered():
    V = np.array([[1.0, 1.0], [2.0, 2.0]])
    statistics = CenterStatistics(np.array([0.0, 2.0]), np.array([[0.0, 0.0], [4.0, 4.0]]), 0.0, 0.0, np.zeros(2))
    np.testing.assert_array_equal(new_centers(V, statistics), [[1.0, 1.0], [2.0, 2.0]])


# Starts ---------------------------------------------------------------------------------------------------------------


def test_number_of_starts(monkeypatch):
    drawn, original = [], FCM._starts

    def counted(self, blocks, rng):
        for state in original(self, blocks, rng):
            drawn.append(state)
            yield state

    monkeypatch.setattr(FCM, "_starts", counted)
    for init, n_init, expected in (
        ("k-means++", 4, 4),
        ("random", 3, 3),
        (lambda X, K, rng: X[:K], 2, 2),
        (IRIS[:3], 5, 1),
        (IRIS[:3].tolist(), 5, 1),
    ):
        drawn.clear()
        FCM(3, init=init, n_init=n_init, random_state=0).fit(IRIS)
        assert len(drawn) == expected
        assert is_drawn(init) == (expected > 1)


# The estimator around the loop ----------------------------------------------------------------------------------------


class Upside(FCM):
    """Fuzzy c-means as a maximisation."""

    _policy = replace(FCM._policy, sense="max")

    def _statistics(self, block, V):
        statistics = super()._statistics(block, V)
        return statistics._replace(objective=-statistics.objective)


def test_maximised_objective():
    model, mirrored = (cls(3, m=2, n_init=3, init="random", random_state=0).fit(IRIS) for cls in (FCM, Upside))
    np.testing.assert_array_equal(mirrored.memberships_, model.memberships_)
    assert mirrored.objective_ == -model.objective_
    np.testing.assert_array_equal(mirrored.objective_history_, -model.objective_history_)
    assert mirrored.score(IRIS) == pytest.approx(mirrored.objective_, rel=1e-14, abs=0)


def test_fit_returns_itself_and_forgets_the_last_fit():
    model = FCM(3, random_state=0)
    assert model.fit(IRIS) is model
    first = model.memberships_
    other = IRIS[::2, :2]
    model.fit(other)
    assert model.memberships_.shape == (75, 3)
    assert model.n_features_in_ == 2
    np.testing.assert_array_equal(model.fit(IRIS).memberships_, first)


def test_y_is_ignored():
    model, labelled = FCM(3, random_state=0).fit(IRIS), FCM(3, random_state=0).fit(IRIS, np.arange(150))
    np.testing.assert_array_equal(labelled.memberships_, model.memberships_)
    assert labelled.score(IRIS, np.arange(150)) == model.score(IRIS)


def test_failed_fit_is_no_fit():
    model = FCM(3, init=np.zeros((2, 2)))
    with pytest.raises(ValueError, match="init must have shape"):
        model.fit(IRIS)
    with pytest.raises(NotFittedError):
        model.predict(IRIS)


def test_failed_fit_ends_an_earlier_one():
    model = FCM(3, random_state=0).fit(IRIS)
    with pytest.raises(ValueError, match="init must have shape"):
        model.set_params(init=np.zeros((2, 2))).fit(IRIS)
    with pytest.raises(NotFittedError):
        model.predict(IRIS)
    assert not hasattr(model, "memberships_")


@pytest.mark.parametrize("method", ["predict", "predict_memberships", "predict_proba", "transform", "score"])
def test_not_fitted(method):
    with pytest.raises(NotFittedError):
        getattr(FCM(), method)(IRIS)


def test_prediction_checks_the_features():
    model = FCM(random_state=0).fit(IRIS)
    with pytest.raises(ValueError, match="X has 3 features, but FCM is expecting 4 features"):
        model.predict(IRIS[:, :3])


def test_methods_must_be_written():
    model = AlternatingClusterer()
    for call in (
        lambda: model._starts(None, None),
        lambda: model._statistics(None, None),
        lambda: model._update(None, None, None),
        lambda: model._memberships(None, None),
        lambda: model._store(None, None, None),
    ):
        with pytest.raises(NotImplementedError):
            call()


# The table of what a method may write ---------------------------------------------------------------------------------


# To be completed: the mark goes when all families are on the engine.
def test_the_table_lists_what_the_methods_write():
    """Each entry is written by some method, and nothing else of the engine is."""
    table = set(re.findall(r"^ +``(_\w+)", AlternatingClusterer.__doc__, flags=re.MULTILINE))
    engine = {name for name in vars(AlternatingClusterer) if re.match("_(?!_|sklearn)", name)}
    written = set()
    for row in REGISTRY:
        for cls in getattr(soft_clustering, row.name).__mro__:
            if issubclass(cls, AlternatingClusterer) and cls is not AlternatingClusterer:
                written |= engine & set(vars(cls))
    assert table == written
