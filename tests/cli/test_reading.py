"""DATA: every type of file, and every way in which one can be wrong."""

import sys

import numpy as np
import pandas
import pytest
from sklearn.datasets import load_iris

from soft_clustering import FCM
from soft_clustering.selection import choose_n_clusters

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


@pytest.mark.parametrize("options", [[], ["--separator", ";"], ["--separator", ";", "--decimal", ","]])
def test_separator(options, tmp_path, call):
    IRIS.to_csv(tmp_path / "semicolons.csv", index=False, sep=";", decimal=",")
    value, _, err = objective(call, "semicolons.csv", *options, "--label-column", "species")
    assert value == 60.5057
    told = [
        word for word in ("separated by ';' (--separator)", "the decimal mark is a comma (--decimal)") if word in err
    ]
    assert len(told) == 2 - len(options) // 2
    assert err.count("\n") == bool(told)


def test_names_of_characters(tmp_path, call):
    IRIS.to_csv(tmp_path / "a.csv", index=False, sep="\t")
    for name in ("tab", "\\t", "\t"):
        assert objective(call, "a.csv", "--separator", name, "--label-column", "species")[0] == 60.5057


def test_encoding(tmp_path, call):
    IRIS.to_csv(tmp_path / "a.csv", index=False, encoding="cp1252")
    value, _, err = objective(call, "a.csv", "--label-column", "species", "--drop", "Länge")
    assert (
        err == "soft-clustering: a.csv is not written in UTF-8 and is read as cp1252, Western European (--encoding)\n"
    )
    found = objective(call, "a.csv", "--label-column", "species", "--drop", "Länge", "--encoding", "cp1252")
    assert found[0] == value and found[2] == ""


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


def test_scale(tmp_path, call):
    scaled = pandas.DataFrame((X - X.mean(axis=0)) / X.std(axis=0), columns=NAMES)
    scaled.to_csv(tmp_path / "scaled.csv", index=False)
    expected = objective(call, "scaled.csv", "-k", 3)[0]
    assert expected != 60.5057
    assert objective(call, "iris", "--scale", "standard")[0] == expected
    assert objective(call, "iris")[0] == objective(call, "iris", "--scale", "none")[0] == 60.5057
    assert objective(call, "iris", "--scale", "robust")[0] not in (expected, 60.5057)
    (IRIS[NAMES] * [1, 100, 1, 1]).to_csv(tmp_path / "units.csv", index=False)
    value, _, err = objective(call, "units.csv", "-k", 3)
    assert value == expected
    assert err == (
        "soft-clustering: spreads of the columns differ by 57x (sepal, width, Länge): each is scaled to mean 0 and "
        "variance 1 (--scale none keeps their units)\n"
    )
    assert objective(call, "units.csv", "-k", 3, "--scale", "none")[2] == ""


@pytest.mark.parametrize("name", ["a.xlsx", "a.feather", "a.jsonl", "a.ndjson.gz", "a.txt"])
def test_other_tables(name, tmp_path, call):
    write = {
        ".xlsx": lambda path: IRIS.to_excel(path, index=False),
        ".feather": IRIS.to_feather,
        ".jsonl": lambda path: IRIS.to_json(path, orient="records", lines=True),
        ".gz": lambda path: IRIS.to_json(path, orient="records", lines=True),
        ".txt": lambda path: IRIS.to_csv(path, index=False, sep="\t"),
    }
    write[(tmp_path / name).suffix](tmp_path / name)
    value, out, err = objective(call, name, "--label-column", "SPECIES")
    assert (value, err) == (60.5057, "")
    assert "3 classes" in out


# Columns of every kind ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["FCM", "GK"])
def test_messy_table(tmp_path, call, model):
    """Each decision is one line on standard error. FCM takes missing values, GK gets medians."""
    rng = np.random.default_rng(0)
    n = 60
    frame = pandas.DataFrame(
        {
            "name": [f"c{i}" for i in range(n)],
            "income": rng.normal(40000, 9000, n).round(),
            "city": rng.choice(["Rome", "Oslo"], n),
            "since": rng.choice(["31.12.2020", "1.2.2021", "5.5.2022"], n),
            "member": rng.choice([True, False], n),
            "country": "IT",
            "fax": None,
            "street": [f"street {i // 2}" for i in range(n)],
            "remark": [f"{i // 2} has a lot to say about it" for i in range(n)],
        }
    )
    frame.loc[:4, "income"] = np.nan
    frame.to_csv(tmp_path / "a.csv", index=False)
    code, out, err = call("fit", model, "a.csv", "-k", 2, "-o", "u.csv")
    assert code == 0
    filled = {"FCM": "kept", "GK": "replaced by the median"}[model]
    assert err.splitlines() == [
        f"soft-clustering: {line}"
        for line in (
            "since: dates written day.month.year, as days since the first one",
            "city (2 values): categories, a column of zeros and ones for each value, together with the weight of one "
            "number",
            "name looks like an id (all texts are different) and is left out; --id name keeps it in the output",
            "remark is free text and is left out; --text-column remark clusters the texts",
            "street (30): text of more than 20 values, left out",
            "country: constant, left out",
            "fax: empty, left out",
            f"missing values: income (5) {filled}",
            next(line for line in err.splitlines() if "spreads" in line).removeprefix("soft-clustering: "),
            *(["FCM takes the missing values as they are"] if model == "FCM" else []),
        )
    ]
    assert "a.csv: 60 rows, 5 features\n" in out
    assert list(pandas.read_csv(tmp_path / "u.csv").columns) == ["row", "cluster_0", "cluster_1", "label"]


def test_ids_are_kept(tmp_path, call):
    IRIS.assign(flower=[f"f{i}" for i in range(150)]).to_csv(tmp_path / "a.csv", index=False)
    for name in ("u.csv", "u.parquet", "u.npz"):
        _, _, err = objective(call, "a.csv", "--id", "Flower", "--label-column", "species", "-o", name)
        assert err == ""
    frame = pandas.read_csv(tmp_path / "u.csv")
    assert list(frame.columns) == ["flower", "cluster_0", "cluster_1", "cluster_2", "label"]
    assert frame["flower"].tolist() == [f"f{i}" for i in range(150)]
    assert pandas.read_parquet(tmp_path / "u.parquet")["flower"].tolist() == frame["flower"].tolist()
    with np.load(tmp_path / "u.npz") as arrays:
        assert arrays["ids"].tolist() == frame["flower"].tolist()


def test_ids_that_do_not_tell_apart(tmp_path, call):
    IRIS.assign(flower=["a", None] * 75).to_csv(tmp_path / "a.csv", index=False)
    _, _, err = objective(call, "a.csv", "--id", "flower", "--label-column", "species")
    assert err == "soft-clustering: --id flower does not tell all rows apart: 75 are missing, 148 occur again\n"


def test_drop(tmp_path, call):
    IRIS.to_csv(tmp_path / "a.csv", index=False)
    options = ["a.csv", "--label-column", "species"]
    expected = objective(call, *options, "--drop", "c;d", "--drop", "Länge")[0]
    assert objective(call, *options, "--drop", "c;d,Länge")[0] == expected
    assert objective(call, *options, "--drop", "C;D, 3")[0] == expected
    assert objective(call, *options, "--drop", "sepal, width")[0] == objective(call, *options, "--drop", 1)[0]


def test_built_in_set_comes_before_a_file(tmp_path, call):
    (tmp_path / "iris").write_text("no table")
    assert objective(call, "iris")[0] == 60.5057


# Files that are wrong -------------------------------------------------------------------------------------------------

TEXTS = {
    "empty.csv": ("", "empty.csv is empty."),
    "header.csv": ("a,b\n", "header.csv has 0 rows of data: at least 2 are needed."),
    "single.csv": ("a,b\n1,2\n", "single.csv has 1 rows of data: at least 2 are needed."),
    "ragged.csv": ("a,b\n1,2\n3,4,5\n", "ragged.csv is not a table of cells separated by ','"),
    "texts.csv": (
        "a,b,c,d,e,f\n" + "x,x,x,x,x,x\n" * 2,
        "texts.csv: No column is left that could be a feature: a, b, c, d, e and 1 more: constant, left out.",
    ),
    "infinite.csv": (
        "a,b\n1,inf\n2,3\n",
        "infinite.csv: Column 'b' has infinite numbers, or larger ones than 1e+150, in 1 row: correct them or leave "
        "the column out (--drop).",
    ),
    "words.csv": (
        "word\nto\nbe\n",
        "words.csv: No column is left that could be a feature: word looks like an id (all texts are different) and is "
        "left out; --id word keeps it in the output.",
    ),
    "sheet.xlsx": ("a", "sheet.xlsx is damaged or not what its name says: File is not a zip file"),
    "sheet.ods": (
        "a",
        "sheet.ods does not end in one of .csv, .tsv, .txt, .jsonl, .ndjson, .parquet, .feather, .xlsx,",
    ),
    "rows.jsonl": ("1\n2\n", "rows.jsonl is not a table: line 1 must be a JSON object such as"),
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
        ("junk.csv", bytes(range(256)) * 20, "junk.csv is not text, it has zero bytes: check its type"),
        ("junk.csv", bytes(range(1, 256)) * 20, "junk.csv is not text in UTF-8 or cp1252: check its type"),
        ("zeros.csv", bytes(1000), "zeros.csv is not text, it has zero bytes"),
        ("broken.csv.gz", b"\x1f\x8b junk", "broken.csv.gz is damaged or not compressed by gzip"),
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
        ({"X": X + 1j}, "wrong.npz: Column '0' has complex numbers: take their absolute values or their parts."),
        (
            {"X": np.where(X > 7.5, np.inf, X)},
            "wrong.npz: Column '0' has infinite numbers, or larger ones than 1e+150, in 6",
        ),
    ],
)
def test_wrong_arrays(arrays, message, tmp_path, fails):
    np.savez(tmp_path / "wrong.npz", **arrays)
    assert message in fails("fit", "FCM", "wrong.npz", "-k", 2)


def test_what_is_no_file(tmp_path, fails, monkeypatch):
    (tmp_path / "folder.csv").mkdir()
    assert fails("fit", "FCM", "folder.csv") == "folder.csv is a folder without .txt files: name a file in it."
    (tmp_path / "folder.csv" / "a.txt").write_text("some words")
    assert fails("fit", "FCM", "folder.csv", "--as", "features") == "folder.csv is a folder: name a file in it."
    assert fails("fit", "FCM", "folder.csv").startswith("FCM takes a table of features, a row per sample, not texts")
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
    message = fails("fit", "FCM", iris_csv, *drops, "--label-column", "species")
    assert message == "iris.csv: No column is left that could be a feature: all columns are left out as asked."


def test_number_of_clusters_is_chosen(iris_csv, call):
    """By the same criterion, in one line; fit takes its own model for it."""
    _, out, err = objective(call, iris_csv, "--drop", "species")
    result = choose_n_clusters(FCM(random_state=0), X, range(2, 11), random_state=0)
    assert f"clusters: {result.recommended}\n" in out
    (line,) = err.splitlines()
    assert line.startswith(
        f"soft-clustering: K={result.recommended}, chosen from 2 to 10 by BIC of Gaussian clusters (FCM)"
    )
    assert f"Calinski-Harabasz {result.best['calinski_harabasz']}, Xie-Beni {result.best['xie_beni']}" in line
    assert line.endswith("; -k sets another")
    code, out, err = call("fit", "GMM", iris_csv, "--drop", "species")
    assert "chosen from 2 to 10 by BIC of Gaussian clusters (GMM)" in err
    code, out, err = call("fit", "SCM", iris_csv, "--drop", "species")
    assert (code, err) == (0, "")  # it finds K itself


def test_classes_that_are_no_clusters(tmp_path, fails):
    (tmp_path / "a.csv").write_text("id,same,v,gap\n1,x,1,a\n2,x,2,\n3,x,9,b\n")
    assert "has 3 classes for 3 rows" in fails("fit", "FCM", "a.csv", "--label-column", "id", "--drop", "1,3")
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
        ["iris.csv", "--decimal", ";"],
        ["iris.csv", "--communities", "c.cmty", "--as", "features"],
        ["iris.csv", "--text-column", "species", "--as", "features"],
        ["iris", "--id", "a"],
        ["iris", "--precomputed"],
        ["typed.parquet", "--encoding", "utf-8"],
    ],
)
def test_options_that_do_not_fit(arguments, iris_csv, tmp_path, fails):
    IRIS.to_parquet(tmp_path / "typed.parquet")
    found = fails("fit", "FCM", *arguments, "-k", 2, code=2)
    assert arguments[-2] in found or arguments[-1] in found or "the like are for files" in found


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
