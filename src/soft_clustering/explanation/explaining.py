"""Explain the clusters of a model, or given memberships."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples

from .._estimators import Estimator
from .._types import Array, DataLike, Names
from ..base import labels_from_memberships, without_noise
from ..documents.corpus import DocumentClusterer
from ..inputs.documents import is_text
from ..metrics._validation import check_matrix
from ..plotting.data import check_count, check_noise
from .colours import PixelNames, profile_colours, read_image
from .features import check_names
from .memberships import clusterer_of, memberships_for, noise_for
from .profile import Profile
from .relations import profile_nodes, profile_pairs
from .result import Explanation
from .tables import Table, distances_to_means, profile_table, read_clients, read_partitions, read_table
from .weights import Sizes, borderline_samples, cluster_sizes, cluster_weights, typical_samples
from .wording import percent
from .words import distances_to_words, profile_shares, read_documents, word_shares

_N_TOP, _N_WORDS = 5, 10
_WITHOUT_FEATURES = ("graph", "distances", "similarities")
_OF_ROWS = ("features", "documents", "distances", "similarities")  # an entry of X is a sample


def explain(
    model: Estimator,
    X: DataLike,
    feature_names: Names | None = None,
    *,
    sample_names: Names | None = None,
    n_top: int | None = None,
    n_samples: int = 5,
) -> Explanation:
    """Say what each cluster of a fitted model is: what sets it apart, and which samples show it.

    Parameters
    ----------
    model : fitted estimator
        A soft clusterer of any modality, a clusterer of scikit-learn, or a pipeline whose last step is one.
    X : data of the model's modality
        What the model was fitted to. A pipeline is explained in the columns and units of X, before its own steps: X may
        have dates, booleans, categories and missing values. Other samples can be explained if the model predicts.
    feature_names : sequence of str, default=None
        Names of the columns, words or channels; None takes those of X or of the model.
    sample_names : sequence of str, default=None
        Names of the samples; None takes the index of a data frame or the nodes of a graph.
    n_top : int, default=None
        How many features, words or nodes of a cluster are printed; None stands for 10 words and 5 of the others.
    n_samples : int, default=5
        Largest number of typical, and of borderline, samples of a cluster.

    Returns
    -------
    explanation : Explanation
        Print it, or see ``clusters`` and ``features``, which are data frames, ``typical`` and ``borderline``, ``plot``
        and ``to_dict``.

    See Also
    --------
    soft_clustering.explanation.explain_memberships : The same for memberships from elsewhere.
    soft_clustering.explanation.profile_features : How features are compared.

    Notes
    -----
    A sample counts in a cluster by its membership. The rows of memberships whose sum exceeds 1 are divided by it, and
    samples without a cluster, or that are noise, count nowhere. Features are ranked by how far the 95 % interval of
    their standardised difference is from 0; a category is the difference of a share, so that it is on the same scale.
    Intervals take the memberships as given. They are no tests: any clustering, of any data, makes differences.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import FCM, explain
    >>> X = load_iris().data
    >>> model = FCM(3, random_state=0).fit(X)
    >>> explanation = explain(model, X, ["sepal length", "sepal width", "petal length", "petal width"])
    >>> print(explanation.sentences[1])  # doctest: +NORMALIZE_WHITESPACE
    Cluster 1 (35 %): lower petal length (1.7 against 4.9), lower petal width (0.3 against 1.7), lower sepal length
    (5.1 against 6.3).
    """
    clusterer = clusterer_of(model)
    modality = _modality(clusterer, X)
    data: Any = X
    if modality == "documents":
        data, feature_names = _counted(model, clusterer, X, feature_names)
    elif modality == "image" and hasattr(clusterer, "image_shape_"):
        data = np.asarray(X).reshape(*clusterer.image_shape_, -1)
    elif modality == "features" and hasattr(X, "columns") and hasattr(model, "steps"):
        # the preparation knows which texts are numbers and dates, and which columns are used
        readable = getattr(model.steps[0][1], "readable", None)
        data = X if readable is None else readable(X)
    elif modality == "features" and feature_names is None and not hasattr(X, "columns"):
        feature_names = getattr(model, "feature_names_in_", None)
    n, of_rows = _num_samples(data), modality in _OF_ROWS
    explanation = explain_memberships(
        memberships_for(model, X, n) if of_rows else clusterer.memberships_,
        data,
        noise_mass=noise_for(model, X, n) if of_rows else getattr(clusterer, "noise_mass_", None),
        modality=modality,
        feature_names=feature_names,
        sample_names=sample_names,
        n_top=n_top,
        n_samples=n_samples,
        name=type(clusterer).__name__,
    )
    if not len(explanation.sizes.size):
        said = getattr(clusterer, "_without_clusters", "found no cluster")
        explanation.notes.insert(0, f"{type(clusterer).__name__} {said}.")
    return explanation


def explain_memberships(
    U: ArrayLike,
    X: DataLike,
    *,
    noise_mass: ArrayLike | None = None,
    modality: str = "features",
    feature_names: Names | None = None,
    sample_names: Names | None = None,
    n_top: int | None = None,
    n_samples: int = 5,
    name: str = "memberships",
) -> Explanation:
    """Say what each cluster of given memberships is.

    Parameters
    ----------
    U : array-like of shape (n_samples, n_clusters)
        Memberships of any kind, non-negative; also of no cluster at all.
    X : data of the modality
        The samples that the memberships are of.
    noise_mass : array-like of shape (n_samples,), default=None
        Memberships in the noise. Samples that are noise count in no cluster.
    modality : str, default='features'
        ``'features'``: a table. ``'documents'``: texts or counts of words. ``'graph'``: an adjacency matrix, a networkx
        graph or edges. ``'image'``: an image or a volume. ``'distances'``, ``'similarities'``: a matrix of all pairs.
        ``'partitions'``, ``'clients'``: a list of partitions, or of the tables of clients.
    feature_names, sample_names, n_top, n_samples : as for :func:`explain`
    name : str, default='memberships'
        The name of the model.

    Returns
    -------
    explanation : Explanation

    Examples
    --------
    >>> from soft_clustering.explanation import explain_memberships
    >>> U = [[0.9, 0.1]] * 20 + [[0.1, 0.9]] * 20
    >>> X = [[i % 4, 10 + i % 7] for i in range(20)] + [[i % 4, 30 + i % 7] for i in range(20)]
    >>> print(explain_memberships(U, X, feature_names=["left", "right"]))
    memberships: 2 clusters of 40 samples
    <BLANKLINE>
    cluster 0: 50 %, 20 samples
      right  lower  15 against 31  -1.57 [-1.73, -1.41]
      typical: 5, 18, 6, 13, 10
    <BLANKLINE>
    cluster 1: 50 %, 20 samples
      right  higher  31 against 15  +1.57 [+1.41, +1.73]
      typical: 21, 34, 22, 29, 30
    """
    shape: tuple[int, ...] = getattr(U, "shape", ())
    without_clusters = shape[1:] == (0,) and shape[0] > 0
    # The data are read as if there were one cluster, an empty one, which is left out in the end.
    U = np.zeros((shape[0], 1)) if without_clusters else check_matrix("U", U, "n_clusters")
    noise, notes = check_noise(noise_mass, len(U)), []
    if noise is not None:
        U = without_noise(U, noise)
        left_out = int((~U.any(axis=1)).sum())
        notes.append(f"Noise, in no cluster: {left_out} of {len(U)} samples ({percent(left_out / len(U))}).")
    check_count("n_samples", n_samples)
    n_top = (_N_WORDS if modality == "documents" else _N_TOP) if n_top is None else check_count("n_top", n_top)
    if modality not in _READERS:
        raise ValueError(f"modality must be one of {', '.join(_READERS)}. Got {modality!r} instead.")
    if feature_names is not None and modality in _WITHOUT_FEATURES:
        raise ValueError(f"feature_names must be None for modality={modality!r}: sample_names names the samples.")
    found = _READERS[modality](U, X, sample_names if modality == "graph" else feature_names)
    sizes = cluster_sizes(U)
    return Explanation(
        model=name,
        modality="distances" if modality == "similarities" else modality,
        n_samples=len(U),
        sizes=Sizes._make(entry[:0] for entry in sizes) if without_clusters else sizes,
        profile=found.profile,
        typical=typical_samples(U, found.cost, n_samples),
        borderline=borderline_samples(U, n_samples),
        sample_names=found.names if sample_names is None else check_names("sample_names", sample_names, len(U)),
        n_top=n_top,
        notes=[*notes, *found.notes],
    )


# What the model takes -------------------------------------------------------------------------------------------------


def _modality(clusterer: Any, X: DataLike) -> str:
    """Return what X is to this clusterer."""
    modality = str(getattr(clusterer, "modality", "features"))
    if modality != "features":
        return modality
    if is_text(X):
        return "documents"
    precomputed = [
        name
        for name, value in clusterer.get_params(deep=False).items()
        if isinstance(value, str) and value.startswith("precomputed")
    ]
    if precomputed:
        return "distances" if "metric" in precomputed else "similarities"
    return "image" if len(getattr(X, "shape", ())) == 3 else "features"


def _counted(model: Any, clusterer: Any, X: DataLike, words: Names | None) -> tuple[Any, Names | None]:
    """Return the counts of words as the model counts them, and the words."""
    if isinstance(clusterer, DocumentClusterer) and clusterer is model:
        return clusterer._documents(X, reset=False), clusterer.words_ if words is None else words
    first: Any = model.steps[0][1] if isinstance(model, Pipeline) else None
    if is_text(X) and hasattr(first, "get_feature_names_out"):
        counts = first.transform(X)
        if counts.min() >= 0:
            return counts, first.get_feature_names_out()
    return read_documents(X, words)


# What is found --------------------------------------------------------------------------------------------------------


class _Found(NamedTuple):
    profile: Profile
    cost: Array  # of each sample: its distance from the middle of its cluster
    names: Sequence[str] | None = None
    notes: Sequence[str] = ()


def _of_table(U: Array, table: Table, names: Sequence[str] | None = None) -> _Found:
    profile = profile_table(cluster_weights(U), table)
    return _Found(profile, distances_to_means(table, profile, labels_from_memberships(U)), names, table.notes)


def _of_features(U: Array, X: Any, names: Names | None) -> _Found:
    index: Any = X.index if hasattr(X, "iloc") else np.arange(len(U))
    numbered = np.array_equal(index, np.arange(len(index)))
    return _of_table(U, read_table(X, len(U), names), None if numbered else [str(label) for label in index])


def _of_partitions(U: Array, X: Any, names: Names | None) -> _Found:
    return _of_table(U, read_partitions(X, len(U), names))


def _of_clients(U: Array, X: Any, names: Names | None) -> _Found:
    return _of_table(U, read_clients(X, len(U), names))


def _of_documents(U: Array, X: Any, names: Names | None) -> _Found:
    counts, words = read_documents(X, names)
    if counts.shape[0] != len(U):
        raise ValueError(
            f"X must have one document per row of the memberships, {len(U)} documents. Got {counts.shape[0]} instead."
        )
    shares = word_shares(counts)
    profile = profile_shares(cluster_weights(U), shares, words)
    empty = int((np.diff(shares.indptr) == 0).sum())
    notes = [f"Documents without a known word are left out: {empty}."] if empty else []
    return _Found(profile, distances_to_words(shares, profile, labels_from_memberships(U)), None, notes)


def _of_graph(U: Array, X: Any, names: Names | None) -> _Found:
    profile = profile_nodes(U, X, names)
    return _Found(profile, -_at_labels(profile.strength, U), profile.names)


def _of_image(U: Array, X: Any, names: Names | None) -> _Found:
    pixels, shape = read_image(X, len(U))
    profile = profile_colours(U, X, names)
    table = Table(pixels, profile.channels.names, profile.channels.kinds, [], [])
    cost = distances_to_means(table, profile.channels, labels_from_memberships(U))
    return _Found(profile, cost, PixelNames(shape))


def _of_distances(U: Array, X: Any, names: Names | None) -> _Found:
    profile = profile_pairs(U, X, "distance")
    return _Found(profile, _at_labels(profile.to_members, U))


def _of_similarities(U: Array, X: Any, names: Names | None) -> _Found:
    profile = profile_pairs(U, X, "similarity")
    return _Found(profile, -_at_labels(profile.to_members, U))


def _at_labels(values: Array, U: Array) -> Array:
    """Return the entry of each row that is that of its label."""
    labels = np.maximum(labels_from_memberships(U), 0)
    entries: Array = np.take_along_axis(values, labels[:, None], axis=1)[:, 0]
    return entries


_READERS = {
    "features": _of_features,
    "documents": _of_documents,
    "graph": _of_graph,
    "image": _of_image,
    "distances": _of_distances,
    "similarities": _of_similarities,
    "partitions": _of_partitions,
    "clients": _of_clients,
}
