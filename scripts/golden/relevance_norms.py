"""Decompositions into vectors: attention norms, GlobEnc, ALTI and DecompX.

A decomposition is an array [B, i, k, D]: the part of token i's vector that comes from source k.
"""

from dataclasses import dataclass

import torch

from relevance_network import ACTIVATIONS, READOUT, SLOPES


# ---------------------------------------------------------------------------------------------
# One layer's attention


def output_slices(network, layer):
    """W_O^h [H, d, D]: the input columns of head h of the stored out x in matrix, transposed."""
    return torch.stack([part.T for part in layer.output.weight.chunk(network.heads, dim=1)])


def head_vectors(network, layer, step):
    """A_h[i, j] f_h(x_j) as [B, H, i, j, D]; f_h from the true values, their bias included."""
    transformed = torch.einsum("bhjd,hde->bhje", step.v, output_slices(network, layer))
    return step.attention.unsqueeze(-1) * transformed.unsqueeze(2)


def on_diagonal(x):
    """x_i as its own source, [B, n, n, D]."""
    return torch.eye(x.shape[1], dtype=x.dtype)[None, :, :, None] * x.unsqueeze(2)


def through_norm(norm, vectors, true_state):
    """Each vector loses its own mean; the deviation is that of the true state, beta is left out."""
    centred = vectors - vectors.mean(-1, keepdim=True)
    return centred / norm.deviation(true_state).unsqueeze(2) * norm.weight


def layer_vectors(network, layer, step):
    """u before and after LN1, and after LN2 without the FFN. Pre-LN: no norm is in the stream."""
    u = head_vectors(network, layer, step).sum(1) + on_diagonal(step.x)
    if network.norm_first:
        return u, u, u
    after_norm1 = through_norm(layer.norm1, u, step.sum1)
    return u, after_norm1, through_norm(layer.norm2, after_norm1, step.sum2)


def mixing_ratio(vectors):
    own = vectors.diagonal(dim1=1, dim2=2).transpose(1, 2)
    others = (vectors.sum(2) - own).norm(dim=-1)
    return others / (others + own.norm(dim=-1))


def row_of_product(matrices):
    joint = torch.eye(matrices[0].shape[-1], dtype=matrices[0].dtype)
    for matrix in matrices:
        joint = matrix @ joint
    return joint[:, READOUT]


def contributions(parts, whole, order):
    """ALTI: how much nearer a part brings to the whole; rows sum to 1, a row of zeros is I's."""
    distance = (whole.unsqueeze(2) - parts).norm(p=order, dim=-1)
    closeness = (whole.norm(p=order, dim=-1, keepdim=True) - distance).clamp(min=0)
    total = closeness.sum(-1, keepdim=True)
    identity = torch.eye(closeness.shape[-1], dtype=closeness.dtype).expand_as(closeness)
    divisor = torch.where(total == 0, torch.ones_like(total), total)
    return torch.where(total == 0, identity, closeness / divisor)


def norm_scores(network, run):
    scores, globenc, alti, alti_l2, alti_ours2 = {}, [], [], [], []
    for index, (layer, step) in enumerate(zip(network.layers, run.layers)):
        heads = head_vectors(network, layer, step)
        u, after_norm1, after_norm2 = layer_vectors(network, layer, step)
        scores |= {
            f"attention-norm.{index}": heads.sum(1).norm(dim=-1),
            f"attention-norm-heads.{index}": heads.norm(dim=-1),
            f"attention-norm-residual.{index}": u.norm(dim=-1),
            f"attention-norm-residual-ln.{index}": after_norm1.norm(dim=-1),
            f"mixing-ratio.{index}": mixing_ratio(after_norm1),
        }
        globenc.append(after_norm2.norm(dim=-1) * run.mask.unsqueeze(-1))
        alti.append(contributions(after_norm1, step.middle, 1))
        alti_l2.append(contributions(after_norm1, step.middle, 2))
        alti_ours2.append(contributions(after_norm2, step.out, 1))
    scores |= {"globenc": row_of_product(globenc), "alti": row_of_product(alti),
               "alti-l2": row_of_product(alti_l2)}
    if not network.norm_first:
        scores["alti-ours2"] = row_of_product(alti_ours2)
    return scores


def check_vectors(network, run):
    """The vectors and the biases they leave out give the true states; rows of ALTI sum to 1."""
    for layer, step in zip(network.layers, run.layers):
        bias = layer.output.bias_or_zero
        attended = head_vectors(network, layer, step).sum((1, 3)) + bias
        torch.testing.assert_close(attended, step.attended, rtol=0, atol=1e-10)
        _, after_norm1, _ = layer_vectors(network, layer, step)
        left_out = bias
        if not network.norm_first:
            scaled = (bias - bias.mean()) / layer.norm1.deviation(step.sum1) * layer.norm1.weight
            left_out = scaled + layer.norm1.bias
        torch.testing.assert_close(after_norm1.sum(2) + left_out, step.middle, rtol=0, atol=1e-10)
        rows = contributions(after_norm1, step.middle, 1).sum(-1)
        torch.testing.assert_close(rows, torch.ones_like(rows), rtol=0, atol=1e-12)


# ---------------------------------------------------------------------------------------------
# DecompX


@dataclass(frozen=True)
class DecompX:
    weighting: str = "absdot"
    tangent: bool = False  # of the activation; otherwise the line through the origin
    biases: bool = True

    def spread(self, vectors, bias):
        """Shares `bias` ([D], or [B, i, D]) out over the sources; 1e-12 guards an empty sum."""
        bias = bias if bias.dim() == 1 else bias.unsqueeze(2)
        dot, norms = (vectors * bias).sum(-1), vectors.norm(dim=-1)
        lengths = norms * bias.norm(dim=-1)
        if self.weighting == "absdot":
            weights = dot.abs()
        elif self.weighting == "norm":
            weights = norms
        elif self.weighting == "equal":
            weights = (norms != 0).to(vectors.dtype)
        elif self.weighting == "abssim":
            weights = torch.where(lengths == 0, torch.zeros_like(dot), dot.abs() / lengths)
        elif self.weighting == "dot":
            weights = dot
        elif self.weighting == "cls":
            weights = torch.zeros_like(dot)
            weights[..., READOUT] = 1
        weights = weights / (weights.sum(-1, keepdim=True) + 1e-12)
        return vectors + weights.unsqueeze(-1) * bias

    def spread_if_wanted(self, vectors, bias):
        return self.spread(vectors, bias) if self.biases else vectors

    def linear(self, linear, vectors):
        return self.spread_if_wanted(vectors @ linear.weight.T, linear.bias_or_zero)

    def norm(self, norm, vectors, true_state):
        return self.spread_if_wanted(through_norm(norm, vectors, true_state), norm.bias)

    def activation(self, name, vectors, z):
        value, slope = ACTIVATIONS[name](z), SLOPES[name](z)
        if self.tangent:
            return self.spread(vectors * slope.unsqueeze(2), value - slope * z)
        return vectors * (value / (z + 1e-12)).unsqueeze(2)

    def attention(self, network, layer, step, vectors, is_first):
        """Attention plus residual; after the first layer the value bias counts as output bias."""
        bias = layer.output.bias_or_zero
        if is_first:
            attended = head_vectors(network, layer, step).sum(1)
        else:
            source = self.norm(layer.norm1, vectors, step.x) if network.norm_first else vectors
            values = (source @ layer.value.weight.T).unflatten(-1, (network.heads, -1))
            mixed = torch.einsum("bhij,bjkhd->bikhd", step.attention, values)
            attended = torch.einsum("bikhd,hde->bike", mixed, output_slices(network, layer))
            bias = bias + layer.output.weight @ layer.value.bias_or_zero
        return self.spread_if_wanted(attended + vectors, bias)

    def layer(self, network, layer, step, vectors, is_first):
        vectors = self.attention(network, layer, step, vectors, is_first)
        if not network.norm_first:
            vectors = self.norm(layer.norm1, vectors, step.sum1)
        source = self.norm(layer.norm2, vectors, step.middle) if network.norm_first else vectors
        hidden = self.activation(network.activation, self.linear(layer.up, source), step.z)
        vectors = vectors + self.linear(layer.down, hidden)
        return vectors if network.norm_first else self.norm(layer.norm2, vectors, step.sum2)

    def decompose(self, network, run):
        """Contributions [B, k, classes], and the decomposition after every layer."""
        vectors, after_layers = on_diagonal(run.x), []
        for index, (layer, step) in enumerate(zip(network.layers, run.layers)):
            vectors = self.layer(network, layer, step, vectors, is_first=index == 0)
            after_layers.append(vectors)
        if network.final_norm:
            vectors = self.norm(network.final_norm, vectors, run.encoded)
        row = vectors[:, READOUT:READOUT + 1]
        for (linear, activation), step in zip(network.head, run.head):
            row = self.linear(linear, row)
            row = self.activation(activation, row, step.z.unsqueeze(1)) if activation else row
        return row[:, 0], after_layers


DECOMPX_VARIANTS = {
    "decompx": DecompX(), "decompx.tangent": DecompX(tangent=True),
    "decompx.no-bias": DecompX(biases=False), "decompx.norm": DecompX("norm"),
    "decompx.equal": DecompX("equal"), "decompx.abssim": DecompX("abssim"),
    "decompx.dot": DecompX("dot"), "decompx.cls": DecompX("cls"),
}


def decompx_scores(network, run, targets):
    scores = {}
    for name, variant in DECOMPX_VARIANTS.items():
        classes, _ = variant.decompose(network, run)
        scores[name] = torch.stack([sample[:, target] for sample, target in zip(classes, targets)])
    return scores


def check_decompx(network, run):
    """With biases the parts of every token and of every logit sum to the whole."""
    real = run.mask.unsqueeze(-1)
    for variant in DECOMPX_VARIANTS.values():
        if not variant.biases:
            continue
        classes, after_layers = variant.decompose(network, run)
        for vectors, step in zip(after_layers, run.layers):
            torch.testing.assert_close(vectors.sum(2) * real, step.out * real, rtol=0, atol=1e-8)
        torch.testing.assert_close(classes.sum(1), run.logits, rtol=0, atol=1e-8)
