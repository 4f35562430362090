"""What the tables of methods say, against what the methods do."""

import sys
from pathlib import Path

import numpy as np
import pytest

import soft_clustering
from soft_clustering._registry import REGISTRY
from soft_clustering.datasets import load_graph

EXTENSIONS = Path(__file__).resolve().parents[2] / "docs" / "_ext"
GRAPHS = [row for row in REGISTRY if row.family == "graphs"]


@pytest.fixture(scope="module")
def methods():
    pytest.importorskip("sphinx", reason='the documentation\'s packages are not installed: pip install ".[docs]"')
    sys.path.insert(0, str(EXTENSIONS))
    try:
        import methods
    finally:
        sys.path.remove(str(EXTENSIONS))
    return methods


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("row", GRAPHS, ids=[row.name for row in GRAPHS])
def test_table_of_graph_methods_is_true(row, methods):
    if row.extra == "deep":
        pytest.importorskip("torch")
    name, number, kind, overlaps, weights, attributes, new_nodes, repeats = methods.ability(row)
    assert row.name in name
    A = load_graph("karate").adjacency
    model = getattr(soft_clustering, row.name)
    few = {"max_epochs": 30} if "max_epochs" in model().get_params() else {}
    settings = few | ({"n_clusters": 3} if number == "given" else {})
    seeded = settings | ({"random_state": 0} if repeats != "always" else {})
    fitted = model(**seeded).fit(A)
    U = fitted.memberships_
    assert (np.abs(U.sum(axis=1) - 1).max() < 1e-5) == (kind == "shares that sum to 1")
    np.testing.assert_array_equal(model(**seeded).fit(A).memberships_, U)
    if number != "given":
        assert fitted.n_clusters_ > 1
    assert overlaps == ("no" if row.name in ("CDCGS", "DMoN") else "yes")
    weighted = A.copy()
    weighted.data[:] = 1 + (np.add(*A.nonzero()) % 3)
    if weights == "yes":
        assert not np.array_equal(model(**seeded).fit(weighted).memberships_, U)
    else:
        with pytest.raises(ValueError, match="links without weights"):
            model(**seeded).fit(weighted)
    assert new_nodes == "yes" and fitted.predict_memberships(A[:2]).shape == (2, fitted.n_clusters_)
    if attributes == "yes":
        model(**seeded).fit(A, node_features=np.eye(34))
    else:
        with pytest.raises(TypeError):
            model(**seeded).fit(A, node_features=np.eye(34))
