"""Mutation testing: change the package in one place at a time and see whether a test notices.

The operators are mutmut's (``pip install "mutmut>=3.8"``), with a few of our own in the same form. This script draws a
sample, because the whole set, about 10,000 mutants, is too many for mutmut's own runner. Results are JSON Lines, one
mutant a line, and a second call resumes where the first stopped::

    python tools/mutate.py mutants.jsonl --n 300 --seed 0 --workers 2

``--python`` names the interpreter that runs the tests, if mutmut lives in an environment of its own. A survivor is a
mutant that no test noticed; ``--again`` tests only the survivors of the file again, after tests were added. A mutant
does not count in the report if its code has been removed or rewritten since, or is left alone by now.

The sample is drawn evenly over the modules, and within a module evenly over the operators. Each mutant meets at most
two runs of pytest, quickest test first, in a copy of the tree: the module's own tests and doctests, then the tests of
the modules that use it and the conformance checks of its estimators, each run up to ``--budget`` seconds of tests.
Tests that fail without a mutation are left out. A mutant that runs out of time counts as killed.

These are left alone, because a change there cannot change a result:

* docstrings and other text, annotations, ``if TYPE_CHECKING``, printing, what ``raise`` and ``warnings.warn`` say;
* arguments that bound the work, such as ``max_iter``, and ``maxsize`` of a cache;
* guards against mistakes of a programmer that the package does not make: ``strict`` of ``zip``, where the lengths are
  equal by construction, and ``frozen`` of a dataclass that nobody changes;
* a number that stays the same: 1e100 - 1 is 1e100.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import compileall
import difflib
import hashlib
import importlib.util
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from operator import methodcaller
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from xml.etree import ElementTree

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation import mutators

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "soft_clustering"
FAMILIES = ("engine", "fuzzy", "mixture", "graphs", "metrics")
# The engine serves every family: these users stand for the rest.
ENGINE_USERS = ("fuzzy.fcm", "fuzzy.gk", "mixture.gmm", "evidential.ecm")
CLUSTERS = ["tests/engine/test_dask.py"]  # tests that start a cluster, which takes seconds
CONFORMANCE = ("tests/test_protocol.py", "tests/test_edge_cases.py")
# Arguments that bound the work or say how it is done, not what it computes.
LIMITS = {"max_iter", "n_jobs", "verbose", "stacklevel", "copy", "copy_X", "block_size", "chunk_size", "maxsize"}
GUARDS = {"strict", "frozen"}  # arguments that only notice a mistake of a programmer
TEXT_FUNCTIONS = {"__repr__", "__str__", "_repr_html_"}
SWAPS = {
    "min": "max",
    "argmin": "argmax",
    "minimum": "maximum",
    "zeros": "ones",
    "zeros_like": "ones_like",
    "any": "all",
    "floor": "ceil",
    "log": "log1p",
    "exp": "expm1",
    "sum": "mean",
    "cumsum": "cumprod",
}
SWAPS |= {new: old for old, new in SWAPS.items()}


@dataclass(frozen=True)
class Mutant:
    """A change of one place of one module."""

    module: str  # family.name
    line: int
    operator: str
    key: str  # an identity that changes with its line of code only, not with the rest of the file
    tree: Any
    node: Any
    replacement: Any

    def source(self) -> str:
        """Return the changed module."""
        return str(self.tree.deep_replace(self.node, self.replacement).code)

    def diff(self) -> str:
        """Return the changed lines."""
        before, after = self.tree.code.splitlines(), self.source().splitlines()
        return "\n".join(list(difflib.unified_diff(before, after, n=0, lineterm=""))[2:])


# ---- operators: functions from a node to its replacements


def number_less(node: Any) -> Iterator[Any]:
    """Decrease a number by one; mutmut increases it."""
    if isinstance(node, cst.Integer | cst.Float):
        value = node.evaluated_value - 1
        yield cst.parse_expression(f"({value!r})" if value < 0 else repr(value))


def swap_function(node: Any) -> Iterator[Any]:
    """Replace a function by a near one: ``min`` by ``max``, ``argmin`` by ``argmax``."""
    name = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
    if not isinstance(name, cst.Name) or name.value not in SWAPS:
        return
    if name is not node.func or hasattr(builtins, SWAPS[name.value]):  # there is no built-in mean
        yield node.with_deep_changes(name, value=SWAPS[name.value])


def drop_keyword(node: Any) -> Iterator[Any]:
    """Leave out one keyword argument."""
    for place, argument in enumerate(node.args):
        if argument.keyword is not None and argument.keyword.value not in LIMITS | GUARDS:
            yield node.with_changes(args=[*node.args[:place], *node.args[place + 1 :]])


def negate_condition(node: Any) -> Iterator[Any]:
    """Negate the condition of ``if`` and ``while``."""
    test = node.test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    yield node.with_changes(test=cst.UnaryOperation(cst.Not(), test))


def drop_statement(node: Any) -> Iterator[Any]:
    """Remove a call, an in-place operation, a raise, or an ``if`` without ``else``."""
    if isinstance(node, cst.If):
        if node.orelse is None:
            yield node.with_changes(test=cst.Name("False"))
        return
    statement = node.body[0]
    call = called(statement.value) if isinstance(statement, cst.Expr) else ""
    if isinstance(statement, cst.AugAssign | cst.Raise) or call not in ("", "print"):
        yield node.with_changes(body=[cst.Pass()])


OPERATORS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (cst.BaseNumber, mutators.operator_number),
    (cst.BaseNumber, number_less),
    (cst.Name, mutators.operator_name),
    (cst.UnaryOperation, mutators.operator_remove_unary_ops),
    (cst.CSTNode, mutators.operator_keywords),
    (cst.CSTNode, mutators.operator_swap_op),
    (cst.IfExp, mutators.operator_if_exp),
    (cst.Match, mutators.operator_match),
    (cst.Call, swap_function),
    (cst.Call, drop_keyword),
    ((cst.If, cst.While), negate_condition),
    ((cst.If, cst.SimpleStatementLine), drop_statement),
)


def called(node: Any) -> str:
    """Return the last name of a called function, "" if the node is not a call."""
    if not isinstance(node, cst.Call):
        return ""
    name = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
    return name.value if isinstance(name, cst.Name) else ""


def left_alone(node: Any) -> bool:
    """Return whether nothing below this node can change a result."""
    if isinstance(node, cst.Annotation | cst.BaseString | cst.Raise | cst.Import | cst.ImportFrom):
        return True
    if isinstance(node, cst.FunctionDef):
        return node.name.value in TEXT_FUNCTIONS
    if isinstance(node, cst.If):
        return any(word in cst.Module([]).code_for_node(node.test) for word in ("TYPE_CHECKING", "verbose"))
    if isinstance(node, cst.Param):
        return node.name.value in LIMITS
    if isinstance(node, cst.Arg):
        return node.keyword is not None and node.keyword.value in LIMITS | GUARDS
    return called(node) in {"warn", "print", "cast", "TypeVar"}


def same(node: Any, replacement: Any) -> bool:
    """Return whether two nodes mean the same: the same text, or the same number in another notation."""
    numbers = cst.Integer | cst.Float | cst.Imaginary
    if isinstance(node, numbers) and isinstance(replacement, numbers):
        return bool(node.evaluated_value == replacement.evaluated_value)
    return bool(node.deep_equals(replacement))


def mutants_of(module: str) -> list[Mutant]:
    """Return every mutant of one module."""
    path = PACKAGE.joinpath(*module.split(".")).with_suffix(".py")
    wrapper = MetadataWrapper(cst.parse_module(path.read_text(encoding="utf-8")))
    positions = wrapper.resolve(PositionProvider)
    tree = wrapper.module
    lines = tree.code.splitlines()
    found = []
    alike: Counter[str] = Counter()

    def walk(node: Any) -> None:
        if left_alone(node):
            return
        for kind, operator in OPERATORS:
            if isinstance(node, kind):
                propose(node, operator)
        for child in node.children:
            walk(child)

    def propose(node: Any, operator: Callable[[Any], Any]) -> None:
        name = operator.__name__.removeprefix("operator_")
        for replacement in operator(node):
            before, after = tree.code_for_node(node), tree.code_for_node(replacement)
            if not same(node, replacement):
                at = positions[node].start
                line = lines[at.line - 1]
                place = f"{line.strip()} {at.column - len(line) + len(line.lstrip())}"
                change = f"{module} {name} {place} {before} -> {after}"
                alike[change] += 1
                key = hashlib.sha256(f"{change} {alike[change]}".encode()).hexdigest()[:16]
                found.append(Mutant(module, at.line, name, key, tree, node, replacement))

    for statement in tree.body:
        walk(statement)
    return found


def sample(n: int, seed: int) -> list[Mutant]:
    """Draw ``n`` mutants, in turns over the modules and within each in turns over the operators."""
    rng = random.Random(seed)
    queues = []
    for family in FAMILIES:
        for path in sorted((PACKAGE / family).glob("*.py")):
            if path.stem == "__init__":
                continue
            by_operator = defaultdict(list)
            for mutant in mutants_of(f"{family}.{path.stem}"):
                by_operator[mutant.operator].append(mutant)
            for group in by_operator.values():
                rng.shuffle(group)
            operators = sorted(by_operator)
            rng.shuffle(operators)
            queues.append(list(in_turns([by_operator[name] for name in operators])))
    rng.shuffle(queues)
    return list(in_turns(queues))[:n]


def in_turns(queues: list[list[Mutant]]) -> Iterator[Mutant]:
    """Yield one item of each list in turn until all are empty."""
    for place in range(max(map(len, queues), default=0)):
        yield from (queue[place] for queue in queues if place < len(queue))


# ---- which tests know a module


@dataclass(frozen=True)
class Tests:
    """A test file, or those of its tests that concern one estimator."""

    path: str
    estimator: str = ""

    @property
    def name(self) -> str:
        """A name that changes with the file."""
        return f"{self.path} {self.estimator} {hashlib.sha256((ROOT / self.path).read_bytes()).hexdigest()[:16]}"

    def arguments(self) -> list[str]:
        """Return what selects them in pytest."""
        return [self.path, *(["-k", f"[{self.estimator}- or [{self.estimator}]"] if self.estimator else [])]


def imports() -> dict[str, set[str]]:
    """Return the modules of the package that import each module directly."""
    users = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = [*parts[: len(parts) - node.level], *(node.module or "").split(".")]
                for name in (base, *([*base, alias.name] for alias in node.names)):
                    users[".".join(filter(None, name))].add(".".join(parts))
    return users


def estimators() -> dict[str, list[str]]:
    """Return the names of the estimators of each module."""
    spec = importlib.util.spec_from_file_location("_registry", PACKAGE / "_registry.py")
    assert spec is not None and spec.loader is not None
    registry = importlib.util.module_from_spec(spec)
    sys.modules["_registry"] = registry
    spec.loader.exec_module(registry)
    found = defaultdict(list)
    for row in registry.REGISTRY:
        found[row.module.removeprefix("soft_clustering.")].append(row.name)
    return found


def own_tests(module: str) -> list[Tests]:
    """Return the tests written for a module: those named after it, and those that import it."""
    family, name = module.split(".", 1)
    files = [f"src/soft_clustering/{family}/{name}.py", f"tests/{family}/test_{name.lstrip('_')}.py"]
    path = f"soft_clustering.{module}"
    files += [file for file, text in test_texts().items() if re.search(rf"{re.escape(path)}\b", text)]
    if family == "engine":
        files += [file for file in test_texts() if file.startswith("tests/engine/") and file not in CLUSTERS]
    files += CLUSTERS if module == "engine.dask_blocks" else []
    return [Tests(file) for file in dict.fromkeys(files) if (ROOT / file).exists()]


@cache
def test_texts() -> dict[str, str]:
    """Return the test files with their texts."""
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}


def stages_of(module: str, users: dict[str, set[str]], names: dict[str, list[str]]) -> list[list[Tests]]:
    """Return the runs of a module's mutants, the most telling tests first."""
    near = sorted(user for user in users[module] if user.split(".")[0] == module.split(".")[0])
    if module.startswith("engine."):
        near = list(ENGINE_USERS)
    concerned = [name for source in (module, *near) for name in names.get(source, [])][:3]
    second = [tests for user in near[:6] for tests in own_tests(user)]
    second += [Tests(path, name) for name in concerned for path in CONFORMANCE]
    first = own_tests(module)
    return [first, [tests for tests in dict.fromkeys(second) if tests not in first]]


# ---- running


class Tree:
    """A copy of the working tree in which mutants are tested."""

    def __init__(self, folder: Path, python: str) -> None:
        self.folder, self.python = folder, python
        ignored = shutil.ignore_patterns(".git", "build", "dist", "__pycache__", ".*_cache", "*.jsonl", "*.egg-info")
        shutil.copytree(ROOT, folder, ignore=ignored)
        compileall.compile_dir(folder / "src", quiet=2)

    def pytest(self, arguments: list[str], timeout: float) -> tuple[int | None, str]:
        """Run pytest; return its exit code, None if time ran out, and what it printed."""
        environment = os.environ | {
            "PYTHONPATH": str(self.folder / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",  # a mutant of the same size and second would meet the bytecode of another
            "OMP_NUM_THREADS": "1",
            "SOFT_CLUSTERING_DATA_SHARED": os.environ.get(
                "SOFT_CLUSTERING_DATA_SHARED", str(ROOT.parent / "shared" / "data")
            ),
        }
        command = [self.python, "-m", "pytest", "-q", "-rfE", "--tb=no", "-o", "addopts="]
        command += ["--doctest-modules", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments]
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(
                command, cwd=self.folder, env=environment, stdout=output, stderr=output, start_new_session=True
            )
            try:
                code: int | None = process.wait(timeout)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)  # and the processes that the tests started
                    process.wait()
            output.seek(0)
            return code, output.read()

    def baseline(self, tests: Tests) -> dict[str, float]:
        """Return the tests that pass without a mutation, with their seconds."""
        report = self.folder / "report.xml"
        report.unlink(missing_ok=True)
        self.pytest([f"--junitxml={report}", "-o", "junit_family=xunit1", *tests.arguments()], 1800)
        passed: dict[str, float] = {}
        if not report.exists():
            return passed
        for case in ElementTree.parse(report).iter("testcase"):
            if len(case) == 0 or all(child.tag.startswith("system") for child in case):
                file = case.attrib["file"]
                inside = case.attrib["classname"].removeprefix(file.removesuffix(".py").replace("/", ".")).strip(".")
                identifier = "::".join(part for part in (file, inside.replace(".", "::"), case.attrib["name"]) if part)
                passed[identifier] = float(case.attrib["time"])
        return passed

    def test(self, mutant: Mutant, stages: list[dict[str, float]]) -> dict[str, Any]:
        """Return what became of a mutant."""
        started = time.monotonic()
        status, killer = "survived", ""
        path = self.folder.joinpath("src", "soft_clustering", *mutant.module.split(".")).with_suffix(".py")
        original = path.read_text(encoding="utf-8")
        path.write_text(mutant.source(), encoding="utf-8")
        for bytecode in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            bytecode.unlink()
        try:
            for chosen in filter(None, stages):
                selection = self.folder / "selection.txt"
                selection.write_text("\n".join(chosen), encoding="utf-8")
                code, text = self.pytest(["-x", f"@{selection}"], 30 + 4 * sum(chosen.values()))
                if code != 0:
                    noticed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", text, re.MULTILINE)
                    status = "timeout" if code is None else "killed"
                    killer = noticed[1] if noticed else text.strip()[-200:]
                    break
        finally:
            path.write_text(original, encoding="utf-8")
        return {
            "module": mutant.module,
            "line": mutant.line,
            "operator": mutant.operator,
            "key": mutant.key,
            "diff": mutant.diff(),
            "status": status,
            "killer": killer,
            "seconds": round(time.monotonic() - started, 1),
        }


def quickest(passed: list[dict[str, float]], budget: float) -> dict[str, float]:
    """Return the quickest of the tests, as many as the budget of seconds holds."""
    chosen, spent = {}, 0.0
    for identifier, seconds in sorted(((name, s) for group in passed for name, s in group.items()), key=lambda x: x[1]):
        spent += seconds
        if spent > budget:
            break
        chosen[identifier] = seconds
    return chosen


def run(mutants: list[Mutant], results: Path, python: str, workers: int, budget: float) -> None:
    """Test the mutants and append what became of them to ``results``."""
    users, names = imports(), estimators()
    stages = {module: stages_of(module, users, names) for module in {mutant.module for mutant in mutants}}
    # The names now, because the trees hold the files as they are now: someone may write tests while the mutants run.
    needed = {tests: tests.name for runs in stages.values() for stage in runs for tests in stage}
    cache = results.with_suffix(".baseline.json")
    known: dict[str, dict[str, float]] = json.loads(cache.read_text(encoding="utf-8")) if cache.exists() else {}
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder, ThreadPoolExecutor(workers) as pool:
        trees: SimpleQueue[Tree] = SimpleQueue()
        for place in range(workers):
            trees.put(Tree(Path(folder) / str(place) / "tree", python))

        def in_a_tree(task: Callable[[Tree], Any]) -> Any:
            tree = trees.get()
            try:
                return task(tree)
            finally:
                trees.put(tree)

        def as_they_end(tasks: dict[Any, Callable[[Tree], Any]]) -> Iterator[tuple[Any, Any]]:
            futures = {pool.submit(in_a_tree, task): item for item, task in tasks.items()}
            try:
                for future in as_completed(futures):
                    yield futures[future], future.result()
            finally:
                for future in futures:  # of an interrupted pass
                    future.cancel()

        missing: dict[Any, Callable[[Tree], Any]] = {
            tests: methodcaller("baseline", tests) for tests in sorted(needed, key=str) if needed[tests] not in known
        }
        for tests, passed in as_they_end(missing):
            known[needed[tests]] = passed
            cache.write_text(json.dumps(known), encoding="utf-8")
            print(
                f"baseline {' '.join(tests.arguments())}: {len(passed)} tests, {sum(passed.values()):.1f} s", flush=True
            )

        chosen = {
            module: [quickest([known[needed[tests]] for tests in stage], budget) for stage in runs]
            for module, runs in stages.items()
        }
        waiting: dict[Any, Callable[[Tree], Any]] = {
            mutant.key: methodcaller("test", mutant, chosen[mutant.module]) for mutant in mutants
        }
        with results.open("a", encoding="utf-8") as file:
            for place, (_, outcome) in enumerate(as_they_end(waiting), 1):
                file.write(json.dumps(outcome) + "\n")
                file.flush()
                where = f"{outcome['module']}:{outcome['line']} {outcome['operator']}"
                print(f"{place}/{len(mutants)} {outcome['status']} {where} {outcome['killer']}", flush=True)


def read(results: Path) -> dict[str, dict[str, Any]]:
    """Return the last record of each mutant."""
    if not results.exists():
        return {}
    lines = map(json.loads, results.read_text(encoding="utf-8").splitlines())
    return {record["key"]: record for record in lines}


def report(records: dict[str, dict[str, Any]]) -> None:
    """Print the share killed and the survivors, of the mutants that the code still has."""
    modules = {record["module"] for record in records.values()}
    present = {mutant.key for module in modules for mutant in mutants_of(module)}
    gone = len(records.keys() - present)
    records = {key: record for key, record in records.items() if key in present}
    for record in records.values():
        if record["status"] == "survived":
            print(f"\n{record['module']}:{record['line']} {record['operator']}\n{record['diff']}")
    total: Counter[str] = Counter(record["module"].split(".")[0] for record in records.values())
    alive = Counter(record["module"].split(".")[0] for record in records.values() if record["status"] == "survived")
    print()
    for family, count in sorted(total.items()):
        print(f"{family:10} {count - alive[family]:4} of {count:4} killed")
    if records:
        seconds = sum(record["seconds"] for record in records.values()) / len(records)
        killed = total.total() - alive.total()
        print(f"{'all':10} {killed:4} of {total.total():4} killed: {killed / total.total():.1%}, {seconds:.1f} s each")
    if gone:
        print(f"{gone} others are left out: their code has changed, or is left alone by now")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("results", type=Path, help="JSON Lines, one mutant a line; appended to")
    parser.add_argument("--n", type=int, default=300, help="size of the sample; 0 only prints the report")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2, help="copies of the tree in which mutants are tested at once")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of tests in each of the two runs")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that runs the tests")
    parser.add_argument("--again", action="store_true", help="test the survivors of the file again, draw no others")
    options = parser.parse_args()
    done = read(options.results)
    if options.again:
        alive = {key for key, record in done.items() if record["status"] == "survived"}
        modules = sorted({done[key]["module"] for key in alive})
        chosen = [mutant for module in modules for mutant in mutants_of(module) if mutant.key in alive]
    else:
        chosen = [mutant for mutant in sample(options.n, options.seed) if mutant.key not in done]
    if chosen:
        run(chosen, options.results, options.python, options.workers, options.budget)
    report(read(options.results))


if __name__ == "__main__":
    main()
