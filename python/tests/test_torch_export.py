"""Modules that no folder knows: PyTorch exports them, and they answer and are explained as before."""


import numpy as np
import pytest

import whyformer as wf

torch = pytest.importorskip("torch", reason="modules in memory are PyTorch's")
transformers = pytest.importorskip("transformers", reason="tokenizers in memory are those of transformers")
pytest.importorskip("onnxscript", reason="PyTorch's exporter to ONNX needs it")

from torch_models import (PICTURE, SENTENCE, WORDS, gae_by_formula, maps_and_gradients, randomised, text_model,  # noqa: E402
                          tokenizer, torch_logits)

TEXTS = (SENTENCE, "bad", "the film is very very very bad the ends is not very good")


class Attention(torch.nn.Module):
    """As people write it, with what is behind the softmax kept for autograd."""

    def __init__(self, width=16, heads=4):
        super().__init__()
        self.heads, self.joint, self.out = heads, torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        joint = self.joint(x).reshape(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        query, key, value = joint.unbind(0)
        self.map = (query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5).softmax(-1)
        return self.out((self.map @ value).transpose(1, 2).reshape(batch, tokens, width))


class Block(torch.nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.attention = Attention(width)
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)])
        self.inner = torch.nn.Sequential(torch.nn.Linear(width, 24), torch.nn.GELU(), torch.nn.Linear(24, width))

    def forward(self, x):
        x = x + self.attention(self.norms[0](x))
        return x + self.inner(self.norms[1](x))


class OwnViT(torch.nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.patches = torch.nn.Conv2d(3, 16, 8, 8)
        self.first = torch.nn.Parameter(torch.zeros(1, 1, 16))
        self.places = torch.nn.Parameter(torch.zeros(1, 17, 16))
        self.blocks = blocks
        self.head = torch.nn.Linear(16, 3)

    def forward(self, pixels):
        x = self.patches(pixels).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(len(x), -1, -1), x], dim=1) + self.places
        return self.head(self.blocks(x)[:, 0])


class OwnTexts(torch.nn.Module):
    """PyTorch's own encoder, whose attention has tokens in front of the batch."""

    def __init__(self):
        super().__init__()
        self.words, self.places = torch.nn.Embedding(len(WORDS), 16), torch.nn.Embedding(40, 16)
        layer = torch.nn.TransformerEncoderLayer(16, 4, 24, batch_first=True)
        self.layers = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = torch.nn.Linear(16, 3)

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        return self.head(self.layers(x)[:, 0])


class TorchAttention(torch.nn.MultiheadAttention):
    def __init__(self):
        super().__init__(16, 4, batch_first=True)

    def forward(self, x):
        return super().forward(x, x, x)[0]


class OwnTable(torch.nn.Module):
    """A token for each column, and one to read (Gorishniy et al., NeurIPS 2021)."""

    def __init__(self, kind):
        super().__init__()
        self.scales, self.offsets = torch.nn.Parameter(torch.zeros(6, 16)), torch.nn.Parameter(torch.zeros(6, 16))
        self.first = torch.nn.Parameter(torch.zeros(1, 1, 16))
        self.attention = torch.nn.ModuleList([kind(), kind()])
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(16) for _ in range(2)])
        self.head = torch.nn.Linear(16, 2)

    def forward(self, row):
        x = row[:, :, None] * self.scales + self.offsets
        x = torch.cat([self.first.expand(len(row), -1, -1), x], dim=1)
        for attention, norm in zip(self.attention, self.norms):
            x = norm(x + attention(x))
        return self.head(x[:, 0])


@pytest.mark.parametrize("family, changes", [
    ("Deberta", dict(relative_attention=True, pos_att_type=["c2p", "p2c"])),
    ("MobileBert", dict(embedding_size=16, intra_bottleneck_size=16)),
    ("MPNet", {}),
])
def test_architectures_that_folders_do_not_know(family, changes):
    module = text_model(family, **changes).train()
    model = wf.load(module, tokenizer=tokenizer())
    assert module.training and all(part.training for part in module.modules())
    assert (model.name, model.architecture) == (f"{family}ForSequenceClassification",) * 2
    module.eval()
    for text in TEXTS:
        np.testing.assert_allclose(model(text).values, torch_logits(module, text), atol=1e-4)
    maps, gradients = maps_and_gradients(module, dict(tokenizer()(SENTENCE, return_tensors="pt")), 1)
    result = model.explain(SENTENCE, ["gae", "integrated-gradients"], target=1)
    np.testing.assert_allclose(result["gae"].scores, gae_by_formula(maps, gradients), atol=1e-4)
    assert abs(result["integrated-gradients"].completeness_gap) < 0.05


def test_a_changed_model_of_a_known_architecture_is_what_it_became():
    class Louder(torch.nn.Linear):
        def forward(self, x):
            return 3 * super().forward(x)

    module = text_model("Bert")
    module.classifier = randomised(Louder(16, 3), seed=1)
    module.eval()
    model = wf.load(module, tokenizer=tokenizer())
    np.testing.assert_allclose(model(SENTENCE).values, torch_logits(module, SENTENCE), atol=1e-4)


def test_own_text_classifier():
    module = randomised(OwnTexts())
    model = wf.load(module, tokenizer=tokenizer())
    assert model.reads == "texts" and model.name == "OwnTexts"
    for text in TEXTS:
        expected = module(tokenizer()(text, return_tensors="pt").input_ids)[0].detach().numpy()
        np.testing.assert_allclose(model(text).values, expected, atol=1e-4)
    result = model.explain(SENTENCE, ["gae", "gradient-x-input", "leave-one-out"])
    assert len(model.inspect().sites) == 2 and (result["gae"].scores[1:] > 0).any()


def test_own_picture_classifier():
    module = randomised(OwnViT(torch.nn.Sequential(Block(), Block())))
    pixels = torch.tensor(PICTURE[:32, :32].copy()).permute(2, 0, 1)[None] / 255
    model = wf.load(module, example=torch.zeros(1, 3, 32, 32),
                    processor=dict(size=dict(height=32, width=32), image_mean=[0, 0, 0], image_std=[1, 1, 1]))
    answer = module(pixels)
    np.testing.assert_allclose(model(PICTURE[:32, :32]).values, answer[0].detach().numpy(), atol=1e-4)
    maps = [block.attention.map for block in module.blocks]
    gradients = torch.autograd.grad(answer[0, 1], maps)
    expected = gae_by_formula([one[0].detach().numpy() for one in maps], [one[0].numpy() for one in gradients])
    result = model.explain(PICTURE[:32, :32], ["gae", "saliency"], target=1)
    np.testing.assert_allclose(result["gae"].scores, expected, atol=1e-4)


def test_own_picture_classifier_of_torch_layers():
    layer = torch.nn.TransformerEncoderLayer(16, 4, 24, batch_first=True, norm_first=True)
    module = randomised(OwnViT(torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)))
    model = wf.load(module, example=torch.zeros(1, 3, 32, 32), processor=dict(size=dict(height=32, width=32)))
    assert len(model.explain(PICTURE, "gae")["gae"].scores) == 17


@pytest.mark.parametrize("kind", [Attention, TorchAttention])
def test_own_table_classifier(kind):
    module, rows = randomised(OwnTable(kind)), torch.randn(5, 6, generator=torch.Generator().manual_seed(0))
    model = wf.load(module, example=rows, name="table")
    assert (model.reads, model.name) == ("tables", "table")
    np.testing.assert_allclose(np.asarray([one.values for one in model(rows.numpy())]), module(rows).detach().numpy(),
                               atol=1e-4)
    row = rows[:1].requires_grad_()
    gradient = torch.autograd.grad(module(row)[0, 1], row)[0][0]
    result = model.explain(rows[0].numpy(), ["gae", "gradient-x-input"], target=1)
    np.testing.assert_allclose(result["gradient-x-input"].scores[1:], (gradient * row[0]).detach().numpy(), atol=1e-4)
    assert (result["gae"].scores[1:] > 0).any()


def test_what_is_missing_is_said(monkeypatch):
    with pytest.raises(wf.InvalidInput, match="needs an input to follow: give example="):
        wf.load(OwnViT(Block()))
    with pytest.raises(wf.InvalidInput, match="give tensors"):
        wf.load(OwnViT(Block()), example=[[1.0]])

    class Branching(OwnTexts):
        def forward(self, tokens):
            x = self.words(tokens)
            return self.head(x[:, 0] if tokens.sum().item() % 2 else x[:, 1])

    with pytest.raises(wf.UnsupportedModel):
        wf.load(randomised(Branching()), tokenizer=tokenizer())


def test_without_onnxscript_tracing_is_tried_and_frozen_lengths_are_noticed(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *_: None)
    module = text_model("MPNet")
    np.testing.assert_allclose(wf.load(module, tokenizer=tokenizer())(TEXTS[2]).values, torch_logits(module, TEXTS[2]),
                               atol=1e-4)
    with pytest.raises(wf.UnsupportedModel, match="pip install onnxscript"):
        wf.load(randomised(OwnTexts()), tokenizer=tokenizer())


def test_what_hangs_on_the_batch_is_not_kept_from_the_first():
    # Relative positions of DeBERTa-v2 with shared keys are repeated for each input of a batch.
    config = transformers.DebertaV2Config(vocab_size=len(tokenizer()), hidden_size=32, num_hidden_layers=2,
                                          num_attention_heads=4, intermediate_size=48, max_position_embeddings=64,
                                          relative_attention=True, pos_att_type=["p2c", "c2p"], share_att_key=True,
                                          position_buckets=8, norm_rel_ebd="layer_norm")
    module = randomised(transformers.DebertaV2ForSequenceClassification(config))
    model = wf.load(module, tokenizer=tokenizer())
    result = model.explain("the film is good", ["integrated-gradients", "leave-one-out"])
    assert result.methods == ["integrated-gradients", "leave-one-out"]


def test_heads_that_are_left_out_are_refused_unless_a_target_is_named():
    config = transformers.GPT2Config(vocab_size=len(WORDS), n_embd=16, n_layer=2, n_head=4, n_positions=40)
    speaker = wf.load(randomised(transformers.GPT2LMHeadModel(config)), tokenizer=tokenizer())
    with pytest.raises(wf.UnsupportedModel, match="'logits' answers for each token"):
        speaker.explain(SENTENCE, "gae")
    assert speaker.explain(SENTENCE, "gae", target=3).target.label == "dimension 3"
    assert len(speaker.attention(SENTENCE)) == 2
    reader = wf.load(text_model("MPNet", "ForTokenClassification"), tokenizer=tokenizer())
    with pytest.raises(wf.UnsupportedModel, match="answers for each token"):
        reader.explain(SENTENCE, "gae")
    # Hidden states of an encoder without a head are no answers.
    encoder = wf.load(text_model("MPNet", "Model"), tokenizer=tokenizer())
    found = encoder.explain(SENTENCE, "gae", similar_to="the film is bad")
    assert found.output.space == "similarity" and not any("numbers for each token" in note for note in found.notes)


def test_gradient_times_input_says_where_vectors_are_normalised_first():
    changes = dict(relative_attention=True, pos_att_type=["c2p", "p2c"], position_biased_input=False, type_vocab_size=0)
    model = wf.load(text_model("Deberta", **changes), tokenizer=tokenizer())
    result = model.explain(SENTENCE, ["gradient-x-input", "saliency"])
    assert np.abs(result["gradient-x-input"].scores).max() < 1e-3 * result["saliency"].scores.max()
    assert any("0 by construction" in note for note in result["gradient-x-input"].notes)
    assert not any("0 by construction" in note for note in result["saliency"].notes)
    behind = model.explain(SENTENCE, "gradient-x-input", options={"at": "first-layer"})["gradient-x-input"]
    assert not any("0 by construction" in note for note in behind.notes) and np.abs(behind.scores).max() > 1e-3
