"""The commands on the pages run, in a folder with the files that they name; ``compare`` with two models at most."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from soft_clustering.cli import main
from soft_clustering.datasets import load_graph, make_phantom, make_topic_corpus

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "guide").rglob("*.md"))]
TWO = {"csv": ["FCM", "GMM"], "edgelist": ["BIGCLAM", "MMSB"], "letters/": ["LDA", "PLSI"], "png": ["SKFCM"]}


def commands(page):
    """The commands of a page, in their order; a benchmark fetches data from the network and takes minutes."""
    blocks = re.findall(r"^```(?:sh|bash)\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lines = [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]
    return [line[1:] for line in lines if line[:1] == ["soft-clustering"] and line[1] != "benchmark"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with every file that a page names."""
    pandas, image = pytest.importorskip("pandas"), pytest.importorskip("PIL.Image")
    from sklearn.datasets import load_iris

    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 40)
    customers = pandas.DataFrame(
        {
            "customer_id": [f"c{row}" for row in range(120)],
            "age": rng.normal([30, 50, 70], 3, (40, 3)).T.ravel().round(),
            "income": rng.normal([2e4, 6e4, 4e4], 2e3, (40, 3)).T.ravel(),
            "plan": np.array(["basic", "gold", "family"])[group],
            "segment": group,
        }
    )
    customers.to_csv("customers.csv", index=False)
    customers[::6].to_csv("new_customers.csv", index=False)
    iris = load_iris(as_frame=True)
    iris.data.assign(species=iris.target).to_csv("flowers.csv", index=False)
    graph = load_graph("karate")
    A = graph.adjacency.tocoo()
    Path("friends.edgelist").write_text("\n".join(f"{i} {j}" for i, j in zip(A.row, A.col, strict=True) if i < j))
    Path("known.cmty").write_text("\n".join(" ".join(map(str, np.flatnonzero(graph.labels == k))) for k in (0, 1)))
    Path("letters").mkdir()
    corpus = make_topic_corpus(40, 3, random_state=0)
    for number, counts in enumerate(corpus.counts.toarray()):
        words = [word for word, count in zip(corpus.vocabulary, counts, strict=True) for _ in range(int(count))]
        Path("letters", f"{number}.txt").write_text(" ".join(words))
    picture = make_phantom(random_state=0).image
    image.fromarray((255 * picture / picture.max()).astype(np.uint8)).save("photo.png")
    points = rng.normal(size=(30, 2)) + 6 * np.eye(2)[rng.integers(0, 2, 30)]
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    np.savetxt("distances.csv", distances, delimiter=",")
    return tmp_path


@pytest.mark.parametrize(
    "page", [page for page in PAGES if commands(page)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_commands_run(page, files, capsys):
    for words in commands(page):
        if words[0] == "compare" and "--precomputed" not in words:
            kind = words[1].rpartition(".")[2] if len(words) > 1 else "csv"
            words = [*words, "--models", *TWO[kind]]
        assert main(words) == 0, (words, capsys.readouterr().err)
