"""Data for the checks, one row of ``SAMPLES`` per modality."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base import BaseSoftClusterer

DEFAULT_CLUSTERS = 3  # where the estimator has no number of clusters


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
    """``new`` in parts; empty where the objects of one call depend on each other."""
    worse: Any
    """``known`` with much noise: ``score`` must be lower here."""
    hard: Any
    """Data without clusters, on which no method converges in two passes."""
    other: Any
    """Data of another size and width, to fit before a refit."""
    take: Callable[[Any, NDArray[np.intp]], Any]
    """``take(X, indices)``: the objects of X at some indices."""
    same: Mapping[str, Any] = field(default_factory=dict)
    """X in other containers and memory layouts."""
    starts: tuple[NDArray[np.float64], ...] = ()
    """What ``init`` may take in this modality: centres, memberships; a method takes one of them, or none."""
    single: Callable[[Any], Any] | None = None
    """Data in single precision, None where the modality has none."""
    frame: Any = None
    """X as a pandas data frame with named columns, None where there is none (or no pandas)."""


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
        hard=rng.uniform(size=(40 * n_clusters, 3)),
        other=rng.uniform(-30, 5, size=(12 * n_clusters, 2)),
        take=lambda data, indices: data[indices],
        same=same,
        starts=(X[:n_clusters].copy(), start),
        single=lambda data: data.astype(np.float32),
        frame=frame,
    )


def _containers(X: NDArray[np.float64]) -> tuple[dict[str, Any], Any]:
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]))
    wide[::2, ::3] = X
    fixed = X.copy()
    fixed.setflags(write=False)
    same = {
        "Fortran order": np.asfortranarray(X),
        "a strided view": wide[::2, ::3],
        "reversed strides": X[::-1, ::-1].copy()[::-1, ::-1],
        "a read-only array": fixed,
        "a nested list": X.tolist(),
        "the other byte order": X.astype(X.dtype.newbyteorder()),
    }
    try:
        import pandas as pd
    except ImportError:
        return same, None
    frame = pd.DataFrame(X, columns=["width", "height", "depth"], index=[f"row{i}" for i in range(len(X))])
    return same | {"a data frame": frame}, frame


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
        take=take,
        same={"a tuple": tuple(X), "Fortran order": [np.asfortranarray(part) for part in X]},
        single=single,
    )


SAMPLES: dict[str, Callable[[int], Sample]] = {"features": feature_sample, "clients": client_sample}


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
