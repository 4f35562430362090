"""From models to the file: in Python, and by ``soft-clustering compare --report``."""

import json
import re

import benchmark_models as models
import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from soft_clustering import BIGCLAM, FCM, MMSB, SoftHDBSCAN, report
from soft_clustering.benchmarking import ClusteringBenchmark
from soft_clustering.benchmarking.records import Journal
from soft_clustering.cli import main
from soft_clustering.datasets import load_graph
from soft_clustering.plotting import graph_layout
from soft_clustering.report.html import memberships_in
from soft_clustering.report.pipeline import saving_memberships

X, Y = load_iris(return_X_y=True, as_frame=True)


def data_of(path):
    """The summary inside a report."""
    return json.loads(re.search(r'<script type="application/json" id="summary">(.*?)</script>', path.read_text())[1])


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    given = {
        "FCM": FCM(),
        "mixture": GaussianMixture(),
        "pipeline": make_pipeline(StandardScaler(), KMeans(3)),
        "noise": DBSCAN(eps=0.3),
        "one": models.OneCluster(),
        "none": models.OnlyNoise(),
        "broken": models.Raises(),
    }
    return report.compare(given, X, Y, path=path, name="iris", verbose=0, n_jobs=2), path


def test_compare_reports_every_model(compared):
    summary, path = compared
    status = {model["name"]: model["status"] for model in summary["models"]}
    assert status == {
        **{"FCM": "ok", "mixture": "ok", "pipeline": "ok", "noise": "ok"},
        **{"one": "degenerate", "none": "degenerate", "broken": "error"},
    }
    assert data_of(path) == json.loads(json.dumps(summary))
    assert summary["dataset"]["columns"] == list(X.columns)


@pytest.mark.parametrize("others", [{}, {"FCM": FCM(2)}], ids=["alone", "beside another"])
def test_a_fit_without_clusters(others, tmp_path):
    scattered = np.random.default_rng(0).uniform(size=(40, 3))
    path = tmp_path / "report.html"
    summary = report.compare({"hierarchy": SoftHDBSCAN(20), **others}, scattered, path=path, verbose=0)
    model = next(model for model in summary["models"] if model["name"] == "hierarchy")
    assert (model["status"], model["n_clusters"], model["memberships"], model["sizes"]) == ("degenerate", 0, None, None)
    assert model["reason"] == "no sample belongs to a cluster"
    assert "decrease min_cluster_size=20" in model["warnings"]
    page = re.sub(r"<(script|style).*?</\1>", "", path.read_text(), flags=re.DOTALL)
    assert "found no cluster" in page and not re.search(r"\bnan\b", page, re.IGNORECASE)


KARATE = load_graph("karate")


@pytest.mark.parametrize(
    "kind, given",
    [(np.asarray, [BIGCLAM(), MMSB()]), (sparse.csr_array, [BIGCLAM()]), (pandas.DataFrame, [BIGCLAM()])],
    ids=["array", "sparse", "table"],
)
def test_graphs_are_drawn_with_their_links(kind, given, tmp_path):
    path = tmp_path / "graph.html"
    A = kind(KARATE.adjacency.toarray())
    summary = report.compare(given, A, KARATE.labels, path=path, name="karate", verbose=0)
    assert [model["status"] for model in summary["models"]] == ["ok"] * len(given)
    assert summary["links"]["n_links"] == len(summary["links"]["pairs"]) == 78
    rows = np.array(summary["rows"])
    drawn = np.sort(rows[summary["links"]["pairs"]], axis=1).tolist()
    assert sorted(drawn) == np.argwhere(np.triu(KARATE.adjacency.toarray())).tolist()
    np.testing.assert_allclose(summary["points"], graph_layout(KARATE.adjacency[rows][:, rows]), rtol=1e-4)
    page = path.read_text()
    assert "34 nodes, 78 links" in page
    assert "Placed by springs along the links." in page


def test_links_of_the_drawn_nodes_only(tmp_path):
    path = tmp_path / "graph.html"
    few = report.compare([BIGCLAM()], KARATE.adjacency, path=path, max_points=20, n_clusters=None, verbose=0)
    assert few["links"]["n_links"] == 78
    assert np.max(few["links"]["pairs"]) < 20
    assert f"of which {len(few['links']['pairs'])} are drawn" in path.read_text()


def test_models_of_features_have_no_links(compared):
    assert compared[0]["links"] is None
    assert "Placed by" not in compared[1].read_text()


def test_memberships_are_those_of_the_fit(compared):
    summary, _ = compared
    rows = summary["rows"]
    number = {model["name"]: place for place, model in enumerate(summary["models"])}
    expected = {
        "FCM": FCM(3, random_state=0).fit(X).memberships_,
        "mixture": GaussianMixture(3, random_state=0).fit(X).predict_proba(X),
    }
    for name, U in expected.items():
        np.testing.assert_allclose(memberships_in(summary, number[name]), U[rows], atol=0.5 / 255 + 1e-4)
    labels = DBSCAN(eps=0.3).fit_predict(X)
    found = memberships_in(summary, number["noise"])
    np.testing.assert_array_equal(found, labels[rows, None] == np.arange(labels.max() + 1))
    assert memberships_in(summary, number["pipeline"]).sum(axis=1).tolist() == [1.0] * 150
    assert summary["models"][number["one"]]["sizes"] == [150]
    assert summary["models"][number["none"]]["memberships"] is None


def test_the_command_runs(compared, tmp_path, monkeypatch):
    summary, _ = compared
    assert "from sklearn.mixture import GaussianMixture\n" in summary["command"]
    code = [line for line in summary["command"].splitlines() if "benchmark_models" not in line]
    code = "\n".join(line for line in code if not re.match(r" +'(one|none|broken|pipeline|noise)'", line))
    again = tmp_path / "again.html"
    code = re.sub(r"path='.*?'", f"path={str(again)!r}", code)
    exec(code, {"X": X, "y": Y})
    assert [model["ari"] for model in data_of(again)["models"]] == [model["ari"] for model in summary["models"][:2]]


def test_what_cannot_be_shown_is_found_before_the_work(tmp_path, monkeypatch):
    def work(*_):
        raise AssertionError("fitted")

    monkeypatch.setattr("soft_clustering.benchmarking.runner.execute", work)
    with pytest.raises(ValueError, match=r"must end in \.html"):
        report.compare([FCM()], X, path=tmp_path / "report")
    with pytest.raises(ValueError, match="X contains NaN"):
        report.compare([FCM()], [[np.nan, 1.0], [2.0, 3.0]], path=tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_a_run_without_memberships_is_repeated(tmp_path):
    benchmark = ClusteringBenchmark([FCM()], {"iris": (X, Y)}, results=tmp_path / "runs.jsonl", verbose=0)
    benchmark.run()
    (run,) = benchmark.plan()
    (saving,) = saving_memberships([run], str(tmp_path))
    journal = Journal(benchmark.results)
    assert run.is_done(journal)
    assert not saving.is_done(journal)
    (record,) = benchmark.carry_out([saving])
    assert (record["status"], saving.is_done(journal)) == ("ok", True)
    np.testing.assert_allclose(np.load(saving.memberships), FCM(3, random_state=0).fit(X).memberships_, atol=1e-6)
    # there is nothing to wait for from one that failed
    journal.records[run.key]["status"] = "timeout"
    assert run._replace(memberships=str(tmp_path / "none.npy")).is_done(journal)


# The command ----------------------------------------------------------------------------------------------------------


def test_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = pandas.DataFrame({"<script>": X.iloc[:, 2], "width": X.iloc[:, 3], "kind": load_iris().target_names[Y]})
    frame.to_csv("my flowers.csv", index=False)
    words = ["compare", "my flowers.csv", "--label-column", "kind", "-m", "FCM", "GMM", "SCM"]
    assert main([*words, "-o", "runs.jsonl"]) == 0
    capsys.readouterr()
    words += ["--report", "report.html", "-o", "runs.jsonl"]
    assert main(words) == 0
    captured = capsys.readouterr()
    assert "resuming, 3 of 3 runs are done" in captured.err  # the memberships are beside the file
    assert captured.err.splitlines()[-2:] == ["the report is report.html", "all measurements are in runs.jsonl"]
    summary = data_of(tmp_path / "report.html")
    names = [line.split()[0] for line in captured.out.splitlines()[3:6]]
    assert [model["name"] for model in summary["models"]] == names  # the best first, as in the table
    assert summary["axes"] == ["<script>", "width"]
    assert summary["command"] == (
        "soft-clustering compare 'my flowers.csv' --label-column kind -m FCM GMM SCM --report report.html -o runs.jsonl"
    )
    assert [entry["name"] for entry in summary["dataset"]["classes"]] == ["setosa", "versicolor", "virginica"]
    counts = np.bincount(summary["classes"])
    assert counts.tolist() == [50, 50, 50]
    assert all(model["memberships"] for model in summary["models"])
    # what is left: the data, the measurements, the memberships, the report
    kept = {"my flowers.csv", "runs.jsonl", "runs.memberships", "report.html"}
    assert {path.name for path in tmp_path.iterdir()} == kept


def test_command_with_a_range(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["compare", "-m", "FCM", "SCM", "-k", "2:3", "--report", "report.html"]) == 0
    summary = data_of(tmp_path / "report.html")
    assert sorted((model["name"], model["n_clusters"]) for model in summary["models"])[0] == ("FCM", 3)
    best = summary["models"][summary["recommendation"]["model"]]
    assert (summary["curves"]["model"], summary["curves"]["recommended"]) == (best["name"], best["n_clusters"])
    assert summary["curves"]["criteria"]["silhouette"]["choice"] == 2
    assert len(summary["models"]) == 2


def test_command_refuses_a_wrong_name_at_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["compare", "--report", "report.pdf"]) == 1
    assert capsys.readouterr().err == (
        "soft-clustering: error: The path of a report must end in .html. Got 'report.pdf' instead.\n"
    )


def test_clusters_of_a_table_are_explained_in_its_own_columns(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.RandomState(0)
    old = np.repeat([0, 1], 40)
    days = pandas.Timestamp("2020-01-01") + pandas.to_timedelta(1000 * old + rng.randint(99, size=80), unit="D")
    table = {
        "name": [f"N{i}" for i in range(80)],
        "income": [f"{value:.2f}".replace(".", ",") for value in 30_000 + 20_000 * old + rng.normal(0, 99, 80)],
        "since": days.strftime("%d.%m.%Y"),
        "city": np.where(old, "Paris", "Lyon"),
    }
    pandas.DataFrame(table).to_csv("people.csv", index=False, sep=";")
    assert main(["compare", "people.csv", "--id", "name", "-m", "FCM", "-k", "2", "--report", "r.html"]) == 0
    summary = data_of(tmp_path / "r.html")
    features = {feature["name"]: feature for feature in summary["profiles"]["clusters"][0]["features"]}
    assert {name: feature["kind"] for name, feature in features.items()} == {
        "income": "number",
        "since": "date",
        "city": "category",
    }
    assert 29_000 < min(features["income"]["mean"], features["income"]["elsewhere"]) < 31_000
    assert summary["profiles"]["clusters"][0]["typical_ids"][0].startswith("N")
    assert {entry["column"]: entry["used"] for entry in summary["preparation"]["columns"]} == {
        "name": False,
        "income": True,
        "since": True,
        "city": True,
    }
