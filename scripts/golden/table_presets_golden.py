#!/usr/bin/env python3
"""Writes tests/golden/tables/presets: importances that table packages compute from attention, by their own code.

Needs what table_models_golden.py needs, and is started alike:

    python scripts/golden/table_presets_golden.py --lucid lucid026 lucid030

A folder for each case, as users have it: model.safetensors (the state_dict), table.json and rows.csv; presets.json has,
by the name of our preset, the package's numbers [rows, columns in the model's order of tokens], computed of one row at a
time.

  rtdl               the recipe of its authors (github.com/yandex-research/rtdl, issue 3), written below
  pytorch_tabular    FTTransformerBackbone._calculate_feature_importance, as it stands in the package
  pytorch-widedeep   TransformerBasedFeatureImportance, as it stands in the package (feature_importance and explain)
  TabSurvey          `attribute` of its SAINT and TabTransformer with both strategies, which is no package: written below
"""

import argparse
import ast
import csv
import json
import pathlib
import sys
import types

import numpy as np
import table_models_golden as models
import torch
from safetensors.torch import save_file

FOLDER = pathlib.Path(__file__).parents[2] / "tests/golden/tables/presets"
ROWS = 5


def code_of(package, path, name):
    """A class or function as it stands in a file of an installed package, without importing the rest."""
    file = pathlib.Path(sys.modules[package].__path__[0]) / path
    found = [node for node in ast.walk(ast.parse(file.read_text()))
             if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name]
    return ast.Module(body=found[:1], type_ignores=[])


def one_row(inputs, row):
    return [None if part is None else part[[row]] for part in inputs]


def rtdl_recipe(module, inputs):
    """Maps of all blocks by hooks on the softmax, their mean; the class token is the last one."""
    maps = []
    hooks = [block["attention"].register_forward_hook(lambda _, __, result: maps.append(result[1]["attention_probs"]))
             for block in module.transformer.blocks]
    module(*inputs)
    for hook in hooks:
        hook.remove()
    # The last block asks for the class token alone, whose row is the last of each map.
    class_rows = torch.cat([one.reshape(-1, *one.shape[-2:])[:, -1] for one in maps])
    return {"gorishniy": class_rows.mean(0)[:-1]}


def pytorch_tabular_importance(module, inputs):
    blocks = [block for _, block in module._backbone.transformer_blocks.named_children()]
    module(*inputs)
    space = {"torch": torch}
    exec(compile(code_of("pytorch_tabular", "models/ft_transformer/ft_transformer.py", "_calculate_feature_importance"),
                 "package", "exec"), space)
    backbone = types.SimpleNamespace(attention_weights_=[block.mha.attn_weights.reshape(
        1, -1, *block.mha.attn_weights.shape[-2:]) for block in blocks])
    space["_calculate_feature_importance"](backbone)
    return {"pytorch-tabular": backbone.local_feature_importance[0]}


def widedeep_importance(module, inputs):
    module(*inputs)
    component = module.deeptabular[0]
    space = {"torch": torch, "np": np, "BaseFeatureImportance": object, "Tuple": tuple, "List": list, "Dict": dict,
             "DataLoader": object, "Tensor": torch.Tensor, "WideDeep": object}
    kinds = ["SAINT", "FTTransformer", "TabFastFormer", "TabTransformer", "SelfAttentionMLP", "ContextAttentionMLP",
             "TabPerceiver"]
    space |= {name: type(component) if type(component).__name__ == name else type(name, (), {}) for name in kinds}
    exec(compile(code_of("pytorch_widedeep", "training/_feature_importance.py", "TransformerBasedFeatureImportance"),
                 "package", "exec"), space)
    package = object.__new__(space["TransformerBasedFeatureImportance"])
    package.model_type = package._model_type(module)
    return {"widedeep": package._feature_importance(module)[0][0]}


def survey_attribution(maps, class_tokens):
    """TabSurvey's `attribute`, of the first layer's map [heads, queries, keys]."""
    first = maps[0].reshape(-1, *maps[0].shape[-2:])[:, class_tokens:, class_tokens:]
    return {"borisov-diagonal": torch.stack([one.diagonal() for one in first]).sum(0),
            "borisov-column": first.sum(0).sum(0)}


def survey(class_tokens):
    def attributions(module, inputs):
        with models.recorded_softmaxes() as maps:
            module(*inputs)
        return survey_attribution(maps, class_tokens)
    return attributions


WANTED = {
    "rtdl-old.mixed": rtdl_recipe,
    "rtdl-old.numbers": rtdl_recipe,
    "pt-ft.mixed": pytorch_tabular_importance,
    "pt-ft.numbers": pytorch_tabular_importance,
    "wd-tab.class": widedeep_importance,
    "wd-tab.embedded": widedeep_importance,
    "wd-tab.mixed": widedeep_importance,
    "wd-saint.class": widedeep_importance,
    "saint.col": survey(1),
    "lucid-tab.survey": survey(0),
}


def word(id_):
    return f"word {id_}"


def write_rows(path, names, inputs):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for row in range(ROWS):
            numbers = [] if inputs[0] is None else [f"{number:.9g}" for number in inputs[0][row].tolist()]
            words = [] if inputs[1] is None else [word(id_) for id_ in inputs[1][row].tolist()]
            writer.writerow(numbers + words)


def write_case(case, compute):
    folder = FOLDER / case.name
    folder.mkdir(parents=True, exist_ok=True)
    module = case.module.double().eval()
    models.draw(module, case.seed)
    module = module.float().double()  # what is saved
    generator = torch.Generator().manual_seed(case.seed + 1)
    ids = case.ids or [(0, count) for count in case.counts]
    numbers = torch.randn((ROWS, case.numbers), generator=generator).double() if case.numbers else None
    words = torch.stack([torch.randint(*one, (ROWS,), generator=generator) for one in ids], 1) if case.counts else None
    inputs = [numbers, words]
    found = {}
    for row in range(ROWS):
        for name, values in compute(module, one_row(inputs, row)).items():
            found.setdefault(name, []).append(values.detach().double().tolist())
    save_file({name: (tensor.float() if tensor.is_floating_point() else tensor).contiguous()
               for name, tensor in module.state_dict().items()}, folder / "model.safetensors")
    columns = [{"name": f"number {at}", "kind": "number", "input": "x_cont", "at": [at]} for at in range(case.numbers)]
    for at, (first, last) in enumerate(ids if case.counts else []):
        columns.append({"name": f"category {at}", "kind": "category", "input": "x_cat", "at": [at],
                        "categories": [word(id_) for id_ in range(first, last)], "ids": list(range(first, last))})
    model = {"heads": case.heads} | ({"activation": case.activation} if case.activation else {})
    (folder / "table.json").write_text(json.dumps({
        "schema": "whyformer.table/1", "model": model, "task": {"kind": "multiclass"}, "columns": columns,
        "background": {"rows": "rows.csv"}}, indent=1) + "\n")
    write_rows(folder / "rows.csv", [column["name"] for column in columns], inputs)
    (folder / "presets.json").write_text(json.dumps(found) + "\n")
    print(case.name, {name: np.array(values).shape for name, values in found.items()},
          sum(file.stat().st_size for file in folder.iterdir()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lucid", nargs=2, default=[None, None], help="folders of 0.2.6 and 0.3.0")
    models.LUCID[:] = parser.parse_args().lucid
    families = {name.split(".")[0] for name in WANTED}
    makers = {"rtdl-old": models.rtdl_old, "pt-ft": models.pytorch_tabular, "wd-tab": models.widedeep, "saint": models.saint,
              "lucid-tab": models.tab_survey}
    for family, maker in makers.items():
        assert family in families
        for case in maker():
            if case.name in WANTED:
                write_case(case, WANTED[case.name])


if __name__ == "__main__":
    main()
