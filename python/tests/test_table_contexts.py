"""SAINT as a module of one's own: saved with and without a context, explained by columns and by rows."""

import os

import numpy as np
import pytest

import whyformer as wf

torch = pytest.importorskip("torch")
pandas = pytest.importorskip("pandas")
pytest.importorskip("sklearn")
from sklearn.compose import make_column_transformer  # noqa: E402
from sklearn.preprocessing import OrdinalEncoder, StandardScaler  # noqa: E402


def attention(inner, width):
    module = torch.nn.Module()
    module.to_qkv = torch.nn.Linear(width, 3 * inner, bias=False)
    module.to_out = torch.nn.Linear(inner, width)
    return module


def step(width, f):
    module = torch.nn.Module()
    module.norm = torch.nn.LayerNorm(width)
    module.fn = torch.nn.ModuleDict({"fn": f})
    return module


def feed_forward(width):
    module = torch.nn.Module()
    module.net = torch.nn.ModuleDict({"0": torch.nn.Linear(width, 8 * width), "3": torch.nn.Linear(4 * width, width)})
    return module


def layers(*widths):
    module = torch.nn.Module()
    module.layers = torch.nn.Sequential(torch.nn.Linear(*widths[:2]), torch.nn.ReLU(), torch.nn.Linear(*widths[1:]))
    return module


class Saint(torch.nn.Module):
    """Column and row attention with the names of SAINT's tensors; forward is the head of its training before."""

    def __init__(self, numbers, counts, width=4):
        super().__init__()
        counts = [1, *counts]
        tokens = len(counts) + numbers
        self.register_buffer("categories_offset", torch.tensor([0, *counts[:-1]]).cumsum(0))
        self.embeds = torch.nn.Embedding(sum(counts), width)
        self.simple_MLP = torch.nn.ModuleList(layers(1, 6, width) for _ in range(numbers))
        self.mask_embeds_cat = torch.nn.Embedding(2 * len(counts), width)
        self.mask_embeds_cont = torch.nn.Embedding(2 * numbers, width)
        self.transformer = torch.nn.Module()
        wide = width * tokens
        self.transformer.layers = torch.nn.ModuleList([torch.nn.ModuleList(
            [step(width, attention(16, width)), step(width, feed_forward(width)), step(wide, attention(64, wide)),
             step(wide, feed_forward(wide))])])
        self.mlpfory = layers(width, 10, 2)

    def forward(self, x_cat, x_cont):
        return x_cat, x_cont

    def attended(self, one, x):
        x = one.norm(x)
        f = one.fn["fn"]
        q, k, v = f.to_qkv(x).chunk(3, -1)
        return x + f.to_out(torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, -1) @ v)

    def fed(self, one, x):
        x = one.norm(x)
        a, gate = one.fn["fn"].net["0"](x).chunk(2, -1)
        return x + one.fn["fn"].net["3"](a * torch.nn.functional.gelu(gate))

    def logits(self, x_cont, x_cat, missing=None):
        ids = torch.cat([torch.zeros_like(x_cat[:, :1]), x_cat], 1)
        words = self.embeds(ids + self.categories_offset)
        numbers = torch.stack([one.layers(x_cont[:, [j]]) for j, one in enumerate(self.simple_MLP)], 1)
        if missing is not None:
            count = x_cont.shape[1]
            numbers = torch.where(missing[:, :count, None] > 0, self.mask_embeds_cont.weight[::2], numbers)
            gone = torch.cat([torch.zeros_like(missing[:, :1]), missing[:, count:]], 1)[:, :, None]
            words = torch.where(gone > 0, self.mask_embeds_cat.weight[::2], words)
        x = torch.cat([words, numbers], 1)
        shape = x.shape
        columns, forward, rows, forward_rows = self.transformer.layers[0]
        x = self.fed(forward, self.attended(columns, x)).flatten(1)[None]
        x = self.fed(forward_rows, self.attended(rows, x)).reshape(shape)
        return self.mlpfory.layers(x[:, 0])


@pytest.fixture(scope="module")
def frame():
    random = np.random.RandomState(7)
    return pandas.DataFrame({"age": random.randint(17, 91, 40), "job": random.choice(["a", "b", "c"], 40)})


@pytest.fixture(scope="module")
def columns(frame):
    return make_column_transformer((StandardScaler(), ["age"]), (OrdinalEncoder(), ["job"])).fit(frame)


@pytest.fixture(scope="module")
def module():
    torch.manual_seed(2)
    return Saint(1, [3]).eval()


def logits(module, columns, rows):
    found = columns.transform(rows)
    with torch.no_grad():
        return module.logits(torch.tensor(found[:, [0]], dtype=torch.float32), torch.tensor(found[:, [1]]).long()).numpy()


@pytest.fixture(scope="module")
def saved(module, frame, columns, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saint") / "model"
    wf.save_table_model(folder, module, frame=frame, preprocessing=columns, labels=["no", "yes"], forward=module.logits)
    return folder


def test_rows_that_attend_to_each_other_are_saved_and_answer_as_the_modules_batch(saved, module, frame, columns):
    rows = frame.head(6)
    np.testing.assert_allclose([one.values for one in wf.load(saved)(rows, progress=False)],
                               logits(module, columns, rows), atol=1e-5)
    alone = wf.load(saved, context="alone")(rows, progress=False)
    expected = [logits(module, columns, rows.iloc[[i]])[0] for i in range(6)]
    np.testing.assert_allclose([one.values for one in alone], expected, atol=1e-5)


def test_a_frame_is_a_context_and_its_rows_are_units(saved, module, frame, columns):
    context = frame.iloc[10:15]
    model = wf.load(saved, context=context, context_mode="live")
    row = frame.iloc[3]
    expected = logits(module, columns, pandas.concat([frame.iloc[[3]], context]))[0]
    np.testing.assert_allclose(model(row).values, expected, atol=1e-5)
    found = model.explain(row, ["leave-one-out", "raw-attention"], by="rows", target="yes", progress=False)
    assert len(found.units) == 6
    for left_out in range(5):
        others = context.drop(context.index[left_out])
        without = logits(module, columns, pandas.concat([frame.iloc[[3]], others]))[0]
        assert found["leave-one-out"].scores[1 + left_out] == pytest.approx(expected[1] - without[1], abs=1e-5)
    assert sum(found["raw-attention"].scores) == pytest.approx(1, abs=1e-5)


def test_a_saved_context_is_used(module, frame, columns, tmp_path):
    model = wf.save_table_model(tmp_path / "model", module, frame=frame, preprocessing=columns, labels=["no", "yes"],
                                forward=module.logits, context=frame.iloc[10:15])
    expected = logits(module, columns, pandas.concat([frame.iloc[[3]], frame.iloc[10:15]]))[0]
    np.testing.assert_allclose(model(frame.iloc[3]).values, expected, atol=1e-5)


def test_rows_of_a_saved_context_are_summed_by_their_answers(module, frame, columns, tmp_path):
    context = frame.iloc[10:16].assign(rich=["yes", "no", "yes", "yes", "no", "yes"])
    model = wf.save_table_model(tmp_path / "model", module, frame=frame, preprocessing=columns, labels=["no", "yes"],
                                name="rich", forward=module.logits, context=context)
    found = model.explain(frame.iloc[3], ["shap", "raw-attention"], by="rows", target="yes", progress=False)
    assert [unit.row for unit in found.units] == [-1, 1, 4, 0, 2, 3, 5]  # of the same answer beside each other
    assert all(unit.cell.endswith(answer) for unit, answer in zip(found.units[1:], ["no"] * 2 + ["yes"] * 4))
    scores = found["shap"].scores
    told = f"no {scores[1:3].sum():.3g} (2 rows), yes {scores[3:].sum():.3g} (4 rows)"
    assert any(told in note for note in found["shap"].notes)


def test_missing_cells_have_vectors_of_the_models_own(module, frame, columns, tmp_path):
    holes = frame.astype({"age": float})
    holes.loc[::5, "age"] = np.nan
    model = wf.save_table_model(tmp_path / "model", module, frame=holes, preprocessing=columns, labels=["no", "yes"],
                                forward=module.logits, missing="mask", context=None)
    alone = wf.load(tmp_path / "model", context="alone")
    with torch.no_grad():
        expected = module.logits(torch.zeros(1, 1), torch.tensor([[int(columns.transform(frame)[5, 1])]]),
                                 torch.tensor([[1.0, 0.0]]))[0].numpy()
    np.testing.assert_allclose(alone(holes.iloc[5]).values, expected, atol=1e-5)
    assert model._native.rows_attend


def test_the_head_of_the_training_before_is_no_classifier(module, frame, columns, tmp_path):
    with pytest.raises(wf.InvalidInput, match="denoising"):
        wf.save_table_model(tmp_path / "model", module, frame=frame, preprocessing=columns, labels=["no", "yes"])


def test_contexts_are_refused_where_they_mean_nothing():
    with pytest.raises(wf.InvalidInput, match="context= goes with a table model"):
        wf.load("income", context="block")
    with pytest.raises(wf.InvalidInput, match="no meaning"):
        wf.load(os.path.join(os.path.dirname(__file__), "../../models/sentiment"), context="block")
