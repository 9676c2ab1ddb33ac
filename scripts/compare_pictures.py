#!/usr/bin/env python3
"""Compares picture models of full size with PyTorch: outputs, attention maps, their gradients, and times.

The models have the sizes of the known ones (ViT-B/16, Swin-T, DINOv2-S, BEiT-B, CLIP-B/32) and random
weights from a seed. Needs what scripts/golden/picture_models_golden.py needs, a few gigabytes of memory and of
disk, and the tests of the project:

    python scripts/compare_pictures.py --tests build/release/src/whyformer_tests --folder /tmp/pictures

PyTorch's expected values are in double precision, so the deviations printed are ours; its times are of
single precision. Times are processor time on one thread, the least of five runs, which other work on the
machine disturbs little. "with gradients" means those of one output with respect to all attention maps.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent / "golden"))
import picture_models_golden as golden  # noqa: E402
import torch  # noqa: E402
import transformers as hf  # noqa: E402


def models():
    eager = dict(attn_implementation="eager", num_labels=1000)
    yield "vit-b16", lambda: hf.ViTForImageClassification(hf.ViTConfig(**eager))
    yield "swin-t", lambda: hf.SwinForImageClassification(hf.SwinConfig(**eager))
    yield "dinov2-s", lambda: hf.Dinov2ForImageClassification(
        hf.Dinov2Config(hidden_size=384, num_attention_heads=6, image_size=518, patch_size=14, **eager))
    yield "beit-b", lambda: hf.BeitForImageClassification(
        hf.BeitConfig(use_relative_position_bias=True, **eager))
    yield "clip-b32", lambda: hf.CLIPVisionModelWithProjection(
        hf.CLIPVisionConfig(attn_implementation="eager"))


def output_of(result):
    return result.logits if "logits" in result else result.image_embeds


def best_milliseconds(call):
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return 1e3 * best


def gradients(model, pixels):
    golden.maps.clear()
    output = output_of(model(pixels))
    torch.autograd.grad(output[0, 1], golden.maps)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    hf.logging.set_verbosity_error()
    golden.FOLDER = arguments.folder
    for name, make in models():
        model = make()
        folder = golden.start(name, model, seed=1)
        pixels = torch.randn(1, 3, 224, 224)
        torch.set_num_threads(1)
        with torch.no_grad():
            model.set_attn_implementation("sdpa")
            plain = best_milliseconds(lambda: model(pixels))
        model.set_attn_implementation("eager")
        both = best_milliseconds(lambda: gradients(model, pixels))
        print(f"{name:12} PyTorch: forward {plain:.1f} ms  with gradients {both:.1f} ms", flush=True)
        torch.set_num_threads(os.cpu_count())
        model.double()
        tensors = {}
        case = golden.run_case(lambda given: output_of(model(given)), (224, 224), 1, "224x224", tensors, 1,
                               batch=1)
        head = "embedding" if name.startswith("clip") else "logits"
        golden.save(folder, model, tensors, {"cases": [case | {"head": head}]}, False)
    filter_ = "--gtest_filter=PictureModelsOfFullSize.*"
    environment = {**os.environ, "WHYFORMER_PICTURE_MODELS": str(arguments.folder)}
    return subprocess.run([arguments.tests, filter_], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
