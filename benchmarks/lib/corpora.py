"""The corpora of the shared data."""

from __future__ import annotations

from typing import Any

from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.lib.sets import shared


def read(name: str) -> tuple[Any, list[str]]:
    """Counts and classes of a corpus, bbc_news or m10."""
    lines = shared("text", f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    texts, _, labels = map(list, zip(*(line.split("\t") for line in lines), strict=True))
    return CountVectorizer(token_pattern=r"\S+").fit_transform(texts).astype(float), labels
