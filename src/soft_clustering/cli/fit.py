"""``soft-clustering fit``: fit one model, write its memberships, and keep it for new rows."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Collection
from typing import Any

import numpy as np

from .._extras import require
from .._text import one_line
from ..base import BaseSoftClusterer
from ..explanation import explain_memberships
from ..inputs.features import has_gaps, takes_missing
from ..saving import SUFFIXES as MODEL_SUFFIXES
from ..saving import save_model
from .choosing import default_n_clusters
from .data import Data, check_n_clusters, kind_of, load
from .errors import CommandError, UsageError, say
from .models import configured, defaults, model_for, needs_n_clusters
from .outputs import memberships_file, replacing, write_memberships

#: The sizes of more clusters than this are summed up.
_MOST_SIZES = 20


def fit(args: argparse.Namespace) -> int:
    """Run the command."""
    kind = kind_of(args)
    model, settings = model_for(kind, args.model), dict(args.settings)
    K = _n_clusters(args, defaults(model), settings)
    if args.save is not None:
        _check_saving(args.save, model, kind)
    with (
        memberships_file(args.output, args.force) as output,
        replacing(args.save, args.force, "--save", MODEL_SUFFIXES) as saved,
    ):
        # Wrong settings are found before the data are read and K is chosen.
        asked = configured(model, kind, K, given=True, seed=0, **settings)
        data = load(args, kind, "keep" if takes_missing(asked) else "median")
        if has_gaps(data.X):
            say(f"{args.model} takes the missing values as they are")
        if K is None and "n_clusters" not in settings and needs_n_clusters(model):
            K, _ = default_n_clusters(data, model, settings)
        check_n_clusters(data, K or 0)
        estimator = configured(model, kind, K, given=K is not None, seed=args.random_state, **settings)
        start = time.perf_counter()
        _fit(estimator, data.X)
        seconds = time.perf_counter() - start
        if output is not None:
            noise = getattr(estimator, "noise_mass_", None)
            write_memberships(output, data.names_of_samples(), estimator.memberships_, estimator.labels_, noise)
        if saved is not None:
            from sklearn.pipeline import Pipeline

            save_model(saved, Pipeline([("preparation", data.preparation), ("model", estimator)]))
    _print_summary(data, estimator, seconds)
    if args.output:
        print(f"memberships: {args.output}")
    if args.save:
        print(f"model: {args.save}; soft-clustering predict {args.save} NEW_FILE applies it")
    return 0


def _n_clusters(args: argparse.Namespace, known: Collection[str], settings: Collection[str]) -> int | None:
    """Return the K of ``-k``, or None without this option."""
    if args.n_clusters is None:
        return None
    if "n_clusters" not in known:
        raise UsageError(f"{args.model} finds the number of clusters itself: leave -k out.")
    if "n_clusters" in settings:
        raise UsageError("-k and --set n_clusters set the same parameter: leave one out.")
    return int(args.n_clusters)


def _check_saving(name: str, model: type[BaseSoftClusterer], kind: str) -> None:
    """Raise an error before the fit if the model would be of no use in a file."""
    if kind != "features":
        raise UsageError(f"--save is for models of tables, not of {kind}: in Python, soft_clustering.saving keeps any.")
    if not hasattr(model, "predict_memberships"):
        raise CommandError(f"{model.__name__} cannot predict new rows, so --save would be of no use: leave it out.")
    if name.lower().endswith(".skops"):
        require("skops.io", "Saving a model as .skops needs skops")


def _fit(estimator: BaseSoftClusterer, X: Any) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        estimator.fit(X)
    for text in dict.fromkeys(one_line(warning.message) for warning in caught):
        print(f"soft-clustering: warning: {text}", file=sys.stderr)
    if estimator.n_clusters_ == 0:
        raise CommandError(f"{type(estimator).__name__} found no cluster, so there are no memberships to write.")


def _print_summary(data: Data, estimator: BaseSoftClusterer, seconds: float) -> None:
    print(f"{data.describe()}\n{one_line(repr(estimator))}: {seconds:.3f} s")
    sizes = np.bincount(estimator.labels_[estimator.labels_ >= 0], minlength=estimator.n_clusters_)
    outside = int((estimator.labels_ < 0).sum())
    lines = {
        "clusters": estimator.n_clusters_,
        "sizes": _sizes(sizes.tolist()) + (f"; {outside} rows in no cluster" if outside else ""),
        "mean membership": f"{estimator.memberships_.max(axis=1).mean():.3f} in the strongest cluster",
        "iterations": getattr(estimator, "n_iter_", None),
        "converged": getattr(estimator, "converged_", None),
        "objective": f"{estimator.objective_:.6g}" if hasattr(estimator, "objective_") else None,
    }
    for name, value in lines.items():
        if value is not None:
            print(f"{name}: {value}")
    explanation = explain_memberships(
        estimator.memberships_,
        data.explained,
        noise_mass=getattr(estimator, "noise_mass_", None),
        modality=data.modality,
        sample_names=data.ids,
        name=type(estimator).__name__,
    )
    print(f"\n{explanation}\n")


def _sizes(sizes: list[int]) -> str:
    """List the sizes of a few clusters; of many, the largest ones and the range.

    Examples
    --------
    >>> _sizes([3, 1])
    '3, 1'
    >>> _sizes(list(range(100)))
    'the largest 99, 98, 97, 96, 95; median 49.5, smallest 0'
    """
    if len(sizes) <= _MOST_SIZES:
        return ", ".join(map(str, sizes))
    largest = ", ".join(map(str, sorted(sizes, reverse=True)[:5]))
    return f"the largest {largest}; median {np.median(sizes):g}, smallest {min(sizes)}"
