#!/usr/bin/env python3
"""Writes tests/golden/tables/models: tiny random models of table packages and what PyTorch says of them.

Made with Python 3.11, torch 2.15.0, numpy 2.4.6, safetensors 0.8.0, einops 0.8.2 and

    pip install --no-deps rtdl_revisiting_models==0.0.2 rtdl==0.0.13 pytorch_tabular==1.2.0 \\
        pytorch-widedeep==1.7.0 pytorch-frame==0.3.0 lit-saint==0.4.1
    pip install --no-deps --target lucid026 tab-transformer-pytorch==0.2.6
    pip install --no-deps --target lucid030 tab-transformer-pytorch==0.3.0

    python scripts/golden/table_models_golden.py --lucid lucid026 lucid030

Of pytorch_tabular, pytorch-widedeep, pytorch-frame and lit-saint only the modules that a model is made of are
imported, so that their many dependencies are not needed. SAINT, TabSurvey's TabTransformer, the
FT-Transformer paper's code and AutoGluon's ft_transformer are no packages, or large ones: their formulas are written
below.

One file per case, FAMILY.COLUMNS.safetensors, in float64: "weights.NAME" is the state_dict as it
is; "x_cont" [rows, N] and "x_cat" [rows, C] are encoded rows, "x_missing" [rows, N + C] says which cells
have no value; "counts" [C] categories of each column; "first_id" [1], where it is not 0, of its first category; "heads" [1]; "activation.NAME" names a function that is not the package's default; "answers" [rows, outputs]; of models whose rows attend to each other these are of rows alone, and
"block" those of all rows together, "block_gradient" of each row's first one to its own numbers, and
"frozen" with all others as they are without it; "map.I" [rows, heads, queries, keys] the attention of
site I and "gradient.I" the gradient of each row's first answer with respect to it.
"""
import argparse
import pathlib

from table_cases import write
from table_more_packages import lit_saint, pytorch_frame_tab, tab_survey
from table_packages import LUCID, lucid_ft, lucid_tab, pytorch_frame, pytorch_tabular
from table_rtdl import autogluon, rtdl_old, rtdl_paper, rtdl_revisiting
from table_saint import saint
from table_widedeep import widedeep

FAMILIES = [rtdl_revisiting, rtdl_old, rtdl_paper, lucid_ft, lucid_tab, pytorch_tabular, autogluon,
            pytorch_frame, saint, widedeep, tab_survey, pytorch_frame_tab, lit_saint]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path,
                        default=pathlib.Path(__file__).parents[2] / "tests/golden/tables/models")
    parser.add_argument("--only", default="", help="names that begin so")
    parser.add_argument("--lucid", nargs=2, default=[None, None], help="folders of 0.2.6 and 0.3.0")
    arguments = parser.parse_args()
    LUCID[:] = arguments.lucid
    arguments.out.mkdir(parents=True, exist_ok=True)
    for family in FAMILIES:
        if not family.__name__.startswith(arguments.only):
            continue
        for case in family():
            write(case, arguments.out)


if __name__ == "__main__":
    main()
