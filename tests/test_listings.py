"""The listings of the paper run as they stand."""

import re

import numpy as np
import pytest

LISTINGS = [
    "Fitting an estimator (FCM) and reading its soft output.",
    "Loading benchmark data sets through the unified API.",
    "Computing soft and defuzzified clustering metrics.",
]


@pytest.fixture(scope="module")
def listings(shared_data):
    """Caption -> code."""
    paper = shared_data.parent / "paper.tex"
    if not paper.exists():
        pytest.skip(f"no paper at {paper}")
    pattern = r"\\begin\{lstlisting\}\[[^\]]*caption=\{([^}]*)\}\]\n(.*?)\\end\{lstlisting\}"
    return dict(re.findall(pattern, paper.read_text(), re.DOTALL))


def test_listings_run(listings, capsys):
    """One after the other, as the paper prints them: later ones use X, y and model of earlier ones."""
    names = {"np": np}
    for caption in LISTINGS:
        exec(listings[caption], names)
    assert names["model"].memberships_.shape == (150, 3)
    assert "olivetti_faces" in names["real_suite"]
    assert "letter" in capsys.readouterr().out
    assert names["soft"].keys() == {
        "partition_coefficient",
        "modified_partition_coefficient",
        "partition_entropy",
        "fuzzy_hypervolume",
        "xie_beni",
        "fuzzy_compactness",
        "separation",
    }
    assert names["soft"]["partition_coefficient"] == pytest.approx(0.783, abs=5e-4)
    assert names["hard"]["ari"] == pytest.approx(0.729, abs=5e-4)
    assert all(np.isfinite(value) for value in (*names["soft"].values(), *names["hard"].values()))
