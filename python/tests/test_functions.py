"""Shapley values and LIME of any function, against their definitions."""

import itertools
import math

import numpy as np
import pytest

import whyformer as wf


def shapley_by_definition(value, players):
    """The mean over all orders, written down."""
    result = np.zeros(players)
    for order in itertools.permutations(range(players)):
        seen = np.zeros(players, bool)
        for player in order:
            before = value(seen)
            seen[player] = True
            result[player] += value(seen) - before
    return result / math.factorial(players)


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    return random.normal(size=(20, 5)), random.normal(size=5)


def function(rows):
    return rows[:, 0] * rows[:, 1] + np.sin(rows[:, 2]) + 2 * rows[:, 3]


def worth(background, row):
    return lambda seen: function(np.where(seen, row, background)).mean()


@pytest.mark.parametrize("method", ["exact", "kernel", "permutation"])
def test_values_are_shapley_values(table, method):
    background, row = table
    options = {"max_evals": 20000} if method == "permutation" else {}
    found = wf.shap(function, background, method=method, **options)(row)
    expected = shapley_by_definition(worth(background, row), 5)
    np.testing.assert_allclose(found.values, expected, atol=0.05 if method == "permutation" else 1e-9)
    np.testing.assert_allclose(found.base_values + found.values.sum(), found.full_values)
    np.testing.assert_allclose(found.full_values, function(row[None])[0])
    assert abs(found.values[4]) < 1e-12 or method == "permutation"  # a column that the function does not read


def test_sampling_has_errors_that_hold(table):
    background, row = table
    found = wf.shap(function, background, method="sampling", samples=20000)(row)
    expected = shapley_by_definition(worth(background, row), 5)
    assert (np.abs(found.values - expected) < 5 * found.errors + 1e-9).all()


def test_sampling_asks_for_one_background_only(table):
    background, row = table
    asked = []

    def counting(rows):
        asked.append(len(rows))
        return function(rows)

    found = wf.shap(counting, background, method="sampling", samples=500)(row)
    # The whole input and the empty one are means over the background; samples are two rows each.
    assert sum(asked) <= 2 * len(background) + found.evaluations


def test_several_rows_and_outputs(table):
    background, row = table
    two = lambda rows: np.stack([function(rows), rows[:, 4]], axis=1)
    several = wf.shap(two, background)(np.stack([row, background[0]]))
    assert [one.values.shape for one in several] == [(5, 2), (5, 2)]
    np.testing.assert_allclose(several[0].values[:, 1], [0, 0, 0, 0, row[4] - background[:, 4].mean()], atol=1e-12)


def test_frames_stay_frames(table):
    pandas = pytest.importorskip("pandas")
    background, row = table
    names = list("abcde")
    frame = pandas.DataFrame(background, columns=names)
    found = wf.shap(lambda given: given["a"] * given["b"], frame)(pandas.Series(row, index=names))
    assert found.feature_names == names
    assert abs(found.to_pandas()["value"].iloc[2]) < 1e-12


def test_texts():
    count = lambda texts: [text.count("good") - 2 * text.count("bad") for text in texts]
    found = wf.shap(count, wf.maskers.Text())("good film, bad ending")
    assert dict(zip(found.feature_names, found.values)) == {"good": 1, "film": 0, ",": 0, "bad": -2, "ending": 0}


def test_text_masker_hides_and_deletes():
    visible = np.array([[True, False, True], [False, False, True]])
    assert wf.maskers.Text("[MASK]").apply(visible, "so very bad") == (["so [MASK] bad", "[MASK] [MASK] bad"],)
    assert wf.maskers.Text("").apply(visible, "so very bad") == (["so bad", "bad"],)


def test_pictures():
    picture = np.zeros((8, 8, 3))
    picture[:4, :4] = 1
    found = wf.shap(lambda batch: batch[:, :4, :4].mean(axis=(1, 2, 3)), wf.maskers.Picture(4, fill=0.0))(picture)
    np.testing.assert_allclose(found.values, [1, 0, 0, 0], atol=1e-12)


def test_composite_of_text_and_row(table):
    background, row = table
    both = lambda rows, texts: function(rows) + np.array([text.count("good") for text in texts])
    masker = wf.maskers.Composite(wf.maskers.Table(background), wf.maskers.Text())
    found = wf.shap(both, masker, method="exact")((row, "good film"))
    np.testing.assert_allclose(found.values[:5], shapley_by_definition(worth(background, row), 5), atol=1e-9)
    np.testing.assert_allclose(found.values[5:], [1, 0], atol=1e-9)
    partition = wf.shap(both, masker, method="partition", max_evals=10000)((row, "good film"))
    np.testing.assert_allclose(partition.values[5:], [1, 0], atol=1e-9)


def test_interactions():
    found = wf.shap(lambda seen: 1.0 * seen[:, 0] * seen[:, 1] + seen[:, 2], 3, method="shapley-taylor")()
    np.testing.assert_allclose(found.values[0, 1] + found.values[1, 0], 1)
    np.testing.assert_allclose(np.diag(found.values), [0, 0, 1])


def test_lime_of_a_linear_game_is_its_weights():
    weights = np.array([1.0, -2.0, 0.5, 0.0])
    found = wf.lime(lambda seen: seen @ weights + 3, 4, ridge=1e-9, selection="none")()
    np.testing.assert_allclose(found.values, weights, atol=1e-6)
    np.testing.assert_allclose(found.base_values, 3, atol=1e-6)


def test_shap_maskers_are_taken(table):
    shap = pytest.importorskip("shap")
    background, row = table
    ours = wf.shap(function, background, method="exact")(row)
    theirs = wf.shap(function, shap.maskers.Independent(background), method="exact")(row)
    np.testing.assert_allclose(ours.values, theirs.values, atol=1e-9)


@pytest.mark.parametrize("wrong, said", [
    (lambda rows: [1.0], "must give a number"),
    (lambda rows: np.full(len(rows), np.nan), "not a finite number"),
])
def test_bad_functions(table, wrong, said):
    with pytest.raises(wf.InvalidInput, match=said):
        wf.shap(wrong, table[0])(table[1])


def test_errors_of_the_function_come_through(table):
    def broken(rows):
        if len(rows) > 20:  # not at the first call
            raise ZeroDivisionError("mine")
        return rows[:, 0]

    with pytest.raises(ZeroDivisionError, match="mine"):
        wf.shap(broken, table[0])(table[1])
    with pytest.raises(wf.InvalidInput, match="no option"):
        wf.shap(function, table[0], method="exact", samples=3)(table[1])
    with pytest.raises(wf.InvalidInput, match="choose from"):
        wf.shap(function, table[0], method="tree")


@pytest.mark.parametrize("method", ["exact", "kernel", "permutation"])
def test_a_link_is_of_the_mean_over_the_background(table, method):
    background, row = table

    def probability(rows):
        return 1 / (1 + np.exp(-function(rows)))

    def log_odds_of_mean(seen):
        mean = probability(np.where(seen, row, background)).mean()
        return math.log(mean / (1 - mean))

    options = {"max_evals": 11 * 5000} if method == "permutation" else {}
    found = wf.shap(probability, background, method=method, link="logit", **options)(row)
    tolerance = 0.02 if method == "permutation" else 1e-9
    np.testing.assert_allclose(found.values, shapley_by_definition(log_odds_of_mean, 5), atol=tolerance)
    with pytest.raises(wf.InvalidInput, match="link"):
        wf.shap(probability, background, method=method, link="probit")(row)


def test_fewer_equations_than_players_are_told(table):
    background, row = table
    with pytest.warns(UserWarning, match="coalitions underdetermine the players"):
        found = wf.shap(function, background, method="kernel", samples=4)(row)
    assert np.isinf(found.errors[:4]).all()
    assert "± ?" in str(found)
