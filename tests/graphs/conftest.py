from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from soft_clustering.datasets import load_graph


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def read_graph(shared_data):
    """A graph of the shared data by its name, without isolated nodes: (adjacency, labels or None, cover)."""

    def read(name):
        graph = load_graph(name, data_home=shared_data / "graphs")
        kept = np.diff(graph.adjacency.indptr) > 0
        labels = None if graph.labels is None else graph.labels[kept]
        return graph.adjacency[kept][:, kept], labels, graph.cover[kept]

    return read


@pytest.fixture
def planted():
    """``planted(sizes, inside, between, seed)``: adjacency (CSR) and labels of a graph with planted blocks."""

    def draw(sizes, inside, between, seed=0):
        y = np.repeat(np.arange(len(sizes)), sizes)
        uniform = np.random.default_rng(seed).uniform(size=(len(y), len(y)))
        A = np.triu(uniform < np.where(y[:, None] == y, inside, between), 1)
        return sparse.csr_array((A | A.T).astype(np.float64)), y

    return draw
