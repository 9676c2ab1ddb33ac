"""Models in memory: nothing is copied, and answers are those of the same object in PyTorch."""

import gc
import os
import re
import subprocess
import sys
import weakref

import numpy as np
import pytest

import whyformer as wf

from conftest import SOURCES
from test_resources import resident_megabytes

torch = pytest.importorskip("torch", reason="models in memory are PyTorch's")
transformers = pytest.importorskip("transformers", reason="models in memory are those of transformers")

from torch_models import (PICTURE, SENTENCE, gae_by_formula, maps_and_gradients, picture_model,  # noqa: E402
                          picture_processor, pillow_processor, randomised, rollout_by_formula, text_model, tokenizer,
                          torch_logits, torch_picture_logits)

SMALL_WORDS = dict(embedding_size=8)
DISTIL = dict(dim=16, n_layers=2, n_heads=4, hidden_dim=24)
TEXT_MODELS = {"Bert": {}, "DistilBert": DISTIL, "Roberta": {}, "XLMRoberta": {}, "Electra": SMALL_WORDS,
               "Albert": SMALL_WORDS}
SWIN = dict(patch_size=4, window_size=3, embed_dim=8, depths=[2, 2], num_heads=[2, 4], mlp_ratio=2.0)
PICTURE_MODELS = {"ViT": ("ViT", {}), "DeiT": ("DeiT", {}), "Dinov2": ("Bit", dict(mlp_ratio=2)),
                  "Beit": ("Beit", dict(use_relative_position_bias=True)), "Swin": ("ViT", SWIN)}


def close(found, expected, tolerance):
    """Within a share of the largest number."""
    expected = np.asarray(expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("family", TEXT_MODELS)
def test_texts_are_answered_as_by_pytorch(family):
    module = text_model(family, **TEXT_MODELS[family])
    model = wf.load(module, tokenizer=tokenizer())
    assert model.architecture == f"{family}ForSequenceClassification"
    for text in (SENTENCE, "bad", "the ends"):
        close(model(text).values, torch_logits(module, text), 1e-5)
    close(model("the film", pair="is bad").values, torch_logits(module, "the film", "is bad"), 1e-5)
    assert len(model.explain(SENTENCE, ["gae", "integrated-gradients"])["gae"].scores) == 8


@pytest.mark.parametrize("family", PICTURE_MODELS)
def test_pictures_are_answered_as_by_pytorch(family):
    reader, changes = PICTURE_MODELS[family]
    module, processor = picture_model(family, **changes), picture_processor(reader)
    model = wf.load(module, processor=processor)
    assert model.reads == "pictures"
    close(model(PICTURE).values, torch_picture_logits(module, processor), 1e-5)
    assert np.isfinite(model.explain(PICTURE, "saliency")["saliency"].scores).all()


def test_two_heads_of_deit():
    module = picture_model("DeiT", "ForImageClassificationWithTeacher")
    processor = picture_processor("DeiT")
    model = wf.load(module, processor=processor)
    close(model(PICTURE).values, torch_picture_logits(module, processor), 1e-5)


def test_clip_among_texts():
    from tokenizers import pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("c", "a"), ("ca", "t</w>"), ("d", "o"), ("do", "g</w>")]
    words = letters + [one + "</w>" for one in letters] + ["".join(pair) for pair in merges]
    words += ["<|startoftext|>", "<|endoftext|>"]
    reader = transformers.CLIPTokenizer(vocab={word: index for index, word in enumerate(words)}, merges=merges)
    inside = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24, projection_dim=12)
    ends = dict(bos_token_id=len(words) - 2, eos_token_id=len(words) - 1, pad_token_id=len(words) - 1)
    module = transformers.CLIPModel(transformers.CLIPConfig(
        text_config=dict(vocab_size=len(words), max_position_embeddings=20, **inside, **ends),
        vision_config=dict(image_size=32, patch_size=8, **inside), projection_dim=12))
    randomised(module)
    module.logit_scale.data.fill_(2.0)
    images = pillow_processor("CLIP")(size=dict(shortest_edge=36), crop_size=dict(height=32, width=32))
    texts = ["a cat", "a dog", "cats"]
    with torch.no_grad():
        expected = module(**reader(texts, padding=True, return_tensors="pt"),
                          **images(PICTURE, return_tensors="pt")).logits_per_image[0].numpy()
    both = transformers.CLIPProcessor(image_processor=images, tokenizer=reader)
    for model in (wf.load(module, tokenizer=reader, processor=images), wf.load(module, processor=both)):
        close(model.among(texts)(PICTURE).values, expected, 1e-5)


def test_encoders_without_a_head():
    module = text_model("Bert", "Model")
    model = wf.load(module, tokenizer=tokenizer())
    with torch.no_grad():
        expected = module(**tokenizer()(SENTENCE, return_tensors="pt")).last_hidden_state[0].mean(dim=0).numpy()
    answer = model(SENTENCE)
    assert answer.space == "embedding"
    close(answer.values, expected, 1e-5)


@pytest.fixture(scope="module", params=["texts", "pictures"])
def subject(request):
    """A Whyformer model, its input, the same object in PyTorch, and its tensors."""
    if request.param == "texts":
        module, reader = text_model("Bert"), tokenizer()
        return wf.load(module, tokenizer=reader), SENTENCE, module, dict(reader(SENTENCE, return_tensors="pt"))
    module, processor = picture_model("ViT"), picture_processor("ViT")
    return wf.load(module, processor=processor), PICTURE, module, dict(processor(PICTURE, return_tensors="pt"))


@pytest.mark.parametrize("target", [0, 2])
def test_scores_equal_the_formulas_on_the_same_object(subject, target):
    model, x, module, inputs = subject
    maps, gradients = maps_and_gradients(module, inputs, target)
    result = model.explain(x, ["gae", "rollout"], target=target)
    close(result.output.values, module(**inputs).logits[0].detach().numpy(), 1e-5)
    close(result["gae"].scores, gae_by_formula(maps, gradients), 1e-4)
    close(result["rollout"].scores, rollout_by_formula(maps), 1e-4)


@pytest.mark.parametrize("target", [0, 2])
def test_maps_and_gradients_equal_autograd_on_the_same_object(subject, target):
    model, x, module, inputs = subject
    maps, gradients = maps_and_gradients(module, inputs, target)
    found, found_gradients = model.attention(x), model.attention_gradients(x, target)
    assert len(found) == len(found_gradients) == len(maps)
    for one, expected in zip(found + found_gradients, maps + gradients):
        close(one, expected, 1e-4)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_16_bit_weights_are_those_numbers(kind):
    module = text_model("Bert").to(kind)
    model = wf.load(module, tokenizer=tokenizer())
    close(model(SENTENCE).values, torch_logits(module.float(), SENTENCE), 1e-5)


def test_modes_and_settings_are_left_alone():
    module = text_model("Bert").train()
    module.classifier.eval()
    before = module.config.to_dict()
    wf.load(module, tokenizer=tokenizer())
    assert module.training and module.bert.training and not module.classifier.training
    assert module.config.to_dict() == before
    assert all(weight.requires_grad and weight.grad is None for weight in module.parameters())


def test_labels_and_names():
    labels = {0: "bad", 1: "fair", 2: "good"}
    module = text_model("Bert", id2label=labels, label2id={label: index for index, label in labels.items()})
    model = wf.load(module, tokenizer=tokenizer(), name="mine")
    assert model.name == "mine" and model(SENTENCE).labels == ["bad", "fair", "good"]
    module.name_or_path = "somewhere/nice"
    assert wf.load(module, tokenizer=tokenizer()).name == "nice"


def test_tied_and_strided_weights():
    module = text_model("Bert")
    layers = module.bert.encoder.layer
    layers[1].output.dense.weight = layers[0].output.dense.weight
    shape = layers[0].intermediate.dense.weight.shape
    layers[0].intermediate.dense.weight = torch.nn.Parameter(torch.randn(shape[::-1]).T)  # columns lie together
    assert not layers[0].intermediate.dense.weight.is_contiguous()
    close(wf.load(module, tokenizer=tokenizer())(SENTENCE).values, torch_logits(module, SENTENCE), 1e-5)


def test_compiled_modules_are_those_they_were():
    module = text_model("Bert")
    compiled = torch.compile(module)  # nothing is compiled before the first call
    close(wf.load(compiled, tokenizer=tokenizer())(SENTENCE).values, torch_logits(module, SENTENCE), 1e-5)


def test_what_is_missing_is_said():
    with pytest.raises(wf.InvalidInput, match=r"reads texts: give its tokenizer, tokenizer="):
        wf.load(text_model("Bert"))
    with pytest.raises(wf.InvalidInput, match=r"reads pictures: give its image processor, processor="):
        wf.load(picture_model("ViT"))
    with pytest.raises(wf.InvalidInput, match=r"PreTrainedTokenizerFast\(tokenizer_object="):
        wf.load(text_model("Bert"), tokenizer=tokenizer().backend_tokenizer)
    with torch.device("meta"):
        empty = transformers.BertForSequenceClassification(text_model("Bert").config)
    with pytest.raises(wf.InvalidInput, match="meta device, which holds no numbers"):
        wf.load(empty, tokenizer=tokenizer())
    quantised = text_model("Bert")
    quantised.is_quantized = True
    with pytest.raises(wf.UnsupportedModel, match="without quantization_config"):
        wf.load(quantised, tokenizer=tokenizer())
    with pytest.raises(wf.InvalidInput, match="cannot load a model from OrderedDict"):
        wf.load(text_model("Bert").state_dict())


def large_model():
    """100 MB, most of it in the table of words."""
    return text_model("Bert", vocab_size=390_000, hidden_size=64, intermediate_size=256)


def test_weights_are_not_copied():
    module, reader = large_model(), tokenizer()
    assert sum(weight.nbytes for weight in module.parameters()) > 95e6
    wf.load(text_model("Bert"), tokenizer=reader).explain(SENTENCE, "gae")
    gc.collect()
    before = resident_megabytes()
    model = wf.load(module, tokenizer=reader)
    model.explain(SENTENCE, ["gae", "gradient-x-input"])
    assert resident_megabytes() - before < 20


def test_weights_are_read_where_they_lie():
    # Words are looked up, never packed, so that a change in the torch model is a change here.
    module = text_model("Bert")
    model = wf.load(module, tokenizer=tokenizer())
    before = np.array(model(SENTENCE).values)
    module.bert.embeddings.word_embeddings.weight.data[10] *= -1  # "good"
    assert np.abs(model(SENTENCE).values - before).max() > 1e-3
    close(model(SENTENCE).values, torch_logits(module, SENTENCE), 1e-5)


def test_weights_outlive_the_torch_model():
    module = large_model()
    model = wf.load(module, tokenizer=tokenizer())
    expected = torch_logits(module, SENTENCE)
    gone = weakref.ref(module)
    del module
    gc.collect()
    assert gone() is None  # the weights live on, the module need not
    more = [torch.full((390_000, 64), 7.0)]  # would lie where freed weights were
    close(model(SENTENCE).values, expected, 1e-5)
    assert len(more) == 1


def test_nothing_is_kept_when_both_are_gone():
    def handed_over():
        module = large_model()
        weight = weakref.ref(module.bert.embeddings.word_embeddings.weight)
        result = wf.load(module, tokenizer=tokenizer()).explain(SENTENCE, "gae")
        return weight, result

    handed_over()
    gc.collect()
    before = resident_megabytes()
    for _ in range(5):
        weight, result = handed_over()
        gc.collect()
        assert weight() is None
        assert result["gae"].scores.sum() > 0  # an explanation needs no model
    assert resident_megabytes() - before < 50  # half a model


def test_script_of_the_python_page(tmp_path):
    section = (SOURCES / "docs" / "python.md").read_text(encoding="utf-8").split("## Models in memory", 1)[1]
    script = next(one for one in re.findall(r"```python\n(.*?)```", section, re.S) if "from transformers" in one)
    assert len(script.strip().splitlines()) <= 15
    # The formulas get the objects that it made.
    formulas = """
from torch_models import gae_by_formula, maps_and_gradients, rollout_by_formula
torch_model.set_attn_implementation("eager")
maps, gradients = maps_and_gradients(torch_model, dict(tokenizer(text, return_tensors="pt")), result.target.index)
for gae, rollout in zip(gae_by_formula(maps, gradients), rollout_by_formula(maps)):
    print(gae, rollout)
"""
    file = tmp_path / "script.py"
    file.write_text(f"{script}\n{formulas}", encoding="utf-8")
    paths = [str(SOURCES / "python" / "tests"), *sys.path]
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, cwd=SOURCES,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    printed = [re.fullmatch(r"(\S+) +gae (\S+)  rollout (\S+)", line).groups() for line in lines[1:9]]
    assert [token for token, _, _ in printed] == ["[CLS]", *"i cannot wait for next time".split(), "[SEP]"]
    expected = np.array([line.split() for line in lines[9:]], float)
    np.testing.assert_allclose(np.array([numbers for _, *numbers in printed], float), expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("head", ["ForQuestionAnswering", "ForTokenClassification", "ForMaskedLM"])
def test_heads_of_other_kinds_are_refused_unless_a_target_is_named(head):
    model = wf.load(text_model("Bert", head), tokenizer=tokenizer())
    with pytest.raises(wf.UnsupportedModel, match=f"'Bert{head}' has a head other than a classifier"):
        model.explain(SENTENCE, "gae")
    assert model.explain(SENTENCE, "gae", target=3).target.label == "dimension 3"
    assert model.explain(SENTENCE, "gae", similar_to="the film is bad").output.space == "similarity"


def test_a_processor_of_another_size_is_refused():
    module = picture_model("ViT")
    processor = transformers.ViTImageProcessor(size=dict(height=48, width=48))
    with pytest.raises(ValueError, match="doesn't match model"):
        module(**processor(PICTURE, return_tensors="pt"))
    with pytest.raises(wf.InvalidInput, match="48x48 pixels, but 'ViTForImageClassification' is made for 32x32"):
        wf.load(module, processor=processor).explain(PICTURE, "gae")
