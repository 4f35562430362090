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
