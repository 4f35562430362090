"""The Python code of the README and of the documentation runs, page by page, from top to bottom."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from unittest import SkipTest

import pytest
from sybil import Sybil
from sybil.parsers.myst import PythonCodeBlockParser, SkipParser

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *(p for p in (ROOT / "docs").rglob("*.md") if not {"_build", "gallery"} & set(p.parts))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_runs(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.chdir(tmp_path)  # what a page writes
    for example in Sybil(parsers=[PythonCodeBlockParser(), SkipParser()]).parse(page).examples():
        with suppress(SkipTest):  # a block for which a package is missing; the rest of the page runs
            example.evaluate()
