"""The package as a whole: version, what an import costs, the state of the compiled kernels."""

import ast
import importlib.metadata
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import soft_clustering
from soft_clustering import kernels
from soft_clustering._registry import REGISTRY

ROOT = Path(soft_clustering.__file__).parent.parent
BLOCK_KERNELS = """
import importlib.abc, sys
class Block(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "soft_clustering.kernels._compiled":
            raise ImportError("blocked")
sys.meta_path.insert(0, Block())
"""


def python(code, **environment):
    """Run code in a fresh interpreter that finds this very package."""
    ours = ("SOFT_CLUSTERING_REQUIRE_KERNELS", "SOFT_CLUSTERING_NO_KERNEL_WARNING")
    variables = {key: value for key, value in os.environ.items() if key not in ours}
    variables |= {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]), **environment}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=variables, cwd=ROOT.anchor)


# Version and names ----------------------------------------------------------------------------------------------------


def test_version():
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|rc\d+|a\d+|b\d+)?", soft_clustering.__version__)
    try:
        installed = importlib.metadata.version("soft-clustering")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("run from the sources, not installed")
    assert installed == soft_clustering.__version__


def test_public_names():
    assert {"FCM", "GMM", "show_versions", "__version__"} <= set(soft_clustering.__all__) <= set(dir(soft_clustering))
    for name in soft_clustering.__all__:
        assert getattr(soft_clustering, name) is not None
    assert soft_clustering.FCM is soft_clustering.FCM


def test_unknown_name():
    with pytest.raises(AttributeError, match="module 'soft_clustering' has no attribute 'KMeans'"):
        _ = soft_clustering.KMeans


# Types ----------------------------------------------------------------------------------------------------------------


def documented_attributes(cls):
    """The names under "Attributes" in the docstring of a class."""
    section = re.search(r"^Attributes\n-+\n(.*?)(^\S[^\n]*\n---|\Z)", inspect.getdoc(cls), re.MULTILINE | re.DOTALL)[1]
    heads = [line.partition(" : ")[0] for line in section.splitlines() if line and not line.startswith(" ")]
    return {name for head in heads for name in head.split(", ")}


def declared_attributes(cls):
    """The names that a class or one of its bases annotates or has as properties."""
    for base in cls.__mro__:
        yield from inspect.get_annotations(base)
        yield from (name for name, value in vars(base).items() if isinstance(value, property))


@pytest.mark.parametrize("name", [row.name for row in REGISTRY])
def test_fitted_attributes_are_declared(name):
    """An editor completes what a class declares."""
    cls = getattr(soft_clustering, name)
    attributes = documented_attributes(cls)
    assert {"memberships_", "labels_", "n_clusters_"} <= attributes
    assert attributes <= set(declared_attributes(cls))


@pytest.mark.parametrize("name", [row.name for row in REGISTRY])
def test_fit_gives_the_estimator_itself(name):
    cls = getattr(soft_clustering, name)
    methods = [getattr(cls, method) for method in ("fit", "partial_fit") if hasattr(cls, method)]
    assert {method.__annotations__["return"] for method in methods} == {"Self"}


def test_few_parameters_are_any():
    """A parameter without a type of its own is what a user gives, or comes from a package without types."""
    annotations = [
        ast.unparse(parameter.annotation)
        for path in Path(soft_clustering.__file__).parent.rglob("*.py")
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        for parameter in ast.walk(function.args)
        if isinstance(parameter, ast.arg) and parameter.annotation
    ]
    assert annotations.count("Any") < 0.06 * len(annotations)


# Cost of the import ---------------------------------------------------------------------------------------------------


def test_import_is_light():
    code = "import sys, soft_clustering; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    result = python(code)
    assert result.returncode == 0, result.stderr
    modules = set(result.stdout.split())
    assert "soft_clustering" in modules
    assert not modules & {"sklearn", "scipy", "pandas", "torch", "matplotlib", "networkx", "joblib", "threadpoolctl"}


def test_import_imports_no_estimator():
    result = python("import sys, soft_clustering; print(*(n for n in sys.modules if n.startswith('soft_clustering')))")
    assert result.returncode == 0, result.stderr
    assert set(result.stdout.split()) == {"soft_clustering", "soft_clustering._registry", "soft_clustering._version"}


def test_fcm_needs_no_torch():
    result = python("import sys; from soft_clustering import FCM; assert 'torch' not in sys.modules")
    assert result.returncode == 0, result.stderr


def test_oldest_versions_are_those_of_the_metadata():
    """A job runs the tests with the versions of constraints-oldest.txt."""
    tomllib = pytest.importorskip("tomllib")
    root = ROOT.parent
    if not (root / "constraints-oldest.txt").exists():
        pytest.skip("an installed package has no constraints")
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = project["dependencies"]
    optional = [line for lines in project["optional-dependencies"].values() for line in lines]
    floors = [re.fullmatch(r"([\w-]+)(?:\[.*\])?>=([\d.]+)(?:;.*)?", line) for line in (*required, *optional)]
    allowed = {(floor[1], floor[2]) for floor in floors if floor}
    lines = (root / "constraints-oldest.txt").read_text(encoding="utf-8").splitlines()
    tested = {tuple(line.split("==")) for line in lines if not line.startswith("#")}
    assert tested <= allowed
    assert {name for name, _ in tested} >= {re.match(r"[\w-]+", line)[0] for line in required}


def imported(path):
    """The names of the modules that a module imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module


def test_nothing_imports_tests_or_benchmarks():
    """What modules share has a module of its own: a test can be changed, and a benchmark can go, without others.

    The site reads the records by way of ``benchmarks.lib`` and ``benchmarks.pages``.
    """
    root = ROOT.parent
    if not (root / "benchmarks").is_dir():
        pytest.skip("an installed package has no benchmarks")
    tests = {path.stem for path in (root / "tests").rglob("test_*.py")}
    found = {
        (str(path.relative_to(root)), name)
        for folder in ("src", "tests", "tools", "examples", "docs")
        for path in (root / folder).rglob("*.py")
        for name in imported(path)
        if name.partition(".")[0] in tests | {"tests"}
        or re.match(r"benchmarks\.(speed|quality|agreement|scale|asv)\b", name)
        or (name.partition(".")[0] == "benchmarks" and folder not in ("docs", "tests"))
    }
    assert not found
    found = {
        (path.name, name)
        for path in (root / "benchmarks").rglob("*.py")
        for name in imported(path)
        if name.partition(".")[0] in tests | {"tests", "helpers"}
    }
    assert not found


# Compiled kernels -----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
def test_kernels_are_built_from_these_sources():
    if kernels.source_hash() is None:
        pytest.skip("the sources are not installed")
    assert kernels.compiled.source_hash == kernels.source_hash()


def test_hash_changes_with_the_sources(tmp_path, monkeypatch):
    monkeypatch.setattr(kernels, "__file__", str(tmp_path / "__init__.py"))
    assert kernels.source_hash() is None
    sources = [tmp_path / name for name in ("_compiled.pyx", "gauss.h", "tile.h")]
    hashes = set()
    for path in sources:
        path.write_text(path.name)
        hashes.add(kernels.source_hash())
    first = kernels.source_hash()
    for path in sources:
        path.write_text(path.name + " ")
        hashes.add(kernels.source_hash())
        path.write_text(path.name)
    assert kernels.source_hash() == first
    assert len(hashes) == 6


@pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
def test_stale_kernels_are_noticed():
    code = """
import sys, types, warnings
stale = types.ModuleType("soft_clustering.kernels._compiled")
stale.source_hash = "older"
sys.modules[stale.__name__] = stale
with warnings.catch_warnings(record=True) as record:
    warnings.simplefilter("always")
    from soft_clustering import kernels
print(kernels.source_hash() is None, [str(w.message) for w in record if w.category is RuntimeWarning])
"""
    result = python(code)
    assert result.returncode == 0, result.stderr
    if result.stdout.startswith("True"):
        pytest.skip("the sources are not installed")
    assert "the compiled kernels are older than their sources: reinstall soft-clustering" in result.stdout


def test_fresh_kernels_are_not_complained_of():
    result = python("import warnings; warnings.simplefilter('error'); import soft_clustering.kernels")
    assert result.returncode == 0, result.stderr


def test_missing_kernels_are_an_error_where_required():
    code = BLOCK_KERNELS + "import soft_clustering.kernels"
    result = python(code, SOFT_CLUSTERING_REQUIRE_KERNELS="1")
    assert result.returncode != 0
    assert "ImportError: SOFT_CLUSTERING_REQUIRE_KERNELS=1, but the compiled kernels are missing" in result.stderr
    assert "ImportError: blocked" in result.stderr  # the cause is shown


@pytest.mark.parametrize("environment", [{}, {"SOFT_CLUSTERING_REQUIRE_KERNELS": "0"}])
def test_missing_kernels_are_replaced_elsewhere(environment):
    code = (
        BLOCK_KERNELS
        + """
from sklearn.datasets import load_iris
from soft_clustering import FCM, kernels, show_versions
assert kernels.compiled is None
print(f"{FCM(3, m=2, random_state=0).fit(load_iris().data).objective_:.6f}")
show_versions()
"""
    )
    result = python(code, **environment)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "60.505711"
    assert "kernels: not built, NumPy replaces them (slower)" in lines


def messages_without_kernels(model, data, **environment):
    """The number of warnings of the constructor; the number and the text of those of two fits about kernels."""
    code = (
        BLOCK_KERNELS
        + f"""
import warnings
import numpy as np
from sklearn.datasets import load_iris
from soft_clustering import *
with warnings.catch_warnings(record=True) as record:
    warnings.simplefilter("always")
    model = {model}
    print(len(record))
    for _ in range(2):
        model.fit({data})
told = [str(warning.message) for warning in record if "compiled kernels" in str(warning.message)]
print(len(told), *told)
"""
    )
    return python(code, **environment).stdout.splitlines()


@pytest.mark.parametrize(
    "model, data",
    [
        ("FCM(3, random_state=0)", "load_iris().data"),
        ("GMM(3, random_state=0)", "load_iris().data"),
        ("LDA(2, random_state=0)", "np.eye(6, 4)[:, [0, 1, 1, 0]]"),
        ("BIGCLAM(2, random_state=0)", "1 - np.eye(6)"),
    ],
)
def test_missing_kernels_are_told_once(model, data):
    before, after = messages_without_kernels(model, data)
    assert before == "0"
    assert after.startswith("1 the compiled kernels of soft-clustering are missing")
    assert "install a C compiler and reinstall" in after and "SOFT_CLUSTERING_NO_KERNEL_WARNING=1" in after


def test_missing_kernels_are_not_told_if_the_user_says_so():
    told = messages_without_kernels("FCM(3)", "load_iris().data", SOFT_CLUSTERING_NO_KERNEL_WARNING="1")
    assert told == ["0", "0"]


def test_kernels_replaced_on_purpose_are_not_told(monkeypatch, recwarn):
    monkeypatch.delenv("SOFT_CLUSTERING_NO_KERNEL_WARNING", raising=False)
    monkeypatch.setattr(kernels, "_silent", True)
    monkeypatch.setattr(kernels, "compiled", None)
    assert not kernels.use_compiled()
    assert not recwarn.list


def test_flower_example_says_what_to_install():
    example = ROOT.parent / "examples" / "federated" / "federated_flower.py"
    if not example.exists():
        pytest.skip("an installed package has no examples")
    code = f"import sys, runpy; sys.modules['flwr'] = None; runpy.run_path({str(example)!r}, run_name='__main__')"
    result = python(code)
    assert result.returncode == 1
    assert (
        result.stderr.strip() == 'This example needs Flower with its simulation: pip install "flwr[simulation]>=1.21"'
    )


# show_versions --------------------------------------------------------------------------------------------------------


def shown(capsys):
    soft_clustering.show_versions()
    return dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())


def test_show_versions(capsys):
    versions = shown(capsys)
    assert versions["soft-clustering"] == soft_clustering.__version__
    assert versions["python"] == ".".join(map(str, sys.version_info[:3]))
    for package in ("numpy", "scipy", "scikit-learn", "threadpoolctl", "joblib"):
        assert versions[package] == importlib.metadata.version(package)
    assert "cores" in versions["platform"]


def test_show_versions_of_packages_that_are_not_there(capsys, monkeypatch):
    def version(package):
        raise importlib.metadata.PackageNotFoundError(package)

    monkeypatch.setattr("soft_clustering._show_versions.version", version)
    assert shown(capsys)["numpy"] == "not installed"


@pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
def test_show_versions_with_kernels(capsys):
    assert re.fullmatch(r"compiled, (8|16|32|64)-byte vectors, \d+ threads", shown(capsys)["kernels"])


def test_show_versions_without_kernels(capsys, monkeypatch):
    monkeypatch.setattr(kernels, "compiled", None)
    assert shown(capsys)["kernels"] == "not built, NumPy replaces them (slower)"
