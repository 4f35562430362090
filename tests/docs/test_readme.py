"""The README is short, its table has every method of the registry, and the site knows its version."""

from __future__ import annotations

import json
import re
from pathlib import Path

from soft_clustering._registry import REGISTRY
from soft_clustering._version import __version__

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_about_a_screen():
    assert len(README.splitlines()) <= 120


def test_table_of_families_has_every_method():
    rows = [line.split("|")[1:-1] for line in README.splitlines() if re.match(r"\| [a-z, ]+ \| .*`", line)]
    found = {
        (name, family, bool(mark))
        for families, _, methods in rows
        for name, mark in re.findall(r"`(\w+)`(†?)", methods)
        for family in families.strip().split(", ")
    }
    known = {(row.name, row.family, row.reconstructed is not None) for row in REGISTRY}
    assert known <= found
    assert {name for name, _, _ in found} == {row.name for row in REGISTRY}
    assert f"{len(REGISTRY)} published algorithms" in README


def test_version_switcher_knows_this_version():
    versions = json.loads((ROOT / "docs" / "_static" / "switcher.json").read_text(encoding="utf-8"))
    assert __version__ in {entry["version"] for entry in versions}
