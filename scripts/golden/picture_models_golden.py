#!/usr/bin/env python3
"""Writes tests/golden/pictures: small picture models as HuggingFace folders, and what PyTorch computes
with them in double precision.

Made with Python 3.11, torch 2.15.0, transformers 5.22.2, safetensors 0.6.2, numpy 2.4.6:

    pip install torch==2.15.0 transformers==5.22.2 safetensors==0.6.2 numpy==2.4.6
    python scripts/golden/picture_models_golden.py

A folder holds config.json, model.safetensors and
- expected.json: cases (which output, which of its columns the gradients are of) and CLIP's texts;
- expected.safetensors: `<case>/pixels`, `<case>/output`, and for every attention layer N `<case>/map.N` and
  `<case>/gradient.N`, the gradient of the column's sum over the batch with respect to the map;
- new_names.safetensors, of some models: the weights under the names that transformers 5 has in memory.
"""

import json
import pathlib
import shutil
import sys

import tokenizers
import torch
import transformers
from safetensors.torch import save_file
from transformers import (BeitConfig, BeitForImageClassification, CLIPConfig, CLIPModel, CLIPTokenizer,
                          DeiTConfig, DeiTForImageClassification, DeiTForImageClassificationWithTeacher,
                          Dinov2Config, Dinov2ForImageClassification, Dinov2Model, SwinConfig,
                          SwinForImageClassification, ViTConfig, ViTForImageClassification, ViTModel)

FOLDER = pathlib.Path(__file__).parents[2] / "tests/golden/pictures"
SMALL = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24,
             image_size=32, patch_size=8)
NO_INNER = {key: value for key, value in SMALL.items() if key != "intermediate_size"}
LABELS = dict(id2label={0: "cat", 1: "dog", 2: "hen"}, label2id={"cat": 0, "dog": 1, "hen": 2})
maps = []


def attention_in_double(module, query, key, value, mask, scaling=None, **_):
    """Eager attention without the detour over single precision, which keeps its maps."""
    scores = query @ key.transpose(-1, -2) * (query.size(-1) ** -0.5 if scaling is None else scaling)
    if mask is not None:
        scores = scores + mask
    weights = scores.softmax(-1)
    weights.retain_grad()
    maps.append(weights)
    return (weights @ value).transpose(1, 2).contiguous(), weights


def patch_attention(model):
    module = sys.modules[type(model).__module__]
    assert hasattr(module, "eager_attention_forward")
    module.eager_attention_forward = attention_in_double


def randomise(model, seed):
    """Weights large enough that attention, norms and scales all matter."""
    torch.manual_seed(seed)
    for name, weight in model.named_parameters():
        noise = torch.randn(weight.shape)
        if name == "logit_scale":
            weight.data.fill_(2.0)
        elif "norm" in name and name.endswith("weight"):
            weight.data = 1 + 0.2 * noise
        elif weight.dim() >= 2 and "bias_table" not in name and "token" not in name:
            weight.data = noise * (1 / weight[0].numel() ** 0.5)
        else:
            weight.data = 0.5 * noise


def run_case(call, size, column, name, tensors, seed, batch=2):
    torch.manual_seed(seed)
    pixels = torch.randn(batch, 3, *size)
    maps.clear()
    output = call(pixels.double())
    output[:, column].sum().backward()
    tensors[f"{name}/pixels"] = pixels
    tensors[f"{name}/output"] = output.detach().float()
    for index, weights in enumerate(maps):
        tensors[f"{name}/map.{index}"] = weights.detach().float()
        tensors[f"{name}/gradient.{index}"] = weights.grad.float()
    return {"name": name, "column": column}


def save(folder, model, tensors, expected, new_names):
    tensors = {key: value.contiguous() for key, value in tensors.items()}
    save_file(tensors, folder / "expected.safetensors")
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
    if new_names:
        save_file({key: value.contiguous() for key, value in model.state_dict().items()},
                  folder / "new_names.safetensors")


def start(name, model, seed):
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    randomise(model, seed)
    model.eval()
    patch_attention(model)
    model.save_pretrained(folder)
    return folder


def make(name, model, seed, sizes=((32, 32),), new_names=False, **arguments):
    folder = start(name, model, seed)
    single = {key: value.clone() for key, value in model.state_dict().items()}
    model.double()

    def call(pixels):
        given = arguments if pixels.shape[2:] != (32, 32) else {}
        result = model(pixels, **given)
        return result.logits if "logits" in result else result.last_hidden_state[:, 0]

    tensors, cases = {}, []
    for size in sizes:
        case = run_case(call, size, 1, f"{size[0]}x{size[1]}", tensors, seed + 100,
                        batch=2 if size == (32, 32) else 1)
        head = "logits" if "Classification" in type(model).__name__ else "embedding"
        cases.append(case | {"head": head})
    model.float()
    model.load_state_dict(single)
    save(folder, model, tensors, {"cases": cases}, new_names)


def make_clip(seed):
    bytes_of = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    merges = [("c", "a"), ("ca", "t</w>"), ("d", "o"), ("do", "g</w>"), ("o", "f</w>")]
    words = bytes_of + [byte + "</w>" for byte in bytes_of] + ["".join(pair) for pair in merges]
    words += ["<|startoftext|>", "<|endoftext|>"]
    vocabulary = {word: index for index, word in enumerate(words)}
    ends = dict(bos_token_id=len(words) - 2, eos_token_id=len(words) - 1, pad_token_id=len(words) - 1)
    inside = {key: value for key, value in SMALL.items() if key not in ("image_size", "patch_size")}
    model = CLIPModel(CLIPConfig(text_config=dict(vocab_size=len(words), max_position_embeddings=20,
                                                  projection_dim=12, **inside, **ends),
                                 vision_config=dict(projection_dim=12, **SMALL), projection_dim=12,
                                 attn_implementation="eager"))
    folder = start("clip", model, seed)
    tokenizer = CLIPTokenizer(vocab=vocabulary, merges=merges)
    tokenizer.save_pretrained(folder)
    model.double()
    texts = ["a cat", "A photo of a dog!", "of cats"]
    given = tokenizer(texts, padding=True, return_tensors="pt")
    vectors = model.get_text_features(**given).pooler_output.detach()
    vectors = vectors / vectors.norm(dim=-1, keepdim=True)
    scale = model.logit_scale.exp().item()
    embed = lambda pixels: model.get_image_features(pixels).pooler_output
    cosines = lambda pixels: torch.nn.functional.normalize(embed(pixels), dim=-1) @ vectors.T
    tensors = {"texts": vectors.float()}
    cases = [run_case(embed, (32, 32), 1, "embedding", tensors, seed) | {"head": "embedding"},
             run_case(lambda pixels: cosines(pixels)[:, 2:], (32, 32), 0, "similarity", tensors, seed)
             | {"head": "similarity"}]

    def logits(pixels):
        answer = model(pixel_values=pixels, **given).logits_per_image
        del maps[SMALL["num_hidden_layers"]:]  # those of the texts
        return answer

    cases.append(run_case(logits, (32, 32), 1, "logits", tensors, seed) | {"head": "logits"})
    ids = [tokenizer(text).input_ids for text in texts]
    save(folder, model, tensors, {"cases": cases, "texts": texts, "ids": ids, "scale": scale,
                                  "similar_to": 2}, False)


def main():
    transformers.logging.set_verbosity_error()
    eager = dict(attn_implementation="eager", **LABELS)
    make("vit", ViTForImageClassification(ViTConfig(**SMALL, **eager)), 1, ((32, 32), (48, 40)), True,
         interpolate_pos_encoding=True)
    make("dino", ViTModel(ViTConfig(qkv_bias=False, attn_implementation="eager", **SMALL)), 2)
    make("deit", DeiTForImageClassification(DeiTConfig(**SMALL, **eager)), 3)
    make("deit-teacher", DeiTForImageClassificationWithTeacher(DeiTConfig(**SMALL, **eager)), 4,
         ((32, 32), (24, 40)), interpolate_pos_encoding=True)
    make("dinov2", Dinov2ForImageClassification(Dinov2Config(mlp_ratio=2, **NO_INNER, **eager)), 5,
         ((32, 32), (24, 44)))
    make("dinov2-gated", Dinov2Model(Dinov2Config(mlp_ratio=2, use_swiglu_ffn=True,
                                                  attn_implementation="eager", **NO_INNER)), 6,
         new_names=True)
    make("beit", BeitForImageClassification(BeitConfig(use_relative_position_bias=True, **SMALL, **eager)), 7)
    make("beit-shared", BeitForImageClassification(
        BeitConfig(use_relative_position_bias=True, use_shared_relative_position_bias=True,
                   use_absolute_position_embeddings=True, use_mean_pooling=False, **SMALL, **eager)), 8,
         new_names=True)
    swin = dict(embed_dim=8, depths=[2, 2], num_heads=[2, 4], mlp_ratio=2.0, image_size=32, **eager)
    # Windows that do not divide the grid, and a picture that no patches divide.
    make("swin", SwinForImageClassification(SwinConfig(patch_size=4, window_size=3, **swin)), 9,
         ((32, 32), (38, 50)), True)
    # One window in the last stage, which nothing shifts.
    make("swin-whole", SwinForImageClassification(SwinConfig(patch_size=4, window_size=4, **swin)), 10)
    make_clip(11)


if __name__ == "__main__":
    main()
