"""The summary: what it holds, and that matching, agreement and disputes are what they say."""

import base64
import io
import json

import numpy as np
import pandas
import pytest
from PIL import Image
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from soft_clustering.metrics import fuzzy_rand
from soft_clustering.report.html import memberships_in
from soft_clustering.report.summary import _matched, summarize_comparison

RNG = np.random.RandomState(0)
X = RNG.normal(size=(60, 3))
Y = np.repeat(["a", "b", "c"], 20)


def random_memberships(n=60, K=3, seed=0):
    return np.random.RandomState(seed).dirichlet(np.full(K, 0.4), n)


def one_hot(labels, K=3):
    return np.eye(K)[labels]


def test_is_json(finish):
    finished = finish(A=random_memberships(), B={"status": "error", "reason": "why", "xie_beni": np.inf, "ari": np.nan})
    summary = summarize_comparison(finished, X, Y, name="mine", command="do it")
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["command"] == "do it"
    assert summary["dataset"]["classes"] == [{"name": name, "size": 20} for name in "abc"]
    assert summary["dataset"]["columns"] == ["feature 0", "feature 1", "feature 2"]
    assert (summary["dataset"]["n_samples"], summary["dataset"]["n_features"]) == (60, 3)
    a, b = summary["models"]
    assert (a["name"], a["status"], a["class"]) == ("A", "ok", "soft_clustering.fuzzy.fcm.FCM")
    assert {"name": "m", "value": "1.5", "changed": True} in a["parameters"]
    assert {"name": "n_init", "value": "5", "changed": False} in a["parameters"]
    assert (b["reason"], b["xie_beni"], b["ari"], b["memberships"]) == ("why", "inf", None, None)
    assert "numpy" in summary["environment"]


def test_memberships_are_those_of_the_rows_shown(finish):
    U = random_memberships()
    scales = np.logspace(-12, 3, 60)[:, None]
    summary = summarize_comparison(finish(A=U, B=scales * U), X, max_points=25)
    rows = np.array(summary["rows"])
    assert len(set(rows)) == 25
    assert len(summary["points"]) == 25
    np.testing.assert_allclose(memberships_in(summary, 0), U[rows], atol=0.5 / 255 + 1e-4)
    # of any size: strengths, and typicalities of outliers
    np.testing.assert_allclose(memberships_in(summary, 1) / scales[rows], U[rows], atol=0.5 / 255 + 1e-4)
    assert len(base64.b64decode(summary["models"][0]["memberships"]["levels"])) == 25 * 3
    assert summary["models"][0]["sizes"] == np.bincount(U.argmax(axis=1)).tolist()  # of all rows


def test_points_of_two_features_are_the_features(finish):
    frame = pandas.DataFrame({"width": X[:, 0], "height": X[:, 1]})
    summary = summarize_comparison(finish(), frame)
    assert summary["axes"] == ["width", "height"]
    np.testing.assert_allclose(summary["points"], X[summary["rows"], :2], rtol=1e-4)
    assert summarize_comparison(finish(), X[:, :2], columns=["u", "v"])["axes"] == ["u", "v"]


def test_points_of_many_features_are_their_projection(finish):
    wide = RNG.normal(size=(40, 8)) * [9, 3, *[0.1] * 6]
    summary = summarize_comparison(finish(), wide)
    assert summary["axes"][0].startswith("PC 1 (")
    centred = wide - wide.mean(axis=0)
    projected = centred @ np.linalg.svd(centred)[2][:2].T
    found = np.empty((40, 2))
    found[summary["rows"]] = summary["points"]
    np.testing.assert_allclose(np.abs(found), np.abs(projected), rtol=1e-3, atol=1e-3)
    kept = summarize_comparison(finish(), sparse.csr_array(wide))
    assert (kept["dataset"]["n_features"], len(kept["points"])) == (8, 40)


def test_one_feature_is_spread(finish):
    summary = summarize_comparison(finish(), X[:, :1])
    assert summary["axes"] == ["feature 0", "spread at random, to be seen"]
    np.testing.assert_allclose(np.array(summary["points"])[:, 0], X[summary["rows"], 0], rtol=1e-4)


def test_matching_undoes_a_permutation():
    U = random_memberships(K=5)
    np.testing.assert_array_equal(_matched(U, U[:, [3, 1, 4, 0, 2]]), [3, 1, 4, 0, 2])


def test_matching_of_different_numbers():
    labels = np.repeat([0, 1, 2], 20)
    split = labels.copy()
    split[:8] = 3  # a part of cluster 0
    np.testing.assert_array_equal(_matched(one_hot(labels), one_hot(split, 4)), [0, 1, 2, 3])
    np.testing.assert_array_equal(_matched(one_hot(labels), one_hot((labels == 2).astype(int), 2)), [0, 2])


def test_colours_are_those_of_the_classes(finish):
    codes = np.repeat([0, 1, 2], 20)
    shifted = one_hot((codes + 1) % 3)
    assert summarize_comparison(finish(A=shifted), X, Y)["models"][0]["colors"] == [2, 0, 1]
    without = summarize_comparison(finish(A=shifted, B=one_hot(codes)), X)
    assert [model["colors"] for model in without["models"]] == [[0, 1, 2], [1, 2, 0]]


def test_agreement_is_the_adjusted_rand_index(finish):
    found = {name: random_memberships(seed=seed) for seed, name in enumerate("ABC")}
    agreement = summarize_comparison(finish(**found), X, Y)["agreement"]
    assert agreement["models"] == [None, 0, 1, 2]
    labels = [Y, *(U.argmax(axis=1) for U in found.values())]
    expected = [[adjusted_rand_score(a, b) for b in labels] for a in labels]
    np.testing.assert_allclose(agreement["values"], expected, atol=1e-4)


def test_disputes_are_pairwise_differences(finish):
    found = [random_memberships(seed=seed, K=K) for seed, K in [(0, 3), (1, 4), (2, 2)]]
    summary = summarize_comparison(finish(**dict(zip("ABC", found, strict=True))), X)
    # all 60 samples are partners: the mean over samples, including the sample itself, is 1 - mean fuzzy Rand
    values = np.array(summary["disputes"]["values"])
    pairs = [(0, 1), (0, 2), (1, 2)]
    expected = np.mean([1 - fuzzy_rand(found[a], found[b]) for a, b in pairs]) * 59 / 60
    assert values.mean() == pytest.approx(expected, abs=1e-4)
    i = 7
    alike = [1 - np.abs(U[:, None] - U[None]).sum(axis=2) / 2 for U in found]
    row = summary["rows"][i]
    assert values[i] == pytest.approx(np.mean([np.abs(alike[a] - alike[b])[row].mean() for a, b in pairs]), abs=1e-4)


def test_the_disputed_sample_is_found(finish):
    labels = np.repeat([0, 1, 2], 20)
    moved = labels.copy()
    moved[33] = 0
    relabelled = (moved + 1) % 3  # the names of clusters do not matter
    summary = summarize_comparison(finish(A=one_hot(labels), B=one_hot(labels), C=one_hot(relabelled)), X)
    assert summary["rows"][summary["disputes"]["top"][0]] == 33
    agreed = summarize_comparison(finish(A=one_hot(labels), B=one_hot((labels + 1) % 3)), X)["disputes"]
    assert set(agreed["values"]) == {0.0}
    assert agreed["top"] == []


def test_samples_of_no_cluster(finish):
    U = one_hot(np.repeat([0, 1, 2], 20))
    V = U.copy()
    V[:5] = 0
    summary = summarize_comparison(finish(A=U, B=V), X)
    assert {summary["rows"][position] for position in summary["disputes"]["top"][:5]} == {0, 1, 2, 3, 4}
    assert summary["models"][1]["sizes"] == [15, 20, 20]


@pytest.mark.parametrize("others", [{}, {"B": {"status": "timeout", "reason": "slow"}}])
def test_one_model_has_nobody_to_dispute_with(finish, others):
    summary = summarize_comparison(finish(A=random_memberships(), **others), X)
    assert summary["disputes"] is None
    assert summary["agreement"] == {"models": [0], "values": [[1.0]]}


def test_degenerate_fits_take_no_part(finish):
    finished = finish(A=random_memberships(), B=random_memberships(seed=1), C=np.ones((60, 1)))
    finished[2][1]["status"] = "degenerate"
    summary = summarize_comparison(finished, X)
    assert summary["agreement"]["models"] == [0, 1]
    assert summary["disputes"] == summarize_comparison(finished[:2], X)["disputes"]
    assert summary["models"][2]["memberships"]["n_clusters"] == 1


def test_a_model_for_several_k_has_several_names(finish):
    finished = finish(A=random_memberships(), B=random_memberships())
    for (run, record), K in zip(finished, [2, 3], strict=True):
        record["model"] = "FCM"
        run.estimator.set_params(n_clusters=K)
    assert [model["name"] for model in summarize_comparison(finished, X)["models"]] == ["FCM, K=2", "FCM, K=3"]


def test_wrong_arguments(finish):
    with pytest.raises(ValueError, match=r"max_points == 0, must be >= 1"):
        summarize_comparison(finish(), X, max_points=0)
    with pytest.raises(ValueError, match=r"y must have 60 entries, one per sample\. Got 59 instead"):
        summarize_comparison(finish(), X, Y[1:])
    with pytest.raises(ValueError, match=r"columns must have 3 entries, one per feature\. Got 2 instead"):
        summarize_comparison(finish(), X, columns=["a", "b"])
    with pytest.raises(ValueError, match=r"ids must have 60 entries, one per sample\. Got 2 instead"):
        summarize_comparison(finish(), X, ids=["a", "b"])
    with pytest.raises(ValueError, match="X contains NaN"):
        summarize_comparison(finish(), np.where(X > 2, np.nan, X))


# What the steps before give -------------------------------------------------------------------------------------------


def test_ids_are_those_of_the_samples_shown(finish):
    ids = [f"S{row}" for row in range(60)]
    profiles = {"clusters": [{"cluster": 0, "typical": [3, 59], "borderline": []}]}
    summary = summarize_comparison(finish(A=random_memberships()), X, ids=ids, max_points=10, profiles=profiles)
    assert summary["dataset"]["ids"] == [ids[row] for row in summary["rows"]]
    # samples that are named need not be shown
    (cluster,) = summary["profiles"]["clusters"]
    assert (cluster["typical"], cluster["typical_ids"], cluster["borderline_ids"]) == ([3, 59], ["S3", "S59"], [])
    assert "typical_ids" not in profiles["clusters"][0]
    assert summarize_comparison(finish(), X)["dataset"]["ids"] is None


def test_features_that_differ_most_between_the_clusters_come_first(finish):
    labels = np.repeat([0, 1, 2], 20)
    features = RNG.normal(size=(60, 14))
    features[:, 5] += 40 * labels
    features[:, 9] = 1e-9 * (features[:, 9] + 5 * labels)  # the unit does not matter
    features[:, 2] = 7.0
    names = [f"f{j}" for j in range(14)]
    for kind in (np.asarray, sparse.csr_array):
        summary = summarize_comparison(finish(A=one_hot(labels)), kind(features), columns=names)
        found = summary["plane"]["features"]
        assert len(found) == 12
        assert [entry["name"] for entry in found[:2]] == ["f5", "f9"]
        assert "f2" not in [entry["name"] for entry in found[:11]]
        np.testing.assert_allclose(found[0]["values"], features[summary["rows"], 5], rtol=1e-4)
    plain = summarize_comparison(finish(), features, columns=names)["plane"]["features"]
    assert [entry["name"] for entry in plain] == names[:12]
    assert summarize_comparison(finish(), X[:, :2])["plane"]["features"] == []


def test_variance_of_the_axes(finish):
    summary = summarize_comparison(finish(), X)
    variances = np.sort(np.linalg.eigvalsh(np.cov(X.T)))[::-1]
    np.testing.assert_allclose(summary["plane"]["variance"], variances[:2] / variances.sum(), atol=1e-4)
    share = 100 * variances[0] / variances.sum()
    assert summary["plane"]["axes"][0] == f"first principal component, {share:.1f} % of the variance"
    assert summarize_comparison(finish(), X[:, :2])["plane"]["variance"] is None


def test_recommended_memberships_are_exact(finish):
    U = random_memberships().astype(np.float32)
    recommendation = {"model": 1, "groups": []}
    models = summarize_comparison(finish(A=U, B=U), X, recommendation=recommendation)
    exact = np.frombuffer(base64.b64decode(models["models"][1]["memberships"]["exact"]), dtype="<f4").reshape(-1, 3)
    np.testing.assert_array_equal(exact, U[models["rows"]])
    assert "exact" not in models["models"][0]["memberships"]


def test_pixels_are_places_and_segmentations_are_pictures(finish):
    height, width = 6, 10
    labels = np.zeros((height, width), dtype=int)
    labels[:, 5:] = 1
    labels[4:, :2] = 2
    image = {"height": height, "width": width, "picture": "data:image/png;base64,"}
    shifted = (labels + 1) % 3
    U, V = np.eye(3)[labels.ravel()], np.eye(3)[shifted.ravel()]
    found = summarize_comparison(finish(A=U, B=V), labels, modality="image", image=image)
    assert (found["dataset"]["n_samples"], found["dataset"]["modality"]) == (60, "image")
    rows = np.array(found["rows"])
    np.testing.assert_array_equal(found["points"], np.stack([rows % width, -(rows // width)], axis=1))
    assert found["dataset"]["ids"][0] == f"({rows[0] % width}, {rows[0] // width})"
    pictures = [np.asarray(picture_in(model).convert("RGB")) for model in found["models"]]
    np.testing.assert_array_equal(*pictures)  # the names of clusters do not matter
    colors = np.array([[0, 114, 178], [230, 159, 0], [0, 158, 115]])
    np.testing.assert_array_equal(pictures[0], colors[labels])


def test_pictures_of_wide_images_are_small(finish):
    height, width = 10, 700
    image = {"height": height, "width": width, "picture": "data:image/png;base64,"}
    U = random_memberships(height * width)
    (model,) = summarize_comparison(finish(A=U), np.zeros((height, width)), modality="image", image=image)["models"]
    assert picture_in(model).size == (234, 4)  # every third pixel


def picture_in(model):
    """The picture of a segmentation."""
    return Image.open(io.BytesIO(base64.b64decode(model["picture"].partition(",")[2])))


@pytest.mark.parametrize("modality", ["distances", "documents"])
def test_samples_of_other_modalities_are_placed(finish, modality):
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    texts = [f"{'cats and dogs' if i % 2 else 'stocks and bonds'} number{i}" for i in range(60)]
    summary = summarize_comparison(
        finish(A=random_memberships()), distances if modality == "distances" else texts, modality=modality
    )
    assert np.shape(summary["points"]) == (60, 2)
    assert summary["dataset"]["n_features"] == 0
    assert summary["links"] is None
    kind = {"distances": "axis of the distances", "documents": "principal component of the words"}[modality]
    assert summary["plane"]["axes"][0].startswith(f"first {kind}, ")
