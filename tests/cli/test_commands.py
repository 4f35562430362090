"""Arguments, ``list``, ``info``, ``datasets`` and ``fit``; how errors and output end."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import typing

import numpy as np
import pandas
import pytest
from sklearn.datasets import load_iris

import soft_clustering
from soft_clustering import FCM
from soft_clustering._registry import REGISTRY
from soft_clustering.base import Modality
from soft_clustering.cli import arguments, main
from soft_clustering.cli.models import INPUTS, model_class
from soft_clustering.datasets import available_datasets, available_groups, dataset_info

IRIS = load_iris().data

# Start and end --------------------------------------------------------------------------------------------------------


def test_help_imports_little(command):
    code = """
import sys
from soft_clustering.cli import main
try:
    main(["--help"])
except SystemExit as end:
    print(end.code, *sorted({name.split(".")[0] for name in sys.modules}), file=sys.stderr)
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=command.environment, cwd=command.folder
    )
    code, *modules = result.stderr.split()
    assert code == "0"
    assert not {"numpy", "scipy", "sklearn", "joblib", "pandas"} & set(modules)
    for name in ("compare", "choose", "fit", "predict", "list", "info", "datasets", "benchmark"):
        assert f"\n    {name}" in result.stdout


def test_real_command(command):
    result = command("--version")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == f"soft-clustering {soft_clustering.__version__}\n"
    result = command("info", "FCMM")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("soft-clustering: error: argument MODEL: Unknown model 'FCMM': did you mean 'FCM'?")
    assert result.stderr.count("\n") == 1
    result = command("fit", "FCM", "iris", "-k", "151")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == "soft-clustering: error: -k 151 is more than the 150 rows of iris: give a smaller K.\n"


def test_debug_shows_where(command):
    result = command("fit", "FCM", "iris", "-k", "151", "--debug")
    assert result.returncode == 1
    assert "Traceback (most recent call last)" in result.stderr
    assert "CommandError: -k 151" in result.stderr


def test_errors_that_nobody_foresaw(fails, monkeypatch):
    def broken(self, X, y=None):
        return {}["nothing\nhere"]

    monkeypatch.setattr(FCM, "fit", broken)
    assert fails("fit", "FCM", "iris") == "KeyError: 'nothing\\nhere' (--debug shows where)"


def test_closed_pipe_ends_quietly(command):
    process = command.start("list", "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 141


def test_head(command):
    line = f"{sys.executable} -m soft_clustering datasets | head -n 1"
    result = subprocess.run(
        line, shell=True, capture_output=True, text=True, env=command.environment, cwd=command.folder
    )
    assert result.stdout.split() == ["name", "group", "rows", "features", "classes", "where"]
    assert result.stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full, a device without space, here")
@pytest.mark.parametrize("word", ["datasets", "--help"])
def test_full_disk(word, command):
    with open("/dev/full", "w") as full:
        result = command(word, stdout=full, capture_output=False, stderr=subprocess.PIPE)
    assert result.returncode == 1
    assert result.stderr == "soft-clustering: error: No space left on device\n"


def test_closed_streams_and_poor_terminals(command, tmp_path):
    line = f"{sys.executable} -m soft_clustering --version >&- 2>&-"
    assert subprocess.run(line, shell=True, env=command.environment, cwd=command.folder).returncode == 0
    pandas.DataFrame({"größe": ["a", "b"]}).to_csv(tmp_path / "a.csv", index=False)
    result = command("fit", "FCM", "a.csv", env=command.environment | {"PYTHONIOENCODING": "ascii"})
    assert result.returncode == 1
    assert "gr\\xf6\\xdfe" in result.stderr


# Arguments ------------------------------------------------------------------------------------------------------------


def test_choices_are_the_real_ones():
    assert typing.get_args(Modality) == arguments.MODALITIES == tuple(INPUTS)
    assert [*available_groups(), "all"] == list(arguments.SUITES)


@pytest.mark.parametrize("text, numbers", [("3", [3]), ("2:4", [2, 3, 4]), ("5:5", [5])])
def test_numbers_of_clusters(text, numbers):
    assert list(arguments.cluster_numbers(text)) == numbers


@pytest.mark.parametrize("text", ["", "0", "-1", "4:2", "0:3", "2:", ":3", "2:3:4", "two", "2.5"])
def test_wrong_numbers_of_clusters(text, fails):
    message = fails("compare", f"-k={text}", code=2)
    assert f"K must be an int >= 1 or a range such as 2:10. Got {text!r} instead." in message
    assert "it must be an int >= 1" in fails("fit", "FCM", "iris", f"-k={text}", code=2)


@pytest.mark.parametrize(
    "text, pair",
    [
        ("m=1.5", ("m", 1.5)),
        ("init=random", ("init", "random")),
        ("init='random'", ("init", "random")),
        ("accelerate=False", ("accelerate", False)),
        ("n_init = 3", ("n_init", 3)),
        ("init=[[1, 2]]", ("init", [[1, 2]])),
        ("a=b=c", ("a", "b=c")),
    ],
)
def test_settings(text, pair):
    assert arguments.setting(text) == pair


@pytest.mark.parametrize(
    "words, message",
    [
        ([], "required: COMMAND"),
        (["compre"], "invalid choice: 'compre'"),
        (["compare", "--models", "FCM", "GatGeva"], "Unknown model 'GatGeva': did you mean 'GathGeva'?"),
        (["compare", "--models", "FCM", "wine"], "'wine' is data, not a model: the order is compare DATA --models"),
        (["fit", "wine", "FCM"], "'wine' is data, not a model"),
        (["fit", "FCM"], "required: DATA"),
        (["fit", "FCM", "iris", "--set", "m"], "NAME=VALUE, such as m=1.5. Got 'm' instead."),
        (["fit", "FCM", "iris", "--random-state", "-1"], "an int in [0, 2**31). Got '-1' instead."),
        (["compare", "--time-limit", "0"], "a number > 0. Got '0' instead."),
        (["compare", "--time-limit", "nan"], "a number > 0. Got 'nan' instead."),
        (["compare", "--jobs", "0"], "an int >= 1. Got '0' instead."),
        (["list", "--modality", "sound"], "invalid choice: 'sound'"),
        (["benchmark", "everything"], "invalid choice: 'everything'"),
    ],
)
def test_wrong_arguments(words, message, fails):
    found = fails(*words, code=2)
    assert message in found
    assert found.endswith(" --help)")


def test_case_of_names(call):
    assert call("info", "gathgeva") == call("info", "GathGeva")


# list, info, datasets -------------------------------------------------------------------------------------------------


def test_list(call):
    code, out, err = call("list")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert [line.split()[0] for line in lines] == ["model", *(row.name for row in REGISTRY)]
    for line, row in zip(lines[1:], REGISTRY, strict=True):
        assert line.split()[1] == row.family
        assert line.endswith(row.use_when)


def test_list_as_json(call):
    rows = json.loads(call("list", "--json")[1])
    assert [row["name"] for row in rows] == [row.name for row in REGISTRY]
    assert {"family", "modality", "membership_kind", "citation", "use_when", "extra"} <= set(rows[0])


@pytest.mark.parametrize("modality", arguments.MODALITIES)
def test_list_of_a_modality(modality, call):
    names = [row["name"] for row in json.loads(call("list", "--modality", modality, "--json")[1])]
    assert names == [row.name for row in REGISTRY if model_class(row.name).modality == modality]
    out = call("list", "--modality", modality)[1]
    assert len(out.splitlines()) == (len(names) + 1 if names else 1)


@pytest.mark.parametrize("row", REGISTRY, ids=lambda row: row.name)
def test_info_of_every_model(row, call):
    code, out, err = call("info", row.name)
    assert (code, err) == (0, "")
    assert out.startswith(f"{row.name}: ")
    assert row.use_when in out
    assert row.citation in out
    assert INPUTS[model_class(row.name).modality] in out
    parameters = out.partition("\nParameters\n")[2].partition("\n\nReferences\n")[0].splitlines()
    expected = model_class(row.name)().get_params()
    shown = {line.split("=")[0].strip(): line for line in parameters}
    assert set(shown) == set(expected)
    for name, line in shown.items():
        assert line.startswith(f"  {name}={expected[name]!r}  ")
        assert line.rstrip() != f"  {name}={expected[name]!r}", "without a description"
    assert len(out.partition("\nReferences\n")[2].splitlines()) >= 1


def test_info_of_fcm(call):
    out = call("info", "fcm")[1]
    assert re.search(r"^  n_clusters=3 +Number of clusters K\.$", out, re.MULTILINE)
    assert "\n  J. C. Bezdek (1981). Pattern Recognition with Fuzzy Objective Function Algorithms. Plenum.\n" in out


def test_datasets(call, tmp_path, monkeypatch):
    (tmp_path / "glass.npz").touch()
    monkeypatch.setenv("SOFT_CLUSTERING_DATA", str(tmp_path))
    rows = {row["name"]: row for row in json.loads(call("datasets", "--json")[1])}
    assert list(rows) == available_datasets()
    assert rows["iris"] == dataset_info("iris") | {"where": "built in"}
    assert rows["glass"]["where"] == str(tmp_path / "glass.npz")
    assert rows["letter"]["where"] == "network"
    lines = call("datasets")[1].splitlines()
    assert lines[1].split() == ["iris", "real", "150", "4", "3", "built", "in"]
    assert len(lines) == 21


# fit ------------------------------------------------------------------------------------------------------------------


def read(path):
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            return arrays["memberships"], arrays["labels"]
    if path.suffix == ".parquet":
        frame = pandas.read_parquet(path)
    else:
        frame = pandas.read_csv(path, sep="\t" if ".tsv" in path.name else ",")
    assert list(frame.columns) == ["row", "cluster_0", "cluster_1", "label"]
    assert frame["row"].tolist() == list(range(150))
    return frame[["cluster_0", "cluster_1"]].to_numpy(), frame["label"].to_numpy()


@pytest.mark.parametrize("name", ["u.csv", "u.tsv", "u.csv.gz", "u.parquet", "u.npz"])
def test_fit_writes_memberships(name, tmp_path, call):
    options = ["-k", 2, "--set", "m=1.5", "--set", "init=random", "--random-state", 7]
    code, out, err = call("fit", "FCM", "iris", *options, "-o", name)
    assert (code, err) == (0, "")
    model = FCM(2, m=1.5, init="random", random_state=7).fit(IRIS)
    memberships, labels = read(tmp_path / name)
    np.testing.assert_allclose(memberships, model.memberships_, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(labels, model.labels_)
    assert f"iterations: {model.n_iter_}\nconverged: True\nobjective: {model.objective_:.6g}\n" in out
    assert f"memberships: {name}\n" in out
    assert os.listdir(tmp_path) == [name]


def test_fit_seed(call, tmp_path):
    options = ["--set", "init=random", "--set", "n_init=1", "--set", "max_iter=1"]
    for name, seed in (("a.csv", []), ("b.csv", ["--random-state", 0]), ("c.csv", ["--random-state", 1])):
        assert call("fit", "FCM", "iris", *options, *seed, "-o", name)[0] == 0
    texts = [(tmp_path / name).read_text() for name in ("a.csv", "b.csv", "c.csv")]
    assert texts[0] == texts[1] != texts[2]


def test_fit_of_a_model_that_finds_k(call):
    assert "clusters: 3\n" in call("fit", "SCM", "iris")[1]
    assert "clusters: 2\n" in call("fit", "SCM", "iris", "-k", 2)[1]


def test_fit_reports_warnings(call):
    code, out, err = call("fit", "FCM", "iris", "--set", "max_iter=2")
    assert code == 0
    assert err.startswith("soft-clustering: warning: ")
    assert err.count("\n") == 1
    assert "converged: False" in out


def test_output_is_not_overwritten(tmp_path, call, fails):
    (tmp_path / "u.csv").write_text("mine")
    message = "u.csv exists: give another -o, or --force to write over it."
    assert fails("fit", "FCM", "iris", "-o", "u.csv") == message
    assert (tmp_path / "u.csv").read_text() == "mine"
    assert call("fit", "FCM", "iris", "-o", "u.csv", "--force")[0] == 0
    assert len((tmp_path / "u.csv").read_text().splitlines()) == 151


def test_output_that_cannot_be_written_is_found_before_the_fit(tmp_path, fails, monkeypatch):
    monkeypatch.setattr(FCM, "fit", lambda self, X, y=None: pytest.fail("fitted"))
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file").touch()
    assert fails("fit", "FCM", "iris", "-o", "folder.csv") == "folder.csv is not a file: give another -o."
    assert fails("fit", "FCM", "iris", "-o", "none/u.csv").startswith("none/u.csv cannot be written: No such file")
    assert fails("fit", "FCM", "iris", "-o", "file/u.csv").startswith("file/u.csv cannot be written: Not a directory")
    assert "-o u.txt must end in .csv, .tsv, .parquet, .npz." in fails("fit", "FCM", "iris", "-o", "u.txt", code=2)


def test_failed_fit_leaves_nothing(tmp_path, fails):
    (tmp_path / "u.csv").write_text("mine")
    assert "'m' parameter of FCM" in fails("fit", "FCM", "iris", "--set", "m=0.5", "-o", "u.csv", "--force")
    assert os.listdir(tmp_path) == ["u.csv"]
    assert (tmp_path / "u.csv").read_text() == "mine"


def test_permissions_are_the_usual_ones(tmp_path, call):
    (tmp_path / "plain").touch()
    call("fit", "FCM", "iris", "-o", "u.csv")
    assert (tmp_path / "u.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize(
    "words, message",
    [
        (["--set", "n_cluster=2"], "Unknown parameter of FCM 'n_cluster': did you mean 'n_clusters'?"),
        (["-k", "2", "--set", "n_clusters=2"], "-k and --set n_clusters set the same parameter: leave one out."),
    ],
)
def test_wrong_settings(words, message, fails):
    assert fails("fit", "FCM", "iris", *words, code=2) == message


def test_models_of_other_input_are_refused(fails):
    message = fails("fit", "BIGCLAM", "iris")
    assert message.startswith(
        "BIGCLAM takes a graph, not a table of features, a row per sample: take one of FCM, PCM, "
    )
    assert message.endswith(", or name the data with --as graph.")
    assert message == fails("compare", "--models", "BIGCLAM")


def test_errors_in_place_of_an_interrupt(monkeypatch, capsys):
    """A module that is being imported when Ctrl-C comes may raise an error of its own."""

    def interrupted(args):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as interrupt:
            raise ValueError("not a valid format") from interrupt

    monkeypatch.setattr("soft_clustering.cli.catalogue.list_models", interrupted)
    assert main(["list"]) == 130
    assert capsys.readouterr().err == "soft-clustering: interrupted\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send to a process")
def test_interrupted_fit(command):
    rows = "\n".join(f"{i % 97},{i % 89}" for i in range(200_000))
    (command.folder / "large.csv").write_text(f"a,b\n{rows}\n")
    options = ["-k", 60, "--set", "n_init=1000", "--set", "accelerate=False", "--set", "tol=0.0", "-o", "u.csv"]
    process = command.start("fit", "FCM", "large.csv", *options, stderr=subprocess.PIPE, text=True)
    while not list(command.folder.glob(".*u.csv")):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.communicate()[1] == "soft-clustering: interrupted\n"
    assert process.returncode == 130
    assert os.listdir(command.folder) == ["large.csv"]
