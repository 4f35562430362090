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

#: The weights of the evidence in the score; benchmarks/recommendation.py has the experiment that chose them.
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
    scores : dict of str to dict of str to float
        For each model its ``score``, by which the models are ranked, and the evidence.
    groups : list of list of str
        Models that say the same, the best first; groups in the order of their best.
    agreement : dict of str to float
        The mean agreement of each model with the others, an adjusted Rand index.
    differing : ndarray of int
        The samples that ``best`` and ``second`` put into different clusters, the surest first.
    n_samples : int
        The number of samples.
    """

    best: str | None
    second: str | None
    clear: bool
    reason: str
    scores: dict[str, dict[str, float]]
    groups: list[list[str]]
    agreement: dict[str, float]
    differing: NDArray[np.intp]
    n_samples: int

    @property
    def ranking(self) -> list[str]:
        """The models, the best first."""
        return sorted(self.scores, key=lambda name: -self.scores[name]["score"])

    def __str__(self) -> str:
        return self.reason


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

    The weights were learnt on 76 data sets and rounded. Silhouette, Calinski-Harabasz, Davies-Bouldin, the likelihood
    of the partition as Gaussians, and agreement with the other models were tried and do not help: with any of them
    added, sets that were left out were predicted worse.

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
        return Recommendation(None, None, False, "There is no fit to recommend.", {}, [], {}, np.empty(0, np.intp), 0)
    labels = {name: labels_from_memberships(np.asarray(memberships[name])) for name in names}
    scores = {name: _evidence(labels[name], evidence.get(name, {}), n_clusters) for name in names}
    usable = {key: w for key, w in WEIGHTS.items() if any(math.isfinite(scores[name][key]) for name in names)}
    for found in scores.values():
        total = sum(weight * (found[key] if math.isfinite(found[key]) else 0.0) for key, weight in usable.items())
        found["score"] = total / sum(usable.values())
    order = sorted(names, key=lambda name: -scores[name]["score"])
    table = agreements([labels[name] for name in order])
    groups = [[order[i] for i in group] for group in groups_of(table)]
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
        _reason(scores, order, same, second, clear, len(rows), len(labels[best])),
        {name: scores[name] for name in order},
        groups,
        {name: float((table[i].sum() - 1) / max(1, len(order) - 1)) for i, name in enumerate(order)},
        rows,
        len(labels[best]),
    )


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


def _reason(
    scores: Mapping[str, Mapping[str, float]],
    order: list[str],
    same: list[str],
    second: str | None,
    clear: bool,
    n_differing: int,
    n_samples: int,
) -> str:
    """Return the sentences that end the table and open the report."""
    best, found = order[0], scores[order[0]]
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
    if len(order) == 1:
        return f"{best} is the only model: {' and '.join(facts) or 'there is no evidence'}."
    others = len(same) - 1
    company = (
        f"; {others} other model{'s' if others > 1 else ''} find{'' if others > 1 else 's'} nearly the same"
        if others
        else ""
    )
    sentence = f"Take {best}, because {' and '.join(facts) or 'its clusters are the most even'}{company}."
    if second is None:
        return f"{sentence} All models say nearly the same, so any of them will do."
    return (
        f"{sentence} A second opinion is {second} (score {scores[second]['score']:.2f} against {found['score']:.2f}): "
        f"the two differ on {n_differing} of {n_samples} samples."
    )
