from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs

from soft_clustering import FCM, GMM, PCM
from soft_clustering.recommendation import EVIDENCE, evidence_of, recommend
from soft_clustering.recommendation.groups import agreements, differing, groups_of
from soft_clustering.recommendation.recommend import WEIGHTS, evenness

LABELS = np.repeat([0, 1, 2], 20)


def one_hot(labels):
    return np.eye(3)[labels]


def facts(agreement, stability, gain=1.0, valley=0.5):
    return {"neighbor_agreement": agreement, "stability": stability, "gain": gain, "valley": valley}


def test_the_score_is_the_weighted_mean_of_its_evidence():
    found = recommend({"A": one_hot(LABELS)}, {"A": facts(0.6, 0.8)}, 3)
    assert found.scores["A"]["score"] == pytest.approx(0.5 * 0.6 + 0.3 * 0.8 + 0.2 * 1.0)
    assert sum(WEIGHTS.values()) == pytest.approx(1.0)


def test_the_best_score_wins_and_the_second_opinion_is_another_one():
    other = np.roll(LABELS, 10)
    models = {
        "poor": one_hot(LABELS),
        "twin": one_hot((LABELS + 1) % 3),
        "best": one_hot(LABELS),
        "else": one_hot(other),
    }
    evidence = {"poor": facts(0.2, 0.2), "twin": facts(0.85, 0.9), "best": facts(0.9, 0.9), "else": facts(0.8, 0.9)}
    found = recommend(models, evidence, 3)
    assert found.best == "best"
    assert found.second == "else"  # the twin says the same, with other names of the clusters
    assert found.groups == [["best", "twin", "poor"], ["else"]]
    assert found.ranking == ["best", "twin", "else", "poor"]
    assert found.agreement == [1.0, 1.0]
    assert "2 other models find nearly the same" in found.reason
    assert found.contrast.startswith("A second opinion is else")
    assert f"differ on {len(found.differing)} of 60 samples" in found.contrast
    assert str(found) == f"{found.reason} {found.contrast}"


def test_all_the_same():
    found = recommend({"A": one_hot(LABELS), "B": one_hot(LABELS)}, {"A": facts(0.9, 0.9), "B": facts(0.8, 0.9)}, 3)
    assert found.second is None
    assert len(found.differing) == 0
    assert "any of them will do" in found.contrast


@pytest.mark.parametrize(
    ("gain", "valley", "stability", "clear"),
    [
        (0.1, 0.0, 0.3, True),
        (-0.1, 0.2, 0.99, False),
        (-0.1, 0.4, 0.99, True),
        (math.nan, math.nan, 0.4, False),
        (math.nan, math.nan, 0.6, True),
        (math.nan, math.nan, math.nan, True),
    ],
)
def test_clear_structure(gain, valley, stability, clear):
    found = recommend({"A": one_hot(LABELS)}, {"A": facts(0.5, stability, gain, valley)}, 3)
    assert found.clear is clear
    assert found.reason.startswith("No clear structure") is not clear


def test_evidence_that_one_model_lacks_counts_as_zero_and_that_all_lack_not_at_all():
    models = {"A": one_hot(LABELS), "B": one_hot(np.roll(LABELS, 7))}
    found = recommend(models, {"A": facts(0.8, None), "B": facts(0.8, 0.5)}, 3)
    assert found.best == "B"
    assert found.scores["A"]["score"] == pytest.approx(0.5 * 0.8 + 0.2)
    found = recommend(models, {"A": facts(0.8, math.nan), "B": facts(0.7, None)}, 3)
    assert found.scores["A"]["score"] == pytest.approx((0.5 * 0.8 + 0.2) / 0.7)


def test_nothing_to_recommend():
    found = recommend({}, {})
    assert found.best is None
    assert not found.clear


def test_evenness():
    assert evenness(LABELS, 3) == pytest.approx(1.0)
    assert evenness(np.zeros(10), 3) == pytest.approx(1 / 3)
    assert evenness(np.arange(6), 3) == pytest.approx(0.5)
    assert evenness(np.repeat([0, 1], [1, 3])) == pytest.approx(
        math.exp(-0.25 * math.log(0.25) - 0.75 * math.log(0.75)) / 2
    )


def test_agreement_of_partitions_ignores_names():
    table = agreements([LABELS, (LABELS + 1) % 3, np.zeros(60)])
    np.testing.assert_allclose(table, [[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    assert groups_of(table) == [[0, 1], [2]]
    assert groups_of(np.ones((1, 1))) == [[0]]


def test_samples_on_which_two_models_differ():
    V = one_hot((LABELS + 2) % 3)
    V[[3, 30]] = np.roll(V[[3, 30]], 1, axis=1)
    U = one_hot(LABELS) * 0.9 + 0.05
    U[30] = [0.2, 0.7, 0.1]
    assert differing(U, V).tolist() == [3, 30]  # of row 3 both are surer
    zero = V.copy()
    zero[5] = 0
    assert 5 in differing(U, zero)


def test_possibilistic_memberships_and_more_clusters_than_the_other():
    X = load_iris().data
    models = {"PCM": PCM(3, random_state=0).fit(X), "GMM": GMM(5, random_state=0).fit(X)}
    evidence = {name: dict(evidence_of(model, X, model.labels_)) for name, model in models.items()}
    found = recommend({name: model.memberships_ for name, model in models.items()}, evidence, 3)
    assert set(found.scores) == set(models)
    assert all(math.isfinite(one["score"]) for one in found.scores.values())
    assert set(EVIDENCE) < set(found.scores["PCM"])


@pytest.mark.parametrize("seed", range(4))
def test_round_clusters_are_recognised_and_a_cloud_is_not(seed):
    X, _ = make_blobs(300, n_features=4, centers=3, cluster_std=1.5, random_state=seed)
    cloud = np.random.RandomState(seed).normal(size=(300, 4))
    for data, clear in ((X, True), (cloud, False)):
        models = {"FCM": FCM(3, random_state=0).fit(data), "GMM": GMM(3, random_state=0).fit(data)}
        evidence = {name: dict(evidence_of(model, data, model.labels_)) for name, model in models.items()}
        found = recommend({name: model.memberships_ for name, model in models.items()}, evidence, 3)
        assert found.clear is clear
