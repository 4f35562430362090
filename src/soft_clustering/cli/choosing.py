"""The number of clusters, if the user does not give it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._types import Array
from ..base import BaseSoftClusterer
from ..engine.dissimilarities import classical_scaling
from ..graphs.lpanni import found_labels
from ..selection import CRITERIA, NClustersResult, choose_n_clusters
from ..selection.criteria import PREFERENCE
from ..selection.gaussian import are_continuous
from .data import Data, check_n_classes
from .errors import CommandError, say
from .models import configured, model_class

#: The model that is fitted over K, by the kind of data. Distances and images become features first: then the criterion
#: that finds planted numbers of clusters most often can decide.
_MODELS = {"features": "FCM", "image": "FCM", "distances": "FCM", "graph": "LinkMixture", "documents": "LDA"}
#: Of more samples than this, so many are drawn.
_MOST = 2000
_RANGE = range(2, 11)
#: Of graphs with more links than this, K is that of a quick method: fits over K would take long.
_MOST_LINKS = 100_000
_MOST_NUMBERS = 30
#: The most coordinates that distances become.
_COORDINATES = 5
#: The criteria for columns that are not continuous: densities, which others compute, are infinite at single values.
_OF_DISCRETE = ("xie_beni", "modified_partition_coefficient")
#: The criteria for the levels of pixels, which are rounded and cut off, so that their density is not Gaussian.
_OF_PIXELS = ("fuzzy_hypervolume", "xie_beni", "modified_partition_coefficient")


class Choice(NamedTuple):
    """The recommended number of clusters, and where it comes from."""

    result: NClustersResult
    model: str
    n_samples: int  # the samples that were looked at
    n_of: int  # of so many
    n_features: int | None = None  # the continuous features, if not all of them are

    @property
    def n_clusters(self) -> int | None:
        """The recommended K."""
        return self.result.recommended

    def curves(self) -> dict[str, Any]:
        """Return the values of the criteria over K, ready for JSON."""
        best = self.result.best
        return {
            "k": [int(K) for K in self.result.k_values],
            "criteria": {
                name: {
                    "title": CRITERIA[name].title,
                    "sense": CRITERIA[name].sense,
                    "choice": best[name],
                    "values": [float(value) if np.isfinite(value) else None for value in values],
                }
                for name, values in self.result.scores.items()
            },
            "model": self.model,
            "recommended": self.result.recommended,
            "reason": self.result.reason,
        }

    def used(self) -> str:
        """Say which part of the data was looked at."""
        parts = [f"{self.n_samples} of {self.n_of} samples"] if self.n_samples < self.n_of else []
        parts += [] if self.n_features is None else [f"the {self.n_features} continuous features"]
        return ", ".join(parts) or "all"

    def in_one_line(self) -> str:
        """Say which K was chosen, by which criterion, and what the others say."""
        best = {name: K for name, K in self.result.best.items() if K is not None}
        decided = next(name for name in PREFERENCE if name in best)
        others = ", ".join(f"{CRITERIA[name].title} {K}" for name, K in best.items() if name != decided)
        rows = "" if self.used() == "all" else f", {self.used()}"
        first, last = self.result.k_values[0], self.result.k_values[-1]
        return (
            f"K={self.n_clusters}, chosen from {first} to {last} by {CRITERIA[decided].title} ({self.model}{rows})"
            + (f"; other criteria: {others}" if others else "")
            + "; -k sets another"
        )


def default_n_clusters(
    data: Data, model: type[BaseSoftClusterer] | None = None, settings: Mapping[str, Any] | None = None
) -> tuple[int, Choice | None]:
    """Return the number of classes; without classes the one that the criteria recommend, and say so in one line."""
    if data.n_classes is not None:
        check_n_classes(data)
        return data.n_classes, None
    if data.modality == "graph" and data.X.nnz > 2 * _MOST_LINKS:
        K = _n_found(data.X)
        say(
            f"K={K}, as many communities as LinkMixture begins with, for more than {_MOST_LINKS} links; -k sets another"
        )
        return K, None
    choice = choose_k(data, model, settings=settings)
    if choice.n_clusters is None:
        raise CommandError(f"No number of clusters is recommended: {choice.result.reason} Give one, such as -k 3.")
    say(choice.in_one_line())
    return choice.n_clusters, choice


def choose_k(
    data: Data,
    model: type[BaseSoftClusterer] | None = None,
    numbers: Sequence[int] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Choice:
    """Fit a model over K and let the criteria choose.

    Parameters
    ----------
    data : Data
    model : class, default=None
        None takes the usual one for this kind of data. For images and distances it is always the usual one.
    numbers : range, default=None
        The K to try; None stands for 2 to 10, or fewer if there are few samples, and for numbers around that with
        which LinkMixture begins if a graph has more communities.
    settings : dict, default=None
        Parameters of the model.
    """
    kind, X, n_features = data.modality, data.complete, None
    criteria: str | tuple[str, ...] = "default"
    if model is None or kind in ("image", "distances"):
        model, settings = model_class(_MODELS[kind]), None
    if kind in ("image", "distances"):
        X = _pixels(X) if kind == "image" else _coordinates(X)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    rows = np.arange(n)
    if kind != "graph" and n > _MOST:
        rows = np.sort(np.random.RandomState(0).permutation(n)[:_MOST])
        X = [X[i] for i in rows] if isinstance(X, list) else X[rows]
    if kind == "features":
        continuous = are_continuous(X)
        if continuous.any() and not continuous.all():
            X, n_features = X[:, continuous], int(continuous.sum())
        criteria = "default" if continuous.any() else _OF_DISCRETE
    elif kind == "image":
        criteria = _OF_PIXELS
    estimator = configured(model, "features" if kind == "distances" else kind, None, False, 0, **settings or {})
    if numbers is None:
        found = around(_n_found(X)) if kind == "graph" else _RANGE
        numbers = [K for K in found if len(rows) > K] or [2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = choose_n_clusters(estimator, X, numbers, criteria=criteria, keep_estimators=False, random_state=0)
    return Choice(result, model.__name__, len(rows), max(n, data.n_samples), n_features)


def _n_found(A: sparse.csr_array) -> int:
    """Return the number of communities that LinkMixture begins with, at least 2."""
    return max(2, int(found_labels(A)[0].max()) + 1)


def around(K: int) -> list[int]:
    """Return numbers from half of K to one and a half, but at least those of a small range.

    Examples
    --------
    >>> around(3)
    [2, 3, 4, 5, 6, 7, 8, 9, 10]
    >>> around(26)[0], around(26)[-1], len(around(26))
    (13, 39, 27)
    >>> around(1000)[0], around(1000)[-1], len(around(1000))
    (500, 1500, 30)
    """
    first, last = max(_RANGE.start, K // 2), max(_RANGE.stop - 1, 3 * K // 2)
    if last - first < _MOST_NUMBERS:
        return list(range(first, last + 1))
    return [int(number) for number in np.geomspace(first, last, _MOST_NUMBERS).round()]


def _pixels(image: Array) -> Array:
    """Return a row per pixel: its grey level or its colour."""
    pixels: Array = image.reshape(image.shape[0] * image.shape[1], -1)
    return pixels


def _coordinates(D: Array) -> Array:
    """Return points whose distances are close to those given, of at most 2000 samples."""
    rows = np.sort(np.random.RandomState(0).permutation(len(D))[:_MOST])
    points = classical_scaling(D[np.ix_(rows, rows)], _COORDINATES)
    return points if points.size else np.zeros((len(rows), 1))
