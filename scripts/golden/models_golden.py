#!/usr/bin/env python3
"""Writes tests/golden/models: tiny random encoders and what PyTorch says about them.

Made with Python 3.11, torch 2.15.0, transformers 5.22.2, safetensors 0.8.0, numpy 2.4.6:

    pip install torch==2.15.0 transformers==5.22.2 safetensors==0.8.0 numpy==2.4.6
    python scripts/golden/models_golden.py

The model, its attention maps and its gradients come from transformers and torch in float64; the
scores of the methods come from their formulas in plain loops over those numbers. Every seed is
written below, so the same versions give the same bytes. tests/golden/models/README.md tells what
each tensor is.
"""

import argparse
import json
import pathlib
import shutil
from dataclasses import dataclass, field

import numpy as np
import torch
import transformers
from safetensors.numpy import save_file

from attention_formulas import attention_scores, gradient_scores

INTEGRATION_NODES = 64


# ---------------------------------------------------------------------------------------------
# Cases


@dataclass
class Case:
    name: str
    architecture: str  # class name in transformers
    seed: int
    config: dict
    every_input: bool = True  # otherwise only "single" and "padded"
    specials: dict = field(default_factory=lambda: {"pad": 0, "cls": 2, "sep": 3, "mask": 4})
    mean_pooling: bool = False  # an encoder without head, as sentence encoders are stored

    @property
    def doubles_separator(self):
        """RoBERTa writes <s> a </s></s> b </s>, everyone else [CLS] a [SEP] b [SEP]."""
        return "Roberta" in self.architecture


ROBERTA_SPECIALS = {"pad": 1, "cls": 0, "sep": 2, "mask": 69}


def bert(**changes):
    return {"vocab_size": 64, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2,
            "intermediate_size": 40, "max_position_embeddings": 40, "num_labels": 2, **changes}


def roberta(**changes):
    return bert(vocab_size=70, type_vocab_size=1, layer_norm_eps=1e-5, pad_token_id=1, bos_token_id=0,
                eos_token_id=2, **changes)


def distilbert(**changes):
    return {"vocab_size": 64, "dim": 24, "n_layers": 2, "n_heads": 3, "hidden_dim": 40,
            "max_position_embeddings": 40, "num_labels": 2, **changes}


# Seeds were chosen, not drawn: up to 40 per case were tried, and kept where check() below passes, the
# quadrature of integrated gradients has settled and the baselines change the output by 0.05 or more.
CASES = [
    Case("bert", "BertForSequenceClassification", 201, bert(num_labels=3)),
    Case("distilbert", "DistilBertForSequenceClassification", 202, distilbert()),
    Case("roberta", "RobertaForSequenceClassification", 303, roberta(num_hidden_layers=3, num_labels=3),
         specials=ROBERTA_SPECIALS),
    Case("xlm-roberta", "XLMRobertaForSequenceClassification", 104, roberta(num_attention_heads=3),
         specials=ROBERTA_SPECIALS),
    Case("electra", "ElectraForSequenceClassification", 205,
         bert(embedding_size=16, num_attention_heads=3, num_labels=3)),
    Case("albert-two-groups", "AlbertForSequenceClassification", 1306,
         bert(embedding_size=12, num_hidden_layers=4, num_hidden_groups=2, hidden_act="gelu_new")),
    Case("albert-shared", "AlbertForSequenceClassification", 1107,
         bert(embedding_size=12, num_hidden_layers=3, num_attention_heads=3, hidden_act="gelu", num_labels=3)),
    Case("bert-mean-pooling", "BertModel", 308, bert(num_hidden_layers=3, num_attention_heads=3),
         mean_pooling=True),
    Case("bert-gelu-new", "BertForSequenceClassification", 109,
         bert(hidden_act="gelu_new", num_attention_heads=3), every_input=False),
    Case("bert-relu", "BertForSequenceClassification", 310, bert(hidden_act="relu"), every_input=False),
    Case("bert-silu", "BertForSequenceClassification", 311,
         bert(hidden_act="silu", hidden_size=36, num_attention_heads=3, layer_norm_eps=1e-3), every_input=False),
    Case("bert-regression", "BertForSequenceClassification", 312,
         bert(num_labels=1, problem_type="regression"), every_input=False),
    Case("bert-multi-label", "BertForSequenceClassification", 113,
         bert(num_labels=3, problem_type="multi_label_classification"), every_input=False),
    Case("distilbert-relu", "DistilBertForSequenceClassification", 1814,
         distilbert(activation="relu", n_heads=2, n_layers=3, num_labels=3), every_input=False),
    Case("roberta-multi-label", "RobertaForSequenceClassification", 815,
         roberta(num_labels=3, problem_type="multi_label_classification", hidden_act="relu"),
         every_input=False, specials=ROBERTA_SPECIALS),
    Case("electra-same-width", "ElectraForSequenceClassification", 116,
         bert(embedding_size=24, hidden_act="relu"), every_input=False),
    Case("albert-regression", "AlbertForSequenceClassification", 617,
         bert(embedding_size=16, num_labels=1, problem_type="regression", hidden_act="relu"), every_input=False),
]


def build_model(case):
    """Weights wide enough for uneven attention, and nothing at 0 or 1 that a loader could forget."""
    model_class = getattr(transformers, case.architecture)
    model = model_class(model_class.config_class(**case.config, attn_implementation="eager")).eval()
    rng = np.random.default_rng(case.seed)
    for name, parameter in sorted(model.named_parameters()):
        noise = rng.standard_normal(parameter.shape)
        if "norm" in name.lower():
            values = 0.2 * noise + (1.0 if name.endswith("weight") else 0.0)
        elif "embeddings." in name:
            values = 0.5 * noise
        elif name.endswith("bias"):
            values = 0.2 * noise
        elif any(part in name for part in (".query.", ".key.", ".q_lin.", ".k_lin.")):
            values = 0.4 * noise  # tokens grow alike from layer to layer; without this so do the rows
        else:
            values = 0.3 * noise
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(values))
    return model


# ---------------------------------------------------------------------------------------------
# Inputs


@dataclass
class Input:
    name: str
    ids: list  # [batch][n]; so are types, mask and special
    types: list
    mask: list
    special: list
    targets: list  # one per sample

    def without(self, position):
        """The single sample with one token removed: later tokens move up."""
        def cut(rows):
            return [rows[0][:position] + rows[0][position + 1:]]
        return Input(self.name, cut(self.ids), cut(self.types), cut(self.mask), cut(self.special), self.targets)


def make_inputs(case, rng, outputs):
    """`outputs` is how many values the model answers; a target of None means the largest."""
    special = case.specials
    cls, sep = [special["cls"]], [special["sep"]]

    def words(count):
        return rng.integers(5, case.config["vocab_size"] - 1, count).tolist()

    def pad_to(length, rows):
        missing = length - len(rows[0])
        padded = [special["pad"]] * missing
        return [rows[0] + padded, rows[1] + [0] * missing, [1] * len(rows[0]) + [0] * missing,
                rows[2] + [1] * missing]

    def one_text(count):
        ids = cls + words(count) + sep
        return ids, [0] * len(ids), [1] + [0] * count + [1]

    def two_texts(first, second):
        middle = sep * 2 if case.doubles_separator else sep
        ids = cls + words(first) + middle + words(second) + sep
        types = [0] * (1 + first + len(middle)) + [1] * (second + 1)
        if case.config.get("type_vocab_size") == 1:
            types = [0] * len(ids)
        return ids, types, [1] + [0] * first + [1] * len(middle) + [0] * second + [1]

    def make(name, samples, targets):
        columns = zip(*samples)
        return Input(name, *(list(column) for column in columns), targets)

    last = outputs - 1
    single = make("single", [pad_to(7, one_text(5))], [None])
    padded = make("padded", [pad_to(7, one_text(3))], [last])
    if not case.every_input:
        return [single, padded]
    first = 4 if case.doubles_separator else 5
    return [
        single,
        padded,
        make("pair", [pad_to(11, two_texts(first, 3))], [0]),
        make("batch", [pad_to(7, one_text(5)), pad_to(7, one_text(2))], [0, last]),
        make("special_only", [pad_to(2, one_text(0))], [last]),
        make("one_token", [(cls, [0], [1], [1])], [0]),
    ]


# ---------------------------------------------------------------------------------------------
# The model, asked in float64


class Probe:
    """Runs a model; every value a test may want to look at stays in the graph of the run."""

    def __init__(self, case, model):
        self.case = case
        self.model = model.double()
        backbone = model.base_model
        self.embedding_block = backbone.embeddings
        self.word_embeddings = backbone.get_input_embeddings()

    def run(self, example, word_vectors=None, pooled_mask=None):
        """`word_vectors` replaces what the word embedding answers; positions still follow the ids."""
        seen = {}

        def on_words(_module, _inputs, output):
            leaf = output if word_vectors is None else word_vectors
            seen["words"] = leaf.detach().clone().requires_grad_(True)
            return seen["words"]

        def on_block(_module, _inputs, output):
            seen["block"] = output

        hooks = [self.word_embeddings.register_forward_hook(on_words),
                 self.embedding_block.register_forward_hook(on_block)]
        mask = torch.tensor(example.mask)
        arguments = {"input_ids": torch.tensor(example.ids), "attention_mask": mask}
        if "DistilBert" not in self.case.architecture:
            arguments["token_type_ids"] = torch.tensor(example.types)
        answer = self.model(**arguments, output_attentions=True, output_hidden_states=True)
        for hook in hooks:
            hook.remove()
        if "logits" in answer:
            logits = answer.logits
        else:
            pooled = mask if pooled_mask is None else torch.tensor(pooled_mask)
            weights = pooled.double().unsqueeze(-1)
            logits = (answer.last_hidden_state * weights).sum(1) / weights.sum(1)
        return {"logits": logits, "attention": answer.attentions, "hidden": answer.hidden_states, **seen}

    def target_value(self, example, **changes):
        with torch.no_grad():
            return self.run(example, **changes)["logits"][0, example.targets[0]].item()

    def word_gradient(self, example, word_vectors):
        seen = self.run(example, word_vectors)
        (gradient,) = torch.autograd.grad(seen["logits"][0, example.targets[0]], seen["words"])
        return gradient


def float32_deviation(probe, example):
    """How far the reference itself moves when it computes in float32: a fair bound cannot be tighter."""
    with torch.no_grad():
        exact = probe.run(example)
        probe.model.float()
        rough = probe.run(example)
        probe.model.double()

    def largest(pairs):
        return max((a - b.double()).abs().max().item() for a, b in pairs)

    return {"logits": largest([(exact["logits"], rough["logits"])]),
            "attention": largest(zip(exact["attention"], rough["attention"]))}


def choose_targets(probe, example):
    logits = probe.run(example)["logits"]
    example.targets = [row.argmax().item() if target is None else target
                       for row, target in zip(logits, example.targets)]


def model_values(probe, example, with_hidden_states):
    seen = probe.run(example)
    explained = sum(row[target] for row, target in zip(seen["logits"], example.targets))
    wanted = [*seen["attention"], seen["words"], seen["block"]]
    *attention_gradients, word_gradient, block_gradient = torch.autograd.grad(explained, wanted)
    values = {"logits": seen["logits"], "word_embedding": seen["words"], "word_embedding_gradient": word_gradient,
              "embedding_block": seen["block"], "embedding_block_gradient": block_gradient}
    for layer, (attention, gradient) in enumerate(zip(seen["attention"], attention_gradients)):
        values[f"attention.{layer}"] = attention
        values[f"attention_gradient.{layer}"] = gradient
    if with_hidden_states:
        values |= {f"hidden.{layer}": hidden for layer, hidden in enumerate(seen["hidden"])}
    arrays = {name: value.detach().numpy() for name, value in values.items()}
    return arrays if len(example.ids) > 1 else {name: array[0] for name, array in arrays.items()}


# ---------------------------------------------------------------------------------------------
# Methods on the word embedding by several runs


def integrated_gradients(probe, example, filler):
    """Words of the baseline are `filler`, special tokens stay; Gauss-Legendre from the baseline to the input."""
    baseline_ids = [filler if not special else token for token, special in zip(example.ids[0], example.special[0])]
    table = probe.word_embeddings.weight.detach()
    end, start = table[torch.tensor(example.ids)], table[torch.tensor([baseline_ids])]
    nodes, weights = np.polynomial.legendre.leggauss(INTEGRATION_NODES)
    total = torch.zeros_like(end)
    for node, weight in zip(nodes, weights):
        total += weight / 2 * probe.word_gradient(example, start + (node + 1) / 2 * (end - start))
    scores = ((end - start) * total)[0].sum(-1).numpy()
    return scores, probe.target_value(example, word_vectors=start)


def integrated_gradients_scores(probe, example):
    scores = {}
    for filler in ("pad", "mask"):
        values, baseline = integrated_gradients(probe, example, probe.case.specials[filler])
        scores[f"integrated_gradients.{filler}"] = values
        scores[f"integrated_gradients.{filler}_baseline_value"] = np.array([baseline])
    return scores


def leave_one_out(probe, example):
    """Every token is left out once, special tokens too: a test chooses which it compares."""
    full = probe.target_value(example)
    changed = {"mask": [], "delete": [], "drop": []}
    if probe.case.mean_pooling:
        changed["drop_but_pool"] = []
    for position in range(len(example.ids[0])):
        masked, dropped = ([list(rows[0])] for rows in (example.ids, example.mask))
        masked[0][position] = probe.case.specials["mask"]
        dropped[0][position] = 0
        hidden = Input(example.name, example.ids, example.types, dropped, example.special, example.targets)
        replaced = Input(example.name, masked, example.types, example.mask, example.special, example.targets)
        changed["mask"].append(probe.target_value(replaced))
        changed["delete"].append(probe.target_value(example.without(position)))
        changed["drop"].append(probe.target_value(hidden))
        if "drop_but_pool" in changed:
            changed["drop_but_pool"].append(probe.target_value(hidden, pooled_mask=example.mask))
    return {f"leave_one_out.{name}": np.array([full - value for value in values]) for name, values in changed.items()}


# ---------------------------------------------------------------------------------------------
# Checks that the numbers can make a test fail, and files


def check(case, values, explained):
    """Refuses a seed whose model is too tame, or numbers that contradict each other."""
    for name, array in values.items():
        assert np.isfinite(array).all(), f"{case.name}: {name} is not finite"
        if name.startswith("single.attention."):
            assert array.max() > 0.35 and array.min() < 0.07, f"{case.name}: {name} is nearly uniform"
            assert array.std(axis=1).max() > 0.05, f"{case.name}: the rows of {name} are nearly the same"
        if name.startswith("single.attention_gradient."):
            assert 1e-2 < abs(array).max() < 1e2, f"{case.name}: {name} is of size {abs(array).max()}"
    for name in ("gradcam.vit", "gradcam.bert", "grad_sam.query"):
        assert values[f"single.{name}"].max() > 0, f"{case.name}: {name} is zero everywhere"
    for filler in ("pad", "mask"):
        scores, start = (values[f"single.integrated_gradients.{filler}{part}"] for part in ("", "_baseline_value"))
        gap = abs(sum(scores) - (explained - start[0]))
        assert gap < 0.01, f"{case.name}: integrated gradients miss {gap}"


def write_pooling_files(folder):
    """What makes a folder a sentence encoder: pooling, and a normalisation which is not explained."""
    kinds = [("0", "", "Transformer"), ("1", "1_Pooling", "Pooling"), ("2", "2_Normalize", "Normalize")]
    modules = [{"idx": index, "name": name, "path": path, "type": f"sentence_transformers.models.{kind}"}
               for index, (name, path, kind) in enumerate(kinds)]
    pooling = {"word_embedding_dimension": 24, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True,
               "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False}
    (folder / "1_Pooling").mkdir()
    (folder / "modules.json").write_text(json.dumps(modules, indent=2) + "\n")
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling, indent=2) + "\n")


def write_case(case, out):
    folder = out / case.name
    shutil.rmtree(folder, ignore_errors=True)
    model = build_model(case)
    model.save_pretrained(folder)
    if case.mean_pooling:
        write_pooling_files(folder)
    outputs = 24 if case.mean_pooling else model.config.num_labels
    probe = Probe(case, model)
    values, listed = {}, []
    for example in make_inputs(case, np.random.default_rng(case.seed + 1000), outputs):
        choose_targets(probe, example)
        is_single = example.name == "single"
        found = model_values(probe, example, with_hidden_states=is_single)
        if is_single:
            found |= attention_scores(case, found) | gradient_scores(found)
            found |= integrated_gradients_scores(probe, example) | leave_one_out(probe, example)
        values |= {f"{example.name}.{name}": np.ascontiguousarray(array) for name, array in found.items()}
        listed.append({"name": example.name, "ids": example.ids, "token_type_ids": example.types,
                       "attention_mask": example.mask, "special": example.special, "targets": example.targets,
                       "float32_deviation": float32_deviation(probe, example)})
    check(case, values, values["single.logits"][listed[0]["targets"][0]])
    save_file(values, folder / "expected.safetensors")
    for file in folder.glob("*.safetensors"):
        file.chmod(0o644)  # safetensors makes files only their owner can read
    expected = {
        "architecture": case.architecture, "readout": "mean_pooling" if case.mean_pooling else "head",
        "layers": model.config.num_hidden_layers, "heads": model.config.num_attention_heads,
        "token_ids": case.specials,
        "made_with": {"torch": torch.__version__.split("+")[0], "transformers": transformers.__version__},
    }
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in expected.items()]
    inputs = ",\n".join(f"    {json.dumps(entry)}" for entry in listed)
    (folder / "expected.json").write_text("\n".join(["{", *lines, f'  "inputs": [\n{inputs}\n  ]', "}"]) + "\n")
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def main():
    parser = argparse.ArgumentParser(description="Write the golden files of the models and the methods.")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("tests/golden/models"))
    parser.add_argument("--only", nargs="*", metavar="CASE", help="cases to write; all unless told")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    total = 0
    for case in CASES:
        if arguments.only and case.name not in arguments.only:
            continue
        size = write_case(case, arguments.out)
        total += size
        print(f"{case.name:20} {size:8} bytes")
    print(f"{'total':20} {total:8} bytes")


if __name__ == "__main__":
    main()
