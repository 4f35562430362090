"""``soft-clustering list``, ``info`` and ``datasets``: which models and data sets there are."""

from __future__ import annotations

import argparse
import inspect
import json
import re
from typing import TYPE_CHECKING

from .._registry import REGISTRY
from .._text import one_line
from ..datasets import available_datasets, dataset_info
from ..datasets.files import find_file
from .models import INPUTS, defaults, model_class
from .tables import Column, listing, paragraphs, table

if TYPE_CHECKING:
    from ..benchmarking.records import Record

_MEMBERSHIPS = {
    "partition": "shares, which sum to 1 for each sample",
    "possibilistic": "typicalities: each in [0, 1] on its own",
    "affiliation": "strengths: non-negative, not bounded",
    "credal": "pignistic probabilities, which sum to 1 for each sample",
    "subpartition": "shares, which sum to 1 for each sample together with the noise",
}
_MODELS = (
    Column("model", "name"),
    Column("family", "family"),
    Column("input", "modality"),
    Column("use it for", "use_when"),
)
_DATASETS = (
    Column("name", "name"),
    Column("group", "group"),
    Column("rows", "n_samples", form=".0f"),
    Column("features", "n_features", form=".0f"),
    Column("classes", "n_classes", form=".0f"),
    Column("where", "where"),
)


def list_models(args: argparse.Namespace) -> int:
    """Run ``list``."""
    rows: list[Record] = []
    for row in REGISTRY:
        model = model_class(row.name)
        if args.modality in (None, model.modality):
            kinds = {"modality": model.modality, "membership_kind": model().membership_kind}
            rows.append({name: value for name, value in row._asdict().items() if name != "module"} | kinds)
    if args.json:
        print(json.dumps(rows, indent=2))
    elif rows:
        print(table(_MODELS, rows))
    else:
        print(f"no model takes {INPUTS[args.modality]} yet")
    return 0


def list_datasets(args: argparse.Namespace) -> int:
    """Run ``datasets``."""
    rows = []
    for name in available_datasets():
        info = dataset_info(name)
        path, _ = find_file(f"{name}.npz", None) if info["needs_network"] else (None, "")
        rows.append(info | {"where": str(path) if path else "network" if info["needs_network"] else "built in"})
    print(json.dumps(rows, indent=2) if args.json else table(_DATASETS, rows))
    return 0


def show_model(args: argparse.Namespace) -> int:
    """Run ``info``."""
    row = next(row for row in REGISTRY if row.name == args.model)
    model = model_class(row.name)
    sections = _sections(inspect.getdoc(model) or "")
    extra = "nothing more" if row.extra is None else f'pip install "soft-clustering[{row.extra}]"'
    facts = {
        "family": row.family,
        "input": INPUTS[model.modality],
        "memberships": _MEMBERSHIPS[model().membership_kind],
        "new data": "can be predicted" if hasattr(model, "predict_memberships") else "cannot be predicted",
        "needs": extra,
        "use it for": row.use_when,
        "published": row.citation,
        **({"reconstructed": row.reconstructed} if row.reconstructed else {}),
        "in Python": f"from soft_clustering import {row.name}",
    }
    described = _described(sections.get("Parameters", ""))
    known = {f"{name}={default!r}": described.get(name, "") for name, default in defaults(model).items()}
    entries = re.split(r"^\.\. \[\d+\]", sections.get("References", row.citation), flags=re.MULTILINE)
    references = [one_line(entry) for entry in entries if entry.strip()]
    parts = [f"{row.name}: {sections[''].strip().splitlines()[0]}", "", listing(facts)]
    parts += ["", "Parameters", listing(known, indent=2), "", "References", paragraphs(references, indent=2)]
    print("\n".join(parts))
    return 0


def _sections(docstring: str) -> dict[str, str]:
    """Split a docstring into the text under each underlined title; the text before the first has the key ''."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", docstring, flags=re.MULTILINE)
    return {"": parts[0]} | dict(zip(parts[1::2], parts[2::2], strict=True))


def _described(section: str) -> dict[str, str]:
    """Return the first sentence about each parameter; its type, if there is no sentence."""
    _, *parts = re.split(r"^(\w+) : (.*?)(?:, default=.*)?$", section, flags=re.MULTILINE)
    described = {}
    for name, kind, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        plain = " ".join(re.sub(r"``| \[\d+\]_", "", text).split())
        described[name] = re.split(r"(?<=\.) ", plain)[0] or kind
    return described
