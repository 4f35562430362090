"""Explain the clusters of a model, or given memberships."""

from __future__ import annotations

from numpy.typing import ArrayLike
from sklearn.utils.validation import _num_samples

from .._estimators import Estimator
from .._types import DataLike, Names
from ..base import labels_from_memberships
from ..metrics._validation import check_matrix
from .features import check_names
from .memberships import clusterer_of, memberships_for
from .result import Explanation
from .tables import distances_to_means, profile_table, read_table
from .weights import borderline_samples, cluster_sizes, cluster_weights, typical_samples


def explain(
    model: Estimator,
    X: DataLike,
    feature_names: Names | None = None,
    *,
    sample_names: Names | None = None,
    n_top: int = 5,
    n_samples: int = 5,
) -> Explanation:
    """Say what each cluster of a fitted model is."""
    clusterer = clusterer_of(model)
    return explain_memberships(
        memberships_for(model, X, _num_samples(X)),
        X,
        feature_names=feature_names,
        sample_names=sample_names,
        n_top=n_top,
        n_samples=n_samples,
        name=type(clusterer).__name__,
    )


def explain_memberships(
    U: ArrayLike,
    X: DataLike,
    *,
    modality: str = "features",
    feature_names: Names | None = None,
    sample_names: Names | None = None,
    n_top: int = 5,
    n_samples: int = 5,
    name: str = "memberships",
) -> Explanation:
    """Say what each cluster of given memberships is."""
    U = check_matrix("U", U, "n_clusters")
    table = read_table(X, len(U), feature_names)
    profile = profile_table(cluster_weights(U), table)
    cost = distances_to_means(table, profile, labels_from_memberships(U))
    return Explanation(
        name,
        modality,
        len(U),
        cluster_sizes(U),
        profile,
        typical_samples(U, cost, n_samples),
        borderline_samples(U, n_samples),
        None if sample_names is None else check_names("sample_names", sample_names, len(U)),
        n_top,
        table.notes,
    )
