"""Finished runs without processes, and a realistic summary."""

from __future__ import annotations

import numpy as np
import pytest
import realistic
from sklearn.datasets import load_iris

from soft_clustering import FCM, GMM
from soft_clustering.report import summarize_comparison


@pytest.fixture
def finish(tmp_path):
    """Make runs of names and what they found: memberships, or the columns of a record."""

    def finish(**found):
        return realistic.finished_runs(tmp_path, found)

    return finish


@pytest.fixture(scope="session")
def fits():
    """Memberships of iris by the name of the model; some models say nearly the same."""
    X = load_iris().data
    found = {"GMM": GMM(3, random_state=0).fit(X).memberships_}
    found |= {f"FCM, m = {m}": FCM(3, m=m, random_state=0).fit(X).memberships_ for m in (1.5, 2.0)}
    return found | {"two": FCM(2, random_state=0).fit(X).memberships_, "slow": {"status": "timeout", "reason": "60 s"}}


@pytest.fixture
def iris(fits, tmp_path):
    """A function that summarises a comparison with all that a report can show; keywords replace parts of it."""

    def summarize(found=fits, **changes):
        data = load_iris()
        names = ["sepal length", "sepal width", "petal length", "petal width"]
        first = next(name for name, U in found.items() if not isinstance(U, dict))
        given = {
            **{"name": "iris", "columns": names, "command": "soft-clustering compare iris.csv --report r.html"},
            "ids": [f"flower {row}" for row in range(len(data.data))],
            "preparation": realistic.PREPARATION,
            "recommendation": realistic.recommendation(found, len(data.data)),
            "profiles": realistic.profiles(found[first], data.data, names, first, category=True),
            "curves": realistic.curves(data.data),
        }
        finished = realistic.finished_runs(tmp_path, found)
        return summarize_comparison(finished, data.data, np.array(["a", "b", "c"])[data.target], **(given | changes))

    return summarize
