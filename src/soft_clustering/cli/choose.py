"""``soft-clustering choose``: a number of clusters, and why."""

from __future__ import annotations

import argparse
import json

from .choosing import choose_k
from .data import check_n_clusters, kind_of, load
from .errors import UsageError
from .models import defaults, model_for

#: What is clustered to choose K, if it is not the data themselves.
_SEEN = {"image": "the colours of the pixels", "distances": "coordinates that have these distances"}


def choose(args: argparse.Namespace) -> int:
    """Run the command."""
    kind = kind_of(args)
    model = None if args.model is None else model_for(kind, args.model)
    if model is not None and "n_clusters" not in defaults(model):
        raise UsageError(f"{args.model} finds the number of clusters itself: soft-clustering fit shows which.")
    if model is not None and kind in ("image", "distances"):
        raise UsageError(f"-m is for tables, graphs and documents: K is chosen by fits to {_SEEN[kind]}. Leave it out.")
    data = load(args, kind)
    if args.n_clusters is not None:
        check_n_clusters(data, args.n_clusters[-1])
    choice = choose_k(data, model, args.n_clusters)
    if args.json:
        sizes = {"dataset": data.name, "n_samples": data.n_samples, "used": choice.used()}
        print(json.dumps(sizes | choice.curves(), indent=2, allow_nan=False))
        return 0 if choice.n_clusters is not None else 1
    print(f"{data.describe()}; fits of {choice.model} to {choice.used()}, the choice of each criterion marked by *\n")
    print(choice.result)
    return 0 if choice.n_clusters is not None else 1
