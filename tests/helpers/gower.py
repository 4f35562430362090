"""A small table with gaps, and Gower's dissimilarities of its rows."""

import pandas

MIXED = pandas.DataFrame(
    {
        "age": [20, 40, None, 60, 35],
        "pay": [1.5, 2, 3.25, None, 8],
        "plan": ["a", "b", "b", "a", None],
        "member": ["y", "n", "y", None, "n"],
    }
)
#: What ``daisy(metric = "gower")`` of the R package cluster 2.1.4 prints for it, the texts as factors.
OF_DAISY = [
    [0.000000000000, 0.644230769231, 0.423076923077, 0.500, 0.791666666667],
    [0.644230769231, 0.000000000000, 0.397435897436, 0.750, 0.349358974359],
    [0.423076923077, 0.397435897436, 0.000000000000, 1.000, 0.865384615385],
    [0.500000000000, 0.750000000000, 1.000000000000, 0.000, 0.625000000000],
    [0.791666666667, 0.349358974359, 0.865384615385, 0.625, 0.000000000000],
]
