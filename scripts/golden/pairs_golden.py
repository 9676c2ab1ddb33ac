#!/usr/bin/env python3
"""Writes tests/golden/pairs: a small CLIP whose two sides differ in every size, a picture, and what PyTorch computes
for it with two texts, in double precision.

Made with Python 3.11, torch 2.15.0, transformers 5.22.2, captum 0.9.0, safetensors 0.6.2, numpy 2.4.6, pillow 13.0.0:

    pip install torch==2.15.0 transformers==5.22.2 captum==0.9.0 safetensors==0.6.2 numpy==2.4.6 pillow==13.0.0
    python scripts/golden/pairs_golden.py

- model: config.json, model.safetensors and the tokenizer;
- picture.png: 24 x 24 random pixels, read as (level / 255 - 0.5) / 0.5;
- expected.json, by text: `ids`, `logit` (logits_per_image[0, 0]); for `text` and `picture` the scores of the two sides:
  - `gae` of all layers and `gae_last` of the last (Chefer et al., ICCV 2021, their CLIP notebook): the row of the end
    token or class token of R = R + E_h(grad A * A)+ R from R = I, its own entry set to 0;
  - `saliency` and `gradient_x_input` at word vectors and pixels, folded to tokens and patches;
  - `integrated_gradients`: Captum's, along one way for both sides, from end tokens' vectors and a black picture;
- `shapley` of the short text: Shapley values by their definition, from the logits of all coalitions of its tokens, which are
  deleted, and of the patches, which are painted grey; `coalitions`: [texts][pictures] those logits, bit i of an index is
  token or patch i;
- expected.safetensors: `<text>/<side>.map.N` and `<text>/<side>.gradient.N` of the logit.
"""

import itertools
import json
import math
import pathlib
import shutil

import numpy
import PIL.Image
import tokenizers
import torch
from captum.attr import IntegratedGradients
from safetensors.torch import save_file
from transformers import CLIPConfig, CLIPModel, CLIPTokenizer

from picture_models_golden import maps, patch_attention, randomise

FOLDER = pathlib.Path(__file__).parents[2] / "tests/golden/pairs"
SIZE, PATCH, SIDE = 24, 8, 3
TEXTS = {"short": "a cat", "long": "A photo of a dog!"}


def make_model():
    bytes_of = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    merges = [("c", "a"), ("ca", "t</w>"), ("d", "o"), ("do", "g</w>"), ("o", "f</w>")]
    words = bytes_of + [byte + "</w>" for byte in bytes_of] + ["".join(pair) for pair in merges]
    words += ["<|startoftext|>", "<|endoftext|>"]
    ends = dict(bos_token_id=len(words) - 2, eos_token_id=len(words) - 1, pad_token_id=len(words) - 1)
    config = CLIPConfig(
        text_config=dict(vocab_size=len(words), max_position_embeddings=24, hidden_size=24, num_hidden_layers=3,
                         num_attention_heads=3, intermediate_size=20, projection_dim=10, **ends),
        vision_config=dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24,
                           image_size=SIZE, patch_size=PATCH, projection_dim=10),
        projection_dim=10, attn_implementation="eager")
    model = CLIPModel(config)
    randomise(model, 21)
    model.eval()
    patch_attention(model)
    model.save_pretrained(FOLDER / "model")
    tokenizer = CLIPTokenizer(vocab={word: index for index, word in enumerate(words)}, merges=merges)
    tokenizer.save_pretrained(FOLDER / "model")
    return model.double(), tokenizer


def logit_of(model, ids, pixels):
    return model(input_ids=ids, pixel_values=pixels).logits_per_image[0, 0]


def gae_row(weights, row, start):
    """Row `row` of R after all layers from `start`, as in the notebook, with its own entry set to 0."""
    relevance = torch.eye(weights[0].shape[-1], dtype=torch.float64)
    for weight in weights[start:]:
        relevance = relevance + (weight.grad * weight).clamp(min=0).mean(1)[0].detach() @ relevance
    scores = relevance[row].clone()
    scores[row] = 0
    return scores.tolist()


def by_patch(pixels):
    """[1, 3, 24, 24] to rows [9, numbers]."""
    blocks = pixels[0].reshape(3, SIDE, PATCH, SIDE, PATCH).permute(1, 3, 0, 2, 4)
    return blocks.reshape(SIDE * SIDE, -1)


def sides_of(words, pixels, fold):
    # The class token has no pixels.
    return {"text": fold(words).tolist(), "picture": [0.0] + fold(by_patch(pixels)).tolist()}


class FromVectors(torch.nn.Module):
    """The logit of given word vectors instead of ids."""

    def __init__(self, model, ids):
        super().__init__()
        self.model, self.ids = model, ids

    def forward(self, vectors, pixels):
        table = self.model.text_model.embeddings.token_embedding
        hook = table.register_forward_hook(lambda *_: vectors)
        try:
            ids = self.ids.expand(len(vectors), -1)
            answer = self.model(input_ids=ids, pixel_values=pixels).logits_per_image
        finally:
            hook.remove()
        return answer.diagonal()


def explain(model, ids, pixels, tensors, name):
    maps.clear()
    words = model.text_model.embeddings.token_embedding(ids).detach().requires_grad_()
    pixels = pixels.clone().requires_grad_()
    logit = FromVectors(model, ids)(words, pixels)[0]
    logit.backward()
    layers = model.config.text_config.num_hidden_layers
    sides = {"picture": maps[:-layers], "text": maps[-layers:]}
    if maps[0].shape[-1] == ids.shape[1]:
        sides = {"text": maps[:layers], "picture": maps[layers:]}
    for side, weights in sides.items():
        for index, weight in enumerate(weights):
            tensors[f"{name}/{side}.map.{index}"] = weight[0].detach().float().contiguous()
            tensors[f"{name}/{side}.gradient.{index}"] = weight.grad[0].float().contiguous()
    rows = {"text": ids.shape[1] - 1, "picture": 0}
    expected = {"ids": ids[0].tolist(), "logit": logit.item(),
                "gae": {side: gae_row(sides[side], rows[side], 0) for side in sides},
                "gae_last": {side: gae_row(sides[side], rows[side], -1) for side in sides},
                "saliency": sides_of(words.grad[0], pixels.grad, lambda rows: rows.norm(dim=1)),
                "gradient_x_input": sides_of((words * words.grad)[0].detach(), (pixels * pixels.grad).detach(),
                                             lambda rows: rows.sum(1))}
    neutral = ids.clone()
    neutral[0, 1:-1] = model.config.text_config.pad_token_id
    baselines = (model.text_model.embeddings.token_embedding(neutral).detach(), torch.full_like(pixels, -1).detach())
    found = IntegratedGradients(FromVectors(model, ids)).attribute(
        (words.detach(), pixels.detach()), baselines, n_steps=64, method="gausslegendre")
    expected["integrated_gradients"] = sides_of(found[0][0], found[1], lambda rows: rows.sum(1))
    return expected


def coalitions_of(model, ids, pixels):
    """[2^tokens][2^patches] logits; a bit that is set is shown."""
    tokens, patches = ids.shape[1] - 2, SIDE * SIDE
    texts = []
    for shown in range(2 ** tokens):
        kept = [0] + [1 + i for i in range(tokens) if shown >> i & 1] + [tokens + 1]
        texts.append(model.get_text_features(input_ids=ids[:, kept]).pooler_output[0])
    pictures = []
    for shown in range(2 ** patches):
        painted = pixels.clone()
        for patch in range(patches):
            if not shown >> patch & 1:
                top, left = patch // SIDE * PATCH, patch % SIDE * PATCH
                painted[:, :, top:top + PATCH, left:left + PATCH] = 0
        pictures.append(painted[0])
    vectors = model.get_image_features(torch.stack(pictures)).pooler_output
    unit = torch.nn.functional.normalize
    return (model.logit_scale.exp() * unit(torch.stack(texts), dim=-1) @ unit(vectors, dim=-1).T).detach()


def shapley(logits):
    texts, pictures = (int(math.log2(size)) for size in logits.shape)
    players = texts + pictures
    worth = lambda shown: logits[shown % 2 ** texts, shown >> texts].item()
    values = []
    for player in range(players):
        others = [other for other in range(players) if other != player]
        value = 0.0
        for size in range(players):
            weight = math.factorial(size) * math.factorial(players - size - 1) / math.factorial(players)
            for group in itertools.combinations(others, size):
                without = sum(1 << other for other in group)
                value += weight * (worth(without | 1 << player) - worth(without))
        values.append(value)
    return values


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    model, tokenizer = make_model()
    levels = numpy.random.RandomState(5).randint(0, 256, (SIZE, SIZE, 3)).astype(numpy.uint8)
    PIL.Image.fromarray(levels).save(FOLDER / "picture.png")
    pixels = (torch.from_numpy(levels).double() / 255 - 0.5) / 0.5
    pixels = pixels.permute(2, 0, 1)[None]
    tensors, expected = {}, {}
    for name, text in TEXTS.items():
        ids = tokenizer(text, return_tensors="pt").input_ids
        expected[name] = {"text": text} | explain(model, ids, pixels, tensors, name)
        assert abs(logit_of(model, ids, pixels).item() - expected[name]["logit"]) < 1e-12
    ids = tokenizer(TEXTS["short"], return_tensors="pt").input_ids
    logits = coalitions_of(model, ids, pixels)
    assert abs(logits[-1, -1].item() - expected["short"]["logit"]) < 1e-12
    expected["coalitions"] = logits.tolist()
    expected["shapley"] = shapley(logits)
    save_file(tensors, FOLDER / "expected.safetensors")
    (FOLDER / "expected.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
