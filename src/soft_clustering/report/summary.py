"""Turn finished runs into plain data: measures, memberships of the samples shown, and where the models differ."""

from __future__ import annotations

import base64
import inspect
import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from .._estimators import Estimator
from .._text import one_line
from .._types import Array, DataLike
from ..base import labels_from_memberships
from ..benchmarking.machine import environment
from ..benchmarking.records import Record, jsonable
from ..benchmarking.runner import PlannedRun
from ..plotting.data import sample_rows
from ..plotting.palette import PALETTE, UNASSIGNED, membership_shares
from ..recommendation.groups import agreements
from .pictures import segmentation_picture
from .samples import (
    SampleNames,
    axis_words,
    classes_of,
    features_shown,
    links_shown,
    n_samples_of,
    names_of_features,
    plane_shown,
    rounded,
    with_names,
)

Summary = dict[str, Any]

#: The number of samples that each sample is compared with, to find those that the models dispute.
_N_PARTNERS = 200
#: The number of disputed samples that are listed.
_N_DISPUTED = 20
#: The largest number of features whose names are kept.
_N_NAMES = 200


def summarize_comparison(
    finished: Sequence[tuple[PlannedRun, Record]],
    X: DataLike,
    y: ArrayLike | None = None,
    *,
    name: str = "X",
    columns: Sequence[str] | None = None,
    max_points: int = 2000,
    command: str = "",
    modality: str | None = None,
    ids: Sequence[str] | None = None,
    preparation: Summary | None = None,
    recommendation: Summary | None = None,
    profiles: Summary | None = None,
    curves: Summary | None = None,
    image: Summary | None = None,
) -> Summary:
    """Summarise the runs of a comparison: what the report shows, ready for JSON.

    Parameters
    ----------
    finished : list of (PlannedRun, record)
        The runs that a benchmark planned and carried out, in the order in which they are shown. A run whose
        ``memberships`` file exists is shown with its memberships.
    X : data of the modality
        The data of the runs: features, the adjacency matrix of a graph, documents, an image, or distances; see
        :func:`soft_clustering.plotting.plane.plane_of`.
    y : array-like of shape (n_samples,), default=None
        The classes, of any type; they are shown as text.
    name : str, default='X'
        The name of the data.
    columns : list of str, default=None
        Names of the features; None takes those of a data frame.
    max_points : int, default=2000
        The report shows at most this many samples, always the same ones.
    command : str, default=''
        The command or script that makes the report.
    modality : {'features', 'graph', 'documents', 'image', 'distances'}, default=None
        What the data are. None means a graph if all models are for graphs, otherwise features.
    ids : list of str, default=None
        The name of each sample. Without names, samples are called by their row numbers.
    preparation : dict, default=None
        What was done to the columns: ``notes`` (sentences) and ``columns``, a list of ``column``, ``kind``, ``used``
        and ``detail``.
    recommendation : dict, default=None
        The model to take. ``clear`` (whether there is one), ``model`` and ``second`` (positions in ``finished``, or
        None), ``reason``, ``differ`` (positions, among the samples shown, on which the two differ), ``n_differ`` (how
        many of all samples), ``groups`` of models that say the same (``models``, ``representative``, ``agreement``),
        ``scores`` (of each model by its position as text: ``score``, and the evidence for it) and ``evidence`` (what
        each kind means).
    profiles : dict, default=None
        What sets the clusters of the recommended model apart, from ``Explanation.to_dict()``.
    curves : dict, default=None
        The measures for each number of clusters: ``k``, ``criteria`` (by name: ``title``, ``sense``, ``choice``,
        ``values``), ``model``, ``recommended`` and ``reason``.
    image : dict, default=None
        The image whose pixels are the samples: its ``height`` and ``width``, and a ``picture`` of it as a data URI.

    Returns
    -------
    summary : dict
        ``dataset`` (``name``, ``modality``, ``n_samples``, ``n_features``, ``columns``, ``ids`` of the samples shown,
        ``classes``: their names and sizes), ``rows`` (numbers of the samples shown), ``points`` (their two
        coordinates), ``axes``, ``plane`` (``axes`` in words, the shares of the ``variance`` that they show, and up to
        12 ``features`` that can be axes instead, those that differ most between the clusters first), ``links`` (pairs
        of nodes shown, and how many there are, of a graph), ``classes`` (the class number of each sample shown, None
        without classes), ``models`` (a list; each has its ``name``, ``class``, ``parameters``, the columns of its
        record, ``sizes`` of its clusters, their ``colors``, the ``memberships`` of the samples shown and, of an image,
        a ``picture``), ``agreement``, ``disputes``, ``recommendation``, ``profiles``, ``curves``, ``preparation``,
        ``image``, ``palette``, ``unassigned``, ``environment``, ``command``.

    Notes
    -----
    Memberships are kept as bytes in base64, row by row, and 255 stands for the ``largest`` of the row: so memberships
    of possibilistic models, which may all be tiny, keep their proportions. Those of the recommended model are also kept
    as they are, in 32 bits.

    Clusters of different models have no common names. For the colours, each model's clusters are matched one to one
    with the classes (up to 20), or else with the clusters of the first model, so that the sum of common memberships is
    largest.

    ``agreement`` has the adjusted Rand index of the labels of each two models, and of the classes, for the samples
    shown.

    ``disputes`` needs no matching. Two samples are alike in a model to the degree E(i, j) = 1 - |p_i - p_j|_1 / 2, with
    the memberships divided by their sum; samples without a cluster count as one more cluster. The dispute of the models
    about sample i is

        d_i = mean over pairs of models a < b and samples j of |E_a(i, j) - E_b(i, j)|,

    for up to 200 random j. It is 0 if all models put the sample together with the same samples, and 1 if they agree on
    none. The mean of d_i is 1 minus the mean fuzzy Rand index of the models [1]_.

    References
    ----------
    .. [1] E. Huellermeier, M. Rifqi, S. Henzgen, R. Senge (2012). Comparing fuzzy partitions: a generalization of the
       Rand index and related measures. IEEE Trans. Fuzzy Systems 20(3), 546-556.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import FCM
    >>> from soft_clustering.benchmarking import ClusteringBenchmark
    >>> from soft_clustering.report import summarize_comparison
    >>> X, y = load_iris(return_X_y=True)
    >>> benchmark = ClusteringBenchmark([FCM()], {"iris": (X, y)}, verbose=0)
    >>> runs = list(benchmark.plan())
    >>> summary = summarize_comparison([*zip(runs, benchmark.carry_out(runs))], X, y, name="iris")
    >>> [(model["name"], model["status"], round(model["ari"], 2)) for model in summary["models"]]
    [('FCM', 'ok', 0.73)]
    """
    if modality is None:
        graph = bool(finished) and all(getattr(run.estimator, "modality", None) == "graph" for run, _ in finished)
        modality = "graph" if graph else "features"
    size = None if image is None else (int(image["height"]), int(image["width"]))
    n = n_samples_of(X, modality, size)
    rows = sample_rows(n, max_points)
    sample_names = SampleNames(ids, n, None if size is None else size[1])
    class_names, codes = classes_of(n, y)
    saved = [saved_memberships(run, n) for run, _ in finished]
    shown = [None if U is None else np.asarray(U[rows], dtype=np.float64) for U in saved]
    # a degenerate partition would dispute every sample with every other model
    settled = {number: U for number, U in enumerate(shown) if U is not None and finished[number][1]["status"] == "ok"}
    if codes is not None and len(class_names) <= len(PALETTE):
        reference = np.eye(len(class_names))[codes[rows]]
    else:
        reference = next(iter(settled.values()), np.ones((len(rows), 1)))
    models = [
        _model(title, run, record, U, whole, reference)
        for title, (run, record), U, whole in zip(_titles(finished), finished, shown, saved, strict=True)
    ]
    if size is not None:
        for model, U in zip(models, saved, strict=True):
            model["picture"] = None if U is None else segmentation_picture(U, model["colors"], *size)
    recommended = None if recommendation is None else recommendation["model"]
    leading = next(iter(settled.values()), None) if recommended is None else shown[recommended]
    if recommended is not None and leading is not None:
        models[recommended]["memberships"]["exact"] = _float32(leading)
    names = names_of_features(X, modality, columns)
    plane = plane_shown(X, modality, rows, size, names)
    return {
        "dataset": {
            "name": str(name),
            "modality": modality,
            "n_samples": n,
            "n_features": len(names),
            "columns": names[:_N_NAMES],
            "ids": sample_names.of(rows),
            "classes": None
            if codes is None
            else [
                {"name": label, "size": int(count)}
                for label, count in zip(class_names, np.bincount(codes), strict=True)
            ],
        },
        "rows": rows.tolist(),
        "points": [[rounded(value) for value in point] for point in plane.points],
        "axes": plane.axes,
        "plane": {
            "axes": axis_words(plane, modality),
            "variance": None if plane.variance is None else [round(share, 4) for share in plane.variance],
            "features": features_shown(X, rows, names, leading) if modality == "features" else [],
        },
        "links": links_shown(X, rows) if modality == "graph" else None,
        "classes": None if codes is None else codes[rows].tolist(),
        "models": models,
        "agreement": _agreement(settled, None if codes is None else codes[rows]),
        "disputes": _disputes(settled, len(rows)),
        "recommendation": _expressed(recommendation),
        "profiles": None if profiles is None else _expressed(with_names(profiles, sample_names)),
        "curves": _expressed(curves),
        "preparation": preparation,
        "image": image,
        "palette": list(PALETTE),
        "unassigned": UNASSIGNED,
        "environment": environment(),
        "command": command,
    }


def _expressed(value: Any) -> Any:
    """Return nested values that JSON can express, as :func:`jsonable` does for a record.

    Examples
    --------
    >>> _expressed({"features": [{"lift": float("inf"), "low": float("nan")}]})
    {'features': [{'lift': 'inf', 'low': None}]}
    """
    if isinstance(value, dict):
        return jsonable({name: _expressed(entry) for name, entry in value.items()})
    if isinstance(value, (list, tuple)):
        return list(_expressed(dict(enumerate(value))).values())
    return value


# Models ---------------------------------------------------------------------------------------------------------------


def _titles(finished: Sequence[tuple[PlannedRun, Record]]) -> list[str]:
    """Return the names of the models, with K and the repeat if a model ran more than once."""
    counts = Counter(record["model"] for _, record in finished)
    return [
        record["model"]
        if counts[record["model"]] == 1
        else f"{record['model']}, K={run.estimator.get_params(deep=False).get('n_clusters', record['n_clusters'])}"
        + (f", repeat {record['repeat']}" if record["repeat"] else "")
        for run, record in finished
    ]


def saved_memberships(run: PlannedRun, n: int | None = None) -> NDArray[np.float32] | None:
    """Return the saved memberships of a run, noise as a last column; None without a file, or if it has not n rows."""
    if run.memberships is None or not os.path.exists(run.memberships):
        return None
    U: NDArray[np.float32] = np.load(run.memberships, mmap_mode="r")
    return U if U.ndim == 2 and n in (None, len(U)) and U.shape[1] else None


def clusters_and_noise(U: Any, record: Record) -> tuple[Any, Any]:
    """Return saved memberships (n, K), and the noise mass (n,): None without a column for it."""
    K = record["n_clusters"]
    return (U[:, :K], U[:, K]) if K is not None and U.shape[1] - 1 == K else (U, None)


def _sizes(U: Any, record: Record) -> list[int]:
    """Count the samples in each cluster, by their largest membership."""
    U, noise = clusters_and_noise(np.asarray(U), record)
    labels = labels_from_memberships(U, 0.0 if noise is None else noise)
    return [int(size) for size in np.bincount(labels[labels >= 0], minlength=U.shape[1])]


def _colors(U: Array, record: Record, reference: Array) -> list[int]:
    """Return the number of each column's colour, -1 for noise."""
    clusters, noise = clusters_and_noise(membership_shares(U), record)
    matched: list[int] = _matched(reference, clusters).tolist()
    return matched if noise is None else [*matched, -1]


def _model(
    title: str,
    run: PlannedRun,
    record: Record,
    U: Array | None,
    whole: NDArray[np.float32] | None,
    reference: Array,
) -> dict[str, Any]:
    kind = type(run.estimator)
    return {
        **jsonable({name: value for name, value in record.items() if name not in ("key", "model")}),
        "name": title,
        "class": f"{kind.__module__}.{kind.__qualname__}",
        "parameters": _parameters(run.estimator),
        "sizes": None if whole is None else _sizes(whole, record),
        "memberships": None if U is None else _levels(U),
        "colors": None if U is None else _colors(U, record, reference),
    }


def _parameters(estimator: Estimator) -> list[dict[str, Any]]:
    """Return the name and value of each parameter, and whether the value differs from the default."""
    defaults = {name: entry.default for name, entry in inspect.signature(type(estimator)).parameters.items()}
    return [
        {"name": name, "value": one_line(repr(value)), "changed": repr(value) != repr(defaults.get(name))}
        for name, value in estimator.get_params(deep=False).items()
    ]


def _levels(U: Array) -> dict[str, Any]:
    largest = U.max(axis=1, keepdims=True)
    relative = np.divide(U, largest, out=np.zeros(U.shape), where=largest > 0)
    return {
        "n_clusters": U.shape[1],
        "largest": [float(f"{value:.4g}") for value in largest[:, 0]],
        "levels": base64.b64encode(np.rint(relative * 255).astype(np.uint8).tobytes()).decode(),
    }


def _float32(U: Array) -> str:
    """Return memberships as the text of little-endian numbers of 32 bits, row by row."""
    return base64.b64encode(U.astype("<f4").tobytes()).decode()


# Between models -------------------------------------------------------------------------------------------------------


def _matched(reference: Array, shares: Array) -> NDArray[np.intp]:
    """Return the number of each cluster's colour: that of its match, or the next free one."""
    known, found = linear_sum_assignment(reference.T @ shares, maximize=True)
    numbers = np.full(shares.shape[1], -1)
    numbers[found] = known
    left = numbers < 0
    numbers[left] = reference.shape[1] + np.arange(left.sum())
    return numbers


def _agreement(settled: dict[int, Array], codes: NDArray[np.intp] | None) -> dict[str, Any]:
    """Return the adjusted Rand indices; a model is given by its number, the classes by None."""
    labels: dict[int | None, NDArray[np.intp]] = {} if codes is None else {None: codes}
    labels |= {number: labels_from_memberships(U) for number, U in settled.items()}
    return {"models": list(labels), "values": agreements(list(labels.values())).round(4).tolist()}


def _disputes(settled: dict[int, Array], n: int) -> dict[str, Any] | None:
    """Return how much the models dispute each sample, and the positions of the samples they dispute most."""
    if len(settled) < 2:
        return None
    partners = np.random.RandomState(0).permutation(n)[:_N_PARTNERS]
    alike = np.empty((len(settled), n, len(partners)), dtype=np.float32)
    for number, U in enumerate(settled.values()):
        shares = np.column_stack([membership_shares(U), ~U.any(axis=1)])
        alike[number] = 1 - cdist(shares, shares[partners], "cityblock") / 2
    values = _mean_difference(alike).mean(axis=1)
    top = np.argsort(-values, kind="stable")[:_N_DISPUTED]
    return {
        "values": [round(float(value), 4) for value in values],
        "top": [int(position) for position in top if values[position] > 0],
    }


def _mean_difference(values: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Return the mean of |v_a - v_b| over pairs of the first axis.

    In ascending order the k-th of M values is the larger one in k pairs and the smaller one in M - 1 - k.

    Examples
    --------
    >>> _mean_difference(np.array([[1.0], [4.0], [2.0]]))  # 3, 1 and 2
    array([2.])
    """
    M = len(values)
    weights = 2 * np.arange(M) - (M - 1)
    difference: NDArray[np.floating[Any]] = np.tensordot(weights, np.sort(values, axis=0), axes=1) / (M * (M - 1) / 2)
    return difference
