"""The samples that a report shows: how many there are, what they are called, where they lie, what can be an axis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.preprocessing import maxabs_scale
from sklearn.utils import _safe_indexing, column_or_1d
from sklearn.utils.validation import _num_samples

from .._types import Array, DataLike
from ..plotting.data import check_features, feature_names
from ..plotting.graph import undirected
from ..plotting.palette import membership_shares
from ..plotting.plane import Plane, plane_of

#: The largest number of links that are drawn.
_N_LINKS = 5000
#: The largest number of features that can be chosen as axes.
_N_AXES = 12


def n_samples_of(X: Any, modality: str, size: tuple[int, int] | None) -> int:
    """Count the samples: those of an image are its pixels."""
    if size is not None:
        return size[0] * size[1]
    if modality == "image":
        return int(np.prod(np.shape(X)[:2]))
    return int(_num_samples(X))


def names_of_features(X: Any, modality: str, columns: Sequence[str] | None) -> list[str]:
    """Return the names of the features: ``columns``, if they are given, which are then checked.

    Graphs, distances, texts and images have none.
    """
    if modality not in ("features", "documents") or (modality == "documents" and not hasattr(X, "shape")):
        return []
    n_features = X.shape[1] if hasattr(X, "shape") else np.shape(X)[1]
    if columns is not None and len(columns) != n_features:
        raise ValueError(f"columns must have {n_features} entries, one per feature. Got {len(columns)} instead.")
    return feature_names(X, n_features) if columns is None else [str(column) for column in columns]


def plane_shown(
    X: DataLike, modality: str, rows: NDArray[np.intp], size: tuple[int, int] | None, names: list[str]
) -> Plane:
    """Return two coordinates of the samples shown, and the names of the axes."""
    if size is not None:
        return Plane(np.stack([rows % size[1], -(rows // size[1])], axis=1).astype(np.float64), ["column", "row"], None)
    plane = plane_of(X, modality, rows)
    if modality == "features" and len(names) <= 2:
        plane = plane._replace(axes=[*names, *plane.axes[len(names) :]])
    return plane


def features_shown(X: DataLike, rows: NDArray[np.intp], names: list[str], U: Array | None) -> list[dict[str, Any]]:
    """Return the features that differ most between the clusters of a model, with their values.

    They are ordered by the share of their variance that is between the clusters. Without a model, their order stays.
    """
    if len(names) <= 2:
        return []
    part = check_features(_safe_indexing(X, rows))
    order = np.arange(part.shape[1])
    if U is not None:
        shares = membership_shares(U)
        weights = shares.sum(axis=0)
        scaled = maxabs_scale(part)  # squares of entries near the largest float would overflow
        means = np.asarray((shares / np.maximum(weights, 1e-300)).T @ scaled)
        middle = np.asarray(scaled.mean(axis=0)).ravel()
        squares = scaled.multiply(scaled) if sparse.issparse(scaled) else scaled**2
        variance = np.asarray(squares.mean(axis=0)).ravel() - middle**2
        between = weights @ (means - middle) ** 2 / len(rows)
        ratio = np.divide(between, variance, out=np.zeros(len(order)), where=variance > 1e-14)
        order = np.argsort(-ratio, kind="stable")
    chosen = order[:_N_AXES]
    values = part[:, chosen].toarray() if sparse.issparse(part) else part[:, chosen]
    return [
        {"name": names[feature], "values": [rounded(value) for value in column]}
        for feature, column in zip(chosen, values.T, strict=True)
    ]


def rounded(value: float) -> float:
    return float(f"{value:.5g}")


def axis_words(plane: Plane, modality: str) -> list[str]:
    """Return the axes in words.

    Examples
    --------
    >>> axis_words(Plane(np.zeros((1, 2)), ["PC 1 (73%)", "PC 2 (20%)"], (0.729, 0.204)), "features")[0]
    'first principal component, 72.9 % of the variance'
    """
    if plane.variance is None:
        return plane.axes
    kind = {"distances": "axis of the distances", "documents": "principal component of the words"}
    name = kind.get(modality, "principal component")
    return [
        f"{order} {name}, {100 * share:.1f} % of the variance"
        for order, share in zip(("first", "second"), plane.variance, strict=True)
    ]


class SampleNames:
    """The names of the samples: their ids; the pixels of an image are named by column and row."""

    def __init__(self, ids: Sequence[str] | None, n: int, width: int | None) -> None:
        if ids is not None and len(ids) != n:
            raise ValueError(f"ids must have {n} entries, one per sample. Got {len(ids)} instead.")
        self.ids, self.width = ids, width

    def of(self, rows: Iterable[int]) -> list[str] | None:
        """Return the names of some samples; None if they have none but their row numbers."""
        if self.ids is not None:
            return [str(self.ids[row]) for row in rows]
        if self.width is not None:
            return [f"({row % self.width}, {row // self.width})" for row in rows]
        return None


def with_names(profiles: dict[str, Any], names: SampleNames) -> dict[str, Any]:
    """Return the profiles with the names of the samples beside their row numbers, which need not be shown."""
    clusters = [
        {**cluster, **{f"{kind}_ids": names.of(cluster[kind]) for kind in ("typical", "borderline")}}
        for cluster in profiles["clusters"]
    ]
    return {**profiles, "clusters": clusters}


def links_shown(X: DataLike, rows: NDArray[np.intp]) -> dict[str, Any]:
    """Return the links between the nodes shown, as pairs of positions, and how many links the graph has."""
    A = undirected(X)
    shown = sparse.triu(A[rows][:, rows], 1, format="coo")
    pairs = np.stack([shown.row, shown.col], axis=1)
    if len(pairs) > _N_LINKS:
        pairs = pairs[np.sort(np.random.RandomState(0).choice(len(pairs), _N_LINKS, replace=False))]
    return {"pairs": pairs.tolist(), "n_links": int(sparse.triu(A, 1).nnz)}


def classes_of(n: int, y: ArrayLike | None) -> tuple[list[str], NDArray[np.intp] | None]:
    """Return the names of the classes and the number of each sample's class; an empty list and None without y."""
    if y is None:
        return [], None
    classes = column_or_1d(y)
    if len(classes) != n:
        raise ValueError(f"y must have {n} entries, one per sample. Got {len(classes)} instead.")
    names, codes = np.unique(classes, return_inverse=True)
    return [str(name) for name in names], codes
