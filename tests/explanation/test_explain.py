"""``explain``: models of every modality, tables in their own columns and units, and what is shown."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import soft_clustering as sc
from soft_clustering import BIGCLAM, EVCLUS, FCM, GMM, LDA, PCM, SKFCM, SoftHDBSCAN, explain
from soft_clustering.explanation import explain_memberships
from soft_clustering.testing.data import make_sample

TEXTS = ["the goal of the team", "a team and a goal", "goal goal match", "the match of a team"] * 5 + [
    "vote for the law",
    "a law and a vote",
    "vote vote election",
    "the election of a party",
] * 5


def assert_plain(explanation):
    """The explanation is finite JSON, fits 80 columns, and has all its tables."""
    values = explanation.to_dict()
    json.dumps(values, allow_nan=False)
    K = len(values["clusters"])
    assert [cluster["cluster"] for cluster in values["clusters"]] == list(range(K))
    assert math.isclose(sum(cluster["share"] for cluster in values["clusters"]), 1) or not explanation.sizes.size.any()
    for cluster in values["clusters"]:
        assert {"size", "share", "doubtful", "features", "typical", "borderline", "sentence"} <= set(cluster)
        assert cluster["sentence"].startswith(f"Cluster {cluster['cluster']} ") and cluster["sentence"].endswith(".")
        assert "nan" not in cluster["sentence"] and "\n" not in cluster["sentence"]
    assert max(map(len, repr(explanation).splitlines())) <= 80
    assert explanation._repr_html_().count("<tr>") == K + 1
    assert explanation.clusters.index.tolist() == list(range(K))
    features = explanation.features
    assert features.index.names == ["cluster", "rank"]
    return values


def customers(n=600):
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], n // 2)
    frame = pd.DataFrame(
        {
            "income": np.array([30_000.0, 60_000])[group] + rng.normal(0, 5000, n),
            "city": np.where(rng.random(n) < np.array([0.1, 0.7])[group], "Paris", rng.choice(["Lyon", "Nice"], n)),
            "smoker": rng.random(n) < np.array([0.6, 0.1])[group],
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(group * 900 + rng.normal(0, 100, n), unit="D"),
            "noise": rng.normal(size=n),
            "constant": 7,
        },
        index=[f"customer {i}" for i in range(n)],
    )
    frame.loc[frame.index[::9], "income"] = np.nan
    frame.loc[frame.index[::11], "city"] = None
    return frame


# Models ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["FCM", "PCM", "GMM", "ECM", "LDA", "BIGCLAM", "SKFCM", "SCSPA", "FeMIFuzzy"])
def test_models_of_every_modality(name):
    model = getattr(sc, name)(n_clusters=3)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    X = make_sample(model).X
    explanation = explain(model.fit(X), X)
    assert_plain(explanation)
    assert explanation.model == name and explanation.modality == model.modality
    np.testing.assert_array_equal(explanation.sizes.size, np.bincount(model.labels_[model.labels_ >= 0], minlength=3))
    assert all(set(model.labels_[rows]) <= {k} for k, rows in enumerate(explanation.typical))


@pytest.mark.parametrize("model", [KMeans(3, random_state=0, n_init=3), GaussianMixture(3, random_state=0)])
def test_models_of_scikit_learn(model):
    X, _ = make_blobs(150, centers=3, random_state=0)
    model.fit(X)
    explanation = explain(model, X)
    assert_plain(explanation)
    np.testing.assert_array_equal(explanation.sizes.size, np.bincount(model.predict(X)))
    assert explain(model, X[:40]).n_samples == 40


def test_noise_counts_nowhere():
    X, _ = make_blobs(150, centers=[[0, 0], [9, 9]], random_state=0)
    X[0] = [1000, -1000]
    model = DBSCAN(eps=1.5).fit(X)
    assert model.labels_[0] == -1
    explanation = explain(model, X)
    kept = model.labels_ >= 0
    for k in range(2):
        np.testing.assert_allclose(explanation.profile.inside[k], X[model.labels_ == k].mean(axis=0))
        np.testing.assert_allclose(explanation.profile.elsewhere[k], X[kept & (model.labels_ != k)].mean(axis=0))


def test_only_noise():
    explanation = explain(DBSCAN(eps=1e-9).fit(np.eye(4)), np.eye(4))
    assert explanation.sentences == ["Cluster 0 is empty: no sample belongs to it."]
    assert_plain(explanation)


def test_other_samples_are_predicted():
    X, _ = make_blobs(150, centers=3, random_state=0)
    model = FCM(3, random_state=0).fit(X)
    few = explain(model, X[:60])
    np.testing.assert_array_equal(few.sizes.size, np.bincount(model.predict(X[:60]), minlength=3))


def test_model_that_cannot_predict():
    X, _ = make_blobs(30, random_state=0)
    with pytest.raises(
        ValueError, match=r"X must be the 30 samples of the fit, because AgglomerativeClustering cannot"
    ):
        explain(AgglomerativeClustering().fit(X), X[:10])


def test_models_that_are_no_clusterers():
    X, _ = make_blobs(30, random_state=0)
    with pytest.raises(TypeError, match="StandardScaler has no memberships: pass them to explain_memberships"):
        explain(StandardScaler().fit(X), X)
    with pytest.raises(NotFittedError):
        explain(FCM(), X)
    with pytest.raises(NotFittedError):
        explain(make_pipeline(StandardScaler(), FCM()), X)


def test_names_of_the_fit_serve_an_array():
    X, _ = make_blobs(60, random_state=0)
    model = FCM(3, random_state=0).fit(pd.DataFrame(X, columns=["left", "right"]))
    assert set(explain(model, X).features.feature) == {"left", "right"}
    assert set(explain(model, X, ["a", "b"]).features.feature) == {"a", "b"}


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_precomputed_pairs(form):
    X, y = make_blobs(60, centers=3, cluster_std=0.5, random_state=1)
    D = cdist(X, X)
    explanation = explain(AgglomerativeClustering(3, metric="precomputed", linkage="average").fit(D), D)
    values = assert_plain(explanation)
    assert values["modality"] == "distances"
    for k, cluster in enumerate(values["clusters"]):
        members = y == y[explanation.typical[k][0]]
        inside = D[np.ix_(members, members)]
        assert cluster["distance"] == pytest.approx(inside.sum() / (members.sum() * (members.sum() - 1)))
        assert explanation.typical[k][0] == np.flatnonzero(members)[inside.sum(axis=0).argmin()]  # the medoid
    S = form(np.exp(-(D**2)))
    model = SpectralClustering(3, affinity="precomputed", random_state=0).fit(S)
    similar = explain(model, S)
    assert_plain(similar)
    assert (similar.profile.inside > similar.profile.elsewhere).all()


def test_evidential_model_of_distances():
    X, _ = make_blobs(60, centers=3, cluster_std=0.5, random_state=1)
    D = cdist(X, X)
    model = EVCLUS(3, metric="precomputed", random_state=0).fit(D)
    assert "mean distance" in assert_plain(explain(model, D))["clusters"][0]["sentence"]


# Tables ---------------------------------------------------------------------------------------------------------------


def test_pipeline_is_explained_in_the_columns_of_the_table():
    X = customers()
    model = make_pipeline(
        make_column_transformer(
            (make_pipeline(SimpleImputer(), StandardScaler()), ["income", "noise"]),
            (OneHotEncoder(sparse_output=False), ["city", "smoker"]),
        ),
        FCM(2, m=1.2, random_state=0),
    ).fit(X)
    explanation = explain(model, X)
    values = assert_plain(explanation)
    assert explanation.model == "FCM"
    assert explanation.notes == ["Missing values are left out: income (67), city (55)."]
    rich = int(explanation.profile.inside[1, 0] > explanation.profile.inside[0, 0])
    features = {feature["name"]: feature for feature in values["clusters"][rich]["features"]}
    assert next(iter(features)) == "income" and "constant" not in features
    assert 55_000 < features["income"]["mean"] < 62_000
    assert features["since"]["kind"] == "date" and features["since"]["mean"][:4] == "2022"
    assert features["city"]["value"] == "Paris" and features["city"]["lift"] > 2
    assert features["smoker"]["share"] < features["smoker"]["elsewhere"]
    assert "higher income (60k against 30k)" in explanation.sentences[rich]
    table = explanation.features.loc[rich].set_index(["feature", "value"])
    assert table.loc[("income", ""), "missing"] == 67
    assert table.loc[("since", ""), "inside"].year == 2022
    assert table.loc[("constant", ""), ["difference", "low", "high"]].tolist() == [0, 0, 0]
    assert explanation.names([3]) == ["customer 3"]
    assert "typical: customer" in repr(explanation)


def test_kinds_of_columns():
    n = 40
    group = np.repeat([0, 1], n // 2)
    frame = pd.DataFrame(
        {
            "nullable": pd.array([True, None] * 10 + [False, None] * 10, dtype="boolean"),
            "objects": [True, None] * 10 + [False, True] * 10,
            "integer": pd.array([1, None] * 10 + [3, 2] * 10, dtype="Int64"),
            "period": pd.period_range("2020-01", periods=n, freq="M"),
            "duration": pd.to_timedelta(np.arange(n), unit="h"),
            "zone": pd.date_range("2020-01-01", periods=n, tz="Asia/Tokyo"),
            "days": [pd.Timestamp("2021-03-04").date()] * n,
            "category": pd.Categorical(["x", "y"] * (n // 2)),
            "lists": [[0], [1]] * (n // 2),
            "id": [f"{i}" for i in range(n)],
            "empty": [None] * n,
            "never": pd.Series([pd.NaT] * n),
            "void": np.full(n, np.nan),
            "many": [f"{i % 30}" for i in range(n)],
        }
    )
    explanation = explain_memberships(np.eye(2)[group], frame)
    assert_plain(explanation)
    kinds = dict(zip(explanation.profile.names, explanation.profile.kinds, strict=True))
    assert kinds == {
        "integer": "number",
        "period": "date",
        "duration (days)": "number",
        "zone": "date",
        "days": "date",
        "nullable": "category",
        "objects": "category",
        "category": "category",
        "lists": "category",
        "many": "category",
    }
    assert explanation.notes[:4] == [
        "id: left out, because all its values differ.",
        "empty: left out, because it has no values.",
        "many: the 20 most frequent of 30 values are compared.",
        "never: left out, because it has no values.",
    ]
    assert explanation.notes[4:] == [
        "void: left out, because it has no values.",
        "Missing values are left out: integer (10), nullable (20), objects (10).",
    ]
    at = explanation.profile.names.index("zone")
    expected = frame["zone"][:20].mean().timestamp()
    assert explanation.profile.inside[0, at] == pytest.approx(expected)
    at = explanation.profile.names.index("nullable")
    assert explanation.profile.inside[:, at].tolist() == [1, 0]


def test_forms_of_a_table():
    X, _ = make_blobs(60, n_features=3, random_state=0)
    U = np.random.default_rng(0).dirichlet(np.ones(3), 60)

    def rounded(data):
        text = json.dumps(explain_memberships(U, data).to_dict())
        return json.loads(text, parse_float=lambda number: round(float(number), 9))

    first = rounded(X)
    for form in (X.tolist(), pd.DataFrame(X), np.asfortranarray(X), pd.DataFrame(X).convert_dtypes()):
        assert rounded(form) == first
    texts = explain_memberships(U, np.array([["a", "b"], ["b", "b"], ["c", "b"]] * 20))
    assert texts.profile.names == ["feature 0"] * 3 + ["feature 1"]
    assert explain_memberships(U, X > 0).profile.kinds == ["category"] * 3
    assert_plain(explain_memberships(U, pd.DataFrame(index=range(60))))


def test_typical_samples_are_near_the_mean():
    X, y = make_blobs(300, centers=3, random_state=0)
    for U in (np.eye(3)[y], GMM(3, random_state=0).fit(X).memberships_):
        explanation = explain_memberships(U, X)
        for k, rows in enumerate(explanation.typical):
            own = U.argmax(axis=1) == k
            mean = U[:, k] @ X / U[:, k].sum()
            distances = np.linalg.norm((X - mean) / X.std(axis=0), axis=1)
            assert (distances[rows] <= np.sort(distances[own])[9]).all()


def test_typical_samples_of_categories_and_gaps():
    frame = pd.DataFrame({"a": ["x"] * 9 + ["y"] + ["z"] * 10, "b": [True] * 8 + [False] * 2 + [False] * 10})
    explanation = explain_memberships(np.repeat(np.eye(2), 10, axis=0), frame, n_samples=9)
    assert 9 not in explanation.typical[0] and explanation.typical[0][-1] == 8
    X = np.array([[0.0, np.nan], [0.1, 0.0], [5.0, np.nan], [np.nan, np.nan]])
    assert explain_memberships(np.ones((4, 1)), X).typical[0][-1] == 2


def test_sparse_table():
    S = sparse.csr_array(sparse.random(80, 6, 0.3, random_state=0))
    U = np.random.default_rng(0).dirichlet(np.ones(3), 80)
    found, dense = explain_memberships(U, S), explain_memberships(U, S.toarray())
    assert [rows.tolist() for rows in found.typical] == [rows.tolist() for rows in dense.typical]
    assert_plain(found)


@pytest.mark.parametrize(
    "U",
    [
        np.ones((20, 1)),
        np.eye(20),
        np.zeros((20, 2)),
        np.column_stack([np.eye(2)[np.arange(20) % 2], np.zeros(20)]),
        np.eye(20)[:, :3],
        np.full((20, 4), 0.25),
        np.full((20, 2), 1e300),
        np.column_stack([np.ones(20), np.full(20, 1e-300)]),
    ],
    ids=["K=1", "K=n", "no cluster", "empty", "single rows", "equal", "huge", "tiny"],
)
@pytest.mark.parametrize(
    "factor, shift", [(1.0, 0.0), (1.0, 1e8), (1e-150, 0.0), (1e-310, 0.0), (1e306, 0.0), (0.0, 3.0)]
)
def test_extremes(U, factor, shift):
    X = np.random.default_rng(0).normal(size=(20, 3)) * factor + shift
    X[4, 1] = np.nan
    for data in (X, X.astype(np.float32) if 1e-30 < factor < 1e30 else X, sparse.csr_array(X)):
        assert_plain(explain_memberships(U, data))


def test_one_sample():
    assert_plain(explain_memberships([[0.4, 0.6]], [[1.0, 2.0]]))
    assert_plain(explain_memberships([[1.0]], [[1.0, 2.0]]))
    assert_plain(explain_memberships(np.eye(2), [[1.0, 2.0], [3.0, 4.0]]))


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"U": -np.eye(4)}, "U must be >= 0"),
        ({"X": np.ones((3, 2))}, "X must have one row per row of the memberships, 4 rows. Got 3"),
        ({"X": pd.DataFrame({"a": [1, 2, 3]})}, "X must have one row per row of the memberships, 4 rows. Got 3"),
        ({"X": np.full((4, 2), np.inf)}, "X contains infinity"),
        ({"feature_names": ["a"]}, "feature_names must have 2 entries. Got 1"),
        ({"sample_names": ["a"]}, "sample_names must have 4 entries. Got 1"),
        (
            {"modality": "graph", "X": np.eye(4), "feature_names": list("abcd")},
            "feature_names must be None for modality",
        ),
        ({"modality": "graph", "X": np.eye(4), "sample_names": ["a"]}, "sample_names must have 4 entries. Got 1"),
        ({"modality": "sound"}, "modality must be one of features, documents, graph, image, distances, similarities"),
        ({"n_top": 0}, "n_top"),
        ({"n_samples": 0}, "n_samples"),
        ({"modality": "graph"}, "X must be a square adjacency matrix"),
        ({"modality": "graph", "X": np.eye(3)}, "X must have one node per row of the memberships, 4 nodes"),
        ({"modality": "distances"}, "X must be a square matrix of 4 samples"),
        ({"modality": "image"}, "X must be an image with one pixel per row of the memberships, 4 pixels"),
        ({"modality": "documents", "X": np.ones((3, 2))}, "X must have one document per row of the memberships, 4"),
        ({"modality": "documents", "X": -np.ones((4, 2))}, "counts must be >= 0"),
        ({"modality": "partitions", "X": [[0, 1]]}, "X must be partitions of the 4 samples"),
    ],
)
def test_wrong_input(changes, message):
    arguments = {"U": np.eye(4), "X": np.arange(8.0).reshape(4, 2)} | changes
    U, X = arguments.pop("U"), arguments.pop("X")
    with pytest.raises(ValueError, match=message):
        explain_memberships(U, X, **arguments)


# Documents, graphs, images --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        LDA(2, random_state=0),
        make_pipeline(TfidfVectorizer(), KMeans(2, random_state=0, n_init=3)),
        make_pipeline(CountVectorizer(stop_words="english"), LDA(2, random_state=0)),
    ],
    ids=["LDA", "tf-idf and k-means", "counts and LDA"],
)
def test_words(model):
    explanation = explain(model.fit(TEXTS), TEXTS)
    values = assert_plain(explanation)
    assert values["modality"] == "documents"
    tops = {frozenset(word["word"] for word in cluster["words"][:3]) for cluster in values["clusters"]}
    assert tops == {frozenset(["goal", "team", "match"]), frozenset(["vote", "law", "election"])}
    assert all(cluster["words"][0]["weight"] > 0.3 for cluster in values["clusters"])
    sports = int(explanation.typical[1][0] < 20)
    assert explanation.features.loc[sports].word[1] in ("goal", "team")
    assert "words " in explanation.sentences[0]


def test_empty_documents():
    U = np.repeat(np.eye(2), 3, axis=0)
    counts = np.array([[2, 0], [1, 0], [0, 0], [0, 3], [1, 2], [0, 1]])
    explanation = explain_memberships(U, counts, modality="documents", feature_names=["a", "b"])
    assert explanation.notes == ["Documents without a known word are left out: 1."]
    np.testing.assert_allclose(explanation.profile.shares.inside[0], [1, 0])
    assert_plain(explanation)


def test_long_documents_do_not_outweigh_others():
    U = np.repeat(np.eye(2), 3, axis=0)
    counts = np.array([[1, 1], [1, 1], [1000, 0], [0, 1], [0, 1], [0, 1]])
    shares = explain_memberships(U, counts, modality="documents").profile.shares
    np.testing.assert_allclose(shares.inside[0], [2 / 3, 1 / 3])


def test_nodes():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph([("hub", f"a{i}") for i in range(6)] + [("boss", f"b{i}") for i in range(6)])
    graph.add_edges_from([("a0", "a1"), ("b0", "b1"), ("hub", "boss")])
    model = BIGCLAM(2, random_state=0).fit(graph)
    explanation = explain(model, graph)
    values = assert_plain(explanation)
    assert {cluster["nodes"][0]["node"] for cluster in values["clusters"]} == {"hub", "boss"}
    assert all(cluster["density"] > cluster["density_elsewhere"] for cluster in values["clusters"])
    crisp = [[1, 0] if "a" in node or node == "hub" else [0, 1] for node in graph]
    named = explain_memberships(crisp, graph, modality="graph")
    assert named.profile.density.tolist() == pytest.approx([7 / 21, 7 / 21])
    assert named.profile.density_elsewhere.tolist() == pytest.approx([1 / 49, 1 / 49])
    table = named.features.loc[0]
    assert table.node[1] == "hub" and table.strength[1] == 6 and table.degree[1] == 6
    assert named.names(named.typical[1])[0] == "boss"


def test_edges_with_new_names():
    edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)]
    model = BIGCLAM(2, random_state=0).fit(edges)
    names = list("abcdef")
    explanation = explain(model, edges, sample_names=names)
    assert set(explanation.names(range(6))) == set(names)
    assert {node["node"] for cluster in explanation.to_dict()["clusters"] for node in cluster["nodes"]} <= set(names)


def test_colours():
    image = np.zeros((30, 40, 3), dtype=np.uint8)
    image[:12, :15] = [250, 10, 20]
    image[20:, 28:] = [10, 20, 240]
    model = SKFCM(3, random_state=0).fit(image)
    explanation = explain(model, image)
    values = assert_plain(explanation)
    found = {cluster["colour"]: cluster["place"] for cluster in values["clusters"]}
    colours = sorted(found, key=lambda colour: int(colour[1:3], 16))
    assert found[colours[-1]] == "upper left"
    blue = max(found, key=lambda colour: int(colour[5:], 16))
    assert found[blue] == "lower right"
    names = explanation.names(explanation.typical[0])
    assert all(name.startswith("(") for name in names)
    assert explanation.profile.channels.names == ["red", "green", "blue"]


@pytest.mark.parametrize(
    "image, colours",
    [
        (np.array([[0, 255], [0, 255]], dtype=np.uint8), ["#000000", "#ffffff"]),
        (np.array([[0.0, 1.0], [0.0, 1.0]]), ["#000000", "#ffffff"]),
        (np.array([[-3.0, 1000.0], [-3.0, 1000.0]]), ["#000000", "#ffffff"]),
        (np.full((2, 2), 128, dtype=np.uint8), ["#808080", "#808080"]),
        (np.full((2, 2), 5000.0), ["#000000", "#000000"]),
        (np.array([[[0.0] * 5, [1.0] * 5]] * 2), ["", ""]),
    ],
)
def test_scales_of_colours(image, colours):
    explanation = explain_memberships([[1, 0], [0, 1], [1, 0], [0, 1]], image, modality="image")
    assert explanation.profile.colours == colours
    assert_plain(explanation)


def test_volume():
    volume = np.zeros((3, 4, 5))
    volume[:, :2] = 1
    U = np.column_stack([volume.ravel(), 1 - volume.ravel()])
    explanation = explain_memberships(U, volume, modality="image")
    assert explanation.profile.places == ["", ""]
    assert explanation.names([0]) == ["(0, 0, 0)"]
    assert_plain(explanation)


# What is shown --------------------------------------------------------------------------------------------------------


def test_print():
    X = customers()
    group = np.repeat([0, 1], 300)
    explanation = explain_memberships(np.eye(2)[group] * 0.9 + 0.05, X[["income", "city"]], name="my model")
    assert repr(explanation).splitlines()[:6] == [
        "my model: 2 clusters of 600 samples",
        "",
        "cluster 0: 50 %, 300 samples",
        f"  income        lower       {explanation.profile._pair(0, 0)}    {_effect(explanation, 0)}",
        f"  city = Paris  less often  {explanation.profile._pair(0, 1)}  {_lift(explanation, 0)}",
        f"  typical: {', '.join(explanation.names(explanation.typical[0]))}",
    ]
    assert repr(explanation).endswith("Missing values are left out: income (67), city (55).")


def _effect(explanation, k):
    profile = explanation.profile
    return f"{profile.difference[k, 0]:+.2f} [{profile.low[k, 0]:+.2f}, {profile.high[k, 0]:+.2f}]"


def _lift(explanation, k):
    profile = explanation.profile
    return f"x {profile.lift[k, 1]:.2f} [{profile.lift_low[k, 1]:.2f}, {profile.lift_high[k, 1]:.2f}]"


def test_many_clusters_are_not_all_printed():
    text = repr(explain_memberships(np.eye(60), np.random.default_rng(0).normal(size=(60, 2))))
    assert "cluster 19:" in text and "cluster 20:" not in text
    assert text.endswith("... and 40 more clusters: see clusters and features.")


def test_sentences():
    U = np.array([[0.55, 0.45, 0]] * 2 + [[1.0, 0, 0]] * 8 + [[0, 1.0, 0]] * 10)
    X = np.column_stack([np.repeat([1.0, 5.0], 10) + np.tile([0, 0.5], 10), np.tile([1.0, 2.0], 10)])
    explanation = explain_memberships(U, X, feature_names=["height", "other"])
    first, second, third = explanation.sentences
    assert first.startswith("Cluster 0 (45 %, 20 % doubtful): lower height (1.2 against ")
    assert second.startswith("Cluster 1 (55 %): higher height (")
    assert third == "Cluster 2 is empty: no sample belongs to it."
    same = explain_memberships(np.eye(2)[np.arange(20) // 2 % 2], X[:, 1:])
    assert same.sentences[0] == "Cluster 0 (50 %): nothing sets it clearly apart from the rest."
    assert "nothing sets it apart from the rest" in repr(same)


def test_small_differences_are_not_worth_a_sentence():
    """With many samples, any difference is certain."""
    rng = np.random.default_rng(0)
    U = np.eye(2)[np.arange(100_000) % 2]
    explanation = explain_memberships(U, rng.normal(size=(100_000, 1)) + 0.1 * U[:, :1])
    assert len(explanation.to_dict()["clusters"][0]["features"]) == 1
    assert explanation.sentences[0] == "Cluster 0 (50 %): nothing sets it clearly apart from the rest."


def test_names_are_escaped_in_notebooks():
    X = np.random.default_rng(0).normal(size=(40, 1)) + 9 * np.repeat([[0], [1]], 20, axis=0)
    names = [f"<b>{i}</b>" for i in range(40)]
    explanation = explain_memberships(
        np.eye(2)[np.repeat([0, 1], 20)], X, feature_names=["<i>x</i>"], sample_names=names
    )
    html = explanation._repr_html_()
    assert "&lt;i&gt;x&lt;/i&gt;" in html and "&lt;b&gt;" in html and "<i>" not in html and "<b>" not in html


def test_import_needs_no_pandas_or_matplotlib():
    """The tables need pandas, and the picture matplotlib; the rest does not."""
    import subprocess
    import sys

    code = """
import sys
sys.modules["pandas"] = sys.modules["matplotlib"] = None
import numpy as np
from soft_clustering import FCM, explain
X = np.vstack([np.zeros((9, 2)), np.ones((9, 2))]) + np.arange(18)[:, None] / 100
explanation = explain(FCM(2, random_state=0).fit(X), X)
explanation.to_dict(), repr(explanation)
try:
    explanation.clusters
except ImportError as error:
    print(error)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == 'The table of clusters needs pandas: pip install "soft-clustering[app]"'


def test_possibilistic_outliers_count_little():
    X, _ = make_blobs(200, centers=[[0, 0], [8, 8]], random_state=0)
    U = PCM(2, random_state=0).fit(X).memberships_.copy()
    X[0], U[0] = [400, -400], [1e-4, 1e-5]
    explanation = explain_memberships(U, X)
    assert np.abs(explanation.profile.inside).max() < 10


# No cluster -----------------------------------------------------------------------------------------------------------

SCATTERED = np.random.default_rng(0).uniform(size=(40, 3))


@pytest.mark.parametrize(
    "model, X",
    [
        (SoftHDBSCAN(20), SCATTERED),
        (make_pipeline(StandardScaler(), SoftHDBSCAN(20)), pd.DataFrame(SCATTERED, columns=["a", "b", "c"])),
        (SoftHDBSCAN(20, metric="gower"), pd.DataFrame(SCATTERED).assign(t="x").rename(columns=str)),
        (SoftHDBSCAN(20, metric="precomputed"), cdist(SCATTERED, SCATTERED)),
    ],
    ids=["array", "pipeline", "gower", "precomputed"],
)
@pytest.mark.filterwarnings("ignore:SoftHDBSCAN found no cluster")
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_fit_without_clusters(model, X):
    explanation = explain(model.fit(X), X)
    values = assert_plain(explanation)
    assert values["clusters"] == explanation.sentences == []
    assert "SoftHDBSCAN: 0 clusters of 40 samples" in repr(explanation)
    [remedy, noise] = values["notes"]
    assert "found no cluster, so all samples are noise: decrease min_cluster_size=20" in remedy
    assert noise == "Noise, in no cluster: 40 of 40 samples (100 %)."
    assert explanation.features.empty and "feature" in explanation.features
    with pytest.raises(ValueError, match="explanation must have clusters"):
        explanation.plot()


def test_memberships_without_clusters():
    explanation = explain_memberships(np.empty((40, 0)), SCATTERED)
    assert assert_plain(explanation)["notes"] == []
    with pytest.raises(ValueError, match="X must have one row per row of the memberships, 7 rows"):
        explain_memberships(np.empty((7, 0)), SCATTERED)
