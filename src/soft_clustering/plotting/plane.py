"""Where the samples of any modality lie in the plane, for pictures of many models of the same data."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .._types import Array
from ..documents.corpus import inverse_frequency, unit_rows
from ..inputs.documents import count_vectorizer, validate_documents
from ..inputs.images import validate_grid
from .data import check_features, check_numbers, feature_names, principal_plane
from .graph import graph_layout

_LANDMARKS = 1000  # samples whose distances are decomposed: 0.4 s


class Plane(NamedTuple):
    """Coordinates of samples in the plane."""

    points: Array  # (n_rows, 2)
    axes: list[str]  # the names of both axes, or one name for the whole plane
    variance: tuple[float, float] | None  # the share of the variance that each axis shows, if they are projections


def plane_of(X: Any, modality: str = "features", rows: NDArray[np.integer[Any]] | None = None) -> Plane:
    """Return coordinates in the plane for some samples of any modality.

    Parameters
    ----------
    X : data of the modality
        Features (array, data frame or sparse matrix); the adjacency matrix of a graph; texts, lists of tokens or counts
        of words; an image of shape (height, width) or (height, width, n_channels), whose samples are its pixels row by
        row; a square matrix of distances.
    modality : {'features', 'graph', 'documents', 'image', 'distances'}, default='features'
    rows : array of int, default=None
        The samples to place; None places all.

    Returns
    -------
    plane : Plane
        ``points`` of shape (n_rows, 2), ``axes`` (their names; one name for a layout of a graph) and ``variance``, the
        shares of the variance of these samples that the axes show, or None if the axes are not projections.

    Notes
    -----
    * Features: the first two principal components; one or two features are shown as they are. Samples with a single
      feature are spread at random along the second axis.
    * Graph: springs along the links, :func:`soft_clustering.plotting.graph_layout`.
    * Documents: the first two principal components of the tf-idf rows, (1 + log count) times the inverse document
      frequency, of length 1. The frequencies are those of all documents.
    * Image: as features, a row of channels per pixel.
    * Distances: classical scaling [1]_. Of more than 1000 samples, 1000 random ones are scaled, and the others are
      placed by their distances to them [2]_. A share is the eigenvalue over the sum of all absolute eigenvalues.

    References
    ----------
    .. [1] W. S. Torgerson (1952). Multidimensional scaling: I. Theory and method. Psychometrika 17(4), 401-419.
    .. [2] V. de Silva, J. B. Tenenbaum (2004). Sparse multidimensional scaling using landmark points. Technical report,
       Stanford University.

    Examples
    --------
    >>> from soft_clustering.plotting.plane import plane_of
    >>> D = [[0.0, 2.0, 1.0], [2.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    >>> plane = plane_of(D, "distances")
    >>> plane.axes, [round(share, 2) for share in plane.variance]
    (['Axis 1 (100% of the variance)', 'Axis 2 (0% of the variance)'], [1.0, 0.0])
    """
    if modality == "graph":
        part = X if rows is None else _safe_indexing(_safe_indexing(X, rows), rows, axis=1)
        return Plane(graph_layout(part), ["springs along the links"], None)
    if modality == "distances":
        return _scaled(check_numbers("X", X, _num_samples(X), _num_samples(X), negative=False), rows)
    if modality == "documents":
        words = BaseEstimator()
        counts = validate_documents(words, X, vectorizer=None, default=count_vectorizer, reset=True)
        vectors = unit_rows(counts, inverse_frequency(counts))
        return _projected(vectors if rows is None else vectors[rows], [str(word) for word in words.words_])
    if modality == "image":
        grid = validate_grid(X)
        pixels = grid.reshape(grid.shape[0] * grid.shape[1], -1)
        names = ["grey level"] if pixels.shape[1] == 1 else feature_names(None, pixels.shape[1])
        return _projected(pixels if rows is None else pixels[rows], names)
    if modality != "features":
        raise ValueError(
            f"modality must be 'features', 'graph', 'documents', 'image' or 'distances'. Got {modality!r} instead."
        )
    part = X if rows is None else _safe_indexing(X, rows)
    features = check_features(part)
    return _projected(features, feature_names(part, features.shape[1]))


def _projected(X: Any, names: list[str]) -> Plane:
    """Return checked rows as they are if they have at most two columns; otherwise their principal components."""
    n, d = X.shape
    if d <= 2:
        points = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        axes = list(names)
        if d == 1:  # on a line, points would hide each other
            points = np.column_stack([points, np.random.RandomState(0).uniform(size=n)])
            axes.append("spread at random, to be seen")
        return Plane(points, axes, None)
    pca, unit = principal_plane(X)
    first, second = pca.explained_variance_ratio_.tolist()
    return Plane(pca.transform(X / unit) * unit, _axes("PC", (first, second)), (first, second))


def _axes(name: str, shares: tuple[float, float]) -> list[str]:
    return [f"{name} {i} ({share:.0%} of the variance)" for i, share in enumerate(shares, 1)]


def _scaled(D: Array, rows: NDArray[np.integer[Any]] | None) -> Plane:
    """Return the classical scaling of distances; of many samples, that of landmarks."""
    rows = np.arange(len(D)) if rows is None else np.asarray(rows)
    n = len(rows)
    if n < 3:
        raise ValueError(f"X must have at least 3 samples, to place them by their distances. Got {n} instead.")
    drawn = np.arange(n) if n <= _LANDMARKS else np.random.RandomState(0).permutation(n)[:_LANDMARKS]
    landmarks = rows[drawn]
    unit = float(D.max()) or 1.0
    squares = (D[np.ix_(landmarks, landmarks)] / unit) ** 2
    means = squares.mean(axis=0)
    values, vectors = eigh(-0.5 * (squares - means - means[:, None] + means.mean()))
    total = float(np.abs(values).sum())
    if values[-1] <= 1e-12 * max(total, 1e-300):  # all distances are 0
        return Plane(np.zeros((n, 2)), _axes("Axis", (0.0, 0.0)), (0.0, 0.0))
    values, vectors = np.maximum(values[[-1, -2]], 0.0), vectors[:, [-1, -2]]
    shares = (float(values[0]) / total, float(values[1]) / total)
    # a point is -1/2 pinv(L) (its squared distances - the means), with L the coordinates of the landmarks
    inverse = vectors / np.sqrt(np.where(values > 1e-12 * total, values, np.inf))
    points = np.empty((n, 2))
    for lo in range(0, n, _LANDMARKS):
        here = slice(lo, lo + _LANDMARKS)
        points[here] = -0.5 * ((D[np.ix_(rows[here], landmarks)] / unit) ** 2 - means) @ inverse
    return Plane(points * unit, _axes("Axis", shares), shares)
