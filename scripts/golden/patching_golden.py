#!/usr/bin/env python3
"""Activation patching by TransformerLens, on a small GPT-2 with random weights and a golden BERT.

    pip install torch==2.15.0 transformers==5.23.0 onnx==1.23.2 onnxscript==0.7.2 transformer_lens==3.9.0
    python scripts/golden/patching_golden.py

Writes tests/golden/patching: gpt2.onnx, whose output is what follows the last token, and what TransformerLens finds in
it (gpt2.json) and in tests/golden/models/bert (bert.json). All in double.
"""

import json
import warnings
from functools import partial
from pathlib import Path

import onnx
import torch
import transformers as hf
from transformer_lens import HookedEncoder, HookedTransformer, HookedTransformerConfig, patching, utils
from transformer_lens.pretrained.weight_conversions.bert import convert_bert_weights
from transformer_lens.pretrained.weight_conversions.gpt2 import convert_gpt2_weights

ROOT = Path(__file__).resolve().parents[2] / "tests/golden"
CLEAN, CORRUPTED = [11, 23, 31, 47, 8, 23], [11, 12, 31, 47, 9, 23]
TARGET = 1


def set_at(activation, hook, value):
    activation[:] = value
    return activation


def head_set_at(activation, hook, head, value):
    activation[:, :, head] = value[:, :, head]
    return activation


def random_gpt2():
    torch.manual_seed(5)
    config = hf.GPT2Config(vocab_size=50, n_embd=16, n_layer=3, n_head=4, n_positions=16, bos_token_id=0,
                           eos_token_id=2, initializer_range=0.3, attn_implementation="eager", use_cache=False)
    model = hf.GPT2LMHeadModel(config).eval()
    for name, weight in model.named_parameters():
        if name.endswith("bias") or "ln_" in name:
            weight.data += 0.3 * torch.randn_like(weight)
    return model


class LastToken(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids):
        return self.model(input_ids=input_ids).logits[:, -1]


def export(model, path):
    """With dimensions that torch.export infers, and without the exporter's notes."""
    ids = torch.tensor([CLEAN, CORRUPTED])
    shapes = {"input_ids": {0: torch.export.Dim("batch"), 1: torch.export.Dim("tokens", max=16)}}
    torch.onnx.export(LastToken(model), (), str(path), kwargs={"input_ids": ids}, dynamic_shapes=shapes, dynamo=True,
                      external_data=False, input_names=["input_ids"], output_names=["logits"], opset_version=18)
    file = onnx.load(path)
    del file.metadata_props[:], file.graph.metadata_props[:], file.graph.value_info[:]
    for item in [*file.graph.node, *file.graph.input, *file.graph.output, *file.graph.initializer]:
        item.ClearField("doc_string")
        item.ClearField("metadata_props")
    onnx.save(file, path)


def lens_gpt2(model):
    c = model.config
    cfg = HookedTransformerConfig(n_layers=c.n_layer, d_model=c.n_embd, n_ctx=c.n_positions, n_heads=c.n_head,
                                  d_head=c.n_embd // c.n_head, d_mlp=4 * c.n_embd, d_vocab=c.vocab_size, act_fn="gelu_new",
                                  normalization_type="LN", eps=c.layer_norm_epsilon, dtype=torch.float64)
    lens = HookedTransformer(cfg)
    lens.load_state_dict(convert_gpt2_weights(model.double(), cfg), strict=False)
    return lens.double().eval()


class Gpt2:
    block_output = "resid_post"

    def __init__(self, model):
        self.lens = lens_gpt2(model)
        self.layers, self.heads = self.lens.cfg.n_layers, self.lens.cfg.n_heads

    def metric(self, logits):
        return logits[0, -1, TARGET]

    def run(self, tokens, hooks=()):
        return self.metric(self.lens.run_with_hooks(tokens, fwd_hooks=list(hooks)))

    def cache(self, tokens):
        return self.lens.run_with_cache(tokens)[1]

    def head_of(self, stream):
        return self.metric(self.lens.unembed(self.lens.ln_final(stream)))


class Bert:
    """TransformerLens' encoder with the classifier of transformers on top."""

    block_output = "normalized_resid_post"

    def __init__(self):
        classifier = hf.BertForSequenceClassification.from_pretrained(ROOT / "models/bert").double().eval()
        self.classifier = classifier
        c = classifier.config
        pretraining = hf.BertForPreTraining(c).double().eval()
        pretraining.bert.load_state_dict(classifier.bert.state_dict())
        cfg = HookedTransformerConfig(n_layers=c.num_hidden_layers, d_model=c.hidden_size,
                                      n_ctx=c.max_position_embeddings, n_heads=c.num_attention_heads,
                                      d_head=c.hidden_size // c.num_attention_heads, d_mlp=c.intermediate_size,
                                      d_vocab=c.vocab_size, act_fn="gelu", eps=c.layer_norm_eps,
                                      normalization_type="LN", attention_dir="bidirectional", dtype=torch.float64)
        self.lens = HookedEncoder(cfg)
        self.lens.load_state_dict(convert_bert_weights(pretraining, cfg), strict=False)
        self.lens.double().eval()
        self.layers, self.heads = cfg.n_layers, cfg.n_heads

    def head_of(self, stream):
        return self.classifier.classifier(self.classifier.bert.pooler(stream))[0, TARGET]

    def run(self, tokens, hooks=()):
        with self.lens.hooks(fwd_hooks=list(hooks)):
            return self.head_of(self.lens.encoder_output(tokens))

    def cache(self, tokens):
        found = {}

        def keep(activation, hook):
            found[hook.name] = activation.clone()

        self.run(tokens, [(lambda name: True, keep)])
        return found


def patched(model, hook, index, clean, corrupted):
    """The metric with the clean activation at some places of one hook."""

    def put(activation, hook):
        activation[index] = clean[hook.name][index]
        return activation

    return model.run(corrupted, [(hook, put)]).item()


def by_token(model, name, clean, corrupted):
    return [[patched(model, utils.get_act_name(name, layer), (slice(None), token), clean, corrupted)
             for token in range(corrupted.shape[1])] for layer in range(model.layers)]


def head_index(head, token=slice(None)):
    return slice(None), token, head


def path_patching(model, clean, held, corrupted, receiver=None):
    """Wang et al.: one head's clean output along its direct path, everything between as in the corrupted run."""
    last = model.layers if receiver is None else receiver[1]
    rows = []
    for layer in range(last):
        rows.append([])
        for head in range(model.heads):
            context = utils.get_act_name("z", layer)
            hooks = [(context, partial(head_set_at, head=head, value=clean[context]))]
            for later in range(layer, last):
                if later > layer:
                    name = utils.get_act_name("attn_out", later)
                    hooks.append((name, partial(set_at, value=held[name])))
                name = utils.get_act_name("mlp_out", later)
                hooks.append((name, partial(set_at, value=held[name])))
            if receiver is None:
                rows[-1].append(model.run(corrupted, hooks).item())
                continue
            what, at, own = receiver
            name, kept = utils.get_act_name(what, at), {}

            def keep(activation, hook):
                kept["value"] = activation.clone()

            model.run(corrupted, [*hooks, (name, keep)])
            receive = partial(head_set_at, head=own, value=kept["value"])
            rows[-1].append(model.run(corrupted, [(name, receive)]).item())
    return rows


def with_heads(model, tokens, values):
    """The metric with each head's context in turn as `values[layer]` has it."""
    return [[model.run(tokens, [(utils.get_act_name("z", layer), partial(head_set_at, head=head, value=value))]).item()
             for head in range(model.heads)] for layer, value in enumerate(values)]


def golden(model):
    clean_ids, ids = torch.tensor([CLEAN]), torch.tensor([CORRUPTED])
    clean, held = model.cache(clean_ids), model.cache(ids)
    tokens, layers = range(len(CORRUPTED)), range(model.layers)
    start = utils.get_act_name("resid_pre", 0)
    names = [utils.get_act_name("z", layer) for layer in layers]
    contexts = [clean[name] for name in names]

    def cell(name, *index):
        return patched(model, name, (slice(None), *index), clean, ids)

    everywhere = slice(None)
    result = {
        "clean_text": " ".join(f"w{i}" for i in CLEAN), "corrupted_text": " ".join(f"w{i}" for i in CORRUPTED),
        "target": TARGET, "clean": model.run(clean_ids).item(), "corrupted": model.run(ids).item(),
        "residual": [[cell(start, token) for token in tokens]] + by_token(model, model.block_output, clean, ids),
        "attention": by_token(model, "attn_out", clean, ids),
        "mlp": by_token(model, "mlp_out", clean, ids),
        "heads": [[cell(name, everywhere, head) for head in range(model.heads)] for name in names],
        "head-tokens": [[cell(name, token, head) for token in tokens]
                        for name in names for head in range(model.heads)],
        "pattern": [[cell(utils.get_act_name("pattern", layer), head) for head in range(model.heads)]
                    for layer in layers],
        "zero": with_heads(model, clean_ids, [torch.zeros_like(context) for context in contexts]),
        "mean": with_heads(model, clean_ids, [context.mean(1, keepdim=True).expand_as(context)
                                              for context in contexts])}
    streams = [clean[start]] + [clean[utils.get_act_name(model.block_output, layer)] for layer in layers]
    result["lens"] = [[model.head_of(stream).item()] +
                      [model.head_of(stream[:, [token]].expand_as(stream)).item() for token in tokens]
                      for stream in streams]
    result["paths to the output"] = path_patching(model, clean, held, ids)
    for what in ("query", "key", "value"):
        result[f"paths to the {what}"] = path_patching(model, clean, held, ids, (what[0], model.layers - 1, 1))
    return result


def by_transformer_lens(model, clean, corrupted):
    """The same heat maps by TransformerLens' own functions, which exist for decoders."""
    tokens, cache = torch.tensor([corrupted]), model.lens.run_with_cache(torch.tensor([clean]))[1]
    return {"residual": patching.get_act_patch_resid_pre(model.lens, tokens, cache, model.metric),
            "attention": patching.get_act_patch_attn_out(model.lens, tokens, cache, model.metric),
            "mlp": patching.get_act_patch_mlp_out(model.lens, tokens, cache, model.metric),
            "heads": patching.get_act_patch_attn_head_out_all_pos(model.lens, tokens, cache, model.metric),
            "pattern": patching.get_act_patch_attn_head_pattern_all_pos(model.lens, tokens, cache, model.metric)}


def main():
    warnings.filterwarnings("ignore")
    torch.set_grad_enabled(False)
    folder = ROOT / "patching"
    folder.mkdir(exist_ok=True)
    gpt2 = random_gpt2()
    export(gpt2, folder / "gpt2.onnx")
    lens = Gpt2(gpt2)
    own = gpt2(torch.tensor([CLEAN])).logits[0, -1, TARGET].item()
    found = golden(lens)
    assert abs(found["clean"] - own) < 1e-10, (found["clean"], own)
    for name, heat_map in by_transformer_lens(lens, CLEAN, CORRUPTED).items():
        rows = found[name][: len(heat_map)]
        assert (heat_map - torch.tensor(rows)).abs().max() < 1e-6, name
    (folder / "gpt2.json").write_text(json.dumps(found) + "\n")
    bert = Bert()
    own = bert.classifier(torch.tensor([CLEAN])).logits[0, TARGET].item()
    found = golden(bert)
    assert abs(found["clean"] - own) < 1e-10, (found["clean"], own)
    (folder / "bert.json").write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
