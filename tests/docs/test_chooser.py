"""What the chooser says of the methods: traits that the registry knows, and code that runs."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from soft_clustering import _registry
from soft_clustering.engine.alternating import AlternatingClusterer
from soft_clustering.testing import SAMPLES

EXTENSIONS = Path(__file__).resolve().parents[2] / "docs" / "_ext"


@pytest.fixture(scope="module")
def chooser():
    pytest.importorskip("sphinx", reason='the documentation\'s packages are not installed: pip install ".[docs]"')
    sys.path.insert(0, str(EXTENSIONS))
    try:
        import chooser
    finally:
        sys.path.remove(str(EXTENSIONS))
    return chooser


def test_traits_are_known():
    assert {trait for row in _registry.REGISTRY for trait in row.suits} == set(_registry.TRAITS)


def test_questions_ask_for_all_traits(chooser):
    asked = {option.trait for question in chooser.QUESTIONS for option in question.options}
    assert asked == {*_registry.TRAITS, "unknown_k"}
    assert set(chooser.method_map.LABELS) == asked


def test_methods_for_large_tables_are_those_of_the_engine():
    import soft_clustering

    large = {row.name for row in _registry.REGISTRY if "large" in row.suits}
    classes = [getattr(soft_clustering, name) for name in large]
    assert all(issubclass(cls, AlternatingClusterer) for cls in classes if cls.modality == "features")


def data_for(kind, name):
    """Small data by the names that the code of the chooser uses."""
    if kind == "image" and name == "FCC":
        return {"image": np.random.default_rng(0).integers(0, 256, (12, 12, 3))}
    sample = SAMPLES["features" if kind == "distances" or name == "RDFKC" else kind](3)
    if kind == "distances":
        return {"D": np.linalg.norm(sample.X[:, None] - sample.X, axis=2)}
    if kind == "features" or name == "RDFKC":
        X = (sample.X - sample.X.min(axis=0)) / np.ptp(sample.X, axis=0)  # proportions for those that need them
        y = np.where(np.arange(len(X)) % 5 == 0, sample.labels, -1)
        return {"X": X, "y": y}
    names = {"documents": "texts", "graph": "A", "image": "image", "partitions": "partitions", "clients": "clients"}
    return {names[kind]: sample.X}


@pytest.mark.parametrize("row", _registry.REGISTRY, ids=lambda row: row.name)
def test_code_runs(chooser, row, capsys):
    if row.extra == "deep":
        pytest.importorskip("torch")
    method = next(method for method in chooser.methods() if method["name"] == row.name)
    assert method["kinds"]
    for kind, variants in method["code"].items():
        for code in set(variants.values()):
            names = data_for(kind, row.name)
            if "SimpleImputer" in code:
                names["X"] = np.where(
                    np.arange(names["X"].size).reshape(names["X"].shape) % 17 == 0, np.nan, names["X"]
                )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # tiny data: fits need not converge
                exec(code, names)
            assert names["model"].memberships_.ndim == 2
