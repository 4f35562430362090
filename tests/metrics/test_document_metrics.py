"""Coherence of topics against its definition."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from soft_clustering.metrics import coherence

RNG = np.random.RandomState(0)


def brute(counts, topics):
    documents = [set(np.flatnonzero(row)) for row in counts]

    def share(*words):
        return sum(set(words) <= document for document in documents) / len(documents)

    def npmi(a, b):
        both = share(a, b)
        if both in (0, 1):
            return 1 if both else -1
        return math.log(both / (share(a) * share(b))) / -math.log(both)

    means = []
    for topic in topics:
        pairs = [npmi(a, b) for a, b in combinations([word for word in topic if share(word) > 0], 2)]
        means += [np.mean(pairs)] if pairs else []
    return np.mean(means)


def test_definition():
    counts = RNG.poisson(0.4, (40, 12))
    counts[:, 11] = 0  # occurs nowhere
    counts[:, 10] = 1  # occurs everywhere
    topics = [[0, 1, 2, 11], [3, 4], [10, 5, 6, 7], [8], [11, 9], []]
    assert coherence(counts, topics) == pytest.approx(brute(counts, topics), abs=1e-14)
    assert coherence(sparse.csr_array(counts), topics) == coherence(counts, topics)


def test_only_whether_a_word_is_there_matters():
    counts = RNG.poisson(0.4, (40, 6)).astype(float)
    assert coherence(counts, [[0, 1, 2]]) == coherence(counts * 7.5, [[0, 1, 2]])


def test_bounds():
    together = np.repeat([[1, 1, 0], [0, 0, 1]], 5, axis=0)
    assert coherence(together, [[0, 1]]) == 1
    assert coherence(together, [[0, 2]]) == -1
    assert coherence(np.ones((4, 3)), [[0, 1, 2]]) == 1


def test_words_by_chance_have_none():
    counts = RNG.uniform(size=(200_000, 3)) < 0.5
    # one standard error of log p_ab is 0.004, so that of the mean of three pairs over log 4 is below 0.003
    assert abs(coherence(counts.astype(float), [[0, 1, 2]])) < 0.01


def test_nothing_to_measure():
    assert math.isnan(coherence(np.eye(3), [[0], []]))
    assert math.isnan(coherence(np.eye(3), []))


@pytest.mark.parametrize("topics", [[[0, 3]], [[-1, 0]]])
def test_refused(topics):
    with pytest.raises(ValueError, match="topics must hold columns of counts, from 0 to 2"):
        coherence(np.eye(3), topics)
