"""Attention methods on models of two streams, as Chefer et al. (ICCV 2021) write them for LXMERT and DETR, in PyTorch.

    python scripts/golden/array_methods_golden.py        # numpy 2.4.6, safetensors 0.8.0, torch 2.15.0, transformers 5.22.2

For small random models of tests/golden/onnx/models it writes tests/golden/arrays/NAME.safetensors: `input.NAME` for each
input, `element`, and `METHOD.own` and `METHOD.other`: scores of the stream that is read and of the other one. Maps and
their gradients are those of the softmaxes under autograd, and the formulas are written for each architecture by itself.
"""
import pathlib

import numpy as np
import torch
from safetensors.numpy import save_file

from onnx_models_golden import MODELS

FOLDER = pathlib.Path(__file__).parents[2] / "tests/golden/arrays"


def small_model(name):
    """With the weights of tests/golden/onnx/models, in double."""
    torch.manual_seed(0)
    small = MODELS[name]("eager")
    small.model.eval()
    with torch.no_grad():
        for parameter in small.model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.3)
            else:
                parameter.add_(torch.randn_like(parameter) * 0.1)
    small.model.double()
    return small


def mean(a):
    return a.mean(0)


def factor(a):
    a = mean(a) + torch.eye(a.shape[-1], dtype=a.dtype)
    return a / a.sum(-1, keepdim=True)


def weighted(a, g):
    return (a * g).clamp(min=0).mean(0)


def normalised(r):
    eye = torch.eye(len(r), dtype=r.dtype)
    rest = r - eye
    sums = rest.sum(-1, keepdim=True)
    return torch.where(sums != 0, rest / sums, torch.zeros_like(rest)) + eye


def grad_cam(a, g):
    return (g.mean((1, 2), keepdim=True) * a).mean(0).clamp(min=0)


def without(row, own):
    row = row.clone()
    row[own] = 0
    return row


def product(factors):
    result = torch.eye(len(factors[0]), dtype=factors[0].dtype)
    for one in factors:
        result = one @ result
    return result


def translator_scores(a, g, row):
    """Sites: 2 of the encoder, then self and cross of each of 2 decoder layers."""
    encoder, own, cross = [0, 1], [2, 4], [3, 5]
    r_ii = torch.eye(a[0].shape[-1], dtype=torch.float64)
    r_qq = torch.eye(a[2].shape[-1], dtype=torch.float64)
    r_qi = torch.zeros(len(r_qq), len(r_ii), dtype=torch.float64)
    for site in encoder:
        r_ii = r_ii + weighted(a[site], g[site]) @ r_ii
    for self_site, cross_site in zip(own, cross):
        w = weighted(a[self_site], g[self_site])
        r_qq, r_qi = r_qq + w @ r_qq, r_qi + w @ r_qi
        r_qi = r_qi + normalised(r_qq).T @ weighted(a[cross_site], g[cross_site]) @ normalised(r_ii)
    queries = product([factor(a[site]) for site in own])
    crossing = queries.T @ mean(a[5]) @ product([factor(a[site]) for site in encoder])
    return {"raw-attention": (mean(a[4])[row], mean(a[5])[row]),
            "rollout": (queries[row], crossing[row]),
            "grad-cam": (without(grad_cam(a[4], g[4])[row], row), grad_cam(a[5], g[5])[row]),
            "gae": (without(r_qq[row], row), r_qi[row])}


def two_stream_scores(a, g, row):
    """LXMERT: 2 language, 1 vision, then twice cross both ways and self of both; nothing reads vision's last two (8, 10)."""
    w = [weighted(x, y) for x, y in zip(a, g)]
    r_tt, r_ii = (torch.eye(a[i].shape[-1], dtype=torch.float64) for i in (0, 2))
    r_ti, r_it = torch.zeros(len(r_tt), len(r_ii), dtype=torch.float64), torch.zeros(len(r_ii), len(r_tt), dtype=torch.float64)
    for site in (0, 1):
        r_tt, r_ti = r_tt + w[site] @ r_tt, r_ti + w[site] @ r_ti
    r_ii, r_it = r_ii + w[2] @ r_ii, r_it + w[2] @ r_it
    more = (normalised(r_tt).T @ w[3] @ normalised(r_ii), w[3] @ r_it,
            normalised(r_ii).T @ w[4] @ normalised(r_tt), w[4] @ r_ti)
    r_ti, r_tt, r_it, r_ii = r_ti + more[0], r_tt + more[1], r_it + more[2], r_ii + more[3]
    r_tt, r_ti = r_tt + w[5] @ r_tt, r_ti + w[5] @ r_ti
    r_ii, r_it = r_ii + w[6] @ r_ii, r_it + w[6] @ r_it
    r_ti, r_tt = r_ti + normalised(r_tt).T @ w[7] @ normalised(r_ii), r_tt + w[7] @ r_it
    r_tt, r_ti = r_tt + w[9] @ r_tt, r_ti + w[9] @ r_ti
    language = product([factor(a[site]) for site in (0, 1, 5)])
    vision = product([factor(a[site]) for site in (2, 6)])
    return {"raw-attention": (mean(a[9])[row], mean(a[7])[row]),
            "rollout": ((factor(a[9]) @ language)[row], (language.T @ mean(a[7]) @ vision)[row]),
            "grad-cam": (without(grad_cam(a[9], g[9])[row], row), grad_cam(a[7], g[7])[row]),
            "gae": (without(r_tt[row], row), r_ti[row])}


def softmax_maps():
    """A softmax that keeps the maps it makes for autograd, in the order in which the model asks for them."""
    maps = []
    plain = torch.nn.functional.softmax

    def noted(x, *args, **kwargs):
        result = plain(x, *args, **kwargs)
        if result.dim() == 4:
            result.retain_grad()
            maps.append(result)
        return result

    return plain, noted, maps


def run(small, inputs, element):
    plain, noted, maps = softmax_maps()
    torch.nn.functional.softmax = noted
    layer = torch.nn.Softmax.forward
    torch.nn.Softmax.forward = lambda self, x: noted(x, self.dim)
    tensor_softmax = torch.softmax
    torch.softmax = noted
    try:
        output = small.output(small.model(**inputs))
    finally:
        torch.nn.functional.softmax, torch.nn.Softmax.forward, torch.softmax = plain, layer, tensor_softmax
    output[element].backward()
    zero = lambda one: torch.zeros_like(one) if one.grad is None else one.grad
    return output, [one.detach()[0] for one in maps], [zero(one)[0] for one in maps]


def write(name, element, inputs, scores_of):
    small = small_model(name)
    given = {key: torch.from_numpy(value) for key, value in inputs.items()}
    fed = {key: value.double() if value.is_floating_point() else value for key, value in given.items()}
    output, a, g = run(small, fed, element)
    stored = {"input." + key: value for key, value in inputs.items()}
    stored["element"] = np.array(element)
    stored["value"] = np.array([output[element].item()])
    for method, (own, other) in scores_of(a, g, element[1] if len(element) == 3 else 0).items():
        stored[method + ".own"] = own.numpy()
        stored[method + ".other"] = other.numpy()
    FOLDER.mkdir(parents=True, exist_ok=True)
    save_file({key: np.ascontiguousarray(value) for key, value in stored.items()}, FOLDER / f"{name}.safetensors")
    print(name, output.shape, len(a), [tuple(x.shape) for x in a])


def main():
    random = np.random.default_rng(5)
    ids = lambda count: random.integers(3, 40, (1, count))
    write("t5", (0, 5, 11), {"input_ids": ids(8), "decoder_input_ids": ids(7)}, translator_scores)
    write("bart", (0, 4, 9), {"input_ids": ids(8), "decoder_input_ids": ids(6)}, translator_scores)
    numbers = lambda *shape: random.standard_normal(shape).astype(np.float32)
    write("lxmert", (0, 2), {"input_ids": ids(9), "token_type_ids": np.zeros((1, 9), np.int64),
                               "visual_feats": numbers(1, 6, 10), "visual_pos": numbers(1, 6, 4)}, two_stream_scores)


main()
