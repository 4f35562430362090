"""The 20 data sets: the table, every route a set can come by, and what is refused."""

import gzip
import hashlib
import io
import json
import os
import pickle
import re
import socket
import urllib.request
import urllib.response
from email.message import Message
from pathlib import Path

import joblib
import numpy as np
import pytest
from helpers.tables import offline_sets
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn import datasets as sklearn_datasets
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.utils import Bunch

from soft_clustering.datasets import (
    available_datasets,
    available_groups,
    benchmark_suite,
    dataset_info,
    datasets_in_group,
    get_dataset,
)

# n, d, K as published
SIZES = {
    "real": {
        "iris": (150, 4, 3),
        "wine": (178, 13, 3),
        "digits": (1797, 64, 10),
        "breast_cancer": (569, 30, 2),
        "olivetti_faces": (400, 4096, 40),
    },
    "synthetic": {
        "blobs": (1000, 2, 5),
        "moons": (1000, 2, 2),
        "circles": (1000, 2, 2),
        "anisotropic_blobs": (1500, 2, 4),
        "varied_blobs": (1500, 2, 4),
        "high_dimensional_blobs": (3000, 100, 10),
    },
    "openml": {
        "glass": (214, 9, 6),
        "vehicle": (846, 18, 4),
        "ecoli": (336, 7, 8),
        "yeast": (1484, 8, 10),
        "segment": (2310, 19, 7),
        "satimage": (6430, 36, 6),
        "letter": (20000, 16, 26),
        "pendigits": (10992, 16, 10),
        "optdigits": (5620, 64, 10),
    },
}
NAMES = [name for group in SIZES.values() for name in group]
FETCHED = ["olivetti_faces", *SIZES["openml"]]
OFFLINE = [name for name in NAMES if name not in FETCHED]


def glass(seed=0):
    """Arrays of the size of glass."""
    rng = np.random.RandomState(seed)
    return rng.standard_normal((214, 9)), np.array(["a", "b", "c", "d", "e", "f"])[np.arange(214) % 6]


def assert_pair(pair, X, y):
    assert pair[0].dtype == np.float64
    assert pair[0].flags.c_contiguous and pair[0].flags.owndata and pair[0].flags.writeable
    np.testing.assert_array_equal(pair[0], X, strict=True)
    np.testing.assert_array_equal(pair[1], y, strict=True)


def unreachable(*args, **kwargs):
    raise AssertionError("the network was asked")


@pytest.fixture
def no_fetching(monkeypatch):
    monkeypatch.setattr(sklearn_datasets, "fetch_openml", unreachable)
    monkeypatch.setattr(sklearn_datasets, "fetch_olivetti_faces", unreachable)


# The table ------------------------------------------------------------------------------------------------------------


def test_names_and_groups():
    assert available_datasets() == NAMES
    assert available_groups() == list(SIZES)
    for group, sizes in SIZES.items():
        assert datasets_in_group(group) == list(sizes)
    assert datasets_in_group("all") == NAMES


def test_lists_are_the_callers_own():
    available_datasets().clear()
    datasets_in_group("real").clear()
    dataset_info("iris").clear()
    assert len(available_datasets()) == 20 and len(datasets_in_group("real")) == 5 and len(dataset_info("iris")) == 7


@pytest.mark.parametrize("name", NAMES)
def test_info_loads_nothing(name, no_fetching):
    info = dataset_info(name)
    group = next(group for group, sizes in SIZES.items() if name in sizes)
    assert (info["name"], info["group"]) == (name, group)
    assert (info["n_samples"], info["n_features"], info["n_classes"]) == SIZES[group][name]
    assert info["needs_network"] == (name in FETCHED)
    assert ("OpenML" in info["source"]) == (group == "openml")


@pytest.mark.parametrize(
    "name, message",
    [
        ("irsi", "Unknown data set 'irsi': did you mean 'iris'?"),
        ("Breast cancer", "did you mean 'breast_cancer'?"),
        ("qqqq", "Unknown data set 'qqqq': known are iris, wine, "),
        (3, "Unknown data set 3: known are"),
        (["iris"], r"Unknown data set \['iris'\]"),
    ],
)
@pytest.mark.parametrize("function", [get_dataset, dataset_info])
def test_unknown_name(function, name, message):
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        function(name)


@pytest.mark.parametrize("function", [datasets_in_group, benchmark_suite])
def test_unknown_group(function):
    with pytest.raises(ValueError, match="Unknown group of data sets 'sythetic': did you mean 'synthetic'"):
        function("sythetic")


def test_suite_is_lazy(monkeypatch, no_fetching):
    suite = benchmark_suite("openml", data_home="nowhere")
    assert list(suite) == list(SIZES["openml"]) and len(suite) == 9
    assert "glass" in suite and "iris" not in suite and 3 not in suite
    assert "glass" in repr(suite) and "optdigits" in repr(suite)
    assert list(suite.keys()) == list(suite)
    with pytest.raises(KeyError, match="iris"):
        suite["iris"]
    assert suite.get("iris") is None
    with pytest.raises(AssertionError, match="the network was asked"):
        suite["glass"]


def test_suite_loads_on_access(tmp_path):
    X, y = glass()
    np.savez(tmp_path / "glass.npz", X=X, y=y)
    assert_pair(benchmark_suite("openml", data_home=tmp_path)["glass"], X, y)
    for name, (X, y) in benchmark_suite("synthetic").items():
        assert_pair((X, y), *get_dataset(name))
    assert list(benchmark_suite()) == NAMES


# Sets that need no file -----------------------------------------------------------------------------------------------


def test_offline_sets_are_raw_and_unchanged(no_fetching):
    X, y = make_blobs(1500, centers=4, random_state=42)
    expected = {
        "iris": sklearn_datasets.load_iris(return_X_y=True),
        "wine": sklearn_datasets.load_wine(return_X_y=True),
        "digits": sklearn_datasets.load_digits(return_X_y=True),
        "breast_cancer": sklearn_datasets.load_breast_cancer(return_X_y=True),
        "blobs": make_blobs(n_samples=1000, n_features=2, centers=5, random_state=42),
        "moons": make_moons(n_samples=1000, noise=0.05, random_state=42),
        "circles": make_circles(n_samples=1000, factor=0.5, noise=0.05, random_state=42),
        "anisotropic_blobs": (X @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y),
        "varied_blobs": make_blobs(n_samples=1500, centers=4, cluster_std=[1, 2.5, 0.5, 3], random_state=42),
        "high_dimensional_blobs": make_blobs(n_samples=3000, n_features=100, centers=10, random_state=42),
    }
    found = offline_sets()
    assert list(found) == OFFLINE == list(expected)
    for name, pair in expected.items():
        assert_pair(found[name], *pair)


@pytest.mark.parametrize("name", ["iris", "blobs", "glass"])
def test_arrays_are_new_in_every_call(name, tmp_path):
    np.savez(tmp_path / "glass.npz", **dict(zip("Xy", glass(), strict=True)))
    X, y = get_dataset(name, data_home=tmp_path)
    expected = X.copy(), y.copy()
    X[:] = 0
    y[:] = y[0]
    assert_pair(get_dataset(name, data_home=tmp_path), *expected)


def test_a_file_does_not_replace_a_set_that_needs_none(tmp_path):
    (tmp_path / "iris.npz").write_bytes(b"not iris")
    assert_pair(get_dataset("iris", data_home=tmp_path), *sklearn_datasets.load_iris(return_X_y=True))


# Files ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FETCHED)
def test_shared_files(name, shared_data, no_fetching):
    X, y = get_dataset(name, data_home=shared_data / "tabular")
    info = dataset_info(name)
    assert X.shape == (info["n_samples"], info["n_features"])
    assert X.dtype == np.float64 and X.flags.c_contiguous and np.isfinite(X).all()
    assert y.shape == (len(X),) and y.dtype.kind in "iU" and len(np.unique(y)) == info["n_classes"]
    with np.load(shared_data / "tabular" / f"{name}.npz") as file:
        np.testing.assert_array_equal(y, file["y"], strict=True)
        if name != "olivetti_faces":
            np.testing.assert_array_equal(X, file["X"].astype(np.float64))


def test_order_of_the_folders(tmp_path, monkeypatch, no_fetching):
    pairs = [glass(seed) for seed in range(3)]
    folders = [tmp_path / str(i) for i in range(3)]
    for folder, (X, y) in zip(folders, pairs, strict=True):
        folder.mkdir()
        np.savez(folder / "glass.npz", X=X, y=y)
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("SOFT_CLUSTERING_DATA", str(folders[1]))
    assert_pair(get_dataset("glass"), *pairs[1])
    assert_pair(get_dataset("glass", data_home=folders[0]), *pairs[0])
    assert_pair(get_dataset("glass", data_home=str(folders[0])), *pairs[0])
    assert_pair(get_dataset("glass", data_home=empty), *pairs[1])
    monkeypatch.setenv("SOFT_CLUSTERING_DATA", os.pathsep.join(["", str(empty), str(folders[2]), str(folders[1])]))
    assert_pair(get_dataset("glass"), *pairs[2])


def test_home_folder(tmp_path, monkeypatch, no_fetching):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    X, y = glass()
    np.savez(tmp_path / "glass.npz", X=X, y=y)
    assert_pair(get_dataset("glass", data_home="~"), X, y)


@pytest.mark.parametrize("data_home", [3, b"folder", ["folder"]])
def test_data_home_of_a_wrong_type(data_home):
    with pytest.raises(TypeError, match=r"data_home must be a str, a path or None\. Got"):
        get_dataset("glass", data_home=data_home)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.float64, ">f8", bool])
@pytest.mark.parametrize("order", ["C", "F"])
def test_forms_of_X(dtype, order, tmp_path):
    X = np.asarray(np.abs(glass()[0]) * 40, dtype=dtype, order=order)
    y = np.arange(214) % 6
    np.savez_compressed(tmp_path / "glass.npz", X=X, y=y, feature_names=np.array(["RI"]))
    assert_pair(get_dataset("glass", data_home=tmp_path), X.astype(np.float64), y)


class Bomb:
    def __reduce__(self):
        return exec, ("raise SystemExit('a file was unpickled')",)


def altered(**changes):
    X, y = glass()
    return {"X": X, "y": y, **changes}


NOT_FINITE = glass()[0]
NOT_FINITE[3, 4] = np.inf


@pytest.mark.parametrize(
    "arrays, message",
    [
        (altered(X=glass()[0][:-1]), r"X has shape \(213, 9\), expected \(214, 9\)"),
        (altered(X=glass()[0][:, :-1]), r"X has shape \(214, 8\), expected \(214, 9\)"),
        (altered(X=glass()[0].ravel()), r"X has shape \(1926,\), expected"),
        (altered(y=glass()[1][:-1]), r"y has shape \(213,\), expected \(214,\)"),
        (altered(y=glass()[1][:, None]), r"y has shape \(214, 1\), expected"),
        (altered(y=np.arange(214) % 5), "y has 5 classes, expected 6"),
        (altered(y=np.arange(214) % 7), "y has 7 classes, expected 6"),
        (altered(X=NOT_FINITE), "NaN or infinite"),
        (altered(X=NOT_FINITE * np.nan), "NaN or infinite"),
        (altered(y=np.r_[np.arange(213) % 5, np.nan]), "NaN or infinite"),
        (altered(X=glass()[0].astype(str)), "X has dtype <U32 and y <U1, expected numbers"),
        (altered(X=glass()[0] * 1j), "X has dtype complex128"),
        (altered(y=np.arange(214).astype("M8[s]")), "y datetime64"),
        (altered(X=glass()[0].astype(object)), "allow_pickle=False"),
        (altered(y=np.array([Bomb()] * 214)), "allow_pickle=False"),
        ({"X": glass()[0], "labels": glass()[1]}, r"it has no array 'y', only \['X', 'labels'\]"),
        ({"y": glass()[1]}, "it has no array 'X'"),
    ],
)
def test_altered_files_are_refused(arrays, message, tmp_path, no_fetching):
    path = tmp_path / "glass.npz"
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=message) as caught:
        get_dataset("glass", data_home=tmp_path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [b"", b"PK", b"X,y\n1,2\n", pickle.dumps(Bomb()), pickle.dumps({"X": 1, "y": 2})],
    ids=["empty", "two bytes", "text", "hostile pickle", "pickle"],
)
def test_other_files_are_refused(content, tmp_path, no_fetching):
    path = tmp_path / "glass.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"{re.escape(str(path))} is damaged or not what its name says: .*zip"):
        get_dataset("glass", data_home=tmp_path)


def test_an_npy_file_is_refused(tmp_path, no_fetching):
    with open(tmp_path / "glass.npz", "wb") as file:
        np.save(file, glass()[0])
    with pytest.raises(ValueError, match="not a zip file"):
        get_dataset("glass", data_home=tmp_path)


def zipped(save):
    buffer = io.BytesIO()
    X, y = glass()
    save(buffer, X=X.astype(np.float32), y=y)
    return buffer.getvalue()


ZIPPED = {"stored": zipped(np.savez), "compressed": zipped(np.savez_compressed)}


def refusal(folder, content):
    """The message that refuses a file of this content; None where it gives the set as it was saved."""
    (folder / "glass.npz").write_bytes(content)
    try:
        pair = get_dataset("glass", data_home=folder)
    except ValueError as error:
        return str(error)
    X, y = glass()
    assert_pair(pair, X.astype(np.float32).astype(np.float64), y)
    return None


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("damaged")


@pytest.mark.parametrize("kind", ZIPPED)
@settings(max_examples=150, deadline=None, derandomize=True)
@given(share=st.floats(0, 1, exclude_max=True))
@example(share=0.999)
def test_truncated_files_are_refused(kind, folder, share):
    content = ZIPPED[kind]
    assert refusal(folder, content) is None
    assert str(folder / "glass.npz") in refusal(folder, content[: int(share * len(content))])


@pytest.mark.parametrize("kind", ZIPPED)
@settings(max_examples=400, deadline=None, derandomize=True)
@given(data=st.data())
def test_changed_bytes_never_give_other_data(kind, folder, data):
    content = bytearray(ZIPPED[kind])
    place = data.draw(st.integers(0, len(content) - 1) | st.integers(0, 200) | st.integers(-300, -1))
    content[place] = data.draw(st.integers(0, 255))
    message = refusal(folder, bytes(content))
    assert message is None or str(folder / "glass.npz") in message


def test_a_changed_header_is_noticed(tmp_path):
    """Single precision read as half: the same shape, other values."""
    content = ZIPPED["stored"]
    assert content.count(b"'<f4'") == 1
    assert "the checksum of 'X.npy' does not match" in refusal(tmp_path, content.replace(b"'<f4'", b"'<f2'"))


def test_an_unreadable_file_is_an_os_error(tmp_path, monkeypatch, no_fetching):
    np.savez(tmp_path / "glass.npz", X=1, y=2)

    def denied(self):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_bytes", denied)
    with pytest.raises(PermissionError, match=r"glass\.npz"):
        get_dataset("glass", data_home=tmp_path)


# Faces ----------------------------------------------------------------------------------------------------------------


def test_faces_of_a_file_are_those_of_scikit_learn(shared_data, monkeypatch):
    with np.load(shared_data / "tabular" / "olivetti_faces.npz") as file:
        raw = file["X"]
    # scikit-learn caches the images as they were published, with the axes of each the other way round
    published = raw.reshape(400, 64, 64).transpose(0, 2, 1).reshape(400, 4096)
    joblib.dump(published, Path(os.environ["SCIKIT_LEARN_DATA"]) / "olivetti_py3.pkz")
    fetched = get_dataset("olivetti_faces")
    reference = sklearn_datasets.fetch_olivetti_faces()
    assert_pair(fetched, reference.data.astype(np.float64), reference.target)
    monkeypatch.setattr(sklearn_datasets, "fetch_olivetti_faces", unreachable)
    assert_pair(get_dataset("olivetti_faces", data_home=shared_data / "tabular"), *fetched)


def test_scaled_faces_stay_as_they_are(tmp_path):
    raw = np.random.RandomState(0).randint(0, 243, (400, 4096), dtype=np.uint8)
    raw[0, :2] = 0, 242
    y = np.arange(400) // 10
    np.savez(tmp_path / "olivetti_faces.npz", X=raw, y=y)
    scaled = get_dataset("olivetti_faces", data_home=tmp_path)
    assert_pair(scaled, (raw.astype(np.float32) / np.float32(242)).astype(np.float64), y)
    np.savez(tmp_path / "olivetti_faces.npz", X=scaled[0].astype(np.float32), y=y)
    assert_pair(get_dataset("olivetti_faces", data_home=tmp_path), *scaled)


@pytest.mark.parametrize("level", [0, 7, np.nan, 1e300])
def test_faces_without_levels_are_refused(level, tmp_path):
    np.savez(tmp_path / "olivetti_faces.npz", X=np.full((400, 4096), level), y=np.arange(400) // 10)
    with pytest.raises(ValueError, match="NaN or infinite"):
        get_dataset("olivetti_faces", data_home=tmp_path)


# The network ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SIZES["openml"])
def test_openml_is_asked_for_version_1(name, monkeypatch):
    n, d, K = SIZES["openml"][name]
    X = np.random.RandomState(0).uniform(size=(n, d))
    y = np.array([f"class {i % K}" for i in range(n)])
    asked = []

    def fetch(name, **options):
        asked.append((name, options))
        return Bunch(data=np.asfortranarray(X), target=y.astype(object))

    monkeypatch.setattr(sklearn_datasets, "fetch_openml", fetch)
    assert_pair(get_dataset(name), X, y)
    assert [(name, options["version"]) for name, options in asked] == [(name, 1)]
    assert "data_home" not in asked[0][1]


def test_arrays_are_new_even_if_scikit_learn_keeps_its_own(monkeypatch):
    kept = Bunch(data=glass()[0], target=np.arange(214) % 6)
    monkeypatch.setattr(sklearn_datasets, "fetch_openml", lambda name, **_: kept)
    X, y = get_dataset("glass")
    X[:] = 0
    y[:] = 0
    assert_pair((kept.data, kept.target), glass()[0], np.arange(214) % 6)


def test_a_different_fetched_set_is_refused(monkeypatch):
    X, y = glass()
    monkeypatch.setattr(sklearn_datasets, "fetch_openml", lambda name, **_: Bunch(data=X[:200], target=y[:200]))
    with pytest.raises(ValueError, match=r"'glass' from scikit-learn's fetch .* X has shape \(200, 9\), expected"):
        get_dataset("glass")
    target = np.array([*y[:-1], None], dtype=object)
    monkeypatch.setattr(sklearn_datasets, "fetch_openml", lambda name, **_: Bunch(data=X, target=target))
    with pytest.raises(ValueError, match="y object"):
        get_dataset("glass")


def serve_openml(url, arff):
    """What OpenML answers, cut down to what scikit-learn asks for."""
    columns = [{"index": str(i), "name": f"c{i}", "data_type": "numeric", "is_target": "false"} for i in range(9)]
    columns.append({"index": "9", "name": "Type", "data_type": "nominal", "is_target": "true"})
    for column in columns:
        column |= {"is_ignore": "false", "is_row_identifier": "false", "number_of_missing_values": "0"}
    description = {"id": "41", "name": "glass", "version": "1", "status": "active", "format": "ARFF", "file_id": "41"}
    description |= {"md5_checksum": hashlib.md5(arff).hexdigest(), "default_target_attribute": "Type"}
    description |= {"url": "https://www.openml.org/data/v1/download/41/glass.arff", "description": "Glass."}
    if "data/list" in url:
        assert "data_name/glass" in url and "data_version/1" in url
        return {"data": {"dataset": [{"did": 41, "name": "glass", "version": 1, "status": "active"}]}}
    if "data/features" in url:
        return {"data_features": {"feature": columns}}
    if "data/qualities" in url:
        return {"data_qualities": {"quality": [{"name": "NumberOfInstances", "value": "214.0"}]}}
    if "download" in url:
        return arff
    return {"data_set_description": description}


def test_through_scikit_learns_own_fetch(monkeypatch):
    X, y = glass()
    lines = [
        "@relation glass",
        *(f"@attribute c{i} numeric" for i in range(9)),
        "@attribute Type {a,b,c,d,e,f}",
        "@data",
    ]
    lines += [",".join([*map(repr, row), label]) for row, label in zip(X.tolist(), y, strict=True)]
    arff = "\n".join(lines).encode()
    requests = []

    class Server(urllib.request.HTTPSHandler):
        def https_open(self, request):
            requests.append(request.full_url)
            answer = serve_openml(request.full_url, arff)
            body = gzip.compress(answer if isinstance(answer, bytes) else json.dumps(answer).encode())
            headers = Message()
            headers["Content-Encoding"] = "gzip"
            response = urllib.response.addinfourl(io.BytesIO(body), headers, request.full_url, 200)
            response.msg = "OK"
            return response

    monkeypatch.setattr(urllib.request, "_opener", urllib.request.build_opener(Server))
    assert_pair(get_dataset("glass"), X, y)
    assert len(requests) >= 4
    monkeypatch.setattr(socket, "create_connection", unreachable)
    monkeypatch.setattr(urllib.request, "_opener", None)
    assert_pair(get_dataset("glass"), X, y)  # from scikit-learn's cache


@pytest.mark.filterwarnings("ignore:A network error occurred", "ignore:Retry downloading")
@pytest.mark.parametrize("name", ["glass", "olivetti_faces"])
def test_no_network_and_no_copy(name, monkeypatch, tmp_path):
    attempts = []

    def refuse(*args, **kwargs):
        attempts.append(args)
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(urllib.request, "_opener", urllib.request.build_opener(urllib.request.ProxyHandler({})))
    monkeypatch.setenv("SOFT_CLUSTERING_DATA", str(tmp_path))
    with pytest.raises(OSError, match=f"data set '{name}' .* could not be fetched") as caught:
        get_dataset(name, data_home=tmp_path / "none")
    message = str(caught.value)
    assert 1 <= len(attempts) <= 2
    assert f"{tmp_path / 'none'} (data_home, no such folder), {tmp_path} (SOFT_CLUSTERING_DATA);" in message
    assert "Connection refused" in message and os.environ["SCIKIT_LEARN_DATA"] in message
    assert "Connect to the network" in message and f"put {name}.npz, with arrays X of shape" in message
    assert isinstance(caught.value.__cause__, OSError)


@pytest.mark.parametrize("error", [ValueError("no such set"), EOFError("short"), TimeoutError("slow")])
def test_failures_of_the_fetch_are_one_error(error, monkeypatch):
    def fail(name, **options):
        raise error

    monkeypatch.setattr(sklearn_datasets, "fetch_openml", fail)
    with pytest.raises(
        OSError, match=rf"'letter'.*{type(error).__name__}: {error}.*no folder \(data_home and"
    ) as caught:
        get_dataset("letter")
    assert caught.value.__cause__ is error
