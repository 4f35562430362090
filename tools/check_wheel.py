"""Check what is inside the wheels and the source distribution of a folder.

Usage: ``python tools/check_wheel.py dist``. Prints every defect and exits with 1 if there is one.
"""

from __future__ import annotations

import re
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "soft_clustering"
MODULES = (".py", ".html", ".css", ".js")  # with the templates of a report
MADE = ("docs/_build/", "docs/api/", "docs/gallery/", "docs/sg_execution_times")  # by Sphinx
COMPILED = re.compile(rf"{PACKAGE}/kernels/_compiled[^/]*\.(so|pyd)")


def sources(*suffixes: str) -> list[str]:
    """Return the package's files with these suffixes in this checkout, named as in a wheel."""
    paths = (path for path in (ROOT / "src" / PACKAGE).rglob("*") if path.suffix in suffixes)
    return sorted(path.relative_to(ROOT / "src").as_posix() for path in paths)


def scripts(*folders: str) -> list[str]:
    """Return the Python files and pages of these folders of the checkout, without those that Sphinx has made."""
    paths = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in {".py", ".md", ".rst"})
    names = sorted(path.relative_to(ROOT).as_posix() for path in paths)
    return [name for name in names if not name.startswith(MADE)]


def wheel_defects(names: set[str]) -> list[str]:
    """Return what is wrong with a wheel that holds these files."""
    required = [f"{PACKAGE}/py.typed", f"{PACKAGE}/__init__.pyi", *sources(*MODULES)]
    defects = [f"{name} is missing" for name in required if name not in names]
    if not any(COMPILED.fullmatch(name) for name in names):
        defects.append(f"no compiled kernel: {PACKAGE}/kernels/_compiled*.so or .pyd is missing")
    for name in sorted(names):
        path = PurePosixPath(name)
        if "tests" in path.parts[:-1]:
            defects.append(f"{name} is a test and does not belong in a wheel")
        elif path.suffix in {".c", ".pyx", ".h"}:
            defects.append(f"{name} is a kernel source and does not belong in a wheel")
    return defects


def sdist_defects(names: set[str]) -> list[str]:
    """Return what is wrong with a source distribution that holds these files, named relative to its top folder."""
    package = [f"src/{name}" for name in sources(".pyx", ".pxd", ".h", ".pyi", *MODULES)]
    required = ["LICENSE", "README.md", "CHANGELOG.md", *package, *scripts("tests", "docs", "examples")]
    defects = [f"{name} is missing" for name in required if name not in names]
    for suffix in (".pyx", ".h"):
        if not any(name.endswith(suffix) for name in names):
            defects.append(f"it holds no {suffix} file")
    return defects


def wheel_names(path: Path) -> set[str]:
    with zipfile.ZipFile(path) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


def sdist_names(path: Path) -> set[str]:
    with tarfile.open(path) as archive:
        return {member.name.partition("/")[2] for member in archive if member.isfile()}


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python tools/check_wheel.py DIST", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    wheels = sorted(folder.glob("*.whl"))
    sdists = sorted(folder.glob("*.tar.gz"))
    defects = []
    if not wheels:
        defects.append(f"{folder}: no wheel (*.whl)")
    if len(sdists) != 1:
        defects.append(f"{folder}: expected one source distribution (*.tar.gz), got {len(sdists)}")
    for path in wheels:
        defects += [f"{path.name}: {defect}" for defect in wheel_defects(wheel_names(path))]
    for path in sdists:
        defects += [f"{path.name}: {defect}" for defect in sdist_defects(sdist_names(path))]
    for defect in defects:
        print(defect, file=sys.stderr)
    if not defects:
        print("ok: " + ", ".join(path.name for path in [*wheels, *sdists]))
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
