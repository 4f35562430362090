from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_data_of_the_user(monkeypatch, tmp_path_factory):
    """Neither folders named in the environment nor what scikit-learn has fetched before."""
    monkeypatch.delenv("SOFT_CLUSTERING_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path_factory.mktemp("scikit_learn")))
