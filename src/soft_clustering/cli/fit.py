"""``soft-clustering fit``: fit one model and write its memberships to a file."""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .._text import one_line
from ..base import BaseSoftClusterer
from .data import SUFFIXES, check_n_clusters, default_n_clusters, load, require_pandas, require_pyarrow, suffix_of
from .errors import CommandError, UsageError
from .models import configured, defaults, feature_model, needs_n_clusters


def fit(args: argparse.Namespace) -> int:
    """Run the command."""
    model, settings = feature_model(args.model), dict(args.settings)
    K = _n_clusters(args, defaults(model), settings)
    with _output(args.output, args.force) as partial:
        data = load(args)
        if K is None and "n_clusters" not in settings and needs_n_clusters(model):
            K = default_n_clusters(data)
        check_n_clusters(data, K or 0)
        estimator = configured(model, K, given=K is not None, seed=args.random_state, **settings)
        start = time.perf_counter()
        _fit(estimator, data.X)
        seconds = time.perf_counter() - start
        if partial is not None:
            _write(estimator, partial)
    print(f"{data.describe()}\n{one_line(repr(estimator))}: {seconds:.3f} s")
    _print_summary(estimator)
    if args.output:
        print(f"memberships: {args.output}")
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


def _fit(estimator: BaseSoftClusterer, X: NDArray[np.float64]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        estimator.fit(X)
    for text in dict.fromkeys(one_line(warning.message) for warning in caught):
        print(f"soft-clustering: warning: {text}", file=sys.stderr)


def _print_summary(estimator: BaseSoftClusterer) -> None:
    sizes = np.bincount(estimator.labels_[estimator.labels_ >= 0], minlength=estimator.n_clusters_)
    outside = int((estimator.labels_ < 0).sum())
    lines = {
        "clusters": estimator.n_clusters_,
        "sizes": ", ".join(map(str, sizes)) + (f"; {outside} rows in no cluster" if outside else ""),
        "mean membership": f"{estimator.memberships_.max(axis=1).mean():.3f} in the strongest cluster",
        "iterations": getattr(estimator, "n_iter_", None),
        "converged": getattr(estimator, "converged_", None),
        "objective": f"{estimator.objective_:.6g}" if hasattr(estimator, "objective_") else None,
    }
    for name, value in lines.items():
        if value is not None:
            print(f"{name}: {value}")


# The file -------------------------------------------------------------------------------------------------------------


@contextmanager
def _output(name: str | None, force: bool) -> Iterator[Path | None]:
    """Make a file that replaces the output at the end, so that a failure leaves an older output unchanged.

    The file is made before the work, so that an output that cannot be written is found now.
    """
    if name is None:
        yield None
        return
    path = Path(name).resolve()
    if suffix_of(path) not in SUFFIXES:
        raise UsageError(f"-o {name} must end in {', '.join(SUFFIXES)}.")
    if suffix_of(path) != ".npz":
        require_pandas()
    if suffix_of(path) == ".parquet":
        require_pyarrow()
    if path.exists() and not path.is_file():
        raise CommandError(f"{name} is not a file: give another -o.")
    if path.exists() and not force:
        raise CommandError(f"{name} exists: give another -o, or --force to write over it.")
    partial = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        partial.touch()
    except OSError as error:
        raise CommandError(f"{name} cannot be written: {error.strerror}. Give another -o.") from error
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _write(estimator: BaseSoftClusterer, path: Path) -> None:
    """Write a row per sample: its number, its memberships and its label."""
    suffix, U, labels = suffix_of(path), np.asarray(estimator.memberships_), np.asarray(estimator.labels_)
    if suffix == ".npz":
        np.savez_compressed(path, memberships=U, labels=labels)
        return
    columns = {f"cluster_{k}": U[:, k] for k in range(U.shape[1])} | {"label": labels}
    frame = require_pandas().DataFrame(columns).rename_axis("row").reset_index()
    if suffix == ".parquet":
        frame.to_parquet(path, engine="pyarrow", index=False)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
