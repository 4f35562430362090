"""Files that commands write: memberships and models. They are complete, or they are not there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inputs.files.tables import table_suffix
from .data import require_pandas, require_pyarrow
from .errors import CommandError, UsageError

SUFFIXES = (".csv", ".tsv", ".parquet", ".npz")


@contextmanager
def replacing(name: str | None, force: bool, option: str, suffixes: Sequence[str]) -> Iterator[Path | None]:
    """Make a file that replaces the output at the end, so that a failure leaves an older output unchanged.

    The file is made before the work, so that an output that cannot be written is found now.
    """
    if name is None:
        yield None
        return
    path = Path(name).resolve()
    if table_suffix(path) not in suffixes:
        raise UsageError(f"{option} {name} must end in {', '.join(suffixes)}.")
    if path.exists() and not path.is_file():
        raise CommandError(f"{name} is not a file: give another {option}.")
    if path.exists() and not force:
        raise CommandError(f"{name} exists: give another {option}, or --force to write over it.")
    partial = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        partial.touch()
    except OSError as error:
        raise CommandError(f"{name} cannot be written: {error.strerror}. Give another {option}.") from error
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def memberships_file(name: str | None, force: bool) -> Iterator[Path | None]:
    """Make the file of ``-o``, see :func:`replacing`."""
    suffix = None if name is None else table_suffix(Path(name))
    if suffix in SUFFIXES and suffix != ".npz":
        require_pandas()
    if suffix == ".parquet":
        require_pyarrow()
    with replacing(name, force, "-o", SUFFIXES) as partial:
        yield partial


def write_memberships(
    path: Path, names: Mapping[str, Any], memberships: Any, labels: NDArray[np.intp], noise_mass: Any = None
) -> None:
    """Write a row per sample: what names it, its memberships, the noise mass if there is noise, and its label."""
    suffix, U = table_suffix(path), np.asarray(memberships)
    if suffix == ".npz":
        arrays = {"memberships": U, "labels": labels} | ({} if noise_mass is None else {"noise_mass": noise_mass})
        ids = {} if "row" in names else {"ids": np.array(next(iter(names.values())), dtype=str)}
        np.savez_compressed(path, **arrays | ids)
        return
    clusters = {f"cluster_{k}": U[:, k] for k in range(U.shape[1])}
    clusters |= ({} if noise_mass is None else {"noise": np.asarray(noise_mass)}) | {"label": labels}
    first = {f"{name}_" if name in clusters else name: values for name, values in names.items()}
    frame = require_pandas().DataFrame(first | clusters)
    if suffix == ".parquet":
        frame.to_parquet(path, engine="pyarrow", index=False)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
