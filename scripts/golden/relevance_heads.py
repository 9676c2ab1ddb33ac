"""Importance of attention heads over a small corpus: Michel et al. 2019, Voita et al. 2019.

Every score is [layers, heads].
"""

import math

import torch
from torch.nn import functional

from relevance_network import READOUT, forward, merge_heads, split_heads

EPSILON = 1e-5  # of Voita's rules


# ---------------------------------------------------------------------------------------------
# Michel: the loss when a head's output is scaled


def context_times_gradient(network, x, mask, label):
    """Context times gradient of the cross-entropy, summed over a head: one [H, n] per layer."""
    run = forward(network, x.detach().requires_grad_(True), mask)
    loss = functional.cross_entropy(run.logits, torch.tensor([label]))
    contexts = [step.context for step in run.layers]
    return [(context * gradient).sum(-1)[0].detach()
            for context, gradient in zip(contexts, torch.autograd.grad(loss, contexts))]


def normalised(importance):
    return importance / (importance.norm(dim=1, keepdim=True) + 1e-20)


def michel_scores(network, corpus):
    per_example, per_position, tokens = [], [], 0
    for x, mask, label, _ in corpus:
        layers = context_times_gradient(network, x, mask, label)
        per_example.append(torch.stack([layer.sum(-1).abs() for layer in layers]))
        per_position.append(torch.stack([layer.abs().sum(-1) for layer in layers]))
        tokens += int(mask.sum())
    literal = torch.stack(per_example).mean(0)
    counts = torch.tensor([tokens] * (len(network.layers) - 1) + [len(corpus)])
    positions = torch.stack(per_position).sum(0) / counts.unsqueeze(1).to(literal.dtype)
    return {"heads.michel": literal, "heads.michel-normalised": normalised(literal),
            "heads.michel-positions": positions,
            "heads.michel-positions-normalised": normalised(positions)}


# ---------------------------------------------------------------------------------------------
# Confidence and entropy


def attention_scores(network, corpus):
    """Means over all queries of the corpus that count."""
    confidence, confidence_all, entropy = [], [], []
    for x, mask, _, special in corpus:
        ordinary = torch.tensor([not flag for flag in special])
        attention = torch.stack([step.attention[0] for step in forward(network, x, mask).layers])
        if ordinary.any():
            confidence.append(attention[:, :, ordinary][:, :, :, ordinary].max(-1).values)
        confidence_all.append(attention.max(-1).values)
        entropy.append(-torch.xlogy(attention, attention).sum(-1))
    return {"heads.confidence": torch.cat(confidence, -1).mean(-1),
            "heads.confidence-all": torch.cat(confidence_all, -1).mean(-1),
            "heads.entropy": torch.cat(entropy, -1).mean(-1)}


# ---------------------------------------------------------------------------------------------
# Voita: relevance of the heads' outputs. Samples are single, x is [n, D].


def transition(impact, relevance):
    """impact [..., out, in]: both sign groups are divided by their sums and count half."""
    positive, negative = impact.clamp(min=0), impact.clamp(max=0)
    shares = (0.5 * positive / (positive.sum(-1, keepdim=True) + EPSILON)
              + 0.5 * negative / (negative.sum(-1, keepdim=True) - EPSILON))
    return (shares * relevance.unsqueeze(-1)).sum(-2)


def rescale(reference, *parts, of_rows=False):
    """The parts together carry as much as the reference, in every row or in the whole sample."""
    def size(x):
        return x.abs().sum(-1, keepdim=True) if of_rows else x.abs().sum()
    factor = size(reference) / (sum(size(part) for part in parts) + EPSILON)
    return [part * factor for part in parts]


def rows_then_sample(reference, relevance):
    (relevance,) = rescale(reference, relevance, of_rows=True)
    return rescale(reference, relevance)[0]


def through_linear(weight, bias, x, relevance):
    impact = x.unsqueeze(-2) * weight + (bias / x.shape[-1]).unsqueeze(-1)
    return rows_then_sample(relevance, transition(impact, relevance))


def through_norm(norm, x, relevance):
    """The true Jacobian, the derivative of the deviation included."""
    width, deviation = x.shape[-1], norm.deviation(x).unsqueeze(-1)
    centred = (x - x.mean(-1, keepdim=True)).unsqueeze(-1)
    through_mean = (torch.eye(width, dtype=x.dtype) - 1 / width) / deviation
    through_deviation = centred * centred.transpose(-1, -2) / (width * deviation**3)
    jacobian = norm.weight.unsqueeze(-1) * (through_mean - through_deviation)
    impact = jacobian * x.unsqueeze(-2) + (norm.bias / width).unsqueeze(-1)
    return rows_then_sample(relevance, transition(impact, relevance))


def through_add(a, b, relevance):
    width = a.shape[-1]
    identity = torch.eye(width, dtype=a.dtype)
    impact = torch.cat([identity * a.unsqueeze(-2), identity * b.unsqueeze(-2)], -1)
    shares = transition(impact, relevance)
    parts = rescale(relevance, shares[..., :width], shares[..., width:], of_rows=True)
    return [rescale(part, part)[0] for part in parts]


def through_head(q, k, v, relevance, attention_is_constant):
    """One function of q, k and v [n, d] with its Jacobian; f(0) is 0, so no bias is spread."""
    def attend(q, k, v):
        return torch.softmax(q @ k.T / math.sqrt(q.shape[-1]), -1) @ v

    jacobians = torch.autograd.functional.jacobian(attend, (q, k, v))
    if attention_is_constant:
        jacobians = [torch.zeros_like(jacobians[0]), torch.zeros_like(jacobians[1]), jacobians[2]]
    flat = torch.cat([jacobian.reshape(relevance.numel(), -1) for jacobian in jacobians], -1)
    inputs = torch.cat([part.flatten() for part in (q, k, v)])
    shares = transition(flat * inputs, relevance.flatten())
    return rescale(relevance, *(part.reshape(q.shape) for part in shares.chunk(3)))


def through_attention(network, layer, step, at_merged, attention_is_constant):
    at_heads = split_heads(at_merged.unsqueeze(0), network.heads)[0]
    per_head = [through_head(q, k, v, relevance, attention_is_constant)
                for q, k, v, relevance in zip(step.q[0], step.k[0], step.v[0], at_heads)]
    parts = [merge_heads(torch.stack(heads).unsqueeze(0))[0] for heads in zip(*per_head)]
    fused = torch.cat(rescale(at_merged, *parts), -1)
    linears = (layer.query, layer.key, layer.value)
    weight = torch.cat([linear.weight for linear in linears])
    bias = torch.cat([linear.bias_or_zero for linear in linears])
    return through_linear(weight, bias, step.u[0], fused)


def voita_relevance(network, run, label, attention_is_constant):
    """Shares of the heads in every layer, for post-LN networks."""
    relevance = torch.zeros_like(run.logits)
    relevance[0, label] = 1
    for (linear, _), step in zip(reversed(network.head), reversed(run.head)):
        relevance = through_linear(linear.weight, linear.bias_or_zero, step.x, relevance)
    placed = torch.zeros_like(run.states[0])
    placed[READOUT] = relevance[0]
    relevance, shares = placed, []
    for layer, step in zip(reversed(network.layers), reversed(run.layers)):
        relevance = through_norm(layer.norm2, step.sum2[0], relevance)
        skip, branch = through_add(step.middle[0], step.mlp[0], relevance)
        branch = through_linear(layer.down.weight, layer.down.bias, step.activated[0], branch)
        relevance = skip + through_linear(layer.up.weight, layer.up.bias, step.mlp_input[0], branch)
        relevance = through_norm(layer.norm1, step.sum1[0], relevance)
        skip, branch = through_add(step.x[0], step.attended[0], relevance)
        at_merged = through_linear(layer.output.weight, layer.output.bias, step.merged[0], branch)
        of_heads = split_heads(at_merged.unsqueeze(0), network.heads)[0].sum((1, 2))
        shares.insert(0, of_heads / of_heads.sum())
        relevance = skip + through_attention(network, layer, step, at_merged, attention_is_constant)
    return torch.stack(shares), relevance


def voita_scores(network, corpus):
    scores = {}
    for name, is_constant in (("heads.voita-lrp", False), ("heads.voita-lrp-constant", True)):
        found = [voita_relevance(network, forward(network, x, mask), label, is_constant)[0]
                 for x, mask, label, _ in corpus]
        scores[name] = torch.stack(found).mean(0)
    return scores


# ---------------------------------------------------------------------------------------------


def head_scores(network, corpus):
    """`corpus` holds single samples: encoder input, mask, gold label, which tokens are special."""
    return (michel_scores(network, corpus) | attention_scores(network, corpus)
            | voita_scores(network, corpus))


def check_heads(network, corpus):
    """The last layer is read in one row only, so Michel's two definitions agree there."""
    scores = michel_scores(network, corpus)
    torch.testing.assert_close(scores["heads.michel"][-1], scores["heads.michel-positions"][-1],
                               rtol=1e-9, atol=0)
    for x, mask, label, _ in corpus:
        _, relevance = voita_relevance(network, forward(network, x, mask), label, False)
        assert (relevance >= 0).all() and 0.99 < relevance.sum() < 1, "Voita: relevance is lost"
