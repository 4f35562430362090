"""Data for the checks, one row of ``SAMPLES`` per modality."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._types import Indices
from ..base import BaseSoftClusterer

DEFAULT_CLUSTERS = 3  # if the estimator does not set the number of clusters


@dataclass(frozen=True)
class Sample:
    """A data set of one modality and what the checks need to know about it."""

    X: Any
    """What ``fit`` takes: well separated clusters with a few objects between them."""
    labels: NDArray[np.intp]
    """The planted cluster of each object of X."""
    known: Any
    """The objects of X as the predicting methods take them."""
    new: Any
    """New objects, as the predicting methods take them."""
    n_new: int
    batches: tuple[Any, ...]
    """``new`` in parts; empty if the objects of one call depend on each other."""
    worse: Any
    """``known`` with much noise: ``score`` must be lower here."""
    hard: Any
    """Data without clusters, on which no method converges in two passes."""
    other: Any
    """Data of another size and width, to fit before a refit."""
    refused: Any
    """X with an entry that this modality does not have: ``fit`` must refuse it."""
    refused_new: tuple[Any, ...]
    """What the predicting methods must refuse: such an entry, another width."""
    take: Callable[[Any, NDArray[np.intp]], Any]
    """``take(X, indices)``: the objects of X at some indices."""
    same: Mapping[str, Any] = field(default_factory=dict)
    """X in other containers and memory layouts."""
    starts: tuple[NDArray[np.float64], ...] = ()
    """What ``init`` may take in this modality: centres, memberships; a method takes one of them, or none."""
    single: Callable[[Any], Any] | None = None
    """Data in single precision, None if the modality has none."""
    frame: Any = None
    """X as a pandas data frame with named columns, None if there is none (or no pandas)."""


def feature_sample(n_clusters: int) -> Sample:
    """Gaussian clusters on a grid in the plane, a third feature of noise, two rows between consecutive clusters."""
    rng = np.random.default_rng(0)
    side = int(np.ceil(np.sqrt(n_clusters)))
    grid = 6.0 * np.array([(i // side, i % side, 0) for i in range(n_clusters)]) + rng.uniform(
        -0.7, 0.7, (n_clusters, 3)
    )

    def draw(per_cluster: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        y = np.tile(np.arange(n_clusters), per_cluster)
        between = np.repeat(np.arange(n_clusters - 1), 2)
        share = np.tile([0.42, 0.55], n_clusters - 1)[:, None]
        X = np.vstack([grid[y], (1 - share) * grid[between] + share * grid[between + 1]])
        y = np.concatenate([y, between + (share[:, 0] > 0.5)]).astype(np.intp)
        return X + rng.standard_normal(X.shape), y

    X, y = draw(20)
    new, _ = draw(7)
    start = np.full((len(y), n_clusters), 0.2 / n_clusters)
    start[np.arange(len(y)), y] += 0.8
    same, frame = _containers(X)
    return Sample(
        X=X,
        labels=y,
        known=X,
        new=new,
        n_new=len(new),
        batches=(new[:1], new[1:6], new[6:]),
        worse=X + rng.normal(scale=20, size=X.shape),
        hard=10 * rng.uniform(size=(40 * n_clusters, 3)),
        other=rng.uniform(-30, 5, size=(12 * n_clusters, 2)),
        refused=_with(X, np.inf),
        refused_new=(_with(new, np.inf), new[:, :-1]),
        take=lambda data, indices: data[indices],
        same=same,
        starts=(X[:n_clusters].copy(), start),
        single=lambda data: data.astype(np.float32),
        frame=frame,
    )


def _with(X: NDArray[np.float64], entry: float) -> NDArray[np.float64]:
    """A copy with one other entry."""
    changed = X.copy()
    changed[2, 0] = entry
    return changed


def _containers(X: NDArray[np.float64]) -> tuple[dict[str, Any], Any]:
    same = _layouts(X)
    try:
        import pandas as pd
    except ImportError:
        return same, None
    frame = pd.DataFrame(X, columns=["width", "height", "depth"], index=[f"row{i}" for i in range(len(X))])
    return same | {"a data frame": frame}, frame


def partition_sample(n_clusters: int) -> Sample:
    """Planted clusters in partitions with errors: labels, some of them missing, memberships, sparse memberships."""
    rng = np.random.default_rng(0)

    def draw(per_cluster: int, error: float, width: int = n_clusters) -> list[Any]:
        y = np.tile(np.arange(n_clusters), per_cluster)
        n = len(y)
        guess = np.where(rng.uniform(size=(3, n)) < error, rng.integers(width, size=(3, n)), y)
        labels = np.where(rng.uniform(size=n) < 0.05, -1, guess[0])
        soft = 0.7 * np.eye(width)[guess[1]] + 0.3 * rng.dirichlet(np.ones(width), n)
        thin = 0.7 * np.eye(width + 1)[guess[2]] + 0.3 * np.eye(width + 1)[guess[1] + 1]
        return [labels, soft, sparse.csr_array(thin)]

    def take(data: list[Any], indices: Indices) -> list[Any]:
        return [partition[indices] for partition in data]

    X, new = draw(20, 0.1), draw(7, 0.1)
    same: dict[str, Any] = {
        "a tuple": tuple(X),
        "nested lists": [X[0].tolist(), X[1].tolist(), X[2].toarray().tolist()],
        "Fortran order": [X[0], np.asfortranarray(X[1]), X[2].tocsc()],
        "labels with NaN": [np.where(X[0] == -1, np.nan, X[0]), *X[1:]],
        "rows that sum to 0.5": [X[0], 0.5 * X[1], 0.5 * X[2]],
    }
    return Sample(
        X=X,
        labels=np.tile(np.arange(n_clusters), 20),
        known=X,
        new=new,
        n_new=7 * n_clusters,
        batches=tuple(take(new, slice(*ends)) for ends in ((0, 1), (1, 6), (6, None))),
        worse=draw(20, 0.9),
        hard=draw(40, 1.0),
        other=draw(12, 0.1, n_clusters + 2),
        refused=[X[0], _with(X[1], -1.0), X[2]],
        refused_new=([new[0], _with(new[1], -1.0), new[2]], new[:-1]),
        take=take,
        same=same,
        single=lambda data: [part.astype(np.float32) if part.ndim == 2 else part for part in data],
    )


def _layouts(X: NDArray[np.float64]) -> dict[str, Any]:
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]))
    wide[::2, ::3] = X
    fixed = X.copy()
    fixed.setflags(write=False)
    return {
        "Fortran order": np.asfortranarray(X),
        "a strided view": wide[::2, ::3],
        "reversed strides": X[::-1, ::-1].copy()[::-1, ::-1],
        "a read-only array": fixed,
        "a nested list": X.tolist(),
        "the other byte order": X.astype(X.dtype.newbyteorder()),
    }


def image_sample(n_clusters: int) -> Sample:
    """A grey image of noisy vertical stripes, a level per cluster; some pixels at their edges are half way."""
    rng = np.random.default_rng(0)

    def draw(height: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        y = np.tile(np.repeat(np.arange(n_clusters), 8), (height, 1))
        X = 40.0 * y + rng.normal(scale=4, size=y.shape)
        X[::5, 8::8] -= 18
        return X, y.ravel()

    X, y = draw(12)
    new, _ = draw(12)  # some methods need an image of the same size
    return Sample(
        X=X,
        labels=y,
        known=X,
        new=new,
        n_new=new.size,
        batches=(),
        worse=X + rng.normal(scale=400, size=X.shape),
        hard=rng.uniform(size=(10, 7 * n_clusters)),
        other=rng.uniform(-30, 5, size=(6, 5 * n_clusters)),
        refused=_with(X, np.inf),
        refused_new=(_with(new, np.inf),),
        take=lambda data, indices: data.ravel()[indices],
        same=_layouts(X),
        starts=(40 * np.arange(n_clusters, dtype=np.float64)[:, None] + 3,),
        single=lambda data: data.astype(np.float32),
    )


def client_sample(n_clusters: int) -> Sample:
    """The rows of the feature sample and as many again at three clients, with gaps at the second one."""
    plain = feature_sample(n_clusters)
    rng = np.random.default_rng(1)
    rows = np.vstack([plain.X, plain.X + rng.normal(scale=0.3, size=plain.X.shape)])
    y = np.concatenate([plain.labels, plain.labels])
    order = rng.permutation(len(y))
    rows, y = rows[order], y[order]
    cuts = [2 * len(y) // 5, 3 * len(y) // 5]
    rows[cuts[0] : cuts[1] : 3, 2] = np.nan
    X = np.split(rows, cuts)

    def single(data: Any) -> Any:
        return [part.astype(np.float32) for part in data] if isinstance(data, list) else data.astype(np.float32)

    def take(data: Any, indices: NDArray[np.intp]) -> Any:
        if not isinstance(data, list):
            return data[indices]
        bounds = np.cumsum([len(part) for part in data])[:-1]
        return np.split(np.vstack(data)[indices], np.searchsorted(indices, bounds))

    return Sample(
        X=X,
        labels=y,
        known=rows,
        new=plain.new,
        n_new=plain.n_new,
        batches=plain.batches,
        worse=plain.worse,
        hard=np.split(plain.hard, 2),
        other=np.split(rng.uniform(-30, 5, size=(24 * n_clusters, 2)), 2),
        refused=[_with(X[0], np.inf), *X[1:]],  # NaN is a gap here
        refused_new=plain.refused_new,
        take=take,
        same={"a tuple": tuple(X), "Fortran order": [np.asfortranarray(part) for part in X]},
        single=single,
    )


def document_sample(n_clusters: int) -> Sample:
    """Counts of documents that draw most words from those of their topic, a few of them from two topics."""
    rng = np.random.default_rng(0)
    own = 8
    shares = np.full((n_clusters, own * n_clusters), 0.15 / (own * n_clusters))
    for k in range(n_clusters):
        shares[k, own * k : own * (k + 1)] += 0.85 * rng.dirichlet(np.full(own, 5.0))

    def draw(per_cluster: int) -> tuple[Any, NDArray[np.intp]]:
        y = np.tile(np.arange(n_clusters), per_cluster)
        mixed = shares[y]
        mixed[::9] = 0.7 * mixed[::9] + 0.3 * shares[(y[::9] + 1) % n_clusters]
        counts = np.stack(
            [rng.multinomial(length, p) for length, p in zip(rng.poisson(40, len(y)), mixed, strict=True)]
        )
        return sparse.csr_array(counts.astype(np.float64)), y

    X, y = draw(15)
    new, _ = draw(7)
    thin = sparse.csr_array((X.data.copy(), X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    dense = X.toarray()
    same: dict[str, Any] = {
        "a dense array": dense,
        "CSC": X.tocsc(),
        "COO": X.tocoo(),
        "whole numbers": X.astype(np.int64),
        "64-bit indices": thin,
        "a nested list": dense.tolist(),
        "Fortran order": np.asfortranarray(dense),
    }
    try:
        import pandas as pd

        frame = pd.DataFrame(dense, columns=[f"word{j}" for j in range(X.shape[1])])
    except ImportError:
        frame = None
    return Sample(
        X=X,
        labels=y,
        known=X,
        new=new,
        n_new=new.shape[0],
        batches=(new[:1], new[1:6], new[6:]),
        worse=sparse.csr_array(rng.permuted(dense, axis=1)),
        hard=sparse.csr_array(rng.poisson(2.0, (40 * n_clusters, 3 * n_clusters)).astype(np.float64)),
        other=sparse.csr_array(rng.poisson(1.0, (12 * n_clusters, 5 * n_clusters)).astype(np.float64)),
        refused=_with(dense, -1.0),
        refused_new=(_with(dense, -1.0), new[:, :-1]),
        take=lambda data, indices: data[indices],
        same=same,
        starts=(0.5 + np.stack([dense[y == k].sum(axis=0) for k in range(n_clusters)]),),
        single=lambda data: data.astype(np.float32),
        frame=frame,
    )


def graph_sample(n_clusters: int) -> Sample:
    """Dense blocks of nodes with few links between them, a node in two blocks; new nodes are linked to one block."""
    rng = np.random.default_rng(0)
    size = 14

    def draw(per_cluster: int, inside: float, between: float) -> tuple[Any, NDArray[np.intp]]:
        y = np.repeat(np.arange(n_clusters), per_cluster)
        A = np.triu(rng.uniform(size=(len(y), len(y))) < np.where(y[:, None] == y, inside, between), 1)
        if n_clusters > 1:
            A[0, size : size + 6] = True
        return sparse.csr_array((A | A.T).astype(np.float64)), y

    X, y = draw(size, 0.7, 0.02)
    places = np.tile(np.arange(n_clusters), 5)
    new = sparse.csr_array((rng.uniform(size=(len(places), len(y))) < np.where(places[:, None] == y, 0.7, 0.01)) * 1.0)
    noisy = np.triu(rng.uniform(size=X.shape) < 0.5, 1)
    dense = X.toarray()
    same: dict[str, Any] = {
        "a dense array": dense,
        "CSC": X.tocsc(),
        "COO": X.tocoo(),
        "whole numbers": dense.astype(np.int64),
        "a nested list": dense.tolist(),
        "explicit zeros": sparse.csr_array((X.tocoo().data * 1.0, X.tocoo().coords), shape=X.shape),
        "self loops": X + sparse.eye_array(X.shape[0]),
    }
    try:
        import networkx

        same["a networkx graph"] = networkx.from_scipy_sparse_array(X, edge_attribute=None)
    except ImportError:
        pass
    start = np.full((len(y), n_clusters), 0.2 / n_clusters)
    start[np.arange(len(y)), y] += 0.8
    return Sample(
        X=X,
        labels=y,
        known=X,
        new=new,
        n_new=new.shape[0],
        batches=(new[:1], new[1:3], new[3:]),
        worse=sparse.csr_array((noisy | noisy.T) * 1.0),
        hard=draw(12, 0.3, 0.25)[0],
        other=draw(9, 0.6, 0.05)[0],
        refused=_with(dense, -1.0),
        refused_new=(_with(new.toarray(), -1.0), new[:, :-1]),
        take=lambda data, indices: data[indices],
        same=same,
        starts=(start,),
        single=lambda data: data.astype(np.float32),
    )


SAMPLES: dict[str, Callable[[int], Sample]] = {
    "graph": graph_sample,
    "features": feature_sample,
    "documents": document_sample,
    "image": image_sample,
    "partitions": partition_sample,
    "clients": client_sample,
}


def make_sample(estimator: BaseSoftClusterer) -> Sample:
    """Data for an estimator, by its ``modality`` and its ``n_clusters``.

    Examples
    --------
    >>> from soft_clustering import FCM
    >>> make_sample(FCM(n_clusters=2)).X.shape
    (42, 3)
    """
    if estimator.modality not in SAMPLES:
        raise NotImplementedError(
            f"there are no check data for modality={estimator.modality!r}: add a row to "
            f"soft_clustering.testing.SAMPLES, which has {sorted(SAMPLES)}"
        )
    n_clusters = getattr(estimator, "n_clusters", None) if "n_clusters" in estimator.get_params() else None
    return SAMPLES[estimator.modality](DEFAULT_CLUSTERS if n_clusters is None else n_clusters)
