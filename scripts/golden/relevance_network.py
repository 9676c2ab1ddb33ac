"""The networks of relevance_golden.py, written out: weights, forward pass, and gradient chains.

Shapes: B samples, H heads, n tokens, d head width, D model width. A[b, h, i, j] is the attention
of query i to key j. A run keeps every activation, because the rules need them.
"""

import json
import math
from dataclasses import dataclass, fields, is_dataclass, replace
from types import SimpleNamespace

import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional

READOUT = 0  # the token which the head reads

ACTIVATIONS = {"gelu": functional.gelu, "relu": functional.relu, "tanh": torch.tanh}
SLOPES = {
    "gelu": lambda z: ((1 + torch.erf(z / math.sqrt(2))) / 2
                       + z * torch.exp(-z * z / 2) / math.sqrt(2 * math.pi)),
    "relu": lambda z: (z > 0).to(z.dtype),
    "tanh": lambda z: 1 - torch.tanh(z) ** 2,
}


# ---------------------------------------------------------------------------------------------
# Parts


@dataclass(frozen=True)
class Linear:
    weight: Tensor  # [out, in]
    bias: Tensor | None

    def __call__(self, x):
        z = x @ self.weight.T
        return z if self.bias is None else z + self.bias

    @property
    def bias_or_zero(self):
        return self.weight.new_zeros(len(self.weight)) if self.bias is None else self.bias


@dataclass(frozen=True)
class Norm:
    weight: Tensor
    bias: Tensor
    eps: float

    def deviation(self, x):
        return torch.sqrt(x.var(-1, unbiased=False, keepdim=True) + self.eps)

    def apply(self, x, deviation):
        return (x - x.mean(-1, keepdim=True)) / deviation * self.weight + self.bias


@dataclass(frozen=True)
class Layer:
    query: Linear
    key: Linear
    value: Linear
    output: Linear
    up: Linear
    down: Linear
    norm1: Norm
    norm2: Norm


@dataclass(frozen=True)
class TextEmbedding:
    words: Tensor
    positions: Tensor
    types: Tensor | None
    norm: Norm
    projection: Linear | None
    counts_from_padding: int | None  # RoBERTa: the padding id, from which positions count


@dataclass(frozen=True)
class ImageEmbedding:
    patches: Tensor  # [D, channels, patch, patch]
    bias: Tensor
    readout: Tensor  # [1, 1, D]
    positions: Tensor  # [1, n, D]


@dataclass(frozen=True)
class Network:
    """Post-LN: h = LN1(attn(x) + x), out = LN2(mlp(h) + h).
    Pre-LN: m = x + attn(LN1(x)), out = m + mlp(LN2(m)), and a final norm before the head."""
    norm_first: bool
    layers: tuple  # of Layer
    heads: int
    activation: str
    head: tuple  # of (Linear, name of the activation or None)
    final_norm: Norm | None
    embedding: TextEmbedding | ImageEmbedding


def without_biases(part):
    """The same network with every bias of its encoder and head at 0, the beta of norms included."""
    if isinstance(part, Linear):
        return Linear(part.weight, None)
    if isinstance(part, Norm):
        return replace(part, bias=torch.zeros_like(part.bias))
    if isinstance(part, tuple):
        return tuple(without_biases(item) for item in part)
    if is_dataclass(part):
        return replace(part, **{field.name: without_biases(getattr(part, field.name))
                                for field in fields(part)})
    return part


# ---------------------------------------------------------------------------------------------
# Weights from files

BERT_LAYER = {
    "place": "encoder.layer.{}.", "query": "attention.self.query", "key": "attention.self.key",
    "value": "attention.self.value", "output": "attention.output.dense", "up": "intermediate.dense",
    "down": "output.dense", "norm1": "attention.output.LayerNorm", "norm2": "output.LayerNorm",
}
DISTILBERT_LAYER = {
    "place": "transformer.layer.{}.", "query": "attention.q_lin", "key": "attention.k_lin",
    "value": "attention.v_lin", "output": "attention.out_lin", "up": "ffn.lin1", "down": "ffn.lin2",
    "norm1": "sa_layer_norm", "norm2": "output_layer_norm",
}
ALBERT_LAYER = {
    "place": "encoder.albert_layer_groups.0.albert_layers.0.", "query": "attention.query",
    "key": "attention.key", "value": "attention.value", "output": "attention.dense", "up": "ffn",
    "down": "ffn_output", "norm1": "attention.LayerNorm", "norm2": "full_layer_layer_norm",
}
VIT_LAYER = {
    "place": "encoder.layer.{}.", "query": "attention.attention.query",
    "key": "attention.attention.key", "value": "attention.attention.value",
    "output": "attention.output.dense", "up": "intermediate.dense", "down": "output.dense",
    "norm1": "layernorm_before", "norm2": "layernorm_after",
}
# model type: names of a layer's parts, projection of the embeddings, head
FAMILIES = {
    "bert": (BERT_LAYER, None, (("bert.pooler.dense", "tanh"), ("classifier", None))),
    "roberta": (BERT_LAYER, None, (("classifier.dense", "tanh"), ("classifier.out_proj", None))),
    "electra": (BERT_LAYER, "electra.embeddings_project",
                (("classifier.dense", "gelu"), ("classifier.out_proj", None))),
    "distilbert": (DISTILBERT_LAYER, None, (("pre_classifier", "relu"), ("classifier", None))),
    "albert": (ALBERT_LAYER, "albert.encoder.embedding_hidden_mapping_in",
               (("albert.pooler", "tanh"), ("classifier", None))),
    "vit": (VIT_LAYER, None, (("classifier", None),)),
}


class Weights:
    def __init__(self, tensors, dtype, eps):
        self.tensors = {name: tensor.to(dtype) for name, tensor in tensors.items()}
        self.eps = eps

    def linear(self, name):
        return Linear(self.tensors[name + ".weight"], self.tensors.get(name + ".bias"))

    def norm(self, name):
        return Norm(self.tensors[name + ".weight"], self.tensors[name + ".bias"], self.eps)

    def layer(self, place, names):
        linears = {part: self.linear(place + names[part])
                   for part in ("query", "key", "value", "output", "up", "down")}
        norms = {part: self.norm(place + names[part]) for part in ("norm1", "norm2")}
        return Layer(**linears, **norms)

    def layers(self, prefix, names, count):
        return tuple(self.layer(prefix + names["place"].format(index), names)
                     for index in range(count))

    def head(self, parts):
        return tuple((self.linear(name), activation) for name, activation in parts)


def text_network(folder, dtype):
    config = json.loads((folder / "config.json").read_text())
    kind = config["model_type"]
    names, projection, head = FAMILIES[kind]
    weights = Weights(load_file(folder / "model.safetensors"), dtype,
                      config.get("layer_norm_eps", 1e-12))
    place = f"{kind}.embeddings."
    embedding = TextEmbedding(
        words=weights.tensors[place + "word_embeddings.weight"],
        positions=weights.tensors[place + "position_embeddings.weight"],
        types=weights.tensors.get(place + "token_type_embeddings.weight"),
        norm=weights.norm(place + "LayerNorm"),
        projection=weights.linear(projection) if projection else None,
        counts_from_padding=config["pad_token_id"] if kind == "roberta" else None)
    count = config.get("num_hidden_layers", config.get("n_layers"))
    return Network(norm_first=False, layers=weights.layers(f"{kind}.", names, count),
                   heads=config.get("num_attention_heads", config.get("n_heads")),
                   activation=config.get("hidden_act", config.get("activation")),
                   head=weights.head(head), final_norm=None, embedding=embedding)


def image_network(tensors, config, dtype):
    names, _, head = FAMILIES["vit"]
    weights = Weights(tensors, dtype, config["layer_norm_eps"])
    projection = weights.linear("vit.embeddings.patch_embeddings.projection")
    embedding = ImageEmbedding(projection.weight, projection.bias,
                               weights.tensors["vit.embeddings.cls_token"],
                               weights.tensors["vit.embeddings.position_embeddings"])
    return Network(norm_first=True,
                   layers=weights.layers("vit.", names, config["num_hidden_layers"]),
                   heads=config["num_attention_heads"], activation=config["hidden_act"],
                   head=weights.head(head), final_norm=weights.norm("vit.layernorm"),
                   embedding=embedding)


# ---------------------------------------------------------------------------------------------
# Gradient chains: what a backward pass sees. The values of a forward pass are the same in all.


def scale_gradient(x, factor):
    return factor * x + ((1 - factor) * x).detach()


def slope_from_zero(name, z):
    """f(z) / z, and its limit f'(0) at 0."""
    divisor = torch.where(z == 0, torch.ones_like(z), z)
    return torch.where(z == 0, SLOPES[name](z), ACTIVATIONS[name](z) / divisor)


class Ordinary:
    query_and_key_share = 1.0
    value_share = 1.0

    @staticmethod
    def activation(name, z):
        return ACTIVATIONS[name](z)

    @staticmethod
    def norm(norm, x):
        return norm.apply(x, norm.deviation(x))

    @staticmethod
    def attention(weights):
        return weights


class AttnLrp(Ordinary):
    """Products give each factor half: v meets one product, q and k two."""
    query_and_key_share = 0.25
    value_share = 0.5

    @staticmethod
    def activation(name, z):
        return z * slope_from_zero(name, z).detach()

    @staticmethod
    def norm(norm, x):
        return norm.apply(x, norm.deviation(x).detach())


class CpLrp(AttnLrp):
    value_share = 1.0

    @staticmethod
    def attention(weights):
        return weights.detach()


class CpLrpDerivative(CpLrp):
    activation = Ordinary.activation


# ---------------------------------------------------------------------------------------------
# Forward pass


def split_heads(x, heads):
    samples, n, width = x.shape
    return x.reshape(samples, n, heads, width // heads).transpose(1, 2)


def merge_heads(x):
    samples, heads, n, width = x.shape
    return x.transpose(1, 2).reshape(samples, n, heads * width)


def word_vectors(network, example):
    return network.embedding.words[torch.tensor(example["ids"])]


def embed_text(network, words, example, chain=Ordinary):
    embedding = network.embedding
    ids = torch.tensor(example["ids"])
    if embedding.counts_from_padding is None:
        places = torch.arange(ids.shape[1]).expand_as(ids)
    else:
        real = (ids != embedding.counts_from_padding).long()
        places = real.cumsum(1) * real + embedding.counts_from_padding
    total = words + embedding.positions[places]
    if embedding.types is not None:
        total = total + embedding.types[torch.tensor(example["token_type_ids"])]
    x = chain.norm(embedding.norm, total)
    return x if embedding.projection is None else embedding.projection(x)


def image_tokens(network, image):
    """Read-out token and patches in row-major order, before the positions are added."""
    embedding = network.embedding
    patches = functional.conv2d(image, embedding.patches, embedding.bias,
                                stride=embedding.patches.shape[-1])
    patches = patches.flatten(2).transpose(1, 2)
    return torch.cat([embedding.readout.expand(len(image), -1, -1), patches], 1)


def embed_image(network, image):
    return image_tokens(network, image) + network.embedding.positions


def run_layer(network, layer, x, mask, chain):
    step = SimpleNamespace(x=x)
    step.u = chain.norm(layer.norm1, x) if network.norm_first else x
    step.q, step.k, step.v = (split_heads(part(step.u), network.heads)
                              for part in (layer.query, layer.key, layer.value))
    q, k = (scale_gradient(part, chain.query_and_key_share) for part in (step.q, step.k))
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    step.scores = scores.masked_fill(~mask[:, None, None, :], -math.inf)
    step.attention = chain.attention(torch.softmax(step.scores, -1))
    step.context = step.attention @ scale_gradient(step.v, chain.value_share)
    step.merged = merge_heads(step.context)
    step.attended = layer.output(step.merged)
    step.sum1 = x + step.attended
    step.middle = step.sum1 if network.norm_first else chain.norm(layer.norm1, step.sum1)
    step.mlp_input = chain.norm(layer.norm2, step.middle) if network.norm_first else step.middle
    step.z = layer.up(step.mlp_input)
    step.activated = chain.activation(network.activation, step.z)
    step.mlp = layer.down(step.activated)
    step.sum2 = step.middle + step.mlp
    step.out = step.sum2 if network.norm_first else chain.norm(layer.norm2, step.sum2)
    return step


def forward(network, x, mask, chain=Ordinary):
    """`mask` [B, n] is true at the tokens which may be attended to."""
    run = SimpleNamespace(x=x, mask=mask, layers=[], head=[])
    for layer in network.layers:
        run.layers.append(run_layer(network, layer, x, mask, chain))
        x = run.layers[-1].out
    run.encoded = x
    run.states = chain.norm(network.final_norm, x) if network.final_norm else x
    value = run.states[:, READOUT]
    for linear, activation in network.head:
        z = linear(value)
        run.head.append(SimpleNamespace(x=value, z=z))
        value = chain.activation(activation, z) if activation else z
    run.logits = value
    return run


def explained_sum(run, targets):
    return sum(row[target] for row, target in zip(run.logits, targets))


def attention_gradients(network, x, mask, targets):
    """dy/dA where A enters A V: through every later layer, not through the softmax that made it."""
    run = forward(network, x.detach().requires_grad_(True), mask)
    return torch.autograd.grad(explained_sum(run, targets), [step.attention for step in run.layers])
