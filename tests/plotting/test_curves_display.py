"""Curves of indices over K, and of objectives over iterations."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris

from soft_clustering import FCM, GMM, SCM
from soft_clustering.plotting import IndexCurvesDisplay, ObjectiveHistoryDisplay
from soft_clustering.selection import choose_n_clusters

X = load_iris().data
SCORES = {"a": [3.0, 1.0, 2.0], "b": [np.nan, 5.0, 4.0], "c": [np.nan] * 3}


def curve(display, name):
    return display.lines_[name].lines[0].get_data()


def test_a_panel_per_index():
    display = IndexCurvesDisplay([2, 3, 5], SCORES, senses={"a": "min", "b": "max"}).plot()
    assert [ax.get_title() for ax in display.axes_] == ["a\n(smaller is better)", "b\n(larger is better)", "c"]
    for name in "ab":
        np.testing.assert_array_equal(curve(display, name), [[2, 3, 5], SCORES[name]])
    assert set(display.lines_) == {"a", "b"}
    assert [text.get_text() for text in display.axes_[2].texts] == ["does not apply"]


def test_choices_are_marked():
    display = IndexCurvesDisplay([2, 3, 5], SCORES, best={"a": 3, "b": None}).plot()
    assert set(display.best_) == {"a"}
    np.testing.assert_array_equal(display.best_["a"].get_data(), [[3], [1]])
    assert display.axes_[0].get_legend().get_texts()[0].get_text() == "K = 3"


def test_the_recommended_number_is_shaded():
    display = IndexCurvesDisplay([2, 3, 5], SCORES, recommended=3).plot()
    assert [(shade.get_x(), shade.get_width()) for shade in display.recommended_] == [pytest.approx((2.65, 0.7))] * 3
    assert IndexCurvesDisplay([2, 3, 5], SCORES).plot().recommended_ == []
    with pytest.raises(ValueError, match=r"recommended must be one of k_values or None\. Got 4"):
        IndexCurvesDisplay([2, 3, 5], SCORES, recommended=4)


def test_spreads_are_error_bars():
    display = IndexCurvesDisplay([2, 3, 5], {"a": SCORES["a"]}, spreads={"a": [0.1, 0.2, 0.3]}).plot()
    (bars,) = display.lines_["a"].lines[2]
    lengths = [np.ptp(segment[:, 1]) for segment in bars.get_segments()]
    np.testing.assert_allclose(lengths, [0.2, 0.4, 0.6])


@pytest.mark.parametrize("n, shape", [(1, (1, 1)), (3, (1, 3)), (4, (2, 2)), (6, (2, 3)), (9, (3, 3)), (20, (5, 4))])
def test_panels_form_a_grid(n, shape):
    display = IndexCurvesDisplay([2, 3], {str(i): [i, 1] for i in range(n)}).plot()
    assert len(display.axes_) == len(display.figure_.axes) == n
    assert display.axes_[0].get_subplotspec().get_gridspec().get_geometry() == shape


def test_one_index_uses_the_given_axes():
    _, ax = plt.subplots()
    assert IndexCurvesDisplay([2, 3], {"a": [1, 2]}).plot(ax).axes_[0] is ax


def test_result_of_the_selection():
    criteria = ["xie_beni", "calinski_harabasz", "stability"]
    result = choose_n_clusters(FCM(random_state=0), X, range(2, 5), criteria=criteria, n_bootstrap=2, random_state=0)
    display = IndexCurvesDisplay.from_result(result)
    titles = ["Xie-Beni\n(smaller is better)", "Calinski-Harabasz\n(larger is better)", "Stability\n(larger is better)"]
    assert [ax.get_title() for ax in display.axes_] == titles
    for name, title in zip(criteria, ["Xie-Beni", "Calinski-Harabasz", "Stability"], strict=True):
        np.testing.assert_array_equal(curve(display, title), [result.k_values, result.scores[name]])
        assert display.best_[title].get_xdata() == [result.best[name]]
    assert display.recommended == result.recommended == result.best["stability"]
    np.testing.assert_array_equal(display.spreads["Stability"], result.stability_std)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([2, 3], {}), "scores must be a mapping of at least one name"),
        (([2, 3], {"a": [1, 2, 3]}), r"scores\['a'\] must have a value for each of the 2 k_values. Got shape \(3,\)"),
        (([[2, 3]], {"a": [1, 2]}), r"k_values must have shape \(n_k\)"),
    ],
)
def test_wrong_curves(arguments, message):
    with pytest.raises(ValueError, match=message):
        IndexCurvesDisplay(*arguments)


@pytest.mark.parametrize(
    "keywords, message",
    [
        ({"senses": {"a": "up"}}, r"senses\['a'\] must be 'min', 'max' or None. Got 'up'"),
        ({"best": {"a": 7}}, r"best\['a'\] must be one of k_values or None. Got 7"),
        ({"spreads": {"a": [1]}}, r"spreads\['a'\] must have a value for each"),
    ],
)
def test_wrong_additions(keywords, message):
    with pytest.raises(ValueError, match=message):
        IndexCurvesDisplay([2, 3], {"a": [1, 2]}, **keywords)


def test_history():
    model = GMM(3, random_state=0).fit(X)
    display = ObjectiveHistoryDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.line_.get_ydata(), model.objective_history_)
    np.testing.assert_array_equal(display.line_.get_xdata(), np.arange(len(model.objective_history_)))
    assert display.ax_.get_ylabel() == "objective (maximised)"
    assert (
        ObjectiveHistoryDisplay.from_estimator(FCM(2, random_state=0).fit(X)).ax_.get_ylabel()
        == "objective (minimised)"
    )
    assert ObjectiveHistoryDisplay([3, 2]).plot().ax_.get_ylabel() == "objective"


def test_histories_share_axes():
    first = ObjectiveHistoryDisplay([3, 2], name="one").plot()
    second = ObjectiveHistoryDisplay([4, 1], name="two").plot(first.ax_)
    assert [text.get_text() for text in first.ax_.get_legend().get_texts()] == ["one", "two"]
    assert first.line_.get_color() != second.line_.get_color()


def test_estimator_without_a_history():
    with pytest.raises(TypeError, match=r"estimator must have objective_history_\. Got a SCM"):
        ObjectiveHistoryDisplay.from_estimator(SCM(3).fit(X))


@pytest.mark.parametrize("wrong", [[], [[1.0]], [np.nan]])
def test_wrong_history(wrong):
    with pytest.raises(ValueError, match="history"):
        ObjectiveHistoryDisplay(wrong)


def test_wrong_sense():
    with pytest.raises(ValueError, match=r"sense must be 'min', 'max' or None\. Got 'down'"):
        ObjectiveHistoryDisplay([1.0], sense="down")
