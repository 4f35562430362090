"""Files of distances, with and without names, and what is refused."""

import gzip

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from soft_clustering.inputs import read_distances

X = np.random.RandomState(0).normal(size=(4, 2))
D = np.round(cdist(X, X), 6)
NAMES = ["Ann", "Bob", "Cem Can", "Dee"]


def text(D, separator=",", corner=None, heads=None, names=None, decimal="."):
    lines = []
    if heads is not None:
        lines.append(separator.join([*([] if corner is None else [corner]), *heads]))
    for i, row in enumerate(D):
        values = [f"{value:.6f}".replace(".", decimal) for value in row]
        lines.append(separator.join([*([] if names is None else [names[i]]), *values]))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "name, content, names",
    [
        ("d.csv", text(D), None),
        ("d.tsv", text(D, "\t"), None),
        ("d.txt", "# comment\n" + text(D, "  "), None),
        ("d.csv", text(D, heads=NAMES), NAMES),
        ("d.csv", text(D, names=NAMES), NAMES),
        ("d.csv", text(D, corner="", heads=NAMES, names=NAMES), NAMES),
        ("d.csv", text(D, corner="id", heads=NAMES, names=NAMES), NAMES),
        ("d.tsv", text(D, "\t", heads=NAMES, names=NAMES), NAMES),  # as R writes it
        ("d.csv", text(D, corner="", heads="0123", names="0123"), list("0123")),  # as pandas writes it
        ("d.csv", text(D, heads="7013", names="7013"), list("7013")),
        ("d.csv", text(D, ";", decimal=","), None),
        ("d.csv", text(D, ";", corner="", heads=NAMES, names=NAMES, decimal=","), NAMES),
    ],
)
def test_text(name, content, names, tmp_path):
    (tmp_path / name).write_text(content)
    found = read_distances(tmp_path / name)
    np.testing.assert_array_equal(found.distances, D)
    assert found.names == names
    ending = "." if names is None else ", with their names."
    assert found.notes[0] == f"{name} holds the distances of 4 samples{ending}"


def test_compressed(tmp_path):
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(text(D).encode()))
    np.testing.assert_array_equal(read_distances(tmp_path / "d.csv.gz").distances, D)


@pytest.mark.parametrize("arrays", [{"distances": D}, {"D": D, "other": X}, {"whatever": D}])
def test_arrays(arrays, tmp_path):
    np.savez(tmp_path / "d.npz", **arrays)
    np.testing.assert_array_equal(read_distances(tmp_path / "d.npz").distances, D)


def test_arrays_with_names(tmp_path):
    np.savez(tmp_path / "d.npz", D=D, names=np.array(NAMES))
    assert read_distances(tmp_path / "d.npz").names == NAMES
    np.savez(tmp_path / "d.npz", D=D, names=np.array(NAMES[:2]))
    with pytest.raises(ValueError, match="has 2 names for 4 rows of distances"):
        read_distances(tmp_path / "d.npz")
    np.save(tmp_path / "d.npy", D)
    np.testing.assert_array_equal(read_distances(tmp_path / "d.npy").distances, D)


def test_rounding_is_evened_out(tmp_path):
    noisy = D + 1e-8 * np.arange(16).reshape(4, 4)
    np.save(tmp_path / "d.npy", noisy)
    found = read_distances(tmp_path / "d.npy")
    assert (found.distances == found.distances.T).all() and not found.distances.diagonal().any()
    assert "The matrix is symmetric up to rounding: the mean of both directions is taken." in found.notes


def changed(*entries):
    copy = D.copy()
    for i, j, value in entries:
        copy[i, j] = value
    return copy


@pytest.mark.parametrize(
    "matrix, message",
    [
        (D[:3], r"has shape \(3, 4\): distances are a square matrix"),
        (changed((0, 1, np.nan)), "has no number in row 1, column 2 of the distances: fill it in"),
        (changed((0, 1, np.inf)), "has no number in row 1, column 2"),
        (changed((2, 1, -1.0), (1, 2, -1.0)), "does not hold distances: X must hold dissimilarities >= 0. Got -1"),
        (changed((2, 2, 1.0)), "does not hold distances: X must have a zero diagonal. Got 1 on it instead"),
        (changed((2, 1, 9.0)), "does not hold distances: X must be symmetric. Got entries that differ by"),
        (1 - D / D.max(), "has its largest entries, 1, on the diagonal, like similarities: pass distances, such as 1"),
        (np.zeros((1, 1)), "has one sample"),
    ],
)
def test_refused_matrices(matrix, message, tmp_path):
    np.save(tmp_path / "d.npy", matrix)
    with pytest.raises(ValueError, match=message) as caught:
        read_distances(tmp_path / "d.npy")
    assert str(tmp_path / "d.npy") in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("d.csv", "", "is empty"),
        ("d.csv", "# nothing\n", "has only comments"),
        ("d.csv", "a,b\n", "has one line, and it is not of numbers"),
        ("d.csv", "0,1\n1\n", "is not a matrix of numbers"),
        ("d.csv", "0,1,2\n1,0,x\n2,1,0\n", "is not a matrix of numbers"),
        ("d.csv", "0,1,\n1,0,3\n,3,0\n", "is not a matrix of numbers"),
        ("d.csv", ",a,b\nb,0,1\na,1,0\n", "has other names in its first line than in its first column"),
        ("d.xls", "0", "does not end in .csv, .tsv, .txt, .npz or .npy"),
        ("d.npz", "garbage", "is damaged or not what its name says"),
        ("d.npy", "garbage", "is damaged or not what its name says"),
    ],
)
def test_refused_files(name, content, message, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=message) as caught:
        read_distances(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_arrays_without_a_known_name(tmp_path):
    np.savez(tmp_path / "d.npz", a=D, b=D)
    with pytest.raises(ValueError, match="has the arrays a, b: name the distances 'distances'"):
        read_distances(tmp_path / "d.npz")
    np.savez(tmp_path / "d.npz", D=np.array([[{}]]))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        read_distances(tmp_path / "d.npz")


def test_no_file(tmp_path):
    for name in ("d.csv", "d.npz"):
        with pytest.raises(FileNotFoundError, match="There is no file"):
            read_distances(tmp_path / name)
