"""Data files of the user: where they are searched and how they are read. No file is unpickled."""

from __future__ import annotations

import difflib
import os
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

VARIABLE = "SOFT_CLUSTERING_DATA"
DataHome = str | os.PathLike[str] | None


def check_name(name: object, known: Iterable[str], kind: str) -> None:
    """Raise an error for an unknown name, with the closest known one as a suggestion."""
    names = list(known)
    if name in names:
        return
    close = difflib.get_close_matches(str(name), names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(names)}."
    raise ValueError(f"Unknown {kind} {name!r}: {hint}")


def find_file(filename: str, data_home: DataHome) -> tuple[Path | None, str]:
    """Return the first copy of a file, and a text that names the places that were searched.

    These are ``data_home``, then the folders in the environment variable (several are separated as in ``PATH``).
    """
    if data_home is not None and not isinstance(data_home, (str, os.PathLike)):
        raise TypeError(f"data_home must be a str, a path or None. Got {data_home!r} instead.")
    named = [] if data_home is None else [("data_home", os.fspath(data_home))]
    named += [(VARIABLE, folder) for folder in os.environ.get(VARIABLE, "").split(os.pathsep) if folder]
    places = []
    for origin, name in named:
        folder = Path(name).expanduser()
        if (folder / filename).is_file():
            return folder / filename, ""
        places.append(f"{folder} ({origin}{'' if folder.is_dir() else ', no such folder'})")
    return None, ", ".join(places) or f"no folder (data_home and {VARIABLE} are not set)"


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn all errors of reading a damaged file into one ValueError that names the file."""
    try:
        yield
    except Exception as error:
        raise ValueError(
            f"{path} is damaged or not what its name says: {str(error) or type(error).__name__}"
        ) from error


def read_npz(path: Path, keys: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Return some arrays of an ``.npz`` file; an array of Python objects raises an error."""
    content = path.read_bytes()
    with reading(path):
        # NumPy reads only as far as the header says, so it may never reach the checksum of an altered array.
        with zipfile.ZipFile(BytesIO(content)) as members:
            altered = members.testzip()
        if altered is not None:
            raise ValueError(f"the checksum of {altered!r} does not match.")
        with np.load(BytesIO(content), allow_pickle=False) as archive:
            missing = [key for key in keys if key not in archive.files]
            if missing:
                raise ValueError(f"it has no array {missing[0]!r}, only {archive.files}.")
            return {key: archive[key] for key in keys}
