"""Folders of texts, JSON Lines and columns of tables."""

import gzip

import numpy as np
import pytest

from soft_clustering.inputs import read_texts

pandas = pytest.importorskip("pandas")


def fill(folder, **texts):
    for name, text in texts.items():
        path = folder / (name.replace("__", "/") + ".txt")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def test_a_folder_in_the_order_of_names(tmp_path):
    (tmp_path / "notes.md").write_text("not read")
    found = read_texts(fill(tmp_path, b="second", a="first", c=" "))
    assert found.texts == ["first", "second", " "] and found.names == ["a.txt", "b.txt", "c.txt"]
    assert found.frame is None and found.labels is None
    assert found.notes == [f"{tmp_path.name} has 3 texts.", "1 texts are empty."]


def test_folders_are_classes(tmp_path):
    found = read_texts(fill(tmp_path, fish__b="pike", fish__a="trout", stars__a="moon"))
    assert found.texts == ["trout", "pike", "moon"] and found.names == ["fish/a.txt", "fish/b.txt", "stars/a.txt"]
    assert found.labels.tolist() == ["fish", "fish", "stars"]
    assert f"The 2 folders in {tmp_path.name} are the classes." in found.notes
    assert read_texts(fill(tmp_path, top="a text beside the folders")).labels is None


def test_encodings(tmp_path):
    found = read_texts(fill(tmp_path, a="naïve", b="naïve".encode("cp1252"), c="naïve".encode("utf-16")))
    assert found.texts == ["naïve"] * 3
    assert "2 files are not in UTF-8, such as b.txt: they were read as cp1252 or UTF-16." in found.notes


LINES = '{"id": 1, "body": "a long text about fish"}\n\n{"id": 2, "body": "stars", "title": "T"}\n'


@pytest.mark.parametrize("name", ["t.jsonl", "t.ndjson", "t.jsonl.gz"])
def test_json_lines(name, tmp_path):
    content = LINES.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    found = read_texts(tmp_path / name, "body")
    assert found.texts == ["a long text about fish", "stars"]
    assert list(found.frame.columns) == ["id", "body", "title"]
    assert read_texts(tmp_path / name).texts == found.texts


def test_json_strings(tmp_path):
    (tmp_path / "t.jsonl").write_text('"one"\n"two"\n')
    found = read_texts(tmp_path / "t.jsonl")
    assert found.texts == ["one", "two"] and found.names == ["0", "1"] and found.frame is None


def test_a_data_frame():
    frame = pandas.DataFrame({"n": [1, 2], "title": ["x", "y"], "body": ["a longer text", None]}, index=["p", "q"])
    found = read_texts(frame)
    assert found.texts == ["a longer text", ""] and found.names == ["p", "q"] and found.frame is frame
    assert found.notes == [
        "The table has 2 texts.",
        "The texts are the column 'body', the one with the longest texts.",
        "1 texts are missing: they count as empty.",
        "1 texts are empty.",
    ]
    assert read_texts(frame, "title").texts == ["x", "y"]


FRAME = pandas.DataFrame({"n": [1, 2], "body": ["a", "b"], "mixed": ["a", 3.5], "void": [None, " "]})


@pytest.mark.parametrize(
    "column, message",
    [
        ("text", "The table has no column 'text': its columns are n, body, mixed, void"),
        ("n", "The column 'n' must hold texts. Got 1"),
        ("mixed", "The column 'mixed' must hold texts. Got 3.5"),
        ("void", "All of the 2 texts are empty"),
    ],
)
def test_refused_columns(column, message):
    with pytest.raises(ValueError, match=message):
        read_texts(FRAME, column)


def test_no_column_of_texts():
    with pytest.raises(ValueError, match="The table has no column of texts: its columns are a"):
        read_texts(pandas.DataFrame({"a": np.arange(3)}))


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("t.jsonl", '{"a": "b"}\n{"a": \n', r"must have a JSON object or string per line: correct line 2"),
        ("t.jsonl", "3\n", "correct line 1"),
        ("t.jsonl", '{"a": "b"}\n"c"\n', "has JSON objects and strings"),
        ("t.jsonl", "", "is empty"),
        ("t.csv", "a,b", "is neither a folder of .txt files nor a .jsonl file: read a table as a data frame"),
    ],
)
def test_refused_files(name, text, message, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        read_texts(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_nothing_there(tmp_path):
    with pytest.raises(ValueError, match=r"has no files \*.txt"):
        read_texts(tmp_path)
    with pytest.raises(FileNotFoundError, match="There is no file or folder"):
        read_texts(tmp_path / "nowhere")
