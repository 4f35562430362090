"""Every benchmark is in the index, every record is stamped, and the pages say what the records say."""

from __future__ import annotations

import json
import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import soft_clustering
from soft_clustering._registry import REGISTRY

ROOT = Path(__file__).resolve().parents[1]
if not (ROOT / "benchmarks" / "results").is_dir():
    pytest.skip("an installed package has no benchmarks", allow_module_level=True)

from benchmarks import __main__ as command  # noqa: E402
from benchmarks import pages  # noqa: E402
from benchmarks.index import BENCHMARKS, readme  # noqa: E402
from benchmarks.lib import records  # noqa: E402

FOLDERS = ("speed", "quality", "agreement", "scale")
RESULTS = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


@pytest.fixture
def results(tmp_path, monkeypatch):
    """An empty folder for records."""
    monkeypatch.setattr(records, "RESULTS", tmp_path)
    return tmp_path


# The index ------------------------------------------------------------------------------------------------------------


def test_index_has_every_script():
    scripts = {(folder, path.stem) for folder in FOLDERS for path in (ROOT / "benchmarks" / folder).glob("*.py")}
    assert {(row.folder, row.script) for row in BENCHMARKS} == {row for row in scripts if row[1] != "__init__"}
    assert len({row.name for row in BENCHMARKS}) == len(BENCHMARKS)


def test_index_is_written_down():
    written = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    assert written == readme(), "run python -m benchmarks write"


@pytest.mark.parametrize("row", BENCHMARKS, ids=lambda row: row.name)
def test_quoted_where_the_index_says(row):
    """The page shows a part that is made from the record, or names the benchmark."""
    parts = {name for name, part in (pages.PARTS | pages.PICTURES).items() if row.script in part.records}
    for page in row.quoted:
        text = (ROOT / page).read_text(encoding="utf-8")
        shown = set(re.findall(r"\{recorded(?:-picture)?\} (\w+)", text))
        assert shown & parts or f"{row.script}.py" in text or f"benchmarks {row.name}" in text or pages.BEGIN in text


@pytest.mark.parametrize("row", BENCHMARKS, ids=lambda row: row.name)
def test_help(row, capsys, monkeypatch):
    """The module imports, and its first line says what it measures."""
    pytest.importorskip("pandas")
    if row.folder == "scale":
        pytest.importorskip("distributed")
    monkeypatch.setattr(sys, "argv", [row.name, "--help"])
    with pytest.raises(SystemExit, match="0"):
        runpy.run_module(row.module, run_name="__main__")
    assert capsys.readouterr().out.startswith("usage:")


def test_all_goes_on_after_a_failure(monkeypatch, capsys):
    ran, written = [], []
    monkeypatch.setattr(command, "run", lambda row: ran.append(row.name) or row.name != "units")
    monkeypatch.setattr(command, "write", lambda: written.append(True))
    with pytest.raises(SystemExit, match=r"^failed: units$"):
        command.run_all("speed")
    assert ran == [row.name for row in BENCHMARKS if row.folder == "speed"]
    assert written


def test_command_lists_the_states(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmarks"])
    command.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(BENCHMARKS)
    assert all(re.search(r" (fresh|stale|missing) ", line) for line in lines)


# Records --------------------------------------------------------------------------------------------------------------


def test_records_are_those_of_the_index_and_stamped():
    found, known = (
        {path.stem for path in (ROOT / "benchmarks" / "results").iterdir()},
        {row.script for row in BENCHMARKS},
    )
    assert found <= known
    # One wrote no record before the records were stamped, and takes long; a guide quotes what it printed.
    assert known - found <= {"seeding"}
    for name in found:
        assert {"commit", "dirty", "date"} <= set(records.read(name)["stamp"])


def test_missing_record(results):
    assert records.state("tables") == "missing"
    assert records.read("tables") == {}
    assert "python -m benchmarks tables" in records.describe("tables")


def test_fresh_and_stale(results, monkeypatch):
    differs = False
    monkeypatch.setattr(records, "_differs", lambda commit, name: differs)
    monkeypatch.setattr(records, "environment", lambda: {"commit": "abc-dirty", "date": "2026-01-02T03:04:05"})
    record = records.Record("tables")
    record["figure"] = 1
    record.save()
    written = json.loads((results / "tables.json").read_text())
    # other files than src and the script may have changed
    assert written == {"stamp": {"commit": "abc", "dirty": False, "date": "2026-01-02T03:04:05"}, "figure": 1}
    assert records.state("tables") == "fresh"
    assert "stale" not in records.describe("tables")
    differs = True
    assert records.state("tables") == "stale"
    assert "`abc`, 2026-01-02" in records.describe("tables")
    assert "stale" in records.describe("tables")


def test_record_of_uncommitted_code_is_stale(results, monkeypatch):
    monkeypatch.setattr(records, "environment", lambda: {"commit": "abc", "date": "2026-01-02"})
    monkeypatch.setattr(records, "_differs", lambda commit, name: True)
    records.Record("tables").save()
    monkeypatch.setattr(records, "_differs", lambda commit, name: False)
    assert records.state("tables") == "stale"


def test_a_part_of_a_benchmark_is_not_recorded(results, capsys):
    record = records.Record("tables", partial=True)
    record["figure"] = 1
    record.save()
    assert not list(results.iterdir())
    assert "Not recorded" in capsys.readouterr().err


def test_an_unknown_commit_differs():
    if not (ROOT / ".git").exists():
        pytest.skip("no repository")
    assert records._differs("0" * 40, "tables")


# Pages ----------------------------------------------------------------------------------------------------------------


def test_readme_has_the_table_of_the_records():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert pages.BEGIN in text
    assert text == pages.with_table(text), "run python -m benchmarks write"


def test_results_have_no_figure_by_hand():
    """Numbers stand in what is made from records, and in code: settings, as in `n=2000`, and versions."""
    text = re.sub(r"```\{recorded.*?```", "", RESULTS, flags=re.DOTALL)
    text = re.sub(r"`[^`\n]*[A-Za-z][^`\n]*`", "", text)
    assert not re.findall(r".*\d.*", text)


def test_results_show_only_parts_that_exist():
    shown = re.findall(r"\{recorded\} (\w+)", RESULTS)
    assert set(shown) <= set(pages.PARTS)
    assert set(re.findall(r"\{recorded-picture\} (\w+)", RESULTS)) <= set(pages.PICTURES)
    for name in shown:
        assert all(records.state(record) != "missing" for record in pages.PARTS[name].records)


@pytest.mark.parametrize("name", pages.PARTS)
def test_part(name):
    """Tables are whole: every row has as many cells as the header."""
    lines = [line for line in pages.PARTS[name]().splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in lines}) <= 1
    assert "nan" not in pages.PARTS[name]()


@pytest.mark.parametrize("name", pages.PICTURES)
def test_picture(name):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    try:
        assert pages.PICTURES[name]().axes
    finally:
        plt.close("all")


def test_the_paper_is_quoted_correctly(shared_data):
    """The figures beside ours are those of the paper's table."""
    paper = shared_data.parent / "paper.tex"
    if not paper.exists():
        pytest.skip(f"no paper at {paper}")
    text = paper.read_text()
    rows = re.findall(r"^(\w+) & 11 & (\d+) & \d+ & ([-\d.]+) & ([-\d.]+) & ([\d.]+) \\\\$", text, re.MULTILINE)
    models = records.read("paper_protocol")["models"]
    assert len(rows) == len(models) == 20
    for name, completed, ari, nmi, ms in rows:
        quoted = {"completed": int(completed), "ari": float(ari), "nmi": float(nmi), "ms": float(ms)}
        assert models[name]["paper"] == quoted


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [row.name for row in REGISTRY if row.extra is None])
def test_page_says_who_takes_dask_arrays(name):
    da = pytest.importorskip("dask.array")
    estimator = getattr(soft_clustering, name)()
    if estimator.modality != "features":
        assert not pages.scale.takes_dask(name)
        return
    X = da.from_array(np.random.default_rng(0).uniform(0.1, 0.9, size=(60, 3)), chunks=(30, 3))
    if pages.scale.takes_dask(name):
        assert estimator.fit(X).memberships_.shape == (60, estimator.n_clusters_)
    else:
        with pytest.raises(TypeError, match="Dask"):
            estimator.fit(X)
