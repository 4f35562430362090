"""The recommendation: which model to take and why, a second opinion, and whether there is anything to find."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import Array
from ..base import labels_from_memberships
from .evidence import EVIDENCE
from .groups import agreements, differing, groups_of

#: The weights of the evidence in the score; benchmarks/quality/recommendation.py has the experiment that chose them.
WEIGHTS = {"neighbor_agreement": 0.5, "stability": 0.3, "evenness": 0.2}
EVENNESS = "how near the effective number of clusters is to the number asked for: 1 is equal sizes"

_VALLEY = 0.3  # where clusters meet, neighbours are at least exp(0.3) = 1.35 times as far away
_STABLE = 0.5  # without a likelihood, clusters are real if parts of the data have them, too


@dataclass(eq=False)
class Recommendation:
    """Which of several models to take.

    Attributes
    ----------
    best : str or None
        The model to take; None if there was no model to choose from.
    second : str or None
        The best model that says something else; None if all say the same.
    clear : bool
        Whether the data have clusters at all, as far as the evidence tells.
    reason : str
        Why, in one or two sentences.
    contrast : str
        What the second opinion is, and on how many samples it differs, in a sentence.
    scores : dict of str to dict of str to float
        For each model its ``score``, by which the models are ranked, and the evidence.
    groups : list of list of str
        Models that say the same, the best first; groups in the order of their best.
    agreement : list of float
        The mean agreement within each group, an adjusted Rand index; 1 for a group of one.
    differing : ndarray of int
        The samples that ``best`` and ``second`` put into different clusters, the surest first.
    n_samples : int
        The number of samples.
    """

    best: str | None
    second: str | None
    clear: bool
    reason: str
    contrast: str
    scores: dict[str, dict[str, float]]
    groups: list[list[str]]
    agreement: list[float]
    differing: NDArray[np.intp]
    n_samples: int

    @property
    def ranking(self) -> list[str]:
        """The models, the best first."""
        return sorted(self.scores, key=lambda name: -self.scores[name]["score"])

    def __str__(self) -> str:
        return f"{self.reason} {self.contrast}".strip()


def recommend(
    memberships: Mapping[str, Array],
    evidence: Mapping[str, Mapping[str, Any]],
    n_clusters: int | None = None,
) -> Recommendation:
    """Recommend one of several models of the same data, without classes.

    Parameters
    ----------
    memberships : dict of str to array of shape (n_samples, n_clusters)
        The memberships that each model found.
    evidence : dict of str to dict
        For each model what :func:`evidence_of` found; a value that is missing, None or NaN for one model counts as 0,
        one that is missing for all takes no part.
    n_clusters : int, default=None
        The number of clusters that was asked for; None compares each model with its own number.

    Returns
    -------
    recommendation : Recommendation

    Notes
    -----
    The score of a model is 0.5 a + 0.3 s + 0.2 e: a, how much more often than by chance neighbours share a cluster; s,
    how well fits to parts of the data agree with the fit; e, how near the effective number of clusters, exp(entropy of
    their shares), is to the number asked for, as the ratio of the smaller to the larger.

    The weights were learnt on 76 data sets and rounded; docs/guide/recommendation.md has the experiment. Silhouette,
    Calinski-Harabasz, Davies-Bouldin, the likelihood of the partition as Gaussians, and agreement with the other models
    were tried and do not help: with any of them added, sets that were left out were predicted worse.

    The data have clear clusters if those of the best model describe them better than one Gaussian and than an evenly
    filled box, or if the data are clearly sparser where the clusters meet. Without a likelihood (graphs, texts), parts
    of the data must have the same clusters, with an agreement of at least 0.5.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import FCM, GMM
    >>> from soft_clustering.recommendation import evidence_of, recommend
    >>> X = load_iris().data
    >>> models = {"FCM": FCM(3, random_state=0).fit(X), "GMM": GMM(3, random_state=0).fit(X)}
    >>> evidence = {name: dict(evidence_of(model, X, model.labels_)) for name, model in models.items()}
    >>> found = recommend({name: model.memberships_ for name, model in models.items()}, evidence, n_clusters=3)
    >>> found.best, found.second, found.clear
    ('GMM', 'FCM', True)
    """
    names = list(memberships)
    if not names:
        return Recommendation(
            None, None, False, "There is no fit to recommend.", "", {}, [], [], np.empty(0, np.intp), 0
        )
    labels = {name: labels_from_memberships(np.asarray(memberships[name])) for name in names}
    scores = {name: _evidence(labels[name], evidence.get(name, {}), n_clusters) for name in names}
    usable = {key: w for key, w in WEIGHTS.items() if any(math.isfinite(scores[name][key]) for name in names)}
    for found in scores.values():
        total = sum(weight * (found[key] if math.isfinite(found[key]) else 0.0) for key, weight in usable.items())
        found["score"] = total / sum(usable.values())
    order = sorted(names, key=lambda name: -scores[name]["score"])
    table = agreements([labels[name] for name in order])
    together = groups_of(table)
    groups = [[order[i] for i in numbers] for numbers in together]
    best = order[0]
    same = next(group for group in groups if best in group)
    second = next((name for name in order if name not in same), None)
    clear = _is_clear(scores[best])
    rows = np.empty(0, np.intp)
    if second is not None:
        rows = differing(np.asarray(memberships[best]), np.asarray(memberships[second]))
    return Recommendation(
        best,
        second,
        clear,
        _reason(scores[best], best, len(same) - 1, len(order), clear),
        _contrast(scores, best, second, len(rows), len(labels[best])) if len(order) > 1 else "",
        {name: scores[name] for name in order},
        groups,
        [_within(table[np.ix_(numbers, numbers)]) for numbers in together],
        rows,
        len(labels[best]),
    )


def _within(agreement: Array) -> float:
    """Return the mean agreement of different models of a group."""
    m = len(agreement)
    return 1.0 if m == 1 else float((agreement.sum() - m) / (m * (m - 1)))


def _evidence(labels: NDArray[Any], found: Mapping[str, Any], n_clusters: int | None) -> dict[str, float]:
    values = {name: math.nan if found.get(name) is None else float(found[name]) for name in EVIDENCE}
    return values | {"evenness": evenness(labels, n_clusters)}


def evenness(labels: NDArray[Any], n_clusters: int | None = None) -> float:
    """Return how near the effective number of clusters is to the number asked for, or to the number found.

    Examples
    --------
    >>> import numpy as np
    >>> evenness(np.array([0, 0, 1, 1]), 2), evenness(np.array([0, 0, 1, 1]), 4)
    (1.0, 0.5)
    """
    sizes = np.unique(labels, return_counts=True)[1]
    shares = sizes / sizes.sum()
    effective = math.exp(-float((shares * np.log(shares)).sum()))
    wanted = len(sizes) if n_clusters is None else n_clusters
    return min(effective, wanted) / max(effective, wanted)


def _is_clear(found: Mapping[str, float]) -> bool:
    if math.isnan(found["gain"]):
        return math.isnan(found["stability"]) or found["stability"] >= _STABLE
    return found["gain"] > 0 or found["valley"] > _VALLEY


def _reason(found: Mapping[str, float], best: str, n_same: int, n_models: int, clear: bool) -> str:
    """Return why the best model is the best, or why none is to be trusted."""
    if not clear:
        why = (
            "fits to parts of the data do not agree with each other"
            if math.isnan(found["gain"])
            else "one cluster describes the data as well, and they are not sparser where clusters meet"
        )
        return f"No clear structure: {why}. The first of the table, {best}, is only the least bad."
    facts = []
    if math.isfinite(found["neighbor_agreement"]):
        facts.append(f"neighbours share a cluster (agreement beyond chance {found['neighbor_agreement']:.2f})")
    if math.isfinite(found["stability"]):
        facts.append(f"parts of the data give the same clusters (agreement {found['stability']:.2f})")
    company = ""
    if n_same:
        company = f"; {n_same} other model{'s find' if n_same > 1 else ' finds'} nearly the same"
    only = "" if n_models > 1 else "It is the only model. "
    return f"{only}Take {best}, because {' and '.join(facts) or 'its clusters are the most even'}{company}."


def _contrast(
    scores: Mapping[str, Mapping[str, float]], best: str, second: str | None, n_differing: int, n_samples: int
) -> str:
    """Return the sentence about the second opinion."""
    if second is None:
        return "All models say nearly the same, so any of them will do."
    return (
        f"A second opinion is {second} (score {scores[second]['score']:.2f} against {scores[best]['score']:.2f}): the "
        f"two differ on {n_differing} of {n_samples} samples."
    )
