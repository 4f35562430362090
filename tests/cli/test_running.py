"""``compare`` and ``benchmark`` as a user runs them: pipes, terminals, Ctrl-C, kill -9."""

import json
import os
import re
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from journals import records_of
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score, silhouette_score

from soft_clustering import FCM
from soft_clustering._registry import REGISTRY
from soft_clustering.benchmarking.records import SCHEMA
from soft_clustering.benchmarking.runner import FinishedRun, PlannedRun
from soft_clustering.cli.compare import _print_json
from soft_clustering.cli.data import Data
from soft_clustering.cli.models import model_class, models_for
from soft_clustering.recommendation import recommend
from soft_clustering.report.pipeline import Comparison

X, Y = load_iris(return_X_y=True)
posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and terminals")


def wait_for_records(path, number, process):
    """Wait until so many runs have finished."""
    while len(records_of(path)) < number:
        assert process.poll() is None, "ended too soon"
        time.sleep(0.05)


def wait_for_workers(folder):
    """Wait until no process works in a folder any more."""

    def names_it(process):
        try:
            return str(folder).encode() in (process / "cmdline").read_bytes()
        except OSError:  # it has just ended
            return False

    while any(map(names_it, Path("/proc").glob("[0-9]*"))):
        time.sleep(0.05)


# compare --------------------------------------------------------------------------------------------------------------


MODELS = ["FCM", "GMM", "PCM", "SCM"]


@pytest.fixture(scope="module")
def compared(shared_command):
    """``compare`` without data of one's own."""
    return shared_command("compare", "--models", *MODELS)


def test_every_model_is_compared_unless_some_are_named():
    for kind in ("features", "graph", "documents", "image"):
        assert set(models_for(kind, None)) == {row.name for row in REGISTRY if model_class(row.name).modality == kind}
    assert list(models_for("distances", None)) == ["EVCLUS", "SoftHDBSCAN", "RelationalFCM", "FuzzyCMedoids"]
    assert list(models_for("features", MODELS)) == MODELS


def test_compare_shows_every_model(compared):
    assert compared.returncode == 0
    title, empty, header, *rows = compared.stdout.splitlines()
    assert title == "iris: 150 rows, 4 features, 3 classes; best ARI first"
    assert empty == ""
    assert header.split() == ["model", "K", "score", "ARI", "NMI", "Silhouette", "Xie-Beni", "seconds", "status"]
    shown = [row.split() for row in rows[: rows.index("")]]
    assert sorted(row[0] for row in shown) == MODELS
    found = [float(row[3]) for row in shown if row[3] != "-"]
    assert found == sorted(found, reverse=True)
    labels = FCM(3, random_state=0).fit(X).labels_
    (fcm,) = [row for row in shown if row[0] == "FCM"]
    assert [fcm[1], fcm[3]] == ["3", f"{adjusted_rand_score(Y, labels):.3f}"]
    assert fcm[5] == f"{silhouette_score(X, labels):.3f}"


def test_compare_ends_with_a_recommendation(compared):
    *_, empty, sentence, differing = compared.stdout.splitlines()
    assert empty == ""
    best, second = re.fullmatch(r"Take (\w+), because .* A second opinion is (\w+) .* samples\.", sentence).groups()
    assert {best, second} < set(MODELS)
    assert differing.startswith("They differ on row ")


def test_rows_come_on_standard_error(compared):
    _, header, *rows, last = compared.stderr.splitlines()
    assert len(rows) == len(MODELS)
    assert "\x1b" not in compared.stderr + compared.stdout
    assert (compared.stdout + compared.stderr).isascii()
    # the columns were made before the rows were known
    for column in ("K", "ARI", "NMI"):
        end = header.index(column) + len(column)
        assert all(re.fullmatch(r"\S", row[end - 1]) and row[end] == " " for row in rows)
    path = re.fullmatch(r"all measurements are in (.+)", last)[1]
    assert len(records_of(path)) == len(MODELS)


def test_rows_come_one_by_one(command):
    process = command.start("compare", "-m", "FCM", "SCM", "--jobs", 1, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    lines = [process.stderr.readline() for _ in range(3)]
    assert lines[2].startswith(b"FCM ")
    assert process.poll() is None  # the second model is yet to come
    out, err = process.communicate()
    assert err.startswith(b"SCM ")
    assert out.count(b"FCM ") == out.count(b"SCM ") == 1
    assert process.returncode == 0


def test_json(command):
    np.savez(command.folder / "mine.npz", X=X)
    result = command(
        "compare", "mine.npz", "--models", "FCM", "-k", 2, "--json", "-o", "runs.jsonl", "--scale", "standard"
    )
    assert result.returncode == 0
    document = json.loads(result.stdout)
    assert document["dataset"] == "mine.npz"
    assert (document["n_samples"], document["n_features"], document["n_classes"]) == (150, 4, None)
    assert (document["k"], document["interrupted"], document["output"]) == ([2], False, "runs.jsonl")
    (fit,) = document["results"]
    assert (fit["model"], fit["k"], fit["status"], fit["ari"]) == ("FCM", 2, "ok", None)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    assert fit["silhouette"] == pytest.approx(silhouette_score(scaled, FCM(2, random_state=0).fit_predict(scaled)))
    assert fit["fit_time"] > 0

    words = ["compare", "mine.npz", "--models", "FCM", "-k", 2, "-o", "runs.jsonl", "--scale", "standard"]
    again = command(*words, capture_output=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    start, resuming, title, _, header, row, _, reason, last = again.stdout.splitlines()
    assert start == "mine.npz: 150 rows, 4 features; models: 1; K=2"
    assert resuming == "resuming, 1 of 1 runs are done"
    assert title.endswith("; best score first")
    assert header.split() == ["model", "K", "score", "Silhouette", "Xie-Beni", "seconds", "status"]
    assert reason == document["recommendation"]["reason"]
    assert reason.startswith("It is the only model. Take FCM, because ")
    assert row.startswith("FCM    2 ")
    assert last == "all measurements are in runs.jsonl"
    assert len(records_of(command.folder / "runs.jsonl")) == 1


def test_failures_are_told(command):
    np.savez(command.folder / "wide.npz", X=np.random.RandomState(0).normal(size=(20000, 100)), y=np.arange(20000) % 2)
    result = command("compare", "wide.npz", "--models", "FCM", "SCM", "--time-limit", "0.01")
    assert result.returncode == 1
    assert re.search(r"^FCM +2 .* timeout$", result.stdout, re.MULTILINE)
    assert re.search(r"^FCM, K=2: timeout: more than 0.01 s, in \w+$", result.stdout, re.MULTILINE)
    assert re.search(r"^SCM, K=\?: timeout", result.stdout, re.MULTILINE)


def test_a_fit_without_clusters_is_told(command):
    np.savetxt(command.folder / "t.csv", np.random.default_rng(0).uniform(size=(12, 3)), delimiter=",")
    result = command("compare", "t.csv", "--models", "SoftHDBSCAN", "FCM", "-k", "3")
    assert result.returncode == 0
    assert re.search(r"^SoftHDBSCAN +0 .* degenerate$", result.stdout, re.MULTILINE)
    assert "SoftHDBSCAN, K=0: degenerate: no sample belongs to a cluster; ConvergenceWarning: " in result.stdout
    assert "decrease min_cluster_size=5" in result.stdout
    assert "nan" not in result.stdout + result.stderr and "Traceback" not in result.stdout + result.stderr


def test_json_has_no_infinity(capsys):
    record = dict.fromkeys(SCHEMA) | {"key": "a", "model": "A", "silhouette": 0.5, "xie_beni": np.inf}
    run = PlannedRun("a", {}, FCM(2), X, None, None, (), False, None, None)
    choices = {"A": {"silhouette": 2, "xie_beni": None}}
    finished = [FinishedRun(run, record)]
    comparison = Comparison(1, finished, False, choices, finished, recommend({}, {}))
    _print_json(Data("mine", X, None), [2, 3], "runs.jsonl", None, comparison)
    document = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    (result,) = document["results"]
    assert (result["xie_beni"], result["k"], result["n_clusters"]) == ("inf", 2, 2)
    assert "key" not in result
    assert document["chosen_k"] == choices
    assert document["recommendation"]["model"] is None


# Terminals ------------------------------------------------------------------------------------------------------------


def screen_of(output, height):
    """What a terminal of so many lines shows in the end, with what has left it above; without colours."""
    lines, row, column, hidden = [""], 0, 0, False
    for part in re.findall(r"\x1b\[[?\d;]*[A-Za-z]|\r|\n|[^\x1b\r\n]+", output):
        if part == "\r":
            column = 0
        elif part == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif part == "\x1b[2K":
            lines[row] = ""
        elif part in ("\x1b[?25l", "\x1b[?25h"):
            hidden = part.endswith("l")
        elif part.endswith("A") and part.startswith("\x1b"):
            row -= int(part[2:-1])
            assert row >= max(0, len(lines) - height), "above the screen"
        elif not (part.startswith("\x1b") and part.endswith("m")):
            assert "\x1b" not in part
            lines[row] = lines[row][:column] + part + lines[row][column + len(part) :]
            column += len(part)
    assert not hidden, "the cursor was not given back"
    return [line.rstrip() for line in lines]


def on_terminal(command, *arguments, size=(24, 80), keys=None, **options):
    """Run on a terminal; ``keys`` are the text to wait for and what is typed then."""
    import fcntl
    import termios

    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))

    def control():
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    streams = {"stdin": slave, "stdout": slave, "stderr": slave} | options
    process = command.start(*arguments, **streams, preexec_fn=control, start_new_session=False)
    os.close(slave)
    output = ""
    while True:
        try:
            chunk = os.read(master, 4096)
        except OSError:  # Linux: nobody has it open any more
            break
        if not chunk:
            break
        output += chunk.decode()
        if keys and keys[0] in output:
            os.write(master, keys[1])
            keys = None
    os.close(master)
    return process, output


@posix
def test_terminal(command):
    process, output = on_terminal(command, "compare", "--models", "FCM", "SCM", size=(24, 110))
    assert process.wait() == 0
    plain = re.sub(r"\x1b\[[\d;]*m", "", output)
    assert re.search(r"0 of 2 runs .* Ctrl-C ends it and keeps what is finished", plain)
    assert re.search(r"2 of 2 runs .*\d s left", plain)
    assert plain.index("FCM  ") < plain.index("2 of 2 runs")
    lines = screen_of(output, 24)
    assert lines[0] == "iris: 150 rows, 4 features, 3 classes; best ARI first"
    words = [line.split(" ")[0] for line in lines[1:]]
    assert words[:4] == ["", "model", "SCM", "FCM"]
    assert "Take" in words
    assert words[-2:] == ["all", ""]
    assert "\x1b[1mmodel" in output  # the heading is bold


@posix
@pytest.mark.parametrize("size", [(4, 40), (3, 30)])
def test_small_terminal(command, size):
    process, output = on_terminal(command, "compare", "--models", "FCM", "SCM", "PCM", size=size)
    assert process.wait() == 0
    lines = screen_of(output, 40)  # the final table is taller than the screen
    words = [line.split(" ")[0] for line in lines[1:-1]]
    assert words[:5] == ["", "model", "PCM", "SCM", "FCM"]
    assert words[-1] == "all"


@posix
@pytest.mark.parametrize("variable", [{"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_plain_terminal(command, variable):
    command.environment |= variable
    process, output = on_terminal(command, "compare", "--models", "SCM")
    assert process.wait() == 0
    codes = set(re.findall(r"\x1b\[[?\d;]*[A-Za-z]", output))
    if "TERM" in variable:
        assert codes == set()
    else:
        assert not any(re.fullmatch(r"\x1b\[[\d;]*3\dm", code) for code in codes)  # no colour
    assert screen_of(output, 24)[-2].startswith("all measurements are in ")


@posix
def test_table_in_a_file_while_on_a_terminal(command):
    with open(command.folder / "table.txt", "w") as file:
        process, output = on_terminal(command, "compare", "--models", "SCM", stdout=file)
    assert process.wait() == 0
    assert "0 of 1 runs" in output
    assert (command.folder / "table.txt").read_text().splitlines()[2].startswith("model ")
    assert screen_of(output, 24)[0].startswith("all measurements are in ")


@posix
def test_list_is_wrapped_on_a_terminal(command):
    process, output = on_terminal(command, "list", size=(24, 70))
    assert process.wait() == 0
    lines = screen_of(output, 24)
    assert all(len(line) <= 70 for line in lines)
    assert len(lines) > len(REGISTRY) + 1


def test_without_rich(monkeypatch, fails):
    monkeypatch.setitem(sys.modules, "rich", None)
    for name in [name for name in sys.modules if name.startswith("soft_clustering.cli.")]:
        if name.rpartition(".")[2] in ("tables", "runs", "compare", "catalogue", "benchmark"):
            monkeypatch.delitem(sys.modules, name)
    expected = 'The tables of the commands need rich: pip install "soft-clustering[app]"'
    for words in (["list"], ["info", "FCM"], ["datasets"], ["compare"], ["benchmark", "real"]):
        assert fails(*words) == expected


@posix
def test_reader_that_goes_away(command):
    """As in ``soft-clustering list | head -2``."""
    process = command.start("list", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = process.stdout.readline()
    process.stdout.close()
    assert first.startswith(b"model ")
    assert process.stderr.read() == b""
    assert process.wait() in (0, 141)


# Ctrl-C and kill ------------------------------------------------------------------------------------------------------


@posix
def test_control_c_on_a_terminal(command):
    words = ["compare", "--models", "FCM", "-k", "2:9", "-o", "runs.jsonl", "--jobs", "1"]
    process, output = on_terminal(command, *words, keys=("1 of 8 runs", b"\x03"), size=(24, 100))
    assert process.wait() == 130
    assert "Traceback" not in output
    done = len(records_of(command.folder / "runs.jsonl"))
    assert 1 <= done < 8
    assert f"interrupted: {done} of 8 runs are in runs.jsonl; the same command continues" in output
    assert "FCM" in "".join(screen_of(output, 24)[2:])


@posix
def test_interrupted_compare_goes_on(command):
    words = ["compare", "--models", "FCM", "-k", "2:6", "--json"]
    process = command.start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    path = None
    while path is None or not records_of(path):
        assert process.poll() is None, "ended too soon"
        path = next(command.folder.glob("soft-clustering-compare-*.jsonl"), None)
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert f"runs are in {path}; the same command with --output {path} continues\n" in err
    wait_for_workers(command.folder)
    first = records_of(path)
    document = json.loads(out)
    assert document["interrupted"] is True
    assert 1 <= len(first) == len(document["results"]) < 5

    result = command(*words[:-1], "--output", path)
    assert result.returncode == 0
    assert f"resuming, {len(first)} of 5 runs are done\n" in result.stderr
    second = records_of(path)
    assert second[: len(first)] == first
    assert sorted(record["n_clusters"] for record in second) == [2, 3, 4, 5, 6]
    # the choice of K from all five, those of the first time included
    scores = {K: silhouette_score(X, FCM(K, random_state=0).fit_predict(X)) for K in range(2, 7)}
    best = max(scores, key=scores.get)
    assert "K chosen by each index:\n\nmodel  Gain over one cluster  Silhouette  " in result.stdout
    chosen, by_silhouette = map(
        int, re.search(r"^FCM  +(\d)  +(\d) ", result.stdout.partition("K chosen")[2], re.M).groups()
    )
    assert by_silhouette == best
    assert re.search(rf"^FCM    {chosen}  .* {scores[chosen]:.3f} ", result.stdout, re.MULTILINE)


@posix
def test_killed_benchmark_resumes(command):
    words = ["benchmark", "synthetic", "--models", "SCM", "-o", "runs.jsonl"]
    path = command.folder / "runs.jsonl"
    process = command.start(*words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for_records(path, 2, process)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    wait_for_workers(command.folder)
    before = path.read_bytes()
    before = before[: before.rindex(b"\n") + 1]
    n_before = len(records_of(path))
    assert 2 <= n_before < 6

    result = command(*words)
    assert result.returncode == 0, result.stderr
    assert f"resuming, {n_before} of 6 runs are done\n" in result.stderr
    assert path.read_bytes().startswith(before)
    records = records_of(path)
    assert len({record["key"] for record in records}) == len(records) == 6
    title, _, header, row = result.stdout.splitlines()
    assert title == "synthetic: 6 of 6 runs, means over those that completed; best ARI first"
    assert re.sub(" +", " ", header) == "model data sets completed errors mean ARI mean NMI mean ms"
    name, datasets, completed, errors, ari, *_ = row.split()
    found = [record["ari"] for record in records if record["status"] == "ok"]
    assert (name, int(datasets), int(completed), int(errors)) == ("SCM", 6, len(found), 0)
    assert float(ari) == pytest.approx(np.mean(found), abs=5e-4)

    document = json.loads(command(*words, "--json").stdout)
    assert document["summary"][0]["algorithm"] == "SCM"
    assert path.read_bytes().count(b'"key"') == 6

    process = command.start(*words, "--fresh", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while records_of(path) == records:
        time.sleep(0.05)
    wait_for_records(path, 1, process)
    process.send_signal(signal.SIGINT)
    assert "runs are in runs.jsonl; the same command without --fresh continues\n" in process.communicate()[1]
    assert process.returncode == 130
    assert 1 <= len(records_of(path)) < 6


def test_fresh_removes_only_results_of_benchmarks(tmp_path, fails):
    (tmp_path / "mine.jsonl").write_text('{"mine": 1}\n')
    (tmp_path / "mine.csv").write_text("a,b\n1,2\n")
    assert "mine.jsonl holds no runs of a benchmark" in fails("benchmark", "real", "-o", "mine.jsonl", "--fresh")
    assert "must be a file that a benchmark wrote" in fails("benchmark", "real", "-o", "mine.csv", "--fresh")
    assert (tmp_path / "mine.jsonl").read_text() == '{"mine": 1}\n'
    assert (tmp_path / "mine.csv").read_text() == "a,b\n1,2\n"


@pytest.mark.parametrize("words", [["compare"], ["benchmark", "synthetic"]])
def test_results_that_cannot_be_written(words, tmp_path, call):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    for name in ("folder", "file/runs.jsonl"):
        code, out, err = call(*words, "--models", "SCM", "-o", name)
        assert (code, out) == (1, "")
        assert f"error: {name} cannot be written: " in err
        assert "Traceback" not in err
