"""Run tests of the kernels under AddressSanitizer and UndefinedBehaviorSanitizer.

``python tools/sanitize.py`` builds the extension with both sanitizers into a temporary folder, beside a copy of the
package, and runs the tests of the kernels and some fits there, on one thread and on two. ``--short`` takes a sample of
them, on two threads. The first error ends the run, with the line of C that it is in. Needs gcc on Linux, whose
``libasan`` the interpreter has to load first.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# The last -O counts: with -O3 the sanitizers take minutes to compile.
FLAGS = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g1 -O1"
KERNELS = ["tests/kernels", "tests/test_optimization_equivalence.py"]
FITS = [
    "tests/density/test_scm.py",
    "tests/density/test_hierarchy.py",
    "tests/documents/test_lda.py",
    "tests/graphs/test_bigclam.py",
]
# These run each loop over chunks, in both types and widths and on threads.
SHORT = (
    "twins or distances or window or sums_over_pairs or linkage_of or seeding_kernel or gauss_kernels "
    "or threads_do_not or compiled_lda or compiled_plsi or compiled_ratio or compiled_sweep or compiled_gumbel "
    "or compiled_listening or compiled_moves or compiled_ego or compiled_majorities "
    "or compiled_link or walks or hierarchy_searches"
)


def build(folder: Path) -> None:
    """Copy the package into the folder and build the sanitized extension there."""
    package = folder / "soft_clustering"
    shutil.copytree(ROOT / "src" / "soft_clustering", package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    command = [sys.executable, "setup.py", "-q", "build_ext"]
    command += ["--build-lib", str(folder), "--build-temp", str(folder / "objects")]
    flags = {"SOFT_CLUSTERING_FLAGS": FLAGS, "SOFT_CLUSTERING_REQUIRE_KERNELS": "1"}
    subprocess.run(command, cwd=ROOT, env=os.environ | flags, check=True)


def run(folder: Path, threads: int, tests: list[str]) -> int:
    """Run tests against the package in the folder."""
    libraries = [
        subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    environment = os.environ | {
        "LD_PRELOAD": " ".join(libraries),
        # Python never frees all that it holds; its own allocator would hide where an array ends.
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": str(folder),
        "OMP_NUM_THREADS": str(threads),
        "SOFT_CLUSTERING_REQUIRE_KERNELS": "1",
    }
    check = "import soft_clustering, sys; sys.exit(not soft_clustering.__file__.startswith(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", check, folder], env=environment, check=True)
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider", *tests]
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


def main() -> int:
    """Build and run the tests; return the largest exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="a sample of the tests, on two threads")
    short = parser.parse_args().short
    tests = [*KERNELS, "-k", SHORT] if short else KERNELS + FITS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder)
        return max(run(folder, threads, tests) for threads in ((2,) if short else (1, 2)))


if __name__ == "__main__":
    sys.exit(main())
