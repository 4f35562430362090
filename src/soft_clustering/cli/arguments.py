"""The arguments of the commands."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, NoReturn

from .._registry import REGISTRY
from .._version import __version__

MODALITIES = ("features", "graph", "documents", "partitions", "image", "clients")
SUITES = ("real", "synthetic", "openml", "all")


class _Parser(argparse.ArgumentParser):
    """A parser whose errors take one line."""

    def error(self, message: str) -> NoReturn:
        print(f"soft-clustering: error: {message} (see {self.prog} --help)", file=sys.stderr)
        raise SystemExit(2)


def model_name(text: str) -> str:
    """Return a model's name as the registry spells it; upper and lower case are the same."""
    names = {row.name.lower(): row.name for row in REGISTRY}
    if text.lower() not in names:
        from ..datasets import available_datasets
        from ..datasets.files import check_name

        if text in available_datasets() or os.path.exists(text):
            raise argparse.ArgumentTypeError(
                f"{text!r} is data, not a model: the order is compare DATA --models MODEL ..., and fit MODEL DATA."
            )
        try:
            check_name(text, names.values(), "model")
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    return names[text.lower()]


def cluster_numbers(text: str) -> range:
    """Read ``3`` or ``2:10``; both ends are included."""
    first, colon, last = text.partition(":")
    try:
        numbers = range(int(first), int(last if colon else first) + 1)
    except ValueError:
        numbers = range(0)
    if not numbers or numbers[0] < 1:
        raise argparse.ArgumentTypeError(f"K must be an int >= 1 or a range such as 2:10. Got {text!r} instead.")
    return numbers


def positive(text: str) -> float:
    """Read a positive number, such as seconds."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"it must be a number > 0. Got {text!r} instead.")
    return number


def count(text: str) -> int:
    """Read a whole number of at least one."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"it must be an int >= 1. Got {text!r} instead.")
    return int(text)


def seed(text: str) -> int:
    """Read a seed that every model accepts."""
    if not text.isdecimal() or int(text) >= 2**31:
        raise argparse.ArgumentTypeError(f"it must be an int in [0, 2**31). Got {text!r} instead.")
    return int(text)


def setting(text: str) -> tuple[str, Any]:
    """Read ``NAME=VALUE``; a value that is no Python literal is a string."""
    import ast

    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise argparse.ArgumentTypeError(f"it must be NAME=VALUE, such as m=1.5. Got {text!r} instead.")
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        return name.strip(), value.strip()


_DATA = "a built-in set (soft-clustering datasets lists them), or a file .csv, .tsv, .parquet or .npz"


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; the attribute ``function`` of its result names the function to call."""
    top = _Parser(
        prog="soft-clustering",
        description="Soft clustering: compare published algorithms on your data, fit one, run benchmarks.",
        epilog="Exit codes: 0 done, 1 failed, 2 wrong command line, 130 interrupted.",
    )
    top.add_argument("--version", action="version", version=f"soft-clustering {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def add(name: str, function: str, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        command.set_defaults(function=function)
        command.add_argument("--debug", action="store_true", help="show where an error comes from")
        return command

    compare = add("compare", "compare.compare", "fit many models to the same data and compare them")
    compare.add_argument("data", nargs="?", default="iris", metavar="DATA", help=f"{_DATA} (default: iris)")
    _add_models(compare)
    compare.add_argument(
        *("-k", "--n-clusters"),
        type=cluster_numbers,
        metavar="K",
        help="number of clusters, or a range such as 2:10 (default: the number of classes, if the data have them)",
    )
    _add_reading(compare)
    _add_running(compare, jobs=2)
    compare.add_argument(
        *("-o", "--output"),
        metavar="FILE",
        help="JSON Lines file for the measurements; runs that it already holds are not repeated (default: a new file "
        "in the folder for temporary files)",
    )
    compare.add_argument(
        "--report", metavar="FILE", help="also write an HTML report: one file, with plots, that needs no network"
    )
    _add_json(compare)

    fit = add("fit", "fit.fit", "fit one model and write its memberships")
    fit.add_argument("model", type=model_name, metavar="MODEL", help="soft-clustering list has them")
    fit.add_argument("data", metavar="DATA", help=_DATA)
    fit.add_argument("-k", "--n-clusters", type=count, metavar="K", help="number of clusters")
    fit.add_argument(
        *("--set",),
        dest="settings",
        type=setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the model, such as m=1.5; may be repeated",
    )
    _add_reading(fit)
    fit.add_argument("--random-state", type=seed, default=0, metavar="SEED", help="(default: 0)")
    fit.add_argument("-o", "--output", metavar="FILE", help="where to: .csv, .tsv, .parquet or .npz")
    fit.add_argument("--force", action="store_true", help="write over an existing file")

    lists = add("list", "catalogue.list_models", "list the models")
    lists.add_argument("--modality", choices=MODALITIES, help="only those that take this kind of input")
    _add_json(lists)

    info = add("info", "catalogue.show_model", "show the parameters, the reference and the use of a model")
    info.add_argument("model", type=model_name, metavar="MODEL")

    datasets = add("datasets", "catalogue.list_datasets", "list the built-in data sets")
    _add_json(datasets)

    benchmark = add(
        "benchmark", "benchmark.benchmark", "run models on a suite of data sets; a stopped benchmark can be continued"
    )
    benchmark.add_argument("suite", choices=SUITES, metavar="SUITE", help=", ".join(SUITES))
    _add_models(benchmark)
    _add_running(benchmark, jobs=1)
    benchmark.add_argument(
        *("-o", "--output"),
        metavar="FILE",
        help="JSON Lines file for the measurements; runs that it already holds are not repeated (default: "
        "benchmark-SUITE.jsonl)",
    )
    benchmark.add_argument("--fresh", action="store_true", help="begin again: forget what the file holds")
    _add_json(benchmark)
    return top


def _add_models(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        *("-m", "--models"),
        type=model_name,
        nargs="+",
        metavar="MODEL",
        help="which ones (default: all that take a table of features)",
    )


def _add_reading(command: argparse.ArgumentParser) -> None:
    reading = command.add_argument_group("reading DATA")
    reading.add_argument("--label-column", metavar="COL", help="column of classes, by name or position; not a feature")
    reading.add_argument("--drop", action="append", default=[], metavar="COL", help="leave a column out; repeatable")
    reading.add_argument("--separator", metavar="CHAR", help="between cells (default: comma, in .tsv a tab)")
    reading.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="whether the first row holds names (default: if no cell of it is a number)",
    )
    reading.add_argument("--standardize", action="store_true", help="scale features to mean 0 and variance 1")


def _add_running(command: argparse.ArgumentParser, jobs: int) -> None:
    command.add_argument(
        "--time-limit",
        type=positive,
        default=60.0,
        metavar="SECONDS",
        help="for each fit and its measures (default: 60)",
    )
    command.add_argument(
        "--jobs", type=count, default=jobs, metavar="N", help=f"processes at the same time (default: {jobs})"
    )


def _add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print one JSON document instead of a table")
