"""Small models in memory with random weights, and what reads their inputs. Needs torch and transformers."""

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "film", "is", "not", "very", "good", "bad", "##ly", "end", "##s"]
SENTENCE = "the film is not very good"
TEXTS = dict(vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=3, num_attention_heads=4, intermediate_size=24,
             max_position_embeddings=40, pad_token_id=0, num_labels=3, attn_implementation="eager")
PICTURES = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24, image_size=32,
                patch_size=8, num_labels=3, attn_implementation="eager")
PICTURE = np.random.default_rng(0).integers(0, 256, (40, 50, 3), dtype=np.uint8)


def randomised(module, seed=0):
    """Weights large enough that attention, norms and scales all matter."""
    generator = torch.Generator().manual_seed(seed)
    for name, weight in module.named_parameters():
        noise = torch.randn(weight.shape, generator=generator)
        if "norm" in name.lower() and name.endswith("weight"):
            noise = 1 + 0.2 * noise
        elif weight.dim() >= 2 and "token" not in name and "bias" not in name:
            noise = noise / weight[0].numel() ** 0.5
        else:
            noise = 0.5 * noise
        weight.data = noise.to(weight.dtype)
    return module.eval()


def tokenizer():
    backend = Tokenizer(models.WordPiece({word: index for index, word in enumerate(WORDS)}, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]", model_max_length=32)


def text_model(family="Bert", head="ForSequenceClassification", seed=0, **changes):
    config = getattr(transformers, f"{family}Config")(**{**TEXTS, **changes})
    return randomised(getattr(transformers, family + head)(config), seed)


def picture_model(family="ViT", head="ForImageClassification", seed=0, **changes):
    # Swin has other sizes in every stage.
    sizes = PICTURES if family != "Swin" else dict(image_size=32, num_labels=3, attn_implementation="eager")
    config = getattr(transformers, f"{family}Config")(**{**sizes, **changes})
    return randomised(getattr(transformers, family + head)(config), seed)


def pillow_processor(family):
    """Where torchvision is installed, transformers takes its own, which rounds differently."""
    name = f"{family}ImageProcessor"
    return getattr(transformers, f"{name}Pil", None) or getattr(transformers, name)


def picture_processor(family="ViT"):
    whole = dict(height=32, width=32)
    sizes = {"ViT": dict(size=whole), "Bit": dict(size=dict(shortest_edge=36), crop_size=whole)}
    larger = dict(size=dict(height=36, width=36), crop_size=whole)
    return pillow_processor(family)(**sizes.get(family, larger))


def torch_logits(module, *texts):
    with torch.no_grad():
        return module(**tokenizer()(*texts, return_tensors="pt")).logits[0].float().numpy()


def torch_picture_logits(module, processor, picture=PICTURE):
    with torch.no_grad():
        return module(**processor(picture, return_tensors="pt")).logits[0].numpy()


def maps_and_gradients(module, inputs, target):
    """Attention maps [heads, queries, keys] of every layer, and a logit's gradients with respect to them."""
    answer = module(**inputs, output_attentions=True)
    gradients = torch.autograd.grad(answer.logits[0, target], answer.attentions)
    return [one[0].detach().numpy() for one in answer.attentions], [one[0].numpy() for one in gradients]


def gae_by_formula(maps, gradients):
    """R ← R + E_h (∇A ⊙ A)⁺ R from R = I (Chefer et al., ICCV 2021); the first row, without its own entry."""
    relevance = np.eye(maps[0].shape[-1])
    for attention, gradient in zip(maps, gradients):
        relevance += np.maximum(gradient * attention, 0).mean(axis=0) @ relevance
    scores = relevance[0]
    scores[0] = 0
    return scores


def rollout_by_formula(maps):
    """The product of (A + I) / 2 over the layers (Abnar & Zuidema, ACL 2020); the first row."""
    result = np.eye(maps[0].shape[-1])
    for attention in maps:
        result = (attention.mean(axis=0) + np.eye(len(result))) / 2 @ result
    return result[0]
