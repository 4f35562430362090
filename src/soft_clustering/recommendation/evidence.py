"""What speaks for the clusters of one fit: measures that need no classes and are fair to every kind of model."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .._estimators import Estimator
from .._types import Array
from ..engine.dissimilarities import classical_scaling
from ..metrics._validation import check_features
from ..selection.gaussian import are_continuous, gaussian_bic
from .neighborhoods import neighbor_agreement, neighborhoods, valley

#: What each piece of evidence says, in the order in which it is computed.
EVIDENCE = {
    "neighbor_agreement": "how much more often than by chance neighbours share a cluster: 1 is always, 0 is chance",
    "gain": "how much better the clusters describe the data than one cluster, in log-likelihood per sample",
    "valley": "how much sparser the data are where clusters meet, as a logarithm of distances",
    "stability": "how well fits to parts of the data agree with the fit to all: 1 is the same clusters, 0 chance",
}

_N_PARTS = 2
_SHARE = {"graph": 0.9}  # of the samples in a part; half of the links would be lost with 0.7 of the nodes
_MOST = 2000  # samples in a part
_N_ROWS = 5000  # samples whose likelihood is computed
_WIDEST = 10  # principal components in which clusters are compared with one cluster


def evidence_of(
    estimator: Estimator, X: Any, labels: NDArray[Any], modality: str = "features"
) -> Iterator[tuple[str, float]]:
    """Yield the name and the value of each piece of evidence; NaN where one does not apply.

    Parameters
    ----------
    estimator : estimator
        With its parameters; for ``stability`` clones of it are fitted to parts of the data.
    X : data of the modality
    labels : array of shape (n_samples,)
        The labels that the estimator found; -1 is a label like any other.
    modality : {'features', 'graph', 'documents', 'image', 'distances'}, default='features'

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import GMM
    >>> from soft_clustering.recommendation import evidence_of
    >>> X = load_iris().data
    >>> model = GMM(3, random_state=0).fit(X)
    >>> {name: round(value, 2) for name, value in evidence_of(model, X, model.labels_)}
    {'neighbor_agreement': 0.94, 'gain': 0.67, 'valley': 0.29, 'stability': 0.96}
    """
    part = continuous_part(X) if modality == "features" else X
    near = neighborhoods(part, modality)
    yield "neighbor_agreement", neighbor_agreement(near, labels)
    yield "gain", gain_over_one_cluster(part, labels, modality)
    yield "valley", valley(near, labels)
    yield "stability", stability(estimator, X, labels, modality)


def continuous_part(X: Any) -> Any:
    """Return the columns of many different values, if they have at least a third of the variance; otherwise all.

    Columns of categories and booleans have few values. Rows that differ in one of them are never neighbours, so that
    any partition along such a column would look perfect, however little it says of the others.
    """
    X = check_features(X)
    if hasattr(X, "toarray"):
        return X
    unit = float(abs(X).max()) or 1.0
    variances = (X / unit).var(axis=0)
    continuous = are_continuous(X)
    return X[:, continuous] if variances[continuous].sum() >= variances.sum() / 3 else X


def gain_over_one_cluster(X: Any, labels: NDArray[Any], modality: str = "features") -> float:
    """Return the gain in log-likelihood per sample over the better of one Gaussian and an evenly filled box.

    The clusters become a Gaussian mixture, as for the criterion ``gaussian_bic`` of
    :func:`soft_clustering.selection.choose_n_clusters`; each side pays for its parameters by half the logarithm of the
    number of samples, as in the BIC. All is done in the first principal components, at most 10 and at most a tenth of
    the number of samples. NaN for graphs, documents and images.
    """
    if modality not in ("features", "distances"):
        return math.nan
    rows = np.random.RandomState(0).permutation(len(labels))[:_N_ROWS]
    points, features = _coordinates(X, rows, modality)
    own = np.asarray(labels)[rows]
    K, (n, d) = len(np.unique(own)), points.shape
    if K < 2 or d == 0:
        return -math.inf if K < 2 else math.nan
    bic, _ = gaussian_bic(points, {1: np.zeros(n), K: own})
    if not bic:
        return math.nan
    alone = [bic[1], _box(points, d * (d - 1) // 2)]
    if features is not None and features.shape[1] == d:
        alone.append(_box(features, 0))
    gain: float = (min(alone) - bic[K]) / (2 * n)
    return gain


def _box(points: Array, n_angles: int) -> float:
    """Return the BIC of an evenly filled box; without volume, it describes nothing."""
    n, d = points.shape
    sides = np.ptp(points, axis=0)
    if not (sides > 0).all():
        return math.inf
    return float(2 * n * np.log(sides).sum() + (2 * d + n_angles) * math.log(n))


def _coordinates(X: Any, rows: NDArray[np.intp], modality: str) -> tuple[Array, Array | None]:
    """Return principal components of the rows, and their features if they are dense; all in the same unit."""
    most = max(2, min(_WIDEST, len(rows) // 10))
    if modality == "distances":
        return classical_scaling(np.asarray(X, dtype=np.float64)[np.ix_(rows, rows)], most), None
    X = check_features(X)[rows]
    unit = float(abs(X).max()) or 1.0
    X = X.astype(np.float64) / unit
    n, d = X.shape
    # the solver for sparse matrices finds fewer components than there are features
    pca = PCA(min(most, n - 1, d - hasattr(X, "toarray")), random_state=0).fit(X)
    kept = pca.singular_values_ > 1e-6 * pca.singular_values_.max(initial=0.0)
    points = pca.transform(X)[:, kept]
    scale = float(points.std()) or 1.0
    features = None if hasattr(X, "toarray") else (X - X.mean(axis=0)) / scale
    return points / scale, features


def stability(estimator: Estimator, X: Any, labels: NDArray[Any], modality: str = "features") -> float:
    """Return the mean agreement of fits to two random parts of the data with the fit to all of them.

    A part has 70 % of the samples (90 % of the nodes of a graph), at most 2000. The agreement is the adjusted Rand
    index of the labels. A fit that fails agrees with nothing: 0. NaN for images, whose pixels cannot be drawn.
    """
    if modality == "image":
        return math.nan
    n = _num_samples(X)
    size = min(_MOST, int(_SHARE.get(modality, 0.7) * n))
    rng = np.random.RandomState(0)
    values = []
    for _ in range(_N_PARTS):
        rows = np.sort(rng.choice(n, size, replace=False))
        part = _safe_indexing(X, rows)
        if modality in ("graph", "distances"):
            part = _safe_indexing(part, rows, axis=1)
        model: Any = clone(estimator)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(part)
            found = model.labels_ if hasattr(model, "labels_") else model.predict(part)
            values.append(float(adjusted_rand_score(np.asarray(labels)[rows], found)))
        except Exception:  # whatever a model of the user raises: it does not find its clusters in this part
            values.append(0.0)
    return float(np.mean(values))
