#!/usr/bin/env python3
"""Writes tests/golden/debate.json: the experiments of Jain & Wallace and of Wiegreffe & Pinter on the last layer of
tests/golden/models/bert, by their formulas in plain PyTorch, in double; and on the same model with one layer of
attention.

Made with Python 3.11, PyTorch 2.15.0, SciPy 1.17.1, safetensors 0.8.0:

    pip install torch==2.15.0 scipy==1.17.1 safetensors==0.8.0
    python scripts/golden/debate_golden.py

Permuted and adversarial weights are those of the read-out row ([CLS]) of the last layer; special tokens keep theirs.
"""

import json
import math
import pathlib

import torch
from safetensors.torch import load_file
from scipy import stats

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASE = ROOT / "tests/golden/models/bert"
INPUTS = ["single", "pair"]
STEPS, RATE, EPSILON = 40, 0.01, 0.01
torch.set_default_dtype(torch.float64)

weights = {name: tensor.double() for name, tensor in load_file(CASE / "model.safetensors").items()}
config = json.loads((CASE / "config.json").read_text())
HEADS = config["num_attention_heads"]


def linear(x, name):
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


def norm(x, name):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weights[name + ".weight"], weights[name + ".bias"],
                                          config["layer_norm_eps"])


def split(x):
    return x.reshape(len(x), HEADS, -1).transpose(0, 1)


def block(hidden, layer, attention=None):
    """The layer's output and its maps; with other maps where they are given."""
    name = f"bert.encoder.layer.{layer}."
    q, k, v = (split(linear(hidden, name + "attention.self." + part)) for part in ("query", "key", "value"))
    maps = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]), -1) if attention is None else attention
    context = (maps @ v).transpose(0, 1).reshape(len(hidden), -1)
    hidden = norm(linear(context, name + "attention.output.dense") + hidden, name + "attention.output.LayerNorm")
    inner = torch.nn.functional.gelu(linear(hidden, name + "intermediate.dense"))
    return norm(linear(inner, name + "output.dense") + hidden, name + "output.LayerNorm"), maps


def embed(ids, types):
    name = "bert.embeddings."
    words = weights[name + "word_embeddings.weight"][ids]
    rest = weights[name + "position_embeddings.weight"][:len(ids)] + weights[name + "token_type_embeddings.weight"][types]
    return words, rest


def answer(hidden):
    pooled = torch.tanh(linear(hidden[0], "bert.pooler.dense"))
    return torch.softmax(linear(pooled, "classifier"), -1)


def jsd(p, q):
    middle = (p + q) / 2
    return ((p * (p / middle).log()).sum(-1) + (q * (q / middle).log()).sum(-1)) / 2


class Case:
    def __init__(self, given):
        self.ids, types = torch.tensor(given["ids"][0]), torch.tensor(given["token_type_ids"][0])
        self.free = [i for i, special in enumerate(given["special"][0]) if not special]
        self.words, rest = embed(self.ids, types)
        self.rest = rest
        self.hidden, _ = block(norm(self.words + rest, "bert.embeddings.LayerNorm"), 0)
        _, self.maps = block(self.hidden, 1)
        self.p = self.with_rows(self.maps[:, 0])
        self.sums = self.maps[:, 0, self.free].sum(-1, keepdim=True)
        self.observed = self.maps[:, 0, self.free] / self.sums

    def with_rows(self, rows):
        """Probabilities with other read-out rows [heads, keys] in the last layer."""
        maps = torch.cat([rows[:, None], self.maps[:, 1:]], 1)
        return answer(block(self.hidden, 1, maps)[0])

    def with_free(self, shares):
        rows = self.maps[:, 0].clone()
        rows[:, self.free] = self.sums * shares
        return self.with_rows(rows)

    def tvd(self, p):
        return (p - self.p).abs().sum() / 2

    def gradient(self):
        """Jain & Wallace: of the predicted class's probability, all attention held constant."""
        words = self.words.clone().requires_grad_()
        fixed = [block(norm(self.words + self.rest, "bert.embeddings.LayerNorm"), 0)[1], self.maps]
        hidden = norm(words + self.rest, "bert.embeddings.LayerNorm")
        for layer in range(2):
            hidden, _ = block(hidden, layer, fixed[layer])
        p = answer(hidden)
        p[p.argmax()].backward()
        scores = (words.grad * words.detach()).sum(-1).abs()
        return scores / scores.sum()


def loss_of(case, logits):
    """logits [candidates, heads, free keys]: the loss that Jain & Wallace minimise, mean divergence over heads."""
    shares = torch.softmax(logits, -1)
    loss = 0
    for one in shares:
        change = case.tvd(case.with_free(one))
        loss = loss - jsd(one, case.observed).mean() + 500 * torch.relu(change - EPSILON)
    pairs = [jsd(a, b).mean() for a in shares for b in shares]
    return loss - sum(pairs) / len(shares) ** 2


def search(case, start):
    logits = start.clone().requires_grad_()
    optimiser = torch.optim.Adam([logits], lr=RATE, amsgrad=True)
    first = None
    for _ in range(STEPS):
        optimiser.zero_grad()
        loss = loss_of(case, logits)
        loss.backward()
        if first is None:
            first = {"loss": loss.item(), "gradient": logits.grad.tolist()}
        optimiser.step()
    shares = torch.softmax(logits.detach(), -1)
    return {"start": start.tolist(), **first,
            "last": [{"jsd": jsd(one, case.observed).mean().item(),
                      "tvd": case.tvd(case.with_free(one)).item()} for one in shares]}


def permuted(case, draws, generator):
    orders, changes = [], []
    for _ in range(draws):
        order = torch.randperm(len(case.free), generator=generator)
        orders.append(order.tolist())
        changes.append(case.tvd(case.with_free(case.observed[:, order])).item())
    return {"orders": orders, "tvd": changes}


def uniform(case):
    return case.tvd(case.with_free(torch.full_like(case.observed, 1 / len(case.free)))).item()


def diagnostic(generator):
    """Wiegreffe & Pinter's network of single words, one batch: loss and gradients, and ten steps of Adam."""
    tokens, depth, width, classes = [3, 5, 2], 4, 6, 2
    normal = lambda *shape: torch.randn(*shape, generator=generator) / 2
    vectors, labels = [normal(n, depth) for n in tokens], [1, 0, 1]
    guides = [torch.softmax(normal(n), -1) for n in tokens]
    shapes = [(width, depth), (width,), (classes, width), (classes,), (width // 2, width), (width // 2,), (width // 2,)]
    start = [normal(*shape) for shape in shapes]

    def run(learned):
        parameters = [one.clone().requires_grad_() for one in (start if learned else start[:4])]
        optimiser = torch.optim.Adam(parameters, lr=1e-3, amsgrad=True, weight_decay=1e-5)
        first = None
        for _ in range(10):
            loss = 0
            for x, guide, label in zip(vectors, guides, labels):
                hidden = torch.tanh(x @ parameters[0].T + parameters[1])
                if learned:
                    guide = torch.softmax(torch.tanh(hidden @ parameters[4].T + parameters[5]) @ parameters[6], -1)
                logits = parameters[2] @ (guide @ hidden) + parameters[3]
                loss = loss - torch.log_softmax(logits, -1)[label] / len(labels)
            optimiser.zero_grad()
            loss.backward()
            if first is None:
                first = (loss.item(), torch.cat([p.grad.flatten() for p in parameters]).tolist())
            optimiser.step()
        return {"loss": first[0], "gradient": first[1],
                "after": torch.cat([p.detach().flatten() for p in parameters]).tolist()}

    return {"vectors": [one.tolist() for one in vectors], "guides": [one.tolist() for one in guides], "labels": labels,
            "start": torch.cat([one.flatten() for one in start]).tolist(), "guided": run(False), "learned": run(True)}


# Of layer 0 nothing is left but its norms: words, one layer of attention and what reads it, the authors' kind of model.
ONE_LAYER = [f"bert.encoder.layer.0.{part}.{kind}" for part in ("attention.output.dense", "output.dense")
             for kind in ("weight", "bias")]


def debate_case(given, zeroed, generator):
    for name in zeroed:
        weights[name] = torch.zeros_like(weights[name])
    case = Case(given)
    start = 3 * torch.randn(3, HEADS, len(case.free), generator=generator) - math.log(len(case.free))
    start[0] = case.observed.log() + 0.1 * torch.randn(HEADS, len(case.free), generator=generator)
    gradient = case.gradient()
    attention = case.maps[:, 0].mean(0)
    tau = stats.kendalltau(attention[case.free].numpy(), gradient[case.free].numpy())
    return {"input": given["name"], "zeroed": zeroed, "probabilities": case.p.tolist(), "attention": attention.tolist(),
            "gradient": gradient.tolist(), "tau": tau.statistic, "p_value": tau.pvalue, "uniform_tvd": uniform(case),
            "permutation": permuted(case, 20, generator), "search": search(case, start)}


def main():
    generator = torch.Generator().manual_seed(0)
    given = {one["name"]: one for one in json.loads((CASE / "expected.json").read_text())["inputs"]}
    cases = [debate_case(given[name], [], generator) for name in INPUTS]
    network = diagnostic(generator)
    cases += [debate_case(given[name], ONE_LAYER, generator) for name in INPUTS]
    out = {"steps": STEPS, "learning_rate": RATE, "epsilon": EPSILON, "cases": cases, "diagnostic": network}
    text = json.dumps(out)
    (ROOT / "tests/golden/debate.json").write_text(text.replace('{"input"', '\n{"input"').replace('"diagnostic"', '\n"diagnostic"') + "\n")


if __name__ == "__main__":
    main()
