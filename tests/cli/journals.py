"""Journals of benchmarks, as the tests read them."""

from __future__ import annotations

import json
from pathlib import Path


def records_of(path):
    """The finished runs in a JSON Lines file; a line that is not complete does not count."""
    lines = Path(path).read_text().split("\n")[:-1] if Path(path).exists() else []
    return [record for record in map(json.loads, lines) if "key" in record]
