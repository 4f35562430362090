"""DBSCAN from pairs of neighbours: against scikit-learn's."""

import numpy as np
import pytest
from sklearn.cluster import DBSCAN
from sklearn.datasets import make_blobs

from soft_clustering.density.dbscan import density_clusters
from soft_clustering.engine import neighbors
from soft_clustering.engine.neighbors import Search


@pytest.fixture(params=[0, 1000], ids=["tree", "all rows"])
def kind(request, monkeypatch):
    """Both kinds of search, whatever the number of rows."""
    monkeypatch.setattr(neighbors, "_SCANNED", request.param)


@pytest.mark.parametrize("seed", range(6))
def test_clusters_are_those_of_scikit_learn(seed, kind):
    rng = np.random.RandomState(seed)
    Z, _ = make_blobs(300, 2 + seed % 3, centers=4, cluster_std=1.5, random_state=seed)
    Z[:20] = Z[20:40]  # copies
    weight = rng.uniform(0.2, 2, 300) if seed % 2 else np.ones(300)
    for radius in (1e-9, 0.3, 0.6, 1.0, 2.0, 50.0):
        expected = DBSCAN(eps=radius, min_samples=5).fit(Z, sample_weight=weight)
        labels, core = density_clusters(Search(Z).pairs(radius), weight, 5)
        np.testing.assert_array_equal(labels, expected.labels_)
        np.testing.assert_array_equal(core, expected.core_sample_indices_)


@pytest.mark.parametrize("n_jobs", [None, 2, -1])
def test_nearest(kind, n_jobs):
    Z = np.random.RandomState(0).normal(size=(60, 3))
    D = np.sqrt(np.square(Z[:, None] - Z).sum(axis=2))
    for k in (1, 4):
        distances, indices = Search(Z, n_jobs).nearest(Z[:7], k)
        np.testing.assert_allclose(distances, np.sort(D[:7], axis=1)[:, :k], rtol=1e-14)
        np.testing.assert_array_equal(indices, np.argsort(D[:7], axis=1)[:, :k])
