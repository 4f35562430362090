"""Other packages, each in an environment of its own: their versions, or their import names, clash with ours.

``peer(name)`` starts a process with one of them. It keeps running and executes snippets (``run``), so that two sides
can be timed in turns; ``put`` and ``take`` move arrays in and out. R's packages are those of the system:
``apt-get install r-base-core r-cran-e1071 r-cran-mclust r-cran-cluster r-cran-flexmix``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import venv
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

_CONSTRAINTS = str(Path(__file__).parents[2] / "constraints.txt")
_TORCH = ["-c", _CONSTRAINTS, "torch"]
# The lists of ``pip install``, one after the other. Where a package asks for an older Python or numpy than there is,
# ``--no-deps`` takes it alone, and the next list has what it imports.
ENVIRONMENTS: dict[str, list[list[str]]] = {
    "older": [["--no-deps", "soft-clustering==0.2.0"], ["numpy", "scipy", "scikit-learn", "typeguard"]],
    "older-deep": [["-c", _CONSTRAINTS, "soft-clustering[deep]==0.2.0"]],
    "scikit-fuzzy": [["scikit-fuzzy==0.5.0", "scipy", "networkx", "packaging"]],
    "fuzzy-c-means": [
        ["--no-deps", "fuzzy-c-means==2.3.1"],
        ["numpy", "scipy", "pydantic", "tabulate", "tqdm", "typer"],
    ],
    "scikit-learn": [["scikit-learn==1.9.1"]],
    "pomegranate": [[*_TORCH, "pomegranate==1.1.2"]],
    "stepmix": [["stepmix==3.0.0"]],
    "studenttmixture": [["studenttmixture==1.11"]],
    "evclust": [["evclust==0.2.1"]],
    "hdbscan": [["hdbscan==0.8.44"]],
    "fast_hdbscan": [["fast_hdbscan==0.3.4"]],
    "kmodes": [["kmodes==0.12.2"]],
    "gensim": [["gensim==4.4.0"]],
    "kmedoids": [["kmedoids==0.5.5", "numpy"]],
    "tomotopy": [["tomotopy==0.14.0", "scipy"]],
    "cdlib": [["cdlib==0.4.1"]],
    "karateclub": [
        ["setuptools<81", "wheel"],  # its setup.py imports pkg_resources
        ["--no-deps", "--no-build-isolation", "karateclub==1.3.3"],
        ["numpy", "scipy", "scikit-learn", "pandas", "networkx", "tqdm", "pygsp", "python-louvain"],
        ["python-Levenshtein", "gensim", "decorator", "six"],
    ],
    "torch_geometric": [[*_TORCH, "torch_geometric==2.8.1", "scipy"]],
}
# What a snippet prints is discarded: standard output is for answers.
_SERVER = """
import json, os, sys, time, warnings
warnings.simplefilter("ignore")
answers = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
names = {}
for line in sys.stdin:
    code = json.loads(line)
    names["answer"] = error = None
    start = time.perf_counter()
    try:
        exec(code, names)
    except Exception as problem:
        error = " ".join(f"{type(problem).__name__}: {problem}".split())
    answers.write(json.dumps([time.perf_counter() - start, names["answer"], error]) + "\\n")
    answers.flush()
"""
# The same in R, where a JSON string is a string, too. An answer is a vector of numbers or strings.
_R_SERVER = """
.input <- file("stdin", "r")
.json <- function(x) {
    if (is.character(x)) x <- encodeString(x, quote = '"') else if (!is.null(x)) x <- format(x, digits = 17)
    if (is.null(x)) "null" else paste0("[", paste(x, collapse = ", "), "]")
}
while (length(.line <- readLines(.input, 1))) {
    .code <- eval(parse(text = .line))
    answer <- NULL
    .error <- "null"
    sink(nullfile())
    .start <- Sys.time()
    tryCatch(eval(parse(text = .code), globalenv()), error = function(e)
        .error <<- encodeString(conditionMessage(e), quote = '"'))
    .seconds <- as.numeric(Sys.time()) - as.numeric(.start)
    sink()
    cat(sprintf("[%.9f, %s, %s]\\n", .seconds, .json(answer), .error))
    flush(stdout())
}
"""


def venv_python(name: str) -> str:
    """The interpreter of the environment ``name``, which is made on first use."""
    root = Path(tempfile.gettempdir()) / f"soft-clustering-{name}"
    python = root / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    ready = root / "ready"
    if not ready.exists():
        venv.create(root, with_pip=True, clear=True)
        for arguments in ENVIRONMENTS[name]:
            subprocess.run([python, "-m", "pip", "install", "-q", *arguments], check=True)
        ready.touch()
    return str(python)


class Interpreter:
    """Run snippets in a process of a Python interpreter: ``run(code)`` returns (seconds, value of ``answer``)."""

    def __init__(self, *command: str) -> None:
        self._start(*command, "-c", _SERVER)

    def _start(self, *command: str) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._folder = tempfile.TemporaryDirectory()

    def run(self, code: str, time_limit: float | None = None) -> tuple[float, Any]:
        """Time one snippet. A RuntimeError says how it failed; a TimeoutError says that the process was ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        clock = threading.Timer(time_limit, self._process.kill) if time_limit is not None else None
        if clock:
            clock.start()
        self._process.stdin.write(json.dumps(code) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if clock:
            clock.cancel()
        if not line:
            if clock and clock.finished.is_set() and self._process.wait() < 0:
                raise TimeoutError(f"more than {time_limit:g} s")
            raise RuntimeError(f"the process ended with code {self._process.wait()}")
        seconds, answer, error = json.loads(line)
        if error:
            raise RuntimeError(error)
        return seconds, answer

    def put(self, **arrays: Any) -> None:
        """Give arrays (dense, or CSR) these names in the process."""
        for name, array in arrays.items():
            if sparse.issparse(array):
                sparse.save_npz(self._file("put.npz"), sparse.csr_matrix(array), compressed=False)
                self.run(f"import scipy.sparse\n{name} = scipy.sparse.load_npz({self._file('put.npz')!r})")
            else:
                np.save(self._file("put.npy"), array)
                self.run(f"import numpy\n{name} = numpy.load({self._file('put.npy')!r})")

    def take(self, expression: str) -> np.ndarray:
        """The array of an expression."""
        self.run(f"import numpy\nnumpy.save({self._file('take.npy')!r}, numpy.asarray({expression}))")
        found: np.ndarray = np.load(self._file("take.npy"))
        return found

    def _file(self, name: str) -> str:
        return str(Path(self._folder.name, name))

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
        self._folder.cleanup()


class R(Interpreter):
    """The same with R."""

    def __init__(self) -> None:
        self._start("Rscript", "--vanilla", "-e", _R_SERVER)

    def put(self, **arrays: Any) -> None:
        """Give dense arrays these names in the process, as doubles."""
        for name, array in arrays.items():
            np.asarray(array, dtype=float).ravel(order="F").tofile(self._file("put"))
            shape = ", ".join(map(str, array.shape))
            self.run(f"{name} <- array(readBin('{self._file('put')}', 'double', {array.size}), c({shape}))")

    def take(self, expression: str) -> np.ndarray:
        """The array of an expression."""
        _, shape = self.run(
            f".taken <- {expression}\nwriteBin(as.double(.taken), '{self._file('take')}')\n"
            "answer <- if (is.null(dim(.taken))) length(.taken) else dim(.taken)"
        )
        return np.fromfile(self._file("take")).reshape(shape, order="F")


def peer(name: str) -> Interpreter:
    """A process with another package; ``"R"`` is one of R."""
    # -I leaves out this folder and PYTHONPATH: otherwise 0.2.0 would be our package
    return R() if name == "R" else Interpreter(venv_python(name), "-I")


def older(deep: bool = False) -> Interpreter:
    """A process with the older package of our name, on request with torch."""
    process = peer("older-deep" if deep else "older")
    _, found = process.run(
        "from importlib.metadata import version\nimport soft_clustering\n"
        "answer = [version('soft-clustering'), hasattr(soft_clustering, '_registry')]"
    )
    assert found == ["0.2.0", False]
    return process
