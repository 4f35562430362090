"""Data files of the user: where they are searched."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from pathlib import Path

VARIABLE = "SOFT_CLUSTERING_DATA"
DataHome = str | os.PathLike[str] | None


def check_name(name: object, known: Iterable[str], kind: str) -> None:
    """Raise an error for an unknown name, with the closest known one as a suggestion."""
    names = list(known)
    if name in names:
        return
    folded = {known_name.casefold(): known_name for known_name in names}
    close = difflib.get_close_matches(str(name).casefold(), folded, n=1)
    shown = ", ".join(names[:50]) + (f" and {len(names) - 50} more" if len(names) > 50 else "")
    hint = f"did you mean {folded[close[0]]!r}?" if close else f"known are {shown}."
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
