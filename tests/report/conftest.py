"""Finished runs without processes, and a browser."""

from __future__ import annotations

import numpy as np
import pytest
from chromium import Browser, missing

from soft_clustering import FCM
from soft_clustering.benchmarking.records import SCHEMA
from soft_clustering.benchmarking.runner import PlannedRun


@pytest.fixture
def finish(tmp_path):
    """Make runs of names and what they found: memberships, or the columns of a record."""

    def finish(**found):
        finished = []
        for number, (name, result) in enumerate(found.items()):
            entries = result if isinstance(result, dict) else {"status": "ok", "n_clusters": np.shape(result)[1]}
            path = tmp_path / f"{number}.npy"
            if not isinstance(result, dict):
                np.save(path, np.asarray(result, dtype=np.float32))
            estimator = FCM(3, m=1.5, random_state=0)
            run = PlannedRun(str(number), {}, estimator, None, None, None, (), False, None, None, str(path))
            finished.append((run, {"key": "k", **dict.fromkeys(SCHEMA), "model": name, "repeat": 0, **entries}))
        return finished

    return finish


@pytest.fixture(scope="session")
def browser():
    reason = missing()
    if reason:
        pytest.skip(reason)
    with Browser() as browser:
        yield browser
