"""Benchmarks: every run in a process of its own, every run on record, whatever becomes of it."""

import io
import json
import os
import pickle
import re
import subprocess
import sys
import time
from pathlib import Path

import benchmark_models as models
import joblib
import numpy as np
import pytest
from helpers.clusters import two_workers
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from soft_clustering import BIGCLAM, EVCLUS, FCM, KMART, LDA, PCM, RDFKC, SCM, SKFCM, benchmarking
from soft_clustering.benchmarking import (
    ClusteringBenchmark,
    ClusteringQualityBenchmark,
    MemoryBenchmark,
    RuntimeBenchmark,
    ScalabilityBenchmark,
    environment,
    measures,
    memory,
    scaling_exponents,
    summarize,
    worker,
    workers,
)
from soft_clustering.benchmarking.measures import EVIDENCE, MEASURES, RANKING, ranking_measure
from soft_clustering.benchmarking.quality import labels_of, quality
from soft_clustering.benchmarking.records import QUALITY, SCHEMA, Journal, from_line, to_frame, to_line
from soft_clustering.datasets import load_graph, make_overlapping_graph, make_topic_corpus
from soft_clustering.metrics import (
    METRICS,
    clustering_metrics,
    coherence,
    conductance,
    overlapping_nmi,
    silhouette,
    soft_clustering_metrics,
)

pandas = pytest.importorskip("pandas")
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and resident sizes of POSIX")

X, Y = make_blobs(60, 3, centers=2, random_state=0)
PAIR = {"pair": (X, Y)}
FOR_FEATURES = {name for name, measure in MEASURES.items() if measure.applies_to("features")}
OTHERS = {*MEASURES, *EVIDENCE} - {*FOR_FEATURES}
COLUMNS = {name: kind for name, kind in SCHEMA.items() if name not in OTHERS}
OF_COVERS = {"overlapping_nmi", "omega_index", "node_coverage"}
LINES = [f'{{"key": "{key}", "model": "m"}}' for key in "abc"]


def rows(results):
    return {row["model"]: row for row in results.to_dict("records")}


# What is measured -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def good():
    contenders = {"FCM": FCM(n_clusters=5), "finds K": SCM(), "mixture": GaussianMixture(random_state=7)}
    return ClusteringBenchmark(contenders, PAIR, n_jobs=2, verbose=0).run()


def test_every_clusterer_works(good):
    assert list(good.columns) == list(COLUMNS)
    assert good.dtypes.astype(str).to_dict() == COLUMNS
    assert list(good["status"]) == ["ok"] * 3
    assert good["reason"].isna().all()
    assert (good["fit_time"] > 0).all()
    assert (good["peak_memory"] >= 0).all() or sys.platform == "win32"
    assert (good[["n_samples", "n_features", "n_classes", "repeat"]] == [60, 3, 2, 0]).all(axis=None)


def test_parameters_of_the_protocol(good):
    assert list(good["estimator"]) == [
        "FCM(n_clusters=2, random_state=0)",
        "SCM(random_state=0)",
        "GaussianMixture(n_components=2, random_state=7)",
    ]


def test_measures_are_those_of_the_fit(good):
    row = rows(good)["FCM"]
    model = FCM(2, random_state=0).fit(X)
    expected = clustering_metrics(X, model.labels_, y_true=Y)
    expected |= soft_clustering_metrics(X, model.memberships_, centers=model.centers_)
    assert {name: row[name] for name in FOR_FEATURES} == pytest.approx(expected, rel=1e-12)
    assert (row["n_clusters"], row["n_iter"], row["converged"]) == (2, model.n_iter_, True)
    assert row["predict_time"] > 0


def attempt(folder, model, data=X, y=Y, measurements=ClusteringBenchmark.measurements, warm_up=False):
    """What a worker would report, line by line, without the process."""
    task = {
        "estimator": model,
        "measurements": measurements,
        "warm_up": warm_up,
        "time_limit": None,
        "exact": False,
        "memberships": None,
    }
    (folder / "task").write_bytes(pickle.dumps(task))
    joblib.dump((data, y), folder / "data")
    lines = io.StringIO()
    worker.attempt(str(folder), worker.Report(lines))
    return [from_line(line) for line in lines.getvalue().splitlines()]


def merged(lines):
    return {name: value for line in lines for name, value in line.items()}


CRISPNESS = {"partition_coefficient", "modified_partition_coefficient", "partition_entropy"}
OF_LABELS = {"silhouette", "calinski_harabasz", "davies_bouldin", "ari", "nmi"}


@pytest.mark.parametrize(
    "model, data, measured",
    [
        (PCM(2), X, FOR_FEATURES - CRISPNESS),  # typicalities
        (GaussianMixture(2), X, OF_LABELS | CRISPNESS),  # no centers_
        (make_pipeline(StandardScaler(), KMeans(2)), X, OF_LABELS),
        (models.Halves(), X, OF_LABELS),
        (models.Overlapping(), X, OF_LABELS),
        (models.OfGraphs(), ["a text"] * 60, CRISPNESS | {"ari", "nmi"} | OF_COVERS),
    ],
)
def test_measures_that_do_not_apply_are_missing(tmp_path, model, data, measured):
    found = merged(attempt(tmp_path, model, data))
    assert found["status"] == "ok"
    assert {name for name in QUALITY if found[name] is not None} == measured
    assert (found["predict_time"] is not None) == hasattr(model.fit(data), "predict")


def test_without_classes(tmp_path):
    found = merged(attempt(tmp_path, FCM(2), y=None))
    assert {name for name in FOR_FEATURES if found[name] is None} == {"ari", "nmi"}


# The measures of each kind of data ------------------------------------------------------------------------------------

PARTITION = CRISPNESS | {"ari", "nmi"}


def measured(model, data, y, **options):
    found = dict(quality(model, data, y, labels_of(model, data), **options))
    assert list(found) == list(QUALITY)  # in the order in which a worker announces them
    return {name: value for name, value in found.items() if not np.isnan(value)}


def test_measures_of_communities():
    graph = make_overlapping_graph(120, 3, degree=8, random_state=0)
    model = BIGCLAM(3, random_state=0).fit(graph.adjacency)
    found = measured(model, graph.adjacency, graph.cover)
    of_links = {"modularity", "overlapping_modularity", "conductance"}
    assert set(found) == of_links | OF_COVERS  # the communities overlap, and strengths are no shares
    assert found["overlapping_nmi"] == overlapping_nmi(model.get_cover(), graph.cover)
    assert found["conductance"] == conductance(graph.adjacency, model.get_cover())
    assert set(measured(model, graph.adjacency, None)) == of_links | {"node_coverage"}
    labels = graph.cover.argmax(axis=1)
    assert set(measured(model, graph.adjacency, labels)) == of_links | OF_COVERS | {"ari", "nmi"}
    disjoint = np.eye(3, dtype=bool)[labels]
    assert measured(model, graph.adjacency, disjoint) == measured(model, graph.adjacency, labels)


def test_measures_of_topics():
    corpus = make_topic_corpus(60, 2, vocabulary_size=30, random_state=0)
    model = LDA(2, random_state=0).fit(corpus.counts)
    y = corpus.document_topics.argmax(axis=1)
    found = measured(model, corpus.counts, y)
    assert set(found) == PARTITION | {"coherence", "perplexity"}
    assert found["perplexity"] == model.perplexity(corpus.counts)
    words = [[int(word[1:]) for word in topic] for topic in model.top_words(10)]
    assert found["coherence"] == coherence(corpus.counts, words)
    texts = ["pike and trout", "trout and salmon", "moon and comet", "comet and star"] * 3
    assert set(measured(KMART().fit(texts), texts, None)) == {"coherence"}  # possibilistic


def test_measures_of_images():
    image, y = np.zeros((8, 9)), np.zeros((8, 9), dtype=int)
    image[:, 5:], y[:, 5:] = 1, 1
    image += np.random.RandomState(0).normal(0, 0.05, image.shape)
    model = SKFCM(2, random_state=0).fit(image)
    found = measured(model, image, y)
    assert set(found) == PARTITION | {"silhouette", "calinski_harabasz", "davies_bouldin"}
    assert found["ari"] == 1
    assert found["silhouette"] == pytest.approx(clustering_metrics(image.reshape(-1, 1), y.ravel())["silhouette"])


def test_measures_of_distances():
    D = cdist(X, X)
    found = measured(EVCLUS(2, metric="precomputed", random_state=0).fit(D), D, Y)
    assert set(found) == PARTITION | {"silhouette"}
    assert found["silhouette"] == pytest.approx(clustering_metrics(X, Y)["silhouette"])


def test_large_data_are_sampled_unless_asked(monkeypatch):
    monkeypatch.setattr("soft_clustering.benchmarking.quality.MAX_SAMPLES", 20)
    model = FCM(2, random_state=0).fit(X)
    assert measured(model, X, Y) == measured(model, X, Y, exact=True)
    monkeypatch.setattr("soft_clustering.benchmarking.quality.EXACT_UP_TO", 59)
    sampled, exact = measured(model, X, Y), measured(model, X, Y, exact=True)
    assert {name for name in exact if sampled[name] != exact[name]} == {"silhouette"}
    assert sampled["silhouette"] == silhouette(X, model.labels_, max_samples=20, random_state=0)


def test_the_slowest_measures_come_last():
    assert QUALITY[-2:] == ("omega_index", "silhouette")
    assert set(QUALITY) - set(METRICS) == {"perplexity"}


def test_tables_name_measures_of_their_modality():
    assert RANKING.keys() == measures.COLUMNS.keys() == {"features", "graph", "documents", "image", "distances"}
    for modality in RANKING:
        for name in (*RANKING[modality], *measures.COLUMNS[modality]):
            assert MEASURES[name].applies_to(modality)
        assert not MEASURES[RANKING[modality][-1]].needs_truth
        assert MEASURES[RANKING[modality][-1]].sense == "max"


def test_ranking():
    assert ranking_measure("graph", QUALITY) == "overlapping_nmi"
    assert ranking_measure("documents", {"coherence", "perplexity"}) == "coherence"
    assert ranking_measure("partitions", {"ari", "nmi"}) == "ari"
    assert ranking_measure("features", set()) is None


def test_special_measures_have_a_column_if_some_run_has_them():
    record = dict.fromkeys(SCHEMA) | {"key": "a"}
    frame = to_frame([record, record | {"coherence": 0.5}], ClusteringBenchmark.measurements)
    assert list(frame.columns) == [name for name in SCHEMA if name in COLUMNS or name == "coherence"]


def test_sizes_of_graphs_and_images():
    graph, image = load_graph(), np.random.RandomState(0).uniform(size=(4, 5, 3))
    (run,) = ClusteringBenchmark([BIGCLAM()], {"karate": (graph.adjacency, graph.cover)}, verbose=0).plan()
    assert run.known | {"n_samples": 34, "n_features": 34, "n_classes": 2} == run.known
    (run,) = ClusteringBenchmark([SKFCM()], {"photo": (image, None)}, verbose=0).plan()
    assert run.known | {"n_samples": 20, "n_features": 3, "n_classes": None} == run.known


def test_older_journals_are_read(tmp_path):
    """A journal whose records lack the newer measures."""
    old = dict.fromkeys(COLUMNS) | {"key": "a", "model": "m", "status": "ok", "ari": 0.5}
    (tmp_path / "runs.jsonl").write_text(json.dumps(old) + "\n")
    frame = to_frame(Journal(tmp_path / "runs.jsonl").records.values(), ClusteringBenchmark.measurements)
    assert list(frame.columns) == list(COLUMNS) and frame["ari"].tolist() == [0.5]


def test_noise_and_warnings(tmp_path, capsys):
    found = merged(attempt(tmp_path, models.NoisyButTwo()))
    assert "may print" in capsys.readouterr().out
    assert (found["status"], found["n_clusters"]) == ("ok", 2)
    assert found["warnings"] == "UserWarning: look out below"
    labels = (X[:, 0] > np.median(X[:, 0])).astype(int)
    labels[0] = -1
    assert found["ari"] == pytest.approx(adjusted_rand_score(Y, labels))


@pytest.mark.parametrize(
    "measurements, warm_up, stages",
    [
        (ClusteringBenchmark.measurements, True, ["fit", "fit", "labels", "predict", *QUALITY, "done"]),
        (ClusteringBenchmark.measurements, False, ["fit", "labels", "predict", *QUALITY, "done"]),
        (RuntimeBenchmark.measurements, True, ["fit", "fit", "labels", "predict", "done"]),
        (ScalabilityBenchmark.measurements, True, ["fit", "fit", "labels", "predict", "done"]),
        (MemoryBenchmark.measurements, True, ["fit", "labels", "done"]),
        (ClusteringQualityBenchmark.measurements, True, ["fit", "labels", *QUALITY, "done"]),
    ],
)
def test_only_what_is_asked_for_is_done(tmp_path, measurements, warm_up, stages):
    lines = attempt(tmp_path, FCM(2), measurements=measurements, warm_up=warm_up)
    assert [line["stage"] for line in lines if "stage" in line] == stages
    times, peaks = ([line[name] for line in lines if name in line] for name in ("fit_time", "peak_memory"))
    assert len(times) == stages.count("fit")
    assert len(peaks) == 1  # of the first fit


@posix
def test_peak_memory_is_that_of_the_fit():
    n, d = 200_000, 8
    data = np.random.RandomState(0).normal(size=(n, d))
    results = MemoryBenchmark(
        {"copies": models.Copies(), "none": models.Halves()}, {"large": (data, None)}, verbose=0
    ).run()
    assert list(results.columns[-2:]) == ["warnings", "peak_memory"]
    copies, none = results["peak_memory"]
    assert 8 * data.nbytes < copies < 12 * data.nbytes
    assert none < 2 * data.nbytes


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="high-water marks cannot be reset here")
def test_earlier_peaks_do_not_count():
    # the file alone, in an interpreter without packages: that is how other environments are measured
    code = Path(memory.__file__).read_text() + (
        "\nearlier = bytearray(2**28); del earlier; reset_peak(); before = peak(); now = bytearray(2**26); "
        "print(before, peak() - before)"
    )
    result = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    before, during = map(int, result.stdout.split())
    assert before < 2**27
    assert during == pytest.approx(2**26, rel=0.05)  # the kernel counts pages in batches, per processor


# What goes wrong ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bad():
    contenders = [models.Raises(), models.OneCluster(), models.Exits()]
    contenders += [] if sys.platform == "win32" else [models.Crashes()]
    return ClusteringBenchmark(contenders, PAIR, warm_up=False, n_jobs=2, verbose=0).run()


@pytest.mark.parametrize(
    "model, status, reason",
    [
        ("Raises", "error", "ValueError in fit: a message of two lines"),
        ("OneCluster", "degenerate", "all labels are the same cluster"),
        ("Exits", "error", "the worker ended in fit: exit code 3; giving up"),
        pytest.param("Crashes", "error", "the worker ended in fit: killed by SIGSEGV", marks=posix),
    ],
)
def test_failures_are_recorded(bad, model, status, reason):
    row = rows(bad)[model]
    assert (row["status"], row["reason"]) == (status, reason)


def test_failures_have_every_column(bad):
    assert bad.dtypes.astype(str).to_dict() == COLUMNS
    found = rows(bad)
    assert np.isnan(found["Raises"]["fit_time"])
    assert found["OneCluster"]["fit_time"] > 0
    assert found["OneCluster"]["ari"] == 0
    assert (bad[["n_samples", "n_classes"]] == [60, 2]).all(axis=None)


@pytest.mark.parametrize(
    "model, data, status, reason",
    [
        (models.RaisesMemoryError(), X, "memory", "MemoryError in fit: no room"),
        (models.RaisesAfterFit(), X, "error", "AttributeError in labels: "),
        (models.FailsToPredict(), X, "ok", "predict was not finished: RuntimeError: cannot predict"),
        (models.OnlyNoise(), X, "degenerate", "no sample belongs to a cluster"),
        (
            models.WrongMemberships(),
            X,
            "error",
            "ValueError in labels: memberships must have one row per sample, 60 rows.",
        ),
    ],
)
def test_failures_of_every_stage(tmp_path, model, data, status, reason):
    found = merged(attempt(tmp_path, model, data))
    assert found["stage"] == "done"
    assert found["status"] == status
    assert found["reason"].startswith(reason)
    assert ("fit_time" in found) == (" in fit" not in reason)


def stops(path, patience=20.0):
    """Whether a file that somebody keeps writing to stops growing."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        before = path.stat().st_size
        time.sleep(0.5)
        if path.stat().st_size == before:
            return True
    return False


def test_timeout_ends_the_whole_tree(tmp_path):
    beat = tmp_path / "beat"
    contenders = [models.StartsAProcess(beat=str(beat))]
    start = time.monotonic()
    (row,) = RuntimeBenchmark(contenders, PAIR, time_limit=1.5, verbose=0).run().to_dict("records")
    assert time.monotonic() - start < 120
    assert (row["status"], row["reason"]) == ("timeout", "more than 1.5 s, in fit")
    assert beat.stat().st_size > 0
    assert stops(beat)


@posix
def test_memory_limit():
    contenders = {"itself": models.Allocates(), "a child": models.Allocates(in_child=True)}
    results = MemoryBenchmark(contenders, PAIR, memory_limit=800 * 2**20, n_jobs=2, verbose=0).run()
    assert list(results["status"]) == ["memory", "memory"]
    assert list(results["reason"]) == ["more than 800 MiB resident"] * 2


@posix
def test_resident_size_is_that_of_a_group():
    code = "import sys, time; held = b'.' * 2**26; print(); sys.stdout.flush(); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True)
    try:
        process.stdout.read(1)
        assert 2**26 < memory.resident(process.pid) < 2**27
    finally:
        process.kill()
        process.communicate()
    assert memory.resident(process.pid) == 0


BEFORE = {"ari", "nmi", "calinski_harabasz"}


@pytest.mark.parametrize(
    "how, why",
    [
        ("hangs", "more than 3 s"),
        pytest.param("crashes", "the worker ended: killed by SIGSEGV", marks=posix),
        pytest.param("grows", "more than 800 MiB resident", marks=posix),
        ("raises", "ValueError: too bad"),
    ],
)
def test_a_measure_that_fails_costs_no_result(how, why):
    limits = {"time_limit": 3.0 if how == "hangs" else 60.0, "memory_limit": 800 * 2**20 if how == "grows" else None}
    contenders = {"spoils": models.SpoilsAMeasure(how), "next": models.Halves()}
    found = rows(ClusteringBenchmark(contenders, PAIR, warm_up=False, verbose=0, **limits).run())
    row = found["spoils"]
    assert (row["status"], row["reason"]) == ("ok", f"davies_bouldin was not finished: {why}")
    assert row["fit_time"] > 0
    assert row["n_clusters"] == 2
    assert {name for name in FOR_FEATURES if not np.isnan(row[name])} == BEFORE
    assert found["next"]["status"] == "ok"
    assert {name for name in FOR_FEATURES if not np.isnan(found["next"][name])} == OF_LABELS


def test_memberships_are_saved_before_the_measures(tmp_path):
    benchmark = ClusteringBenchmark(
        {"predict": models.SlowToPredict(), "measure": models.SpoilsAMeasure()}, PAIR, time_limit=1.0, verbose=0
    )
    runs = [run._replace(memberships=str(tmp_path / f"{run.key}.npy")) for run in benchmark.plan()]
    first, second = benchmark.carry_out(runs)
    assert (first["status"], first["reason"]) == ("ok", "predict was not finished: more than 1 s")
    assert (second["status"], second["reason"]) == ("ok", "davies_bouldin was not finished: more than 1 s")
    for run in runs:
        assert np.load(run.memberships).shape == (60, 2)


@pytest.mark.skipif(not workers.FORKS, reason="workers are not kept here")
def test_runs_find_nothing_of_earlier_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notes = tmp_path / "notes"
    contenders = {f"{i}": models.Litters(str(notes), i) for i in range(3)} | {"FCM": FCM(2), "crash": models.Crashes()}
    results = ClusteringBenchmark(contenders | {"last": models.Litters(str(notes), 3)}, PAIR, warm_up=False, verbose=0)
    found = results.run()
    assert list(found["status"]) == ["ok"] * 4 + ["error", "ok"]
    noted = [json.loads(line) for line in notes.read_text().splitlines()]
    assert len({tuple(line.pop("random")) for line in noted}) == 4  # each has random numbers of its own
    assert len({line["parent"] for line in noted}) == 1  # all in one worker, which a crash does not end
    assert noted == [noted[0]] * 4
    assert noted[0]["folder"] == str(tmp_path)
    assert (noted[0]["variable"], noted[0]["modules"]) == (None, False)
    taken = found["peak_memory"].iloc[[0, 1, 2, 5]]
    assert ((taken > 2**26) & (taken < 1.1 * 2**26)).all()
    process = noted[0]["parent"]
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


@pytest.mark.skipif(not workers.FORKS, reason="workers are not kept here")
def test_threads_work_in_every_run():
    """A process that has used OpenMP must not fork: its children would wait for threads that they do not have."""
    data, _ = make_blobs(50_000, 8, centers=4, random_state=0)
    contenders = {"first": FCM(4), "second": FCM(5), "third": KMeans(4, n_init=1)}
    results = RuntimeBenchmark(contenders, {"large": (data, None)}, n_clusters=None, time_limit=30, verbose=0).run()
    assert list(results["status"]) == ["ok"] * 3


def test_models_without_their_extra_are_skipped(tmp_path, monkeypatch):
    contenders = {"deep": RDFKC(2), "in a pipeline": make_pipeline(StandardScaler(), RDFKC(2)), "FCM": FCM(2)}
    settings = {"warm_up": False, "results": tmp_path / "r.jsonl", "verbose": 0}
    with monkeypatch.context() as missing:
        missing.setitem(sys.modules, "torch", None)
        results = ClusteringQualityBenchmark(contenders, PAIR, **settings).run()
    assert list(results["status"]) == ["skipped", "skipped", "ok"]
    assert list(results["reason"][:2]) == ['RDFKC needs torch: pip install "soft-clustering[deep]"'] * 2
    table = summarize(results).set_index("algorithm")
    assert table["skipped"].to_dict() == {"FCM": 0, "deep": 1, "in a pipeline": 1}
    assert list(table["errors"]) == [0, 0, 0]
    # it is tried again: the extra may be there now
    recorder = Recorder(monkeypatch)
    ClusteringQualityBenchmark(contenders, PAIR, **settings).run()
    assert [name for name, *_ in recorder.ran] == ["deep", "in a pipeline"]


@posix
@pytest.mark.parametrize("busy", [False, True])
def test_worker_without_a_runner_leaves_nothing(tmp_path, busy):
    """The runner was killed: its end of the pipe is closed, and nobody else can tidy up."""
    folder, run = tmp_path / "worker", tmp_path / "worker" / "1"
    run.mkdir(parents=True)
    command = [sys.executable, "-m", "soft_clustering.benchmarking.worker", str(folder), str(tmp_path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    if busy:
        os.mkfifo(run / "task")  # the run waits here for its task, which never comes
        process.stdin.write(json.dumps({"folder": str(run), "imports": []}).encode() + b"\n")
        process.stdin.flush()
        while not (run / "report.jsonl").exists():
            assert process.poll() is None
            time.sleep(0.05)
        assert memory.resident(process.pid) > 0
    process.stdin.close()
    process.wait(timeout=60)
    assert not folder.exists()


def test_data_that_cannot_be_loaded(monkeypatch):
    def unavailable(name):
        raise OSError("not\n here")

    monkeypatch.setattr("soft_clustering.benchmarking.benchmarks.get_dataset", unavailable)
    results = ClusteringQualityBenchmark([FCM(), SCM()], ["olivetti_faces"], verbose=0).run()
    assert list(results["status"]) == ["error", "error"]
    assert set(results["reason"]) == {"OSError in loading the data: not here"}
    assert results["n_samples"].isna().all()


# The results file -----------------------------------------------------------------------------------------------------

SCRIPT = """
import sys, time
from pathlib import Path
from sklearn.datasets import make_blobs
from sklearn.base import BaseEstimator, ClusterMixin
from soft_clustering.benchmarking import RuntimeBenchmark

folder = Path(sys.argv[1])


class Traced(ClusterMixin, BaseEstimator):  # of the script itself: no worker could import it
    def fit(self, X, y=None):
        with open(folder / "trace", "a") as trace:
            trace.write(f"{len(X)}\\n")
        while len(X) == 21 and not (folder / "go").exists():
            with open(folder / "beat", "a") as beat:
                beat.write(".")
            time.sleep(0.05)
        self.labels_ = (X[:, 0] > X[0, 0]).astype(int)
        return self


data = {f"d{n}": make_blobs(n, 2, random_state=0) for n in (20, 21)}
results = RuntimeBenchmark([Traced()], data, warm_up=False, results=folder / "runs.jsonl").run()
results.to_csv(folder / "results.csv", index=False)
"""


def test_killed_benchmark_resumes(tmp_path):
    (tmp_path / "temporary").mkdir()
    variables = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(tmp_path / "temporary")}
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    with subprocess.Popen(command, env=variables, stderr=subprocess.DEVNULL) as process:
        while not (tmp_path / "beat").exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.kill()
    assert stops(tmp_path / "beat")
    if sys.platform != "win32":
        assert list((tmp_path / "temporary").iterdir()) == []
    written = (tmp_path / "runs.jsonl").read_text()
    assert [json.loads(line).get("dataset") for line in written.splitlines()] == [None, "d20"]
    # what a process may leave that is killed while it writes
    (tmp_path / "runs.jsonl").write_text(written + '{"key": "d2')
    (tmp_path / "go").touch()
    finished = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    assert "1 of 2 runs are already in the results" in finished.stderr
    assert re.search(r"^2 of 2 runs, .*, 0 s left: Traced, d21: ok$", finished.stderr, re.MULTILINE)
    assert (tmp_path / "trace").read_text().split() == ["20", "21", "21"]
    results = pandas.read_csv(tmp_path / "results.csv")
    assert list(results["dataset"]) == ["d20", "d21"]
    assert list(results["status"]) == ["ok"] * 2
    assert (tmp_path / "runs.jsonl").read_text().startswith(written)
    records = [json.loads(line) for line in (tmp_path / "runs.jsonl").read_text().splitlines()]
    assert [record["dataset"] for record in records if "key" in record] == ["d20", "d21"]
    assert [list(record) for record in records if "key" in record] == [["key", *SCHEMA]] * 2


class Recorder:
    """In place of the workers: notes what was to be run."""

    def __init__(self, monkeypatch):
        self.ran = []
        monkeypatch.setattr("soft_clustering.benchmarking.runner.execute", self)

    def __call__(self, run):
        self.ran.append((run.known["model"], run.known["dataset"], run.known["repeat"]))
        return {"key": run.key, **dict.fromkeys(SCHEMA), **run.known, "status": "ok"}


@pytest.mark.parametrize(
    "change, again",
    [
        ({}, False),
        ({"verbose": 1, "n_jobs": 2}, False),
        ({"time_limit": 60}, False),
        ({"models": {"m": FCM(m=1.5)}}, True),
        ({"models": {"m": KMeans()}}, True),
        ({"models": {"other name": FCM()}}, True),
        ({"datasets": {"pair": (X + 1e-9, Y)}}, True),
        ({"datasets": {"pair": (X, 1 - Y)}}, True),
        ({"datasets": {"other name": (X, Y)}}, True),
        ({"time_limit": 30.0}, True),
        ({"memory_limit": 10**9}, True),
        ({"random_state": 1}, True),
        ({"warm_up": False}, True),
        ({"max_samples": 50}, True),
        ({"n_clusters": None}, True),
    ],
)
@posix
def test_only_the_same_run_is_not_run_again(tmp_path, monkeypatch, change, again):
    settings = {"models": {"m": FCM()}, "datasets": PAIR, "results": tmp_path / "r.jsonl", "verbose": 0}
    recorder = Recorder(monkeypatch)
    first = ClusteringBenchmark(**settings).run()
    assert len(recorder.ran) == 1
    second = ClusteringBenchmark(**(settings | change)).run()
    assert len(recorder.ran) == 1 + again
    assert len(second) == 1
    assert again or second.equals(first)
    # the other benchmarks measure other things
    RuntimeBenchmark(**settings).run()
    assert len(recorder.ran) == 2 + again


def test_further_runs_are_added(tmp_path, monkeypatch):
    recorder = Recorder(monkeypatch)
    path = tmp_path / "new folder" / "r.jsonl"
    ClusteringBenchmark({"a": FCM()}, PAIR, results=path, verbose=0).run()
    results = ClusteringBenchmark({"b": FCM(), "a": FCM()}, PAIR, n_repeats=2, results=path, verbose=0).run()
    assert recorder.ran == [("a", "pair", 0), ("b", "pair", 0), ("b", "pair", 1), ("a", "pair", 1)]
    assert list(zip(results["model"], results["repeat"], strict=True)) == [("b", 0), ("b", 1), ("a", 0), ("a", 1)]
    assert list(results["estimator"].str[-2:]) == ["0)", "1)", "0)", "1)"]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [next(iter(line)) for line in lines] == ["environment", "key", "environment", "key", "key", "key"]


def test_cut_line_is_removed(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join(LINES))  # the last one without its end
    journal = Journal(path)
    assert list(journal.records) == ["a", "b"]
    journal.note({"key": "d"})
    assert list(Journal(path).records) == ["a", "b", "d"]
    assert path.read_text().splitlines() == [*LINES[:2], '{"key": "d"}']


@pytest.mark.parametrize("text", ["model,status\nFCM,ok\n", '[1]\n{"key": "a"}\n', "notes", LINES[0] + '\n{"key\n'])
def test_other_files_are_left_alone(tmp_path, text):
    path = tmp_path / "notes.txt"
    path.write_text(text)
    wrong = r"notes\.txt' must be a file that a benchmark wrote\. Line \d is not a record"
    with pytest.raises(ValueError, match=wrong):
        ClusteringBenchmark([FCM()], PAIR, results=path).run()
    assert path.read_text() == text


def test_numbers_that_json_does_not_know():
    line = to_line({"ari": np.nan, "nmi": np.inf, "silhouette": -np.inf, "fit_time": 1.5, "n_iter": 3, "reason": None})
    assert line == '{"ari": null, "nmi": "inf", "silhouette": "-inf", "fit_time": 1.5, "n_iter": 3, "reason": null}\n'
    record = from_line(line)
    assert (record["nmi"], record["silhouette"], record["ari"]) == (np.inf, -np.inf, None)
    frame = to_frame([record], ClusteringBenchmark.measurements)
    assert np.isnan(frame["ari"][0])
    assert frame["nmi"][0] == np.inf
    assert frame["silhouette"][0] == -np.inf
    assert frame["n_iter"][0] == 3
    assert frame["converged"].isna().all()


# In parallel ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    """A Dask cluster of two processes."""
    with two_workers() as client:
        yield client


def test_on_a_dask_cluster(tmp_path, cluster):
    """The same records as without it, whatever becomes of a run, in the same order, and in the journal."""
    path = tmp_path / "r.jsonl"
    contenders = {"FCM": FCM(), "k-means": KMeans(), "raises": models.Raises(), "exits": models.Exits()}
    expected = ClusteringQualityBenchmark(contenders, PAIR, verbose=0).run()
    with cluster.as_current(), joblib.parallel_config(backend="dask"):
        results = ClusteringQualityBenchmark(contenders, PAIR, results=path, verbose=0).run()
    pandas.testing.assert_frame_equal(results, expected)
    assert list(results["status"]) == ["ok", "ok", "error", "error"]
    assert set(Journal(path).records) == {json.loads(line)["key"] for line in path.read_text().splitlines()[1:]}
    assert len(Journal(path).records) == 4


def test_runs_of_a_cluster_are_started_by_its_workers(tmp_path, cluster, monkeypatch):
    """Each in a process that a worker started; the data reach a worker once, however many runs there are."""
    from distributed.comm.tcp import TCP

    sizes, write = [], TCP.write

    async def counted(self, *arguments, **options):
        sizes.append(await write(self, *arguments, **options))
        return sizes[-1]

    data = np.random.default_rng(0).normal(size=(100_000, 4))
    contenders = {str(i): models.NamesItsAncestors(str(tmp_path)) for i in range(8)}
    benchmark = RuntimeBenchmark(contenders, {"rows": (data, None)}, warm_up=False, verbose=0)
    with cluster.as_current(), joblib.parallel_config(backend="dask"), monkeypatch.context() as patch:
        patch.setattr(TCP, "write", counted)  # in this process, where client and scheduler are
        results = benchmark.run()
    assert list(results["status"]) == ["ok"] * 8
    ancestors = [set(json.loads(path.read_text())) for path in tmp_path.iterdir()]
    workers = set(cluster.run(os.getpid).values())
    assert len(ancestors) == 8
    assert all(workers & each for each in ancestors)
    assert workers <= set().union(*ancestors)  # both
    assert sum(sizes) < 4.5 * data.nbytes  # to the scheduler, to a worker, perhaps to the other one


# Sizes ----------------------------------------------------------------------------------------------------------------


def test_subsamples(monkeypatch):
    seen = []
    monkeypatch.setattr(
        "soft_clustering.benchmarking.runner.execute",
        lambda run: seen.append((run.X, run.y)) or {"key": run.key, **run.known},
    )
    data = np.arange(300.0).reshape(100, 3)
    sets = {
        "large": (data, np.arange(100) % 4),
        "small": (data[:20], None),
        "texts": ([f"{i}" for i in range(100)], None),
    }
    results = ClusteringBenchmark([FCM()], sets, max_samples=30, verbose=0).run()
    assert list(results["n_samples"]) == [30, 20, 30]
    taken = seen[0][0][:, 0].astype(int) // 3
    assert len(set(taken)) == 30
    np.testing.assert_array_equal(seen[0][0], data[taken])
    np.testing.assert_array_equal(seen[0][1], taken % 4)
    np.testing.assert_array_equal(seen[1][0], data[:20])
    assert seen[2][0] == [f"{i}" for i in taken]
    ClusteringBenchmark([FCM()], sets, max_samples=30, random_state=1, verbose=0).run()
    assert set(seen[3][0][:, 0].astype(int) // 3) != set(taken)


def test_sizes_are_nested(monkeypatch):
    seen = []
    monkeypatch.setattr(
        "soft_clustering.benchmarking.runner.execute",
        lambda run: seen.append(run.X[:, 0].tolist()) or {"key": run.key, **run.known, "status": "ok"},
    )
    results = ScalabilityBenchmark([FCM()], PAIR, sizes=[40, 10, 20], verbose=0).run()
    assert list(results["n_samples"]) == [10, 20, 40]
    assert set(seen[0]) < set(seen[1]) < set(seen[2]) < set(X[:, 0])
    assert list(results.columns[-3:]) == ["fit_time", "predict_time", "peak_memory"]
    with pytest.raises(ValueError, match=r"sizes must be at most the 60 samples of data set 'pair'\. Got 61"):
        ScalabilityBenchmark([FCM()], PAIR, sizes=[10, 61]).run()


def test_scaling_exponents():
    n = np.array([100, 200, 400, 800])
    results = pandas.DataFrame(
        {
            "model": ["a"] * 4 + ["b"] * 4,
            "dataset": "d",
            "status": ["ok"] * 4 + ["ok", "ok", "timeout", "error"],
            "n_samples": pandas.array(np.tile(n, 2), dtype="Int64"),
            "fit_time": np.r_[3e-6 * n**1.5, 2.0 * n[:2], np.nan, np.nan],
            "predict_time": np.r_[1e-3 * n, [1.0] * 2, np.nan, np.nan],
            "peak_memory": np.r_[0, 1, 4, 16, 0, 0, 0, 0],
        }
    )
    table = scaling_exponents(results)
    assert list(table["sizes"]) == [4, 2]
    np.testing.assert_allclose(table["fit_time"], [1.5, 1.0])
    np.testing.assert_allclose(table["predict_time"], [1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(table["peak_memory"], [2.0, np.nan])


def test_summary():
    statuses = ["ok", "ok", "degenerate", "timeout", "memory", "error"]
    results = pandas.DataFrame(
        {
            "model": ["a"] * 6 + ["b"],
            "dataset": [*"uvwxyz", "u"],
            "status": [*statuses, "ok"],
            "ari": [0.2, 0.4, 0.0, np.nan, 0.9, np.nan, 0.5],
            "nmi": [0.3, 0.5, 0.0, np.nan, 0.9, np.nan, 0.6],
            "fit_time": [0.001, 0.003, 9.0, np.nan, 9.0, np.nan, 0.01],
        }
    )
    table = summarize(results)
    assert list(table.columns) == ["algorithm", "datasets", "completed", "errors", "ari", "nmi", "mean_time_ms"]
    assert table.iloc[0].tolist() == ["b", 1, 1, 0, 0.5, 0.6, 10.0]
    assert table.iloc[1].tolist() == ["a", 6, 2, 3, pytest.approx(0.3), pytest.approx(0.4), pytest.approx(2.0)]


@pytest.mark.parametrize(
    "kind, columns",
    [
        (RuntimeBenchmark, ["mean_time_ms"]),
        (ClusteringQualityBenchmark, ["ari", "nmi"]),
        (MemoryBenchmark, []),
    ],
)
def test_summary_of_every_benchmark(kind, columns):
    contenders = {"right": KMeans(2, random_state=0), "wrong": KMeans(5, random_state=0)}
    table = summarize(kind(contenders, PAIR, n_clusters=None, n_jobs=2, verbose=0).run())
    assert table.columns.tolist() == ["algorithm", "datasets", "completed", "errors", *columns]
    assert sorted(table["algorithm"]) == ["right", "wrong"]
    assert table["completed"].tolist() == [1, 1]
    if "ari" in columns:
        assert table["algorithm"].tolist() == ["right", "wrong"]
        assert table["ari"][0] == 1
    elif columns:
        assert table["mean_time_ms"].is_monotonic_increasing


# Pipelines ------------------------------------------------------------------------------------------------------------


def configured(model, repeats=1, **options):
    benchmark = ClusteringBenchmark({"model": model}, PAIR, n_repeats=repeats, random_state=4, verbose=0, **options)
    return [run.estimator for run in benchmark.plan()]


def test_pipelines_get_the_number_of_classes_and_a_seed():
    first, second = configured(make_pipeline(StandardScaler(), FCM(5)), repeats=2)
    assert first["fcm"].n_clusters == second["fcm"].n_clusters == 2
    assert (first["fcm"].random_state, second["fcm"].random_state) == (4, 5)


def test_earlier_steps_of_a_pipeline_keep_their_sizes():
    (pipeline,) = configured(make_pipeline(PCA(n_components=3), GaussianMixture(5)))
    assert (pipeline["pca"].n_components, pipeline["pca"].random_state) == (3, 4)
    assert (pipeline["gaussianmixture"].n_components, pipeline["gaussianmixture"].random_state) == (2, 4)


def test_pipelines_inside_pipelines_and_their_own_choices():
    inner = make_pipeline(StandardScaler(), FCM(5, random_state=9))
    (pipeline,) = configured(make_pipeline(StandardScaler(), inner))
    assert (pipeline["pipeline"]["fcm"].n_clusters, pipeline["pipeline"]["fcm"].random_state) == (2, 9)
    (pipeline,) = configured(make_pipeline(StandardScaler(), SCM(None)))
    assert pipeline["scm"].n_clusters is None  # it finds the number
    (pipeline,) = configured(make_pipeline(StandardScaler(), FCM(5)), n_clusters=None)
    assert pipeline["fcm"].n_clusters == 5


def test_clusterers_inside_others():
    (model,) = configured(models.Wrapped(FCM(5)))
    assert (model.estimator.n_clusters, model.estimator.random_state) == (2, 4)


# Bad input, missing packages, environment -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, error, message",
    [
        ({"models": [FCM(), FCM(m=2)]}, ValueError, "models must be a dict if two are of the same class"),
        ({"models": [FCM]}, TypeError, "models.'type'. must be a scikit-learn estimator. Got <class"),
        ({"models": {"a": "FCM"}}, TypeError, "models.'a'. must be a scikit-learn estimator. Got 'FCM'"),
        ({"datasets": "iris"}, TypeError, "datasets must be a list of names or a mapping of names to"),
        ({"datasets": ["irsi"]}, ValueError, "did you mean 'iris'"),
        ({"datasets": {"a": X}}, TypeError, "datasets.'a'. must be a pair"),
        ({"n_clusters": 3}, ValueError, "The 'n_clusters' parameter of ClusteringBenchmark must be"),
        ({"n_repeats": 0}, ValueError, "The 'n_repeats' parameter of ClusteringBenchmark must be an int in the range"),
        ({"time_limit": 0}, ValueError, "The 'time_limit' parameter of ClusteringBenchmark must be a float"),
        ({"memory_limit": 1.5e9}, ValueError, "The 'memory_limit' parameter of ClusteringBenchmark must be an int"),
        ({"max_samples": 1}, ValueError, "The 'max_samples' parameter of ClusteringBenchmark must be an int"),
        ({"random_state": None}, ValueError, "The 'random_state' parameter of ClusteringBenchmark must be an int"),
        ({"models": {"a": KMeans(init=lambda X, k, random_state: X[:k])}}, TypeError, "no lambdas"),
    ],
)
def test_bad_input(change, error, message):
    with pytest.raises(error, match=message):
        ClusteringBenchmark(**({"models": [FCM()], "datasets": PAIR, "verbose": 0} | change)).run()


@pytest.mark.parametrize("sizes", [[], [1, 5], [10.0], 100])
def test_bad_sizes(sizes):
    with pytest.raises((ValueError, TypeError), match="sizes must be a list of ints >= 2"):
        ScalabilityBenchmark([FCM()], sizes=sizes)


def test_missing_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    recorder = Recorder(monkeypatch)
    with pytest.raises(ImportError, match=r'pip install "soft-clustering\[app\]"'):
        ClusteringBenchmark([FCM()], PAIR, verbose=0).run()
    assert recorder.ran == []


def test_environment():
    record = environment()
    assert json.loads(json.dumps(record)) == record
    assert record["numpy"] == np.__version__
    assert record["kernels"].startswith(("compiled", "not built"))
    assert record["python"] == sys.version.split()[0]
    assert 1 <= record["usable_cores"] <= os.cpu_count()
    assert record["cpu"]
    assert {pool["user_api"] for pool in record["thread_pools"]} <= {"blas", "openmp"}
    assert str(Path(benchmarking.__file__).parent.parent) not in json.dumps(record)


def test_names_of_the_listings():
    for name in benchmarking.__all__:
        assert getattr(benchmarking, name) is not None
    assert {"get_dataset", "benchmark_suite", "available_datasets", "clustering_metrics"} <= set(benchmarking.__all__)


def test_exact_measures_of_many_samples():
    rng = np.random.RandomState(0)
    many = np.concatenate([rng.normal(size=(3000, 2)), rng.normal(3, 1, size=(2500, 2))])
    found = {
        exact: ClusteringQualityBenchmark([models.Halves()], {"many": (many, None)}, exact=exact, verbose=0).run()
        for exact in (False, True)
    }
    labels = models.Halves().fit(many).labels_
    assert found[True]["silhouette"][0] == pytest.approx(silhouette(many, labels), rel=1e-9)
    assert found[False]["silhouette"][0] == pytest.approx(silhouette(many, labels), abs=0.022)
    assert found[False]["silhouette"][0] != found[True]["silhouette"][0]
