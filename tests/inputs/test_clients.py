"""Tables of several clients: canonical form, names, errors."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from soft_clustering.inputs.clients import align_features, validate_client, validate_clients

A = np.arange(6.0).reshape(3, 2)
B = np.arange(8.0).reshape(2, 4)


def test_canonical_form():
    clients = validate_clients([A.tolist(), np.asfortranarray(A.astype(np.float32))])
    assert [client.X.dtype for client in clients] == [np.float64, np.float32]
    assert all(client.X.flags.c_contiguous for client in clients)
    assert clients[0].features == ("x0", "x1")
    assert not clients[0].named


def test_missing_values_are_kept():
    X = A.copy()
    X[0, 1] = np.nan
    np.testing.assert_array_equal(validate_clients([X])[0].X, X)


def test_no_copy_where_none_is_needed():
    assert validate_clients([A])[0].X is A


def test_integers_and_missing_values_of_pandas():
    frame = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [1, 2, 3]})
    client = validate_client(frame)
    assert client.X.dtype == np.float64
    np.testing.assert_array_equal(client.X, [[1, 1], [np.nan, 2], [3, 3]])


def test_names_of_data_frames():
    frames = [pd.DataFrame(A, columns=["a", "b"]), pd.DataFrame(B, columns=["b", "c", "d", "a"])]
    clients = validate_clients(frames)
    assert [client.features for client in clients] == [("a", "b"), ("b", "c", "d", "a")]
    assert all(client.named for client in clients)


@pytest.mark.parametrize(
    "names", [["a", "b"], ("a", "b"), np.array(["a", "b"]), [["a", "b"], ["a", "b"]], np.array([["a", "b"]] * 2)]
)
def test_given_names(names):
    for client in validate_clients([A, A], names):
        assert client.features == ("a", "b")
        assert all(type(feature) is str for feature in client.features)


def test_given_names_come_before_columns():
    assert validate_client(pd.DataFrame(A, columns=["a", "b"]), ["u", "v"]).features == ("u", "v")


@pytest.mark.parametrize(
    "tables, align, expected",
    [
        ([["a", "b"], ["b", "c"]], "union", ["a", "b", "c"]),
        ([["a", "b"], ["b", "c"]], "intersection", ["b"]),
        ([["b", "a"], ["a", "b"]], "intersection", ["b", "a"]),
        ([["a"], ["b"]], "intersection", []),
        ([["x2", "x10"]], "union", ["x2", "x10"]),
    ],
)
def test_alignment(tables, align, expected):
    assert align_features(tables, align) == expected


def with_entry(value):
    X = A.copy()
    X[1, 0] = value
    return X


@pytest.mark.parametrize(
    "X, names, error, message",
    [
        (A, None, TypeError, r"X must be a list of matrices .* pass \[X\] for a single client. Got ndarray"),
        (np.stack([A, A]), None, TypeError, "X must be a list"),
        (pd.DataFrame(A), None, TypeError, "X must be a list"),
        ("data", None, TypeError, "X must be a list"),
        (None, None, TypeError, "X must be a list"),
        ([], None, ValueError, "X must hold at least one client"),
        ([A, np.arange(3.0)], None, ValueError, r"X\[1\] must be a matrix of numbers.*Expected 2D array"),
        ([[1.0, 2.0]], None, ValueError, r"X\[0\] must be a matrix"),
        ([np.empty((0, 2))], None, ValueError, r"X\[0\].*0 sample"),
        ([np.empty((2, 0))], None, ValueError, r"X\[0\].*0 feature"),
        ([with_entry(np.inf)], None, ValueError, r"X\[0\].*infinity"),
        ([with_entry(1e308)], None, ValueError, r"X\[0\] must have entries below 1e\+307"),
        ([with_entry(3e38).astype(np.float32)], None, ValueError, r"X\[0\] must have entries below 1e\+37"),
        ([np.array([["a", "b"]])], None, ValueError, r"X\[0\] must be a matrix of numbers"),
        ([A + 1j], None, ValueError, r"X\[0\].*[Cc]omplex"),
        ([sparse.csr_array(A)], None, TypeError, r"X\[0\].*[Ss]parse"),
        ([A, B], None, ValueError, r"feature_names is required if clients differ .* Got \[2, 4\]"),
        ([A, pd.DataFrame(A, columns=["a", "b"])], None, ValueError, "feature_names must be known for all clients"),
        ([A], "ab", TypeError, "feature_names must be a sequence"),
        ([A], 3, TypeError, "feature_names must be a sequence"),
        ([A], ["a"], ValueError, r"feature_names of X\[0\] must be 2 different names"),
        ([A], ["a", "a"], ValueError, r"feature_names of X\[0\] must be 2 different names"),
        ([A, A], [["a", "b"]], ValueError, "feature_names must have an entry per client, 2. Got 1"),
        ([A], [["a", 1]], TypeError, r"feature_names of X\[0\] must be strings"),
    ],
)
def test_refused(X, names, error, message):
    with pytest.raises(error, match=message):
        validate_clients(X, names)
