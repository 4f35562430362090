from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of shared data sets; a test that asks for it is skipped where there is none."""
    given = os.environ.get("SOFT_CLUSTERING_DATA_SHARED")
    folder = Path(given) if given else ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}: set SOFT_CLUSTERING_DATA_SHARED to their folder")
    return folder
