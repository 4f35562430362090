"""``soft-clustering predict``: memberships of new rows, by a model that ``fit --save`` has kept."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from ..base import labels_from_memberships
from ..preparation import Preparation, listed
from ..saving import load_model
from .data import column_named, ids_of, naming, table_of
from .errors import CommandError, UsageError, say
from .outputs import memberships_file, write_memberships


def predict(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.output is None:
        raise UsageError("predict needs -o FILE for the memberships: .csv, .tsv, .parquet or .npz.")
    with memberships_file(args.output, args.force) as output:
        assert output is not None
        preparation, model = _loaded(args.model_file, args.trust)
        frame = table_of(args, _file(args.data))
        given = preparation.id_column_ if args.id is None else args.id
        id_column = None
        if args.id is not None or (given is not None and given in frame.columns):
            id_column = column_named(frame, given, "--id")
        ids = None if id_column is None else ids_of(frame, id_column)
        with naming(args.data):
            frame = _spelled(frame, preparation)
            X = preparation.transform(frame)
        for note in _unknown(frame, preparation):
            say(note)
        U = np.asarray(model.predict_memberships(X))
        noise = model.predict_noise_mass(X) if model.membership_kind == "subpartition" else None
        labels = labels_from_memberships(U, 0.0 if noise is None else noise)
        names = {"row": np.arange(len(U))} if ids is None or id_column is None else {id_column: list(ids)}
        write_memberships(output, names, U, labels, noise)
    sizes = np.bincount(labels[labels >= 0], minlength=U.shape[1])
    print(f"{args.data}: {len(U)} rows by {type(model).__name__}, {U.shape[1]} clusters")
    print(f"mean membership: {U.max(axis=1).mean():.3f} in the strongest cluster")
    print(f"rows per cluster: {', '.join(map(str, sizes[:20]))}{', ...' if len(sizes) > 20 else ''}")
    print(f"memberships: {args.output}")
    return 0


def _loaded(name: str, trust: bool) -> tuple[Preparation, Any]:
    """Return how the table was prepared, and the model."""
    path = _file(name)
    pipeline = load_model(path, trust=trust)
    steps = [step for _, step in getattr(pipeline, "steps", [])]
    if len(steps) != 2 or not isinstance(steps[0], Preparation) or not hasattr(steps[1], "predict_memberships"):
        raise CommandError(f"{name} was not written by soft-clustering fit --save: fit the model again.")
    return steps[0], steps[1]


def _file(name: str) -> Path:
    path = Path(name)
    if path.is_dir():
        raise CommandError(f"{name} is a folder: name a file in it.")
    if not path.exists():
        raise CommandError(f"There is no file {name}: check the name and the folder.")
    return path


def _spelled(frame: Any, preparation: Preparation) -> Any:
    """Return the table with the columns spelled as at the fit: upper and lower case are the same."""
    needed = [name for _, _, columns in preparation.transformers for name in columns]
    alike = {str(column).casefold(): column for column in frame.columns}
    renamed = {
        alike[name.casefold()]: name
        for name in needed
        if name not in frame.columns and name.casefold() in alike and alike[name.casefold()] not in needed
    }
    return frame.rename(columns=renamed)


def _unknown(frame: Any, preparation: Preparation) -> list[str]:
    """Say which cells are not as at the fit: missing or unreadable numbers, and new categories."""
    notes = []
    for title, step, columns in preparation.transformers_:
        if title == "categories":
            new = step.n_unknown(frame[columns])
            if counts := [f"{name} ({n})" for name, n in zip(columns, new, strict=True) if n]:
                notes.append(f"values that were not there at the fit, taken as no category: {listed(counts)}")
        elif title != "remainder":
            missing = np.isnan(step[0].transform(frame[columns])).sum(axis=0)
            if counts := [f"{name} ({n})" for name, n in zip(columns, missing, strict=True) if n]:
                what = "replaced by the median at the fit" if "fill" in step.named_steps else "missing for the model"
                notes.append(f"missing or unreadable, {what}: {listed(counts)}")
    return notes
