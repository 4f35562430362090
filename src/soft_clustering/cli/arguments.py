"""The arguments of the commands."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, NoReturn

from .._registry import REGISTRY
from .._version import __version__

KINDS = ("features", "graph", "documents", "image", "distances")
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


def character(text: str) -> str:
    """Read one character; ``tab`` and ``space`` are those that a shell makes hard to write."""
    found = {"tab": "\t", "\\t": "\t", "space": " "}.get(text.lower(), text)
    if len(found) != 1:
        raise argparse.ArgumentTypeError(f"it must be one character, tab or space. Got {text!r} instead.")
    return found


_DATA = (
    "a built-in set (soft-clustering datasets lists them), or a file: a table (.csv, .tsv, .txt, .jsonl, .parquet, "
    ".feather, .xlsx, .npz), a graph (.edgelist, .edges, .gml, .graphml, .net, .mtx, .npz), an image (.png, .jpg, "
    ".tif), or a folder of .txt files"
)


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
    _add_models(compare, "all that take such data")
    compare.add_argument(
        *("-k", "--n-clusters"),
        type=cluster_numbers,
        metavar="K",
        help="number of clusters, or a range such as 2:10 (default: the number of classes, if the data have them, "
        "otherwise as the command choose recommends)",
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
        "--exact",
        action="store_true",
        help="take all samples for the silhouette and the omega index; otherwise 2000 of more than 5000",
    )
    compare.add_argument(
        "--report", metavar="FILE", help="also write an HTML report: one file, with plots, that needs no network"
    )
    _add_json(compare)

    choose = add("choose", "choose.choose", "recommend a number of clusters, with the reason")
    choose.add_argument("data", metavar="DATA", help=_DATA)
    choose.add_argument(
        *("-m", "--model"), type=model_name, metavar="MODEL", help="the model that is fitted (default: by the data)"
    )
    choose.add_argument(
        *("-k", "--n-clusters"), type=cluster_numbers, metavar="K", help="the range to try (default: 2:10)"
    )
    _add_reading(choose)
    _add_json(choose)

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
    _add_output(fit)
    fit.add_argument(
        "--save",
        metavar="FILE",
        help="keep the fitted model and how the table was prepared, for the command predict: .skops or .joblib",
    )

    predict = add("predict", "predict.predict", "memberships of new rows, by a model that fit has saved")
    predict.add_argument("model_file", metavar="MODEL_FILE", help="from fit --save")
    predict.add_argument("data", metavar="NEW_FILE", help="a table with the columns of the one that was fitted")
    predict.add_argument("--id", metavar="COL", help="column that names the rows (default: as at the fit)")
    _add_text(predict.add_argument_group("reading NEW_FILE"))
    _add_output(predict)
    predict.add_argument(
        "--trust", action="store_true", help="load a file that could run any code: only if you know who wrote it"
    )

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
    _add_models(benchmark, "all that take a table of features")
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


def _add_models(command: argparse.ArgumentParser, default: str) -> None:
    command.add_argument(
        *("-m", "--models"), type=model_name, nargs="+", metavar="MODEL", help=f"which ones (default: {default})"
    )


def _add_reading(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--as",
        dest="kind",
        choices=KINDS,
        help="what DATA is (default: by the end of its name, --text-column, --precomputed or --communities)",
    )
    tables = command.add_argument_group("reading a table")
    tables.add_argument("--id", metavar="COL", help="column that names the rows; kept in every output, not a feature")
    tables.add_argument("--label-column", metavar="COL", help="column of classes, by name or position; not a feature")
    tables.add_argument("--drop", action="append", default=[], metavar="COL,...", help="leave columns out; repeatable")
    tables.add_argument(
        "--scale",
        choices=("none", "standard", "robust"),
        help="of the features (default: standard if their spreads differ by more than 10x, otherwise none)",
    )
    _add_text(tables)
    others = command.add_argument_group("reading other data")
    others.add_argument(
        "--text-column", metavar="COL", help="the column of a table, or the key, whose texts to cluster"
    )
    others.add_argument("--communities", metavar="FILE", help="the known communities of a graph, to compare with")
    others.add_argument("--precomputed", action="store_true", help="DATA is a matrix of distances between the samples")


def _add_text(group: argparse._ArgumentGroup) -> None:
    """Add what can be said about a table that is text."""
    group.add_argument(
        "--separator", type=character, metavar="CHAR", help="between cells (default: what splits all rows alike)"
    )
    group.add_argument("--decimal", choices=(".", ","), help="the decimal mark (default: as in most cells)")
    group.add_argument("--encoding", metavar="NAME", help="(default: UTF-8, UTF-16, or else cp1252)")
    group.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="whether the first row holds names (default: if no cell of it is a number)",
    )


def _add_output(command: argparse.ArgumentParser) -> None:
    command.add_argument("-o", "--output", metavar="FILE", help="where to: .csv, .tsv, .parquet or .npz")
    command.add_argument("--force", action="store_true", help="write over existing files")


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
