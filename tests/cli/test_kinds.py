"""Graphs, documents, images and distances: ``compare``, ``fit`` and ``choose`` for each kind of data."""

import json

import numpy as np
import pandas
import pytest
from scipy import sparse
from scipy.io import mmwrite
from sklearn.metrics import pairwise_distances

from soft_clustering import BIGCLAM, LDA, LPANNI, SKFCM
from soft_clustering.datasets import make_lfr_graph, make_overlapping_graph
from soft_clustering.metrics import overlapping_nmi

GRAPH = make_overlapping_graph(80, 4, random_state=0)
WORDS = ["star planet orbit galaxy comet moon", "fish river salmon trout net boat", "bread oven flour yeast dough salt"]


@pytest.fixture
def graph(tmp_path):
    links = sparse.triu(GRAPH.adjacency, 1).tocoo()
    text = "".join(f"n{i} n{j}\n" for i, j in zip(links.row, links.col, strict=True))
    (tmp_path / "g.edgelist").write_text(text)
    (tmp_path / "g.csv").write_text(text.replace(" ", ","))
    lines = ["\t".join(f"n{i}" for i in np.flatnonzero(members)) for members in GRAPH.cover.T]
    (tmp_path / "g.cmty").write_text("\n".join(lines))
    mmwrite(tmp_path / "g.mtx", sparse.coo_array(GRAPH.adjacency))
    sparse.save_npz(tmp_path / "g.npz", sparse.csr_matrix(GRAPH.adjacency))
    return tmp_path


@pytest.fixture
def documents(tmp_path):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS[i % 3].split(), 30)) for i in range(60)]
    (tmp_path / "texts").mkdir()
    (tmp_path / "sorted").mkdir()
    for i, text in enumerate(texts):
        (tmp_path / "texts" / f"t{i:02d}.txt").write_text(text)
        (tmp_path / "sorted" / "abc"[i % 3]).mkdir(exist_ok=True)
        (tmp_path / "sorted" / "abc"[i % 3] / f"t{i:02d}.txt").write_text(text)
    frame = pandas.DataFrame({"nr": [f"d{i}" for i in range(60)], "body": texts, "topic": ["a", "b", "c"] * 20})
    frame.to_csv(tmp_path / "texts.csv", index=False, sep=";")
    frame.to_json(tmp_path / "texts.jsonl", orient="records", lines=True)
    return texts


@pytest.fixture
def image(tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    levels = np.full((24, 30, 3), 0.2)
    levels[4:20, 4:15] = [0.9, 0.3, 0.2]
    levels[8:16, 18:28] = [0.2, 0.4, 0.9]
    pixels = np.rint((levels + rng.normal(0, 0.02, levels.shape)).clip(0, 1) * 255).astype(np.uint8)
    pillow.fromarray(pixels).save(tmp_path / "photo.png")
    pillow.fromarray(pixels[..., 0]).save(tmp_path / "grey.png")
    return pixels / 255


@pytest.fixture
def distances(tmp_path):
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(center, 1, (20, 2)) for center in ([0, 0], [9, 0], [0, 9])])
    D = pairwise_distances(points)
    names = [f"s{i}" for i in range(60)]
    pandas.DataFrame(D, index=names, columns=names).to_csv(tmp_path / "d.csv")
    return D


def compared(call, *arguments):
    code, out, err = call("compare", *arguments, "--json")
    assert code == 0, err
    return json.loads(out), err


# Graphs ---------------------------------------------------------------------------------------------------------------


def test_graph_with_communities(graph, call):
    found, err = compared(call, "g.edgelist", "--communities", "g.cmty", "-m", "BIGCLAM", "MMSB")
    assert (found["modality"], found["n_samples"], found["n_classes"], found["k"]) == ("graph", 80, 4, [4])
    assert "soft-clustering: g.edgelist is a graph without weights: 80 nodes" in err
    assert "choice_of_k" not in found
    scores = [result["overlapping_nmi"] for result in found["results"]]
    assert scores == sorted(scores, reverse=True) and min(scores) > 0.3
    code, out, _ = call("compare", "g.edgelist", "--communities", "g.cmty", "-m", "BIGCLAM")
    assert code == 0
    title, _, header, row, _, reason = out.splitlines()
    assert reason.startswith("It is the only model. Take BIGCLAM, because ")
    assert title == f"g.edgelist: 80 nodes, {GRAPH.adjacency.nnz // 2} links, 4 communities; best ONMI first"
    assert header.split() == [
        "model",
        "K",
        "score",
        "ONMI",
        "Omega",
        "ARI",
        "EQ",
        "Conductance",
        "Members",
        "seconds",
        "status",
    ]
    order = list(
        dict.fromkeys(word for line in (graph / "g.edgelist").read_text().split("\n") for word in line.split())
    )
    rows = [int(name[1:]) for name in order]
    model = BIGCLAM(4, random_state=0).fit(GRAPH.adjacency[rows][:, rows])
    assert float(row.split()[3]) == pytest.approx(overlapping_nmi(GRAPH.cover[rows], model.get_cover()), abs=5e-4)


def test_graph_without_communities(graph, call):
    found, err = compared(call, "g.npz", "-m", "MMSB")
    assert found["choice_of_k"]["recommended"] == found["k"][0] == found["results"][0]["n_clusters"]
    assert "chosen from 2 to 10 by Gain on held-out links (LinkMixture); other criteria: Overlapping modularity " in err
    assert found["results"][0]["overlapping_nmi"] is None
    found, _ = compared(call, "g.npz", "-m", "MMSB", "-k", "3:5")
    assert found["chosen_k"]["MMSB"].keys() == {"overlapping_modularity", "modularity"}
    out = call("compare", "g.npz", "-m", "MMSB", "-k", "3:5")[1]
    assert "; each model at the K of its best EQ, best score first" in out
    assert len([line for line in out.split("\n\n")[1].splitlines() if line.startswith("MMSB")]) == 1


def test_graph_in_a_table(graph, call):
    found, _ = compared(call, "g.csv", "--as", "graph", "-m", "BIGCLAM", "-k", "4")
    assert (found["modality"], found["n_samples"]) == ("graph", 80)
    assert "choose" not in found


def test_graph_in_a_matrix_market_file(graph, call):
    found, _ = compared(call, "g.mtx", "-m", "BIGCLAM", "-k", "4")
    assert (found["modality"], found["n_samples"]) == ("graph", 80)


def test_fit_of_a_graph(graph, call):
    code, out, _ = call("fit", "BIGCLAM", "g.edgelist", "-k", 4, "-o", "u.csv")
    assert code == 0
    frame = pandas.read_csv(graph / "u.csv")
    assert list(frame.columns) == ["node", *(f"cluster_{k}" for k in range(4)), "label"]
    assert set(frame["node"]) == {f"n{i}" for i in range(80)}
    assert "g.edgelist: 80 nodes" in out


def test_choice_for_a_graph(graph, call):
    code, out, _ = call("choose", "g.npz")
    assert code == 0
    assert "fits of LinkMixture to all" in out and "thinned_links" in out
    assert call("choose", "g.npz", "-m", "mmsb", "-k", "2:5")[0] == 0


def test_choice_for_a_graph_of_many_communities(graph, call, monkeypatch):
    """The range is around the number that label propagation finds; of large graphs this number is taken."""
    planted = make_lfr_graph(400, degree=12, max_degree=20, min_size=15, max_size=30, random_state=0)
    sparse.save_npz(graph / "many.npz", planted.adjacency)
    K, found = planted.cover.shape[1], LPANNI().fit(planted.adjacency).n_clusters_
    document, err = compared(call, "many.npz", "-m", "LinkMixture", "LPANNI")
    assert document["k"] == [K] and K > 10
    assert f"K={K}, chosen from {found // 2} to {3 * found // 2} by Gain on held-out links (LinkMixture)" in err
    monkeypatch.setattr("soft_clustering.cli.choosing._MOST_LINKS", 1000)
    document, err = compared(call, "many.npz", "-m", "LPANNI")
    assert document["k"] == [found] and "choice_of_k" not in document
    assert (
        f"K={found}, as many communities as LinkMixture begins with, for more than 1000 links; -k sets another" in err
    )


def test_graph_with_weights(graph, call):
    """Models for links without weights are left out."""
    links = sparse.triu(GRAPH.adjacency).tocoo()
    lines = [f"n{i} n{j} {1 + (i + j) % 3}" for i, j in zip(links.row, links.col, strict=True)]
    (graph / "w.edgelist").write_text("\n".join(lines))
    found, err = compared(call, "w.edgelist")
    assert "soft-clustering: BIGCLAM, MMSB, NOCD: for links without weights, left out" in err
    assert {result["model"] for result in found["results"]} >= {"BayesianNMF", "CDCGS", "DMoN"}
    assert all(result["status"] != "error" for result in found["results"])
    code, out, _ = call("choose", "w.edgelist", "-k", "2:5")
    assert code == 0 and "fits of LinkMixture to all" in out
    code, _, err = call("compare", "w.edgelist", "-m", "BIGCLAM", "-k", "4")
    assert code == 1 and "BIGCLAM models links without weights" in err


# Documents ------------------------------------------------------------------------------------------------------------


def test_folder_of_texts(documents, call, tmp_path):
    found, err = compared(call, "texts", "-m", "LDA", "WBSC")
    assert (found["modality"], found["n_samples"], found["k"]) == ("documents", 60, [3])
    assert "K=3, chosen from 2 to 10 by Gain on held-out words (LDA)" in err
    assert all(result["coherence"] is not None for result in found["results"])
    code, _, _ = call("fit", "LDA", "texts", "-k", 3, "-o", "u.csv")
    assert code == 0
    frame = pandas.read_csv(tmp_path / "u.csv")
    assert frame["document"].tolist() == [f"t{i:02d}.txt" for i in range(60)]
    np.testing.assert_allclose(frame.iloc[:, 1:4], LDA(3, random_state=0).fit(documents).memberships_, atol=1e-12)


def test_folders_are_classes(documents, call):
    found, _ = compared(call, "sorted", "-m", "LDA")
    assert (found["n_classes"], found["results"][0]["ari"]) == (3, 1.0)


@pytest.mark.parametrize("name", ["texts.csv", "texts.jsonl"])
def test_column_of_texts(name, documents, call, tmp_path):
    words = [name, "--text-column", "Body", "--label-column", "topic", "--id", "nr"]
    found, _ = compared(call, *words, "-m", "LDA")
    assert (found["n_samples"], found["n_classes"], found["results"][0]["ari"]) == (60, 3, 1.0)
    assert call("fit", "LDA", *words, "-o", "u.csv")[0] == 0
    assert pandas.read_csv(tmp_path / "u.csv")["nr"].tolist() == [f"d{i}" for i in range(60)]
    _, _, err = call("fit", "LDA", name, "--as", "documents", "-k", 3)
    assert "soft-clustering: The texts are the column 'body', the one with the longest texts\n" in err


def test_text_column_that_is_none(documents, fails, tmp_path):
    assert fails("fit", "LDA", "texts.jsonl", "--text-column", "bdy") == (
        "Unknown column of --text-column 'bdy': did you mean 'body'?"
    )
    (tmp_path / "numbers.csv").write_text("a,b\n1,2\n3,4\n")
    assert "must hold texts" in fails("fit", "LDA", "numbers.csv", "--text-column", "a")


# Images ---------------------------------------------------------------------------------------------------------------


def test_image(image, call, tmp_path):
    found, err = compared(call, "photo.png", "-m", "SKFCM")
    assert (found["modality"], found["n_samples"], found["n_features"]) == ("image", 720, None)
    assert found["k"] == [3]
    assert "K=3, chosen from 2 to 10 by Fuzzy hypervolume (FCM)" in err
    code, _, err = call("fit", "SKFCM", "photo.png", "-o", "u.csv")
    assert code == 0 and "K=3" in err
    frame = pandas.read_csv(tmp_path / "u.csv")
    assert list(frame.columns[:2]) == ["row", "column"]
    assert frame[["row", "column"]].iloc[[0, 29, 30, -1]].to_numpy().tolist() == [[0, 0], [0, 29], [1, 0], [23, 29]]
    np.testing.assert_array_equal(frame["label"], SKFCM(3, random_state=0).fit(image).labels_)


def test_image_that_a_model_does_not_take(image, call):
    found, err = compared(call, "photo.png")
    assert "soft-clustering: AFCMAdaptive: for grey images, left out\n" in err
    assert [result["model"] for result in found["results"]] == ["SKFCM"]
    found, _ = compared(call, "grey.png")
    assert {result["status"] for result in found["results"]} == {"ok"}


def test_choice_for_an_image(image, call, fails):
    assert "recommended: K=3: fuzzy_hypervolume is smallest there" in call("choose", "photo.png")[1]
    message = fails("choose", "photo.png", "-m", "SKFCM", code=2)
    assert message.endswith("K is chosen by fits to the colours of the pixels. Leave it out.")


# Distances ------------------------------------------------------------------------------------------------------------


def test_distances(distances, call, tmp_path):
    found, err = compared(call, "d.csv", "--precomputed")
    assert (found["modality"], found["n_samples"], found["k"]) == ("distances", 60, [3])
    assert sorted(result["model"] for result in found["results"]) == [
        "EVCLUS",
        "FuzzyCMedoids",
        "RelationalFCM",
        "SoftHDBSCAN",
    ]
    assert all(result["silhouette"] > 0.6 for result in found["results"])
    assert "K=3, chosen from 2 to 10 by BIC of Gaussian clusters (FCM)" in err
    assert call("fit", "EVCLUS", "d.csv", "--as", "distances", "-o", "u.csv")[0] == 0
    frame = pandas.read_csv(tmp_path / "u.csv")
    assert frame["sample"].tolist() == [f"s{i}" for i in range(60)]
    assert frame["label"].nunique() == 3


def test_a_fit_without_clusters(distances, call, tmp_path):
    code, out, err = call("fit", "SoftHDBSCAN", "d.csv", "--precomputed", "--set", "min_cluster_size=50", "-o", "u.csv")
    assert (code, out) == (1, "")
    assert "decrease min_cluster_size=50" in err
    assert err.endswith("error: SoftHDBSCAN found no cluster, so there are no memberships to write.\n")
    assert not (tmp_path / "u.csv").exists()


def test_models_for_distances(distances, fails):
    assert fails("fit", "FCM", "d.csv", "--precomputed") == (
        "FCM takes a table of features, a row per sample, not distances between samples: take one of EVCLUS, "
        "SoftHDBSCAN, RelationalFCM, FuzzyCMedoids."
    )


# What does not fit together -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, message",
    [
        (["g.edgelist", "--id", "a"], "--id is for features and documents, not for graph: leave it out."),
        (["g.edgelist", "--scale", "robust"], "--scale is for features, not for graph: leave it out."),
        (["a.csv", "--text-column", "b", "--drop", "c"], "--drop is for features, not for documents: leave it out."),
        (["a.png", "--header"], "--header is for features and documents, not for image: leave it out."),
        (["a.csv", "--precomputed", "--label-column", "b"], "--label-column is for features and documents, not for"),
        (["a.csv", "--communities", "c", "--as", "features"], "--communities is for graph, not for features"),
    ],
)
def test_options_of_other_kinds(words, message, fails):
    assert message in fails("compare", *words, code=2)


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("a.edgelist", "one\n", "a.edgelist"),
        ("a.gml", "junk", "a.gml"),
        ("a.png", "junk", "a.png is not an image that Pillow reads"),
        ("a.edgelist", "", "a.edgelist is empty"),
    ],
)
def test_files_of_other_kinds_that_are_wrong(name, content, message, tmp_path, fails):
    (tmp_path / name).write_text(content)
    assert message in fails("choose", name)


def test_folder_has_options_of_tables(documents, fails):
    assert "--id is for tables, and texts is a folder: leave it out." in fails("choose", "texts", "--id", "a", code=2)


# Reports --------------------------------------------------------------------------------------------------------------


def test_reports(graph, documents, image, distances, call, tmp_path):
    for words in (
        ["g.edgelist", "--communities", "g.cmty", "-m", "BIGCLAM"],
        ["g.npz", "-m", "BIGCLAM", "-k", "3:4"],
        ["texts", "-m", "LDA"],
        ["photo.png", "-m", "SKFCM"],
        ["d.csv", "--precomputed"],
        ["texts.csv", "--drop", "body", "--id", "nr", "-m", "FCM", "-k", "2"],
    ):
        assert call("compare", *words, "--report", "r.html")[0] == 0
        text = (tmp_path / "r.html").read_text()
        assert words[0] in text and len(text) > 20_000
