"""Tables in files: what is recognised, what is said about it, and what is refused."""

import gzip
import json
import re
import sys

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soft_clustering.inputs.cells import date_formats, decimal_mark, is_number, number_pattern, numbers_of, texts_of
from soft_clustering.inputs.files.tables import read_table, table_suffix

FRAME = pandas.DataFrame(
    {"city, town": ["Köln", "Paris; France", "São Paulo"], "price": [1250.5, -0.25, 3e-4], "n": [1, 20, 300]}
)


def read(path, **options):
    """The table without its notes, and the notes without the path."""
    frame = read_table(path, **options)
    return frame, [note.replace(str(path), "FILE") for note in frame.attrs["notes"]]


# Cells ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, point, comma",
    [
        ("12", 12, 12),
        ("-1.5", -1.5, None),
        ("1,5", None, 1.5),
        ("1,234", 1234, 1.234),
        ("0,125", None, 0.125),
        ("1.234,5", None, 1234.5),
        ("1,234.5", 1234.5, None),
        ("1.234.567", None, 1234567),
        ("1 234 567", 1234567, 1234567),
        ("1'234", 1234, 1234),
        ("1\u202f234,5", None, 1234.5),
        ("1,23,4", None, None),
        ("12,3456", None, 12.3456),
        ("1e-3", 1e-3, 1e-3),
        (".5", 0.5, None),
        ("5.", 5, None),
        ("+7", 7, 7),
        ("", None, None),
        ("1 2", None, None),
        ("12 %", None, None),
        ("1_000", None, None),
        ("0x1f", None, None),
        ("٣", None, None),
    ],
)
def test_numbers_written_as_text(text, point, comma):
    for mark, expected in ((".", point), (",", comma)):
        (found,) = numbers_of(pandas.Series([text], dtype=object), mark)
        np.testing.assert_array_equal(found, np.nan if expected is None else expected)


@settings(max_examples=200, deadline=None)
@given(
    st.floats(-1e12, 1e12),
    st.integers(0, 6),
    st.sampled_from([("", "."), (",", "."), (".", ","), ("'", "."), (" ", ",")]),
)
def test_every_way_to_write_a_number(value, decimals, marks):
    group, point = marks
    text = f"{value:,.{decimals}f}".replace(",", "_").replace(".", point).replace("_", group)
    assert numbers_of(pandas.Series([text]), point)[0] == float(f"{value:.{decimals}f}")
    assert is_number(text)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.none() | st.text(max_size=12), max_size=8))
def test_any_text_is_a_number_or_not(texts):
    series = texts_of(pandas.Series(texts, dtype=object))
    for mark in ".,":
        values = numbers_of(series, mark)
        assert values.dtype == np.float64
        assert not values[series.isna().to_numpy()].size or np.isnan(values[series.isna().to_numpy()]).all()
    assert decimal_mark(series.dropna()) in ".,"
    assert isinstance(date_formats(series), list)


@pytest.mark.parametrize(
    "texts, formats",
    [
        (["2020-01-31", "1999-12-01"], ["%Y-%m-%d", "ISO8601"]),
        (["31.01.2020", "1.2.2021"], ["%d.%m.%Y"]),
        (["31.01.20"], ["%d.%m.%y"]),
        (["31/01/2020", "01/02/2020"], ["%d/%m/%Y"]),
        (["01/31/2020", "01/02/2020"], ["%m/%d/%Y"]),
        (["01/02/2020", "03/04/2020"], ["%d/%m/%Y", "%m/%d/%Y"]),
        (["2020-01-31T10:00:00Z", "2020-01-31 10:00:00.5+02:00"], ["ISO8601"]),
        (["31.01.2020 10:30"], ["%d.%m.%Y %H:%M"]),
        (["3 May 2020"], ["%d %b %Y", "%d %B %Y"]),
        (["May 3, 2020", "April 1, 2020"], ["%B %d, %Y"]),
        (["31.02.2020"], []),
        (["2020-01-31", "soon"], []),
        (["12-34", "56-78"], []),
        (["192.168.1.1"], []),
        (["1.5"], []),
    ],
)
def test_formats_of_dates(texts, formats):
    assert date_formats(pandas.Series(texts)) == formats


def test_number_pattern_needs_no_backtracking():
    """Texts of the user are matched: a long one must not take exponential time."""
    for mark in ".,":
        assert not re.fullmatch(number_pattern(mark), "1" * 20000 + "x")
        assert not re.fullmatch(number_pattern(mark), "1" + ".111" * 5000 + "x")


# Text -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".csv.gz"])
def test_separators(separator, suffix, tmp_path):
    path = tmp_path / f"a{suffix}"
    FRAME.to_csv(path, sep=separator, index=False)
    found, notes = read(path)
    pandas.testing.assert_frame_equal(found, FRAME, check_dtype=False)
    promised = "," if "csv" in suffix else "\t"
    name = "tabs" if separator == "\t" else repr(separator)
    assert notes == ([] if separator == promised else [f"FILE: cells are separated by {name} (--separator)"])
    pandas.testing.assert_frame_equal(read(path, separator=separator)[0], FRAME, check_dtype=False)


@pytest.mark.parametrize("separator", [";", "\t", "|"])
@pytest.mark.parametrize("header", [True, False])
def test_decimal_comma(separator, header, tmp_path):
    path = tmp_path / "a.csv"
    numbers = pandas.DataFrame({"a": [1234.5, 0.25, 7.0], "b": [1.125, 2.25, 3.5]})
    numbers.to_csv(path, sep=separator, decimal=",", index=False, header=header)
    found, notes = read(path)
    np.testing.assert_array_equal(found, numbers)
    assert "the decimal mark is a comma (--decimal)" in notes[0]
    assert len(notes) == 2 - header


def test_thousands(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a;b;day\n1.250,5;1.200;01.02.2020\n-3;12.000.000;03.04.2021\n;5;\n")
    found, _ = read(path)
    np.testing.assert_array_equal(found[["a", "b"]], [[1250.5, 1200], [-3, 12e6], [np.nan, 5]])
    assert found["day"].tolist()[:2] == ["01.02.2020", "03.04.2021"]


def test_what_could_be_a_thousand_or_a_fraction(tmp_path):
    """People separate cells by semicolons because their decimal mark is the comma; by tabs for any reason."""
    path = tmp_path / "a.csv"
    path.write_text("a;b\n1,234;x\n2,500;y\n")
    assert read(path)[0]["a"].tolist() == [1.234, 2.5]
    path.write_text("a\tb\n1,234\tx\n2,500\ty\n")
    assert read(path)[0]["a"].tolist() == ["1,234", "2,500"]
    path.write_text("a;b\n1,234;0.5\n2,500;1.5\n")
    assert read(path)[0]["b"].tolist() == [0.5, 1.5]
    path.write_text("a;b\n1,234;x\n2,500;y\n")
    assert read(path, decimal=".")[0]["a"].tolist() == ["1,234", "2,500"]


def test_spaces_and_sentences(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("x  y\n1   2\n 3 4\n")
    found, notes = read(path)
    assert found.to_dict("list") == {"x": [1, 3], "y": [2, 4]}
    assert notes == ["FILE: cells are separated by spaces (--separator)"]
    path.write_text("To be\nor not to be\nthat is the question\n")
    assert read(path)[0].shape == (2, 1)


def test_quotes_and_lines_in_cells(tmp_path):
    frame = pandas.DataFrame({"note": ["two\nlines", 'a "quote"; b', "c,d"], "x": [1.5, 2.5, 3.5]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    pandas.testing.assert_frame_equal(read(tmp_path / "a.csv")[0], frame, check_dtype=False)


@pytest.mark.parametrize(
    "encoding, note",
    [
        ("utf-8", []),
        ("utf-8-sig", []),
        ("utf-16", ["FILE is written in UTF-16 (--encoding)"]),
        ("utf-16-le", ["FILE is written in UTF-16-LE (--encoding)"]),
        ("utf-16-be", ["FILE is written in UTF-16-BE (--encoding)"]),
        ("utf-32", ["FILE is written in UTF-32 (--encoding)"]),
        ("cp1252", ["FILE is not written in UTF-8 and is read as cp1252, Western European (--encoding)"]),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".jsonl"])
def test_encodings(encoding, note, suffix, tmp_path):
    path = tmp_path / f"a{suffix}"
    if suffix == ".jsonl":
        path.write_bytes(
            "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in FRAME.to_dict("records")).encode(encoding)
        )
    else:
        FRAME.to_csv(path, index=False, encoding=encoding)
    found, notes = read(path)
    pandas.testing.assert_frame_equal(found, FRAME, check_dtype=False)
    assert notes == note


def test_encoding_is_told(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("жизнь,x\nлюди,1\nлюди,2\n".encode("cp1251"))
    found, notes = read(path, encoding="cp1251")
    assert (list(found.columns), notes) == (["жизнь", "x"], [])
    with pytest.raises(ValueError, match="Unknown encoding 'klingon': give one that Python knows"):
        read_table(path, encoding="klingon")
    with pytest.raises(ValueError, match="is not text in utf-8: give its --encoding"):
        read_table(path, encoding="utf-8")


def test_a_character_after_the_head_of_the_file(tmp_path):
    """Only the beginning is looked at to find the separator, but all of it to find the encoding."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" + b"x,1.5\n" * 60_000 + "ä,2\n".encode("cp1252"))
    found, notes = read(path)
    assert found["a"].iloc[-1] == "ä" and found.shape == (60_001, 2)
    assert "cp1252" in notes[0]


def test_names(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(" a ,b\n1,2\n3,4\n")
    assert list(read(path)[0].columns) == ["a", "b"]
    path.write_text("1,5;2\n3,5;4\n")  # a decimal comma in the first row: it holds numbers
    found, notes = read(path)
    assert found.to_numpy().tolist() == [[1.5, 2], [3.5, 4]]
    assert notes[1] == "FILE has no row of names, its columns are 0 to 1; if it has one, use --header"
    path.write_text("a b\nr1 1 2\nr2 3 4\n")  # as R writes the names of rows
    found, notes = read(path, separator=" ")
    assert found.to_dict("list") == {"a": [1, 3], "b": [2, 4]}
    assert "the first column has no name" in notes[0]


# Other types ----------------------------------------------------------------------------------------------------------


def test_typed_tables(tmp_path):
    frame = FRAME.assign(day=pandas.to_datetime(["2020-01-01", None, "2021-01-01"]), yes=[True, False, True])
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_feather(tmp_path / "a.feather")
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    for name in ("a.parquet", "a.feather", "a.xlsx"):
        found, notes = read(tmp_path / name)
        pandas.testing.assert_frame_equal(found, frame, check_dtype=False, check_column_type=False)
        assert notes == []


def test_workbooks(tmp_path):
    with pandas.ExcelWriter(tmp_path / "a.xlsx") as book:
        FRAME.to_excel(book, sheet_name="first", index=False)
        FRAME.to_excel(book, sheet_name="second", index=False)
    assert read(tmp_path / "a.xlsx")[1] == ["FILE has 2 sheets, the first is read: first"]
    pandas.DataFrame([[1, 2], [3, 4]]).to_excel(tmp_path / "b.xlsx", index=False, header=False)
    found, notes = read(tmp_path / "b.xlsx")
    assert found.shape == (2, 2) and "no row of names" in notes[0]
    assert read(tmp_path / "b.xlsx", header=True)[0].shape == (1, 2)
    pandas.DataFrame([["a", "a", None], [1, 2, 3]]).to_excel(tmp_path / "c.xlsx", index=False, header=False)
    assert list(read(tmp_path / "c.xlsx")[0].columns) == ["a", "a.1", "Unnamed: 2"]
    pandas.DataFrame().to_excel(tmp_path / "d.xlsx", index=False)
    with pytest.raises(ValueError, match=r"d.xlsx is empty: its first sheet, Sheet1, has no cells."):
        read_table(tmp_path / "d.xlsx")


def test_json_lines(tmp_path):
    rows = [{"zip": "01234", "x": 1}, {"x": 2.5, "tags": ["a"]}, {}]
    for path in (tmp_path / "a.jsonl", tmp_path / "a.ndjson", tmp_path / "a.jsonl.gz"):
        content = "\n".join(map(json.dumps, rows)).encode()
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
        found = read_table(path)
        assert found["zip"].tolist()[0] == "01234"
        np.testing.assert_array_equal(found["x"], [1, 2.5, np.nan])


def test_arrays(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.arange(6.0).reshape(3, 2), y=["a", "b", "a"])
    found = read_table(tmp_path / "a.npz")
    assert list(found.columns) == ["0", "1", "y"] and found.attrs["label_column"] == "y"
    np.savez(tmp_path / "b.npz", X=np.arange(6.0).reshape(3, 2))
    assert read_table(tmp_path / "b.npz").attrs == {"notes": [], "label_column": None}


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("a.csv", b"", "a.csv is empty."),
        ("a.csv", b"\n \n", "a.csv is empty."),
        ("a.jsonl", b"\n", "a.jsonl is empty."),
        ("a.csv", bytes(100), "a.csv is not text, it has zero bytes: check its type, or give its --encoding."),
        ("a.csv", bytes(range(1, 256)), "a.csv is not text in UTF-8 or cp1252: check its type"),
        ("a.csv", b"a,b\n1,2\n3,4,5\n", "a.csv is not a table of cells separated by ','"),
        ("a.csv.gz", b"\x1f\x8b junk", "a.csv.gz is damaged or not compressed by gzip"),
        ("a.csv.gz", b"a,b\n1,2\n", "a.csv.gz is damaged or not compressed by gzip"),
        ("a.csv.gz", gzip.compress(b"a,b\n" * 999, mtime=0)[:-9], "a.csv.gz is damaged or not compressed by gzip"),
        ("a.jsonl", b'{"a": 1}\n{a: 2}\n', "a.jsonl is not JSON Lines: line 2: Expecting property name"),
        ("a.jsonl", b"[1]\n", 'a.jsonl is not a table: line 1 must be a JSON object such as {"age": 31}.'),
        ("a.xlsx", b"junk", "a.xlsx is damaged or not what its name says: File is not a zip file"),
        ("a.parquet", b"junk", "a.parquet is damaged or not what its name says"),
        ("a.feather", b"junk", "a.feather is damaged or not what its name says"),
        ("a.npz", b"junk", "a.npz is damaged or not what its name says"),
        ("a.sav", b"junk", "a.sav does not end in one of .csv, .tsv, .txt, .jsonl, .ndjson, .parquet, .feather, .xlsx"),
        ("a.parquet.gz", b"junk", "a.parquet.gz does not end in one of"),
    ],
)
def test_files_that_are_wrong(name, content, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError) as error:
        read_table(name)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "name, options, message",
    [
        ("a.csv", {"separator": "ab"}, "separator must be one character. Got 'ab' instead."),
        ("a.csv", {"decimal": ";"}, "decimal must be '.' or ','. Got ';' instead."),
        ("a.csv", {"decimal": ",", "separator": ","}, "separator and decimal cannot both be ','"),
        ("a.parquet", {"separator": ";"}, "separator is for files .csv, .tsv, .txt, not for a.parquet: leave it out."),
        ("a.npz", {"header": True}, "header is for files .csv, .tsv, .txt, .xlsx, not for a.npz"),
        ("a.xlsx", {"encoding": "utf-8"}, "encoding is for files .csv, .tsv, .txt, .jsonl, .ndjson, not for a.xlsx"),
    ],
)
def test_options_that_do_not_fit(name, options, message):
    with pytest.raises(ValueError) as error:
        read_table(name, **options)
    assert message in str(error.value)


def test_what_is_not_installed(tmp_path, monkeypatch):
    FRAME.to_excel(tmp_path / "a.xlsx", index=False)
    FRAME.to_feather(tmp_path / "a.feather")
    for module, name in (("openpyxl", "a.xlsx"), ("pyarrow", "a.feather"), ("pandas", "a.xlsx")):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, module, None)
            with pytest.raises(ImportError, match=r'pip install "soft-clustering\[app\]"'):
                read_table(tmp_path / name)


def test_suffixes(tmp_path):
    assert table_suffix(tmp_path / "v1.2" / "A.CSV") == ".csv"
    assert table_suffix(tmp_path / "a.2020.tsv.GZ") == ".tsv"
    assert table_suffix(tmp_path / "none") == ""
    assert table_suffix(tmp_path / "a.gz") == ".gz"


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.floats(-1e6, 1e6), st.text("abc ;,|äß'\"", max_size=8)), min_size=3, max_size=8),
    marks=st.sampled_from([(",", "."), (";", "."), (";", ","), ("\t", ","), ("|", ".")]),
    encoding=st.sampled_from(["utf-8", "utf-16", "cp1252"]),
)
def test_what_is_written_is_read(rows, marks, encoding, tmp_path_factory):
    """Given how it is written, every table is read as it is; NaN stands for an empty text."""
    path = tmp_path_factory.mktemp("tables") / "a.csv"
    frame = pandas.DataFrame(rows, columns=["x", "words"])
    frame.to_csv(path, index=False, sep=marks[0], decimal=marks[1], encoding=encoding)
    found = read_table(path, separator=marks[0], decimal=marks[1], encoding=encoding, header=True)
    np.testing.assert_array_equal(found["x"], frame["x"])
    assert len(found) == len(frame)
