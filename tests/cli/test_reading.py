"""DATA: every type of file, and every way in which one can be wrong."""

import sys

import numpy as np
import pandas
import pytest
from sklearn.datasets import load_iris

X, Y = load_iris(return_X_y=True)
NAMES = ["sepal length", "sepal, width", "c;d", "Länge"]
IRIS = pandas.DataFrame(X, columns=NAMES).assign(species=load_iris().target_names[Y])


def objective(call, *arguments):
    """The objective of a fit, and all that was printed."""
    code, out, err = call("fit", "FCM", *arguments)
    assert code == 0, err
    return float(out.partition("objective: ")[2].split()[0]), out, err


# Files that are right -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["iris.csv", "iris.TSV", "iris.csv.gz", "iris.tsv.gz", "iris.parquet", "a b.csv"])
@pytest.mark.parametrize("column", ["species", "4", "-1"])
def test_tables(name, column, tmp_path, call):
    if name.endswith(".parquet"):
        IRIS.to_parquet(tmp_path / name)
    else:
        IRIS.to_csv(tmp_path / name, index=False, sep="\t" if ".tsv" in name.lower() else ",")
    value, out, err = objective(call, name, "--label-column", column)
    assert value == 60.5057
    assert f"{name}: 150 rows, 4 features, 3 classes\n" in out
    assert "clusters: 3\n" in out
    assert err == ""


def test_npz(tmp_path, call):
    np.savez(tmp_path / "with.npz", X=X, y=load_iris().target_names[Y])
    np.savez(tmp_path / "without.npz", X=X)
    np.savez(tmp_path / "inside.npz", X=np.column_stack([Y, X]))
    assert objective(call, "with.npz")[0] == 60.5057
    assert objective(call, "without.npz", "-k", 3)[0] == 60.5057
    value, out, _ = objective(call, "inside.npz", "--label-column", 0)
    assert value == 60.5057
    assert "3 classes" in out


def test_header_is_found(tmp_path, call):
    IRIS[NAMES].to_csv(tmp_path / "none.csv", index=False, header=False)
    pandas.DataFrame(X).to_csv(tmp_path / "counted.csv", index=False)
    for name, note in (("none.csv", "none.csv has no row of names, its columns are 0 to 3"), ("counted.csv", "")):
        value, out, err = objective(call, name, "-k", 3)
        assert value == 60.5057
        assert "150 rows" in out
        assert note in err
        assert bool(err) == bool(note)


def test_header_is_told(tmp_path, call):
    (tmp_path / "years.csv").write_text("2019,2020\n1,2\n3,4\n9,9\n")
    assert "years.csv: 4 rows" in objective(call, "years.csv", "-k", 2)[1]
    assert "years.csv: 3 rows" in objective(call, "years.csv", "-k", 2, "--header")[1]
    (tmp_path / "texts.csv").write_text("a,1\nb,2\nc,9\n")
    assert "texts.csv: 3 rows" in objective(call, "texts.csv", "-k", 2, "--no-header", "--drop", "0")[1]


def test_numbers_of_rows_are_no_feature(tmp_path, call):
    IRIS.to_csv(tmp_path / "numbered.csv")
    value, _, err = objective(call, "numbered.csv", "--label-column", "species")
    assert value == 60.5057
    assert err.count("\n") == 1 and "first column has no name" in err


def test_separator(tmp_path, call):
    IRIS.to_csv(tmp_path / "semicolons.csv", index=False, sep=";")
    assert objective(call, "semicolons.csv", "--separator", ";", "--label-column", "species")[0] == 60.5057


def test_byte_order_mark(tmp_path, call):
    IRIS.to_csv(tmp_path / "marked.csv", index=False, encoding="utf-8-sig")
    assert objective(call, "marked.csv", "--label-column", "species", "--drop", "sepal length")[1].count("3 features")


def test_one_numeric_column(tmp_path, call):
    (tmp_path / "one.csv").write_text("v\n1\n2\n3\n9\n")
    assert "one.csv: 4 rows, 1 feature\n" in objective(call, "one.csv", "-k", 2)[1]


def test_nullable_and_boolean_columns(tmp_path, call):
    frame = pandas.DataFrame({"a": [1, 2, 9], "b": [True, False, True]}).astype({"a": "Int64"})
    frame.to_parquet(tmp_path / "typed.parquet")
    assert "3 rows, 2 features" in objective(call, "typed.parquet", "-k", 2)[1]


def test_standardize(tmp_path, call):
    scaled = pandas.DataFrame((X - X.mean(axis=0)) / X.std(axis=0), columns=NAMES)
    scaled.to_csv(tmp_path / "scaled.csv", index=False)
    expected = objective(call, "scaled.csv", "-k", 3)[0]
    assert expected != 60.5057
    assert objective(call, "iris", "--standardize")[0] == expected


def test_built_in_set_comes_before_a_file(tmp_path, call):
    (tmp_path / "iris").write_text("no table")
    assert objective(call, "iris")[0] == 60.5057


# Files that are wrong -------------------------------------------------------------------------------------------------

TEXTS = {
    "empty.csv": ("", "empty.csv is empty."),
    "header.csv": ("a,b\n", "header.csv has 0 rows of data: at least 2 are needed."),
    "single.csv": ("a,b\n1,2\n", "single.csv has 1 rows of data: at least 2 are needed."),
    "ragged.csv": ("a,b\n1,2\n3,4,5\n", "ragged.csv is not a table of cells separated by ','"),
    "text.csv": ("a,b\n1,2\n3,four\n5,6\n", "not numeric, b ('four' in row 2 of b): correct it, name the column of"),
    "texts.csv": ("a,b,c,d,e,f\n" + "x,x,x,x,x,x\n" * 2, "not numeric, a, b, c, d, e and 1 more ('x' in row 1 of a)"),
    "missing.csv": ("a,b,c\n1,,2\n3,,4\n,5,6\n", "missing or infinite values, in columns a (1), b (2): fill them in"),
    "infinite.csv": ("a,b\n1,inf\n2,3\n", "missing or infinite values, in columns b (1)"),
    "semicolons.csv": ("a;b\n1;2\n3;4\n", "a single column, and it is text: if ';' separates the cells, say so with"),
    "tabs.csv": ("a\tb\n1\t2\n3\t4\n", "a single column, and it is text: if '\\t' separates the cells"),
    "commas.tsv": ("a,b\n1,2\n3,4\n", "a single column, and it is text: if ',' separates the cells"),
    "words.csv": ("word\nto\nbe\n", "words.csv has a single column, and it is text: it needs numbers to cluster."),
    "dates.csv": ("a,day\n1,2020-01-01\n2,2020-01-02\n", "not numeric, day ('2020-01-01' in row 1 of day)"),
    "sheet.xlsx": ("a", "sheet.xlsx does not end in one of .csv, .tsv, .parquet, .npz: save it as one of these types"),
    "nothing": ("a", "nothing does not end in one of"),
    "junk.parquet": ("junk", "junk.parquet is damaged or not what its name says"),
    "junk.npz": ("junk", "junk.npz is damaged or not what its name says: File is not a zip file"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_wrong_text(name, tmp_path, fails):
    text, message = TEXTS[name]
    (tmp_path / name).write_text(text)
    assert message in fails("fit", "FCM", name, "-k", 2)


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("latin.csv", "a,b\nä,1\nö,2\n".encode("latin-1"), "latin.csv is not text in UTF-8"),
        ("junk.csv", bytes(range(256)) * 20, "junk.csv is not"),
        ("zeros.csv", bytes(1000), "zeros.csv"),
        ("broken.csv.gz", b"\x1f\x8b junk", "broken.csv.gz is not a table"),
    ],
)
def test_wrong_bytes(name, content, message, tmp_path, fails):
    (tmp_path / name).write_bytes(content)
    assert message in fails("fit", "FCM", name, "-k", 2)


@pytest.mark.parametrize(
    "arrays, message",
    [
        ({"A": X}, "it has no array 'X', only ['A']"),
        ({"X": X[:, 0]}, "X must have shape (n, d) and y, if any, (n,). Got (150,)."),
        ({"X": X, "y": Y[1:]}, "Got (150, 4) and (149,)."),
        ({"X": X.astype(object)}, "Object arrays cannot be loaded"),
        ({"X": X.astype(str)}, "not numeric, 0, 1, 2, 3 ('5.1'"),
        ({"X": X + 1j}, "not numeric, 0, 1, 2, 3"),
        ({"X": np.where(X > 7.5, np.nan, X)}, "missing or infinite values, in columns 0 (6)"),
    ],
)
def test_wrong_arrays(arrays, message, tmp_path, fails):
    np.savez(tmp_path / "wrong.npz", **arrays)
    assert message in fails("fit", "FCM", "wrong.npz", "-k", 2)


def test_what_is_no_file(tmp_path, fails, monkeypatch):
    (tmp_path / "folder.csv").mkdir()
    assert fails("fit", "FCM", "folder.csv") == "folder.csv is a folder: name a file in it."
    assert fails("fit", "FCM", "none.csv") == "There is no file none.csv: check the name and the folder."
    assert fails("fit", "FCM", "irs") == "Unknown file or data set 'irs': did you mean 'iris'?"
    assert "known are iris, wine" in fails("fit", "FCM", "zzzz")
    (tmp_path / "mine.csv").write_text("a\n1\n")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)  # root may read everything
    assert fails("fit", "FCM", "mine.csv") == "mine.csv cannot be read: Permission denied."


# Columns and classes --------------------------------------------------------------------------------------------------


@pytest.fixture
def iris_csv(tmp_path):
    IRIS.to_csv(tmp_path / "iris.csv", index=False)
    return "iris.csv"


def test_unknown_columns(iris_csv, fails):
    assert fails("fit", "FCM", iris_csv, "--label-column", "speces") == (
        "Unknown column of --label-column 'speces': did you mean 'species'?"
    )
    assert "Unknown column of --drop '5'" in fails("fit", "FCM", iris_csv, "--drop", 5)


def test_nothing_left(iris_csv, fails):
    drops = [word for name in NAMES for word in ("--drop", name)]
    assert "no column left" in fails("fit", "FCM", iris_csv, *drops, "--label-column", "species")


def test_number_of_clusters_is_needed(iris_csv, fails):
    message = fails("fit", "FCM", iris_csv, "--drop", "species")
    assert "no classes to count: give the number of clusters, such as -k 3" in message
    assert message == fails("compare", iris_csv, "--drop", "species", "--models", "FCM")


def test_classes_that_are_no_clusters(tmp_path, fails):
    (tmp_path / "a.csv").write_text("id,same,v,gap\n1,x,1,a\n2,x,2,\n3,x,9,b\n")
    assert "has 3 classes for 3 rows" in fails("fit", "FCM", "a.csv", "--label-column", "id", "--drop", 1, "--drop", 3)
    assert "has 1 classes for 3 rows" in fails("fit", "FCM", "a.csv", "--label-column", "same", "--drop", 3)
    assert "1 missing values in the column of classes, gap" in fails("fit", "FCM", "a.csv", "--label-column", "gap")


@pytest.mark.parametrize(
    "arguments",
    [
        ["iris", "--label-column", "species"],
        ["iris", "--drop", "a"],
        ["iris", "--no-header"],
        ["typed.parquet", "--separator", ";"],
        ["iris.csv", "--separator", "ab"],
    ],
)
def test_options_that_do_not_fit(arguments, iris_csv, tmp_path, fails):
    IRIS.to_parquet(tmp_path / "typed.parquet")
    assert "--separator" in fails("fit", "FCM", *arguments, "-k", 2, code=2)


def test_more_clusters_than_rows(fails):
    expected = "-k 151 is more than the 150 rows of iris: give a smaller K."
    assert fails("fit", "FCM", "iris", "-k", 151) == expected
    assert fails("compare", "-k", "2:151") == expected


# What is not installed ------------------------------------------------------------------------------------------------


def test_without_pandas(iris_csv, fails, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert fails("fit", "FCM", iris_csv).endswith('needs pandas: pip install "soft-clustering[app]"')
    assert fails("benchmark", "real").endswith('pip install "soft-clustering[app]"')


def test_without_pyarrow(tmp_path, fails, monkeypatch):
    IRIS.to_parquet(tmp_path / "iris.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for arguments in (["iris.parquet"], ["iris", "-o", "out.parquet"]):
        assert fails("fit", "FCM", *arguments) == 'Parquet files need pyarrow: pip install "soft-clustering[app]"'
