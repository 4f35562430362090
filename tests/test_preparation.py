"""Features from tables of all kinds of columns."""

import datetime
import decimal
import pickle
import re

import numpy as np
import pandas
import pytest
from helpers.gower import MIXED, OF_DAISY
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline

from soft_clustering import EVCLUS, FCM, GMM, prepare
from soft_clustering.inputs import gower
from soft_clustering.inputs.cells import MISSING
from soft_clustering.preparation import SCALES

N = 12
RNG = np.random.default_rng(0)


def table(**columns):
    """A table of 12 rows with one ordinary number."""
    return pandas.DataFrame({"x": np.linspace(0, 1, N)} | columns)


def plan_of(df, **options):
    """Kind and use of each column but x."""
    return {row["column"]: (row["kind"], row["used"]) for row in prepare(df, **options).plan_ if row["column"] != "x"}


def features(df, **options):
    transformer = prepare(df, **options)
    X = transformer.transform(df)
    assert X.dtype == np.float64 and np.isfinite(X).all()
    return pandas.DataFrame(X, columns=transformer.get_feature_names_out()), transformer


@pytest.fixture
def customers():
    """Columns of every kind, with gaps."""
    n = 60
    rng = np.random.default_rng(1)
    frame = pandas.DataFrame(
        {
            "customer": [f"c{i}" for i in range(n)],
            "income": rng.normal(40000, 9000, n),
            "age": rng.integers(18, 80, n).astype(float),
            "city": rng.choice(["Rome", "Oslo", "Bern"], n),
            "since": pandas.Timestamp("2020-01-01") + pandas.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "member": rng.random(n) < 0.5,
            "segment": rng.choice(["a", "b"], n),
        }
    )
    frame.loc[3, "income"] = np.nan
    frame.loc[[5, 6], "city"] = None
    return frame


# What a column is -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values, kind, used",
    [
        (RNG.normal(size=N), "number", True),
        (pandas.array([1, None, 3] * 4, dtype="Int64"), "number", True),
        ([decimal.Decimal("1.5"), decimal.Decimal("2")] * 6, "number", True),
        (pandas.to_timedelta(np.arange(N) * 7, unit="h"), "number", True),
        (["1.234,5", "2,5", "-1"] * 4, "number", True),
        (["1", "2", "?"] * 4, "number", True),
        (["1", 2, 3.5] * 4, "number", True),
        ([True, False, None] * 4, "boolean", True),
        (["true", "False", None] * 4, "boolean", True),
        (pandas.array([True, None, False] * 4, dtype="boolean"), "boolean", True),
        (pandas.date_range("2020-01-01", periods=N, tz="Europe/Rome"), "date", True),
        (pandas.period_range("2020-01", periods=N, freq="M"), "date", True),
        ([datetime.date(2020, 1, 1 + i) for i in range(N)], "date", True),
        (["31.12.2020", "1.1.2021"] * 6, "date", True),
        (["a", "b", "c"] * 4, "category", True),
        (pandas.Categorical(["low", "high"] * 6, ordered=True), "category", True),
        (pandas.cut(np.arange(N), 3), "category", True),
        (["yes", None] * 6, "category", True),
        (["01234", "05678", "01111"] * 4, "category", True),  # codes: their zeros would be lost
        ([1, "one"] * 6, "category", True),
        ([["a"], ["b"]] * 6, "category", True),
        ([f"row {i}" for i in range(N)], "id", False),
        (np.arange(N), "id", False),
        (RNG.permutation(N) + 1, "id", False),
        (np.arange(N) + 5, "number", True),
        (np.arange(N) * 1.5, "number", True),
        ([f"{i} is a sentence of words" for i in range(N)], "text", False),
        (["same"] * N, "constant", False),
        ([7.0] * N, "constant", False),
        ([7.0, np.nan] * 6, "constant", False),
        ([0.1 + 0.2, 0.3] * 6, "constant", False),
        ([None] * N, "empty", False),
        (["", " "] * 6, "empty", False),
        ([np.nan] * N, "empty", False),
    ],
)
def test_kinds(values, kind, used):
    df = table(c=values)
    assert plan_of(df) == {"c": (kind, used)}
    X, transformer = features(df)
    assert list(X.columns[: 1 + (used and kind != "category")]) == [
        "x",
        *(["c"] if used and kind != "category" else []),
    ]
    if not used:
        assert any(note.startswith(("c ", "c:")) for note in transformer.notes_)


@pytest.mark.parametrize("name", ["id", "ID", "customer_id", "customerId", "CustomerID", "key", "user id", "uuid"])
def test_names_of_ids(name):
    numbers = RNG.choice(10**6, N, replace=False)
    df = table(**{name: numbers})
    assert plan_of(df) == {name: ("id", False)}
    (note,) = prepare(df).notes_
    assert note.endswith(f"and is left out; --id {name} keeps it in the output")
    assert plan_of(table(**{name: numbers.repeat(2)[:N]})) == {name: ("number", True)}


@pytest.mark.parametrize("name", ["paid", "humid", "keyboards", "valid"])
def test_names_that_only_end_like_one(name):
    assert plan_of(table(**{name: RNG.choice(10**6, N, replace=False)})) == {name: ("number", True)}


def test_categories_of_too_many_values():
    df = table(street=[f"s{i}" for i in range(N // 2)] * 2, word=["a few words more than", "five of them in here"] * 6)
    assert plan_of(df) == {"street": ("category", True), "word": ("category", True)}
    assert plan_of(df, max_categories=5) == {"street": ("category", False), "word": ("category", True)}
    assert "street (6): text of more than 5 values, left out" in prepare(df, max_categories=5).notes_
    text = [f"{i % 6} is a sentence of words" for i in range(N)]
    assert plan_of(table(body=text), max_categories=5) == {"body": ("text", False)}
    assert prepare(table(body=text), max_categories=5).notes_ == [
        "body is free text and is left out; --text-column body clusters the texts"
    ]


def test_cells_that_are_not_numbers():
    values = [str(i / 2) for i in range(40)]
    values[7] = "four"
    values[9] = "?"
    df = pandas.DataFrame({"a": values, "x": np.linspace(0, 1, 40)})
    X, transformer = features(df, scale="none")
    assert X["a"][7] == X["a"][9] == np.median(np.delete(np.arange(40) / 2, [7, 9]))
    assert transformer.notes_[0] == (
        "a: numbers written as text, the decimal mark is '.'; 2 cells are not numbers and count as missing, such as "
        "'four' in row 8"
    )
    values[:10] = ["four"] * 10
    assert plan_of(pandas.DataFrame({"a": values, "x": np.linspace(0, 1, 40)})) == {"a": ("category", False)}


# What becomes of it ---------------------------------------------------------------------------------------------------


def test_numbers_written_as_text():
    X, transformer = features(table(price=["1.234,5", "2", "-0,5"] * 4), scale="none")
    assert X["price"].tolist() == [1234.5, 2.0, -0.5] * 4
    assert transformer.notes_ == ["price: numbers written as text, the decimal mark is ','"]


def test_dates():
    days = ["03.02.2020", "01.02.2020", None] * 4
    X, transformer = features(table(day=days), scale="none")
    assert X["day"].tolist() == [2.0, 0.0, 1.0] * 4
    assert transformer.notes_ == [
        "day: dates written day.month.year, as days since the first one",
        "missing values: day (4) replaced by the median",
    ]
    new = table(day=["29.02.2020"] * N)
    np.testing.assert_array_equal(transformer.transform(new)[:, 1], 28.0)
    X, _ = features(table(day=pandas.to_datetime(["2020-01-02 12:00", "2020-01-01 00:00"] * 6)), scale="none")
    assert X["day"].tolist() == [1.5, 0.0] * 6


def test_order_of_day_and_month_is_told():
    (note, *_) = prepare(table(day=["03/02/2020", "01/02/2020"] * 6)).notes_
    assert note.endswith("; the month could also come first, but the day is taken to")
    (note, *_) = prepare(table(day=["03/02/2020", "13/02/2020"] * 6)).notes_
    assert note == "day: dates written day/month/year, as days since the first one"


def test_missing_values(customers):
    X, transformer = features(customers, id_column="customer", label_column="segment", scale="none")
    assert X["income"][3] == customers["income"].median()
    assert (X[f"city={MISSING}"] > 0).tolist() == customers["city"].isna().tolist()
    assert "missing values: income (1) replaced by the median, city (2) as a value of their own" in transformer.notes_


def test_a_category_weighs_as_much_as_a_number(customers):
    X, _ = features(customers, id_column="customer", label_column="segment")
    np.testing.assert_allclose(X[["income", "age", "member", "since"]].var(ddof=0), 1.0, rtol=1e-12)
    city = X[[name for name in X.columns if name.startswith("city=")]]
    assert city.var(ddof=0).sum() == pytest.approx(1.0, rel=1e-12)
    assert len({*city.to_numpy().ravel()}) == 2
    X, _ = features(customers[["age", "city"]], scale="none")
    assert X.iloc[:, 1:].var(ddof=0).sum() == pytest.approx(X["age"].var(ddof=0), rel=1e-12)
    X, _ = features(customers[["city"]])
    assert X.var(ddof=0).sum() == pytest.approx(1.0, rel=1e-12)


def test_scale():
    df = pandas.DataFrame({"a": RNG.normal(size=50), "b": RNG.normal(size=50) * 5, "c": RNG.normal(size=50) * 1000})
    X, transformer = features(df[["a", "b"]])
    np.testing.assert_array_equal(X, df[["a", "b"]])
    assert transformer.notes_ == []
    X, transformer = features(df)
    np.testing.assert_allclose(X, (df - df.mean()) / df.std(ddof=0), rtol=0, atol=1e-12)
    ratio = df["c"].std() / df["a"].std()
    assert transformer.notes_ == [
        f"spreads of the columns differ by {ratio:.0f}x (c, a): each is scaled to mean 0 and variance 1 (--scale none "
        "keeps their units)"
    ]
    X, transformer = features(df, scale="robust")
    np.testing.assert_allclose(X, (df - df.median()) / (df.quantile(0.75) - df.quantile(0.25)), rtol=0, atol=1e-12)
    X, transformer = features(df.assign(rare=np.arange(50) < 3), scale="robust")
    assert transformer.notes_ == ["rare: the middle half is constant, scaled by the standard deviation"]
    assert X["rare"].var(ddof=0) == pytest.approx(1.0)
    np.testing.assert_array_equal(features(df, scale="none")[0], df)


def test_plan(customers):
    transformer = prepare(customers, id_column="customer", label_column="segment", drop="age")
    assert isinstance(transformer, ColumnTransformer)
    assert [(row["column"], row["kind"], row["used"]) for row in transformer.plan_] == [
        ("customer", "id", False),
        ("income", "number", True),
        ("age", "number", False),
        ("city", "category", True),
        ("since", "date", True),
        ("member", "boolean", True),
        ("segment", "class", False),
    ]
    assert transformer.plan_[1]["detail"] == "as it is; 1 missing, replaced by the median; standardised"
    assert all("\n" not in note for note in transformer.notes_)
    assert (transformer.id_column_, transformer.label_column_) == ("customer", "segment")


# New data -------------------------------------------------------------------------------------------------------------


def test_new_data(customers):
    transformer = prepare(customers, id_column="customer", drop=["segment"])
    names = transformer.get_feature_names_out().tolist()
    new = pandas.DataFrame(
        {
            "income": [None, "n/a"],
            "city": ["Paris", None],
            "since": ["2020-01-05", "soon"],
            "age": [20, 30],
            "member": [1, 0],
        }
    )
    X = transformer.transform(new[["age", "member", "since", "city", "income"]])  # in any order
    assert X.shape == (2, len(names)) and np.isfinite(X).all()
    city = [i for i, name in enumerate(names) if name.startswith("city=")]
    assert (X[0, city] == 0).all()
    assert (X[1, city] > 0).sum() == 1
    np.testing.assert_array_equal(
        X[:, names.index("income")], transformer.transform(customers)[3, names.index("income")]
    )
    with pytest.raises(ValueError, match=r"^X must have the columns that were prepared: income, city not found.$"):
        transformer.transform(new.drop(columns=["income", "city"]))
    with pytest.raises(ValueError, match=r"Column 'age' has infinite numbers, or larger ones than 1e.150, in 1 row: "):
        transformer.transform(new.assign(age=[np.inf, 1]))
    with pytest.raises(TypeError, match=r"^X must be a pandas.DataFrame. Got ndarray instead.$"):
        transformer.transform(new.to_numpy())


def test_in_scikit_learn(customers):
    options = {"id_column": "customer", "label_column": "segment"}
    transformer = prepare(customers, **options)
    X = transformer.transform(customers)
    again = clone(transformer).fit(customers)
    np.testing.assert_array_equal(again.transform(customers), X)
    loaded = pickle.loads(pickle.dumps(transformer))
    np.testing.assert_array_equal(loaded.transform(customers), X)
    assert (loaded.plan_, loaded.notes_) == (transformer.plan_, transformer.notes_)
    framed = clone(transformer).set_output(transform="pandas").fit_transform(customers)
    np.testing.assert_array_equal(framed, X)
    assert list(framed.columns) == transformer.get_feature_names_out().tolist()
    for model in (FCM(2, random_state=0), GMM(2, random_state=0)):
        pipeline = make_pipeline(transformer, model).fit(customers)
        np.testing.assert_array_equal(pipeline.predict(customers), clone(model).fit(X).labels_)
    part = clone(transformer).fit(customers[:20])
    assert part.transform(customers).shape[0] == len(customers)
    assert np.isfinite(part.transform(customers)).all()


def test_names_that_are_not_text():
    df = pandas.DataFrame(RNG.normal(size=(N, 3)))
    transformer = prepare(df, drop="1")
    assert transformer.get_feature_names_out().tolist() == ["0", "2"]
    np.testing.assert_array_equal(transformer.transform(df), df[[0, 2]])


def test_names_of_features_that_collide():
    df = table(a=["b", "c"] * 6, **{"a=b": np.linspace(0, 2, N)})
    names = prepare(df).get_feature_names_out().tolist()
    assert len(set(names)) == len(names) == 4
    assert names[1:3] == ["numbers_0__a=b", "categories__a=b"]


def test_table_is_not_changed(customers):
    before = customers.copy(deep=True)
    prepare(customers).transform(customers)
    pandas.testing.assert_frame_equal(customers, before)


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "df, options, message",
    [
        (table(c=[np.inf] + [1.0] * 11), {}, "Column 'c' has infinite numbers, or larger ones than 1e+150, in 1 row: "),
        (
            table(c=["inf", "-inf"] + ["1"] * 10),
            {},
            "Column 'c' has infinite numbers, or larger ones than 1e+150, in 2",
        ),
        (table(c=[1e200] + [1.0] * 11), {}, "correct them or leave the column out (--drop)."),
        (table(c=[1j] * N), {}, "Column 'c' has complex numbers: take their absolute values or their parts."),
        (table(), {"drop": ["x"]}, "No column is left that could be a feature: all columns are left out as asked."),
        (table()[["x"]] * 0, {}, "No column is left that could be a feature: x: constant, left out."),
        (table(), {"id_column": "X"}, "Unknown column in id_column 'X': did you mean 'x'?"),
        (
            table(city=["a"] * N),
            {"label_column": "citi"},
            "Unknown column in label_column 'citi': did you mean 'city'?",
        ),
        (table(), {"drop": "y"}, "Unknown column in drop 'y'"),
        (
            table(),
            {"scale": "minmax"},
            "scale must be one of 'auto', 'none', 'standard', 'robust'. Got 'minmax' instead.",
        ),
        (table(), {"max_categories": 1}, "max_categories must be an int >= 2. Got 1 instead."),
        (pandas.DataFrame({"a\0": [1, 2]}), {}, "df must have names of columns without the character 0. Rename them."),
        (table()[:0], {}, "df must have rows. Got 0 rows."),
        (
            pandas.DataFrame([[1, 2]], columns=["a", "a"]),
            {},
            "df must have different names of columns. 'a' occurs more",
        ),
        (np.ones((3, 2)), {}, "df must be a pandas.DataFrame. Got ndarray instead."),
    ],
)
def test_what_is_refused(df, options, message):
    with pytest.raises((ValueError, TypeError)) as error:
        prepare(df, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_infinite_column_can_be_left_out():
    df = table(c=[np.inf] + [1.0] * 11)
    assert plan_of(df, drop="c") == {"c": ("number", False)}


# Gower's dissimilarities ----------------------------------------------------------------------------------------------


def test_gower_is_that_of_r():
    np.testing.assert_allclose(prepare(MIXED).gower(MIXED), OF_DAISY, rtol=0, atol=1e-12)


@pytest.mark.parametrize("pairs", [gower._GROUP, 150])
def test_gower_by_definition(customers, monkeypatch, pairs):
    """Of every kind of column with gaps, by loops; the rows are compared in groups of some pairs."""
    monkeypatch.setattr(gower, "_GROUP", pairs)
    customers["member"] = customers["member"].astype(object)
    customers.loc[7] = None
    customers["price"] = [f"{i % 7},5" if i != 7 else None for i in range(60)]
    customers["text date"] = pandas.Series(pandas.date_range("2021-03-01", periods=60)).dt.strftime("%d.%m.%Y")
    customers.loc[9:12, ["price", "since"]] = None
    customers.loc[7, "text date"] = None
    transformer = prepare(customers, id_column="customer")
    numbers = customers[["income", "age"]].assign(
        since=(customers["since"] - pandas.Timestamp("2020-01-01")) / pandas.Timedelta(days=1),
        member=customers["member"].astype(float),
        price=customers["price"].str.replace(",", ".").astype(float),
        day=np.where(np.arange(60) == 7, np.nan, np.arange(60.0)),
    )
    words = customers[["city", "segment"]]
    D = transformer.gower(customers)
    for i in range(0, 60, 3):
        for j in range(60):
            if i == j:
                continue
            parts = [
                abs(column.iloc[i] - column.iloc[j]) / (column.max() - column.min())
                for _, column in numbers.items()
                if not np.isnan([column.iloc[i], column.iloc[j]]).any()
            ]
            parts += [
                float(column.iloc[i] != column.iloc[j])
                for _, column in words.items()
                if isinstance(column.iloc[i], str) and isinstance(column.iloc[j], str)
            ]
            assert D[i, j] == pytest.approx(np.mean(parts) if parts else 1.0, abs=1e-12)
    np.testing.assert_array_equal(D, D.T)
    assert not D.diagonal().any()


def test_gower_of_new_rows():
    transformer = prepare(MIXED)
    new = pandas.DataFrame({"age": [100, 20], "pay": [None, 1.5], "plan": ["c", "a"], "member": [None, "y"], "more": 1})
    D = transformer.gower(new, MIXED)
    assert D.shape == (2, 5)
    np.testing.assert_allclose(D[0], [1, 1, 1, 1, 1])  # 80 / 40 is at most 1, and nobody has plan c
    np.testing.assert_allclose(D[1], OF_DAISY[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(transformer.gower(MIXED.iloc[:2], MIXED), OF_DAISY[:2], rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="plan not found"):
        transformer.gower(MIXED, new.drop(columns="plan"))
    with pytest.raises(TypeError, match=r"must be a pandas\.DataFrame"):
        transformer.gower(np.zeros((2, 4)))


def test_gower_ranges_are_those_of_the_fit():
    transformer = prepare(MIXED)
    assert transformer.ranges_ == {"age": 40, "pay": 6.5}
    wider = pandas.concat([MIXED, MIXED.assign(age=MIXED["age"] + 40)], ignore_index=True)
    assert clone(transformer).fit(wider).ranges_ == {"age": 80, "pay": 6.5}
    assert transformer.ranges_["age"] == 40
    only = prepare(MIXED[["plan", "member"]])
    assert only.ranges_ == {} and only.gower(MIXED)[0, 1] == 1


def test_gower_for_a_relational_method(customers):
    transformer = prepare(customers, id_column="customer")
    D = transformer.gower(customers)
    model = EVCLUS(2, metric="precomputed", random_state=0).fit(D)
    assert model.predict(transformer.gower(customers.iloc[:3], customers)).shape == (3,)


# Messy tables ---------------------------------------------------------------------------------------------------------

CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.floats(-1e140, 1e140),
    st.just(float("nan")),
    st.text(max_size=6),
    st.sampled_from(["1,5", "1.234,5", "2020-01-31", "31.12.2020", "?", "n/a", "yes", "01", " a ", "a=b", "(missing)"]),
    st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1)),
    st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)),
)
COLUMNS = st.one_of(
    st.lists(CELLS, min_size=6, max_size=6),
    *(st.lists(st.none() | cells, min_size=6, max_size=6) for cells in (st.floats(-1e140, 1e140), st.text(max_size=3))),
    st.lists(st.sampled_from(["a", "b", None, ""]), min_size=6, max_size=6),
)


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(
        st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=4),
        COLUMNS,
        min_size=1,
        max_size=5,
    ),
    st.sampled_from(SCALES),
)
def test_messy_tables(columns, scale):
    """Every table gives finite features, or one line that says why not; new rows never fail."""
    df = pandas.DataFrame({name: pandas.Series(cells) for name, cells in columns.items()})
    try:
        transformer = prepare(df, scale=scale)
    except ValueError as error:
        assert re.match("No column is left that could be a feature: |Column .* has infinite numbers", str(error))  # noqa: PT017
        return
    X = transformer.transform(df)
    assert X.dtype == np.float64 and np.isfinite(X).all()
    assert X.shape == (6, len(transformer.get_feature_names_out()))
    assert (X.std(axis=0) > 0).any()
    assert [row["column"] for row in transformer.plan_] == [str(name) for name in df.columns]
    shuffled = df.iloc[[5, 0, 3]].astype(object)
    np.testing.assert_allclose(transformer.transform(shuffled), X[[5, 0, 3]], rtol=1e-9)
    other = pandas.DataFrame({name: ["?", None, "new", 7, "2020-02-02"] for name in df.columns}, dtype=object)
    assert np.isfinite(transformer.transform(other)).all()


def test_a_category_that_is_called_as_missing_ones_are():
    gaps, named = (table(a=["x", "y", "x", gap] * 3) for gap in (None, MISSING))
    pandas.testing.assert_frame_equal(features(gaps)[0], features(named)[0])
    assert plan_of(table(a=[None, MISSING] * 6)) == plan_of(table(a=[None] * 12))


def test_missing_values_can_be_kept(customers):
    """Numbers and dates stay NaN; categories have a value for it."""
    filled, kept = prepare(customers), prepare(customers, missing="keep")
    assert "missing values: income (1) kept, city (2) as a value of their own" in kept.notes_
    assert "1 missing, kept" in next(row["detail"] for row in kept.plan_ if row["column"] == "income")
    X, gaps = filled.transform(customers), kept.transform(customers)
    assert np.isnan(gaps).sum() == 1
    assert np.isfinite(X).all()
    assert FCM(2, random_state=0).fit(gaps).memberships_.shape == (len(customers), 2)
    with pytest.raises(ValueError, match="missing must be one of 'median', 'keep'"):
        prepare(customers, missing="drop")
