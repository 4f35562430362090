"""Corpora of the tests of documents."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer


@pytest.fixture(scope="session")
def read_corpus(shared_data):
    """A function from the name of a corpus to (counts, classes)."""
    read = {}

    def load(name):
        if name not in read:
            path = shared_data / "text" / f"{name}.tsv"
            if not path.exists():
                pytest.skip(f"{path.name} is not there")
            lines = path.read_text(encoding="utf-8").splitlines()
            texts, _, labels = zip(*(line.split("\t") for line in lines), strict=True)
            X = CountVectorizer(token_pattern=r"\S+").fit_transform(texts)
            read[name] = X.astype(np.float64), np.array(labels)
        return read[name]

    return load


@pytest.fixture
def planted_groups():
    """(Counts, group) of 3 x 40 documents of 20 words, from 12 words that each group has to itself."""
    rng = np.random.default_rng(1)  # SISC splits a group in two in some draws
    y = np.tile(np.arange(3), 40)
    X = np.zeros((120, 36))
    for d, group in enumerate(y):
        np.add.at(X[d], 12 * group + rng.integers(12, size=20), 1)
    return X, y
