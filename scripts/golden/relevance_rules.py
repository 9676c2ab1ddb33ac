"""Relevance propagation by explicit rules: one class per rule set, one walk from logit to input.

Linear rules are written with the single products z_ij = x_j w_ij, an array [..., out, in].
"""

from types import SimpleNamespace

import torch
from torch.nn import functional

from relevance_network import READOUT, merge_heads, split_heads


# ---------------------------------------------------------------------------------------------
# Divisions


def stabilised(numerator, denominator):
    """b + 1e-9 whatever the sign of b, and 0 where b is 0."""
    quotient = numerator / (denominator + 1e-9)
    return torch.where(denominator == 0, torch.zeros_like(quotient), quotient)


def sign(x):
    """Never 0, so that an epsilon times it always moves a denominator away from 0."""
    return torch.where(x < 0, -torch.ones_like(x), torch.ones_like(x))


def sign_aware(numerator, denominator):
    return numerator / (denominator + 1e-6 * sign(denominator))


def exact(numerator, denominator):
    """Without relevance there is nothing to share, even of 0."""
    quotient = numerator / torch.where(numerator == 0, torch.ones_like(denominator), denominator)
    return torch.where(numerator == 0, torch.zeros_like(quotient), quotient)


# ---------------------------------------------------------------------------------------------
# Rule sets


def products(linear, x):
    return x.unsqueeze(-2) * linear.weight


def share(parts, quotient):
    """R_j = sum_i parts_ij quotient_i."""
    return (parts * quotient.unsqueeze(-1)).sum(-2)


class Rules:
    """What most sets share: a sum and a product split in proportion, the rest passes unchanged."""

    divide = staticmethod(stabilised)
    starts_from_logit = False

    def seed(self, logits, targets):
        one_hot = functional.one_hot(torch.tensor(targets), logits.shape[-1]).to(logits.dtype)
        return one_hot * logits if self.starts_from_logit else one_hot

    def add(self, a, b, relevance):
        quotient = self.divide(relevance, a + b)
        return a * quotient, b * quotient

    def product(self, p, q, relevance):
        """Z = P Q; each factor receives half."""
        quotient = self.divide(relevance, p @ q)
        return p * (quotient @ q.transpose(-1, -2)) / 2, q * (p.transpose(-1, -2) @ quotient) / 2

    def softmax(self, scores, weights, relevance):
        return relevance

    def norm(self, norm, x, relevance):
        return relevance


class Chefer(Rules):
    """The rules of transformer attribution ("ours"), alpha = 1."""

    def __init__(self):
        self.sums_of_opposite_sign = 0

    def linear(self, linear, x, relevance):
        positive = products(linear, x).clamp(min=0)
        return share(positive, self.divide(relevance, positive.sum(-1)))

    def add(self, a, b, relevance):
        a, b = super().add(a, b, relevance)
        total, sum_a, sum_b = (self.sum_of_sample(part) for part in (relevance, a, b))
        self.sums_of_opposite_sign += int((sum_a * sum_b < 0).sum())

        def rescaled(part, part_sum):
            wanted = self.divide(part_sum.abs(), sum_a.abs() + sum_b.abs()) * total
            return part * self.divide(wanted, part_sum)

        return rescaled(a, sum_a), rescaled(b, sum_b)

    @staticmethod
    def sum_of_sample(x):
        return x.sum(tuple(range(1, x.dim())), keepdim=True)


class Original(Rules):
    """The rules of the LRP baselines ("orig"): both signs of the input receive all of R."""

    def linear(self, linear, x, relevance):
        total = torch.zeros_like(x)
        for part, weight in ((x.clamp(min=0), linear.weight.clamp(min=0)),
                             (x.clamp(max=0), linear.weight.clamp(max=0))):
            group = part.unsqueeze(-2) * weight
            total = total + share(group, self.divide(relevance, group.sum(-1)))
        return total


class AlphaBeta(Rules):
    """alpha = 2, beta = 1; groups by the sign of the product, no bias."""

    def linear(self, linear, x, relevance):
        z = products(linear, x)
        positive, negative = z.clamp(min=0), z.clamp(max=0)
        return (2 * share(positive, self.divide(relevance, positive.sum(-1)))
                - share(negative, self.divide(relevance, negative.sum(-1))))


class Epsilon(Rules):
    """The bias counts in the denominator, and its share is lost."""

    divide = staticmethod(sign_aware)
    starts_from_logit = True

    def linear(self, linear, x, relevance):
        return share(products(linear, x), self.divide(relevance, linear(x)))


class AttnLrpExplicit(Epsilon):
    """Every epsilon is 0, so that the gradient form must give the same."""

    divide = staticmethod(exact)

    def softmax(self, scores, weights, relevance):
        finite = torch.where(torch.isinf(scores), torch.zeros_like(scores), scores)
        return finite * (relevance - weights * relevance.sum(-1, keepdim=True))

    def norm(self, norm, x, relevance):
        """The deviation is a constant, the mean is not."""
        deviation = norm.deviation(x)
        quotient = self.divide(relevance, norm.apply(x, deviation)) * norm.weight / deviation
        return x * (quotient - quotient.mean(-1, keepdim=True))


class Gamma(AttnLrpExplicit):
    """Zennit's generalised rule on every Linear; the parts with the output's sign count more."""

    gamma = 0.25

    def linear(self, linear, x, relevance):
        z, output, bias = products(linear, x), linear(x), linear.bias_or_zero

        def favoured(part, of_output):
            same_sign = torch.where(of_output > 0, part.clamp(min=0), part.clamp(max=0))
            return part + self.gamma * same_sign

        parts = favoured(z, output.unsqueeze(-1))
        total = parts.sum(-1) + favoured(bias.expand_as(output), output)
        quotient = relevance / (total + 1e-6 * sign(output))
        return share(parts, torch.where(output == 0, torch.zeros_like(quotient), quotient))


# ---------------------------------------------------------------------------------------------
# The walk


def propagate(network, run, targets, rules):
    """Relevance at every attention map (after the half), and at every boundary between layers."""
    relevance = rules.seed(run.logits, targets)
    for (linear, _), step in zip(reversed(network.head), reversed(run.head)):
        relevance = rules.linear(linear, step.x, relevance)
    placed = torch.zeros_like(run.states)
    placed[:, READOUT] = relevance
    relevance = placed
    if network.final_norm:
        relevance = rules.norm(network.final_norm, run.encoded, placed)
    found = SimpleNamespace(attention=[], boundaries=[relevance])
    for layer, step in zip(reversed(network.layers), reversed(run.layers)):
        relevance, attention = through_layer(network, layer, step, rules, relevance)
        found.attention.insert(0, attention)
        found.boundaries.insert(0, relevance)
    found.embeddings = relevance
    return found


def through_layer(network, layer, step, rules, relevance):
    post = not network.norm_first
    at_sum2 = rules.norm(layer.norm2, step.sum2, relevance) if post else relevance
    skip, branch = rules.add(step.middle, step.mlp, at_sum2)
    branch = rules.linear(layer.down, step.activated, branch)
    branch = rules.linear(layer.up, step.mlp_input, branch)
    at_middle = skip + (branch if post else rules.norm(layer.norm2, step.middle, branch))
    at_sum1 = rules.norm(layer.norm1, step.sum1, at_middle) if post else at_middle
    skip, branch = rules.add(step.x, step.attended, at_sum1)
    branch, attention = through_attention(network, layer, step, rules, branch)
    return skip + (branch if post else rules.norm(layer.norm1, step.x, branch)), attention


def through_attention(network, layer, step, rules, relevance):
    at_context = split_heads(rules.linear(layer.output, step.merged, relevance), network.heads)
    at_attention, at_v = rules.product(step.attention, step.v, at_context)
    at_scores = rules.softmax(step.scores, step.attention, at_attention)
    at_q, at_k = rules.product(step.q, step.k.transpose(-1, -2), at_scores)
    shares = ((layer.query, at_q), (layer.key, at_k.transpose(-1, -2)), (layer.value, at_v))
    at_u = sum(rules.linear(linear, step.u, merge_heads(part)) for linear, part in shares)
    return at_u, at_attention


# ---------------------------------------------------------------------------------------------
# Below the encoder of an image network


def pixels_by_z_bound(network, image, tokens, at_embeddings):
    """The positions keep their share of the simple rule; z^B takes the patches' to the pixels."""
    embedding = network.embedding
    at_tokens = tokens * stabilised(at_embeddings, tokens + embedding.positions)
    size = embedding.patches.shape[-1]
    rows, columns = image.shape[-2] // size, image.shape[-1] // size
    at_patches = at_tokens[:, 1:].transpose(1, 2).reshape(len(image), -1, rows, columns)
    lowest, highest = (torch.ones_like(image) * bound for bound in
                       (image.amin((1, 2, 3), keepdim=True), image.amax((1, 2, 3), keepdim=True)))
    terms = ((1, image, embedding.patches), (-1, lowest, embedding.patches.clamp(min=0)),
             (-1, highest, embedding.patches.clamp(max=0)))
    total = sum(factor * functional.conv2d(x, weight, stride=size) for factor, x, weight in terms)
    quotient = at_patches / (total + 1e-9)
    return sum(factor * x * functional.conv_transpose2d(quotient, weight, stride=size)
               for factor, x, weight in terms).sum(1)
