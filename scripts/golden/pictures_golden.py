#!/usr/bin/env python3
"""Writes small pictures of every odd kind with the pixels PIL reads from them, PIL's resized pictures and the pixel
values of transformers' image processors, for the tests of src/formats/pictures and src/readers/pictures.

Made with pillow 13.0.0 (libjpeg-turbo 3.2.0, libwebp 1.6.0), transformers 5.22.2, numpy 2.4.6:
  python scripts/golden/pictures_golden.py tests/golden/pictures
All pictures are computed here; none is anybody's.
"""
import gzip
import io
import json
import struct
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

PATTERNS = 3


def pattern(kind, width, height):
    """0: ramps that wrap around, 1: noise, 2: black and white edges. The tests compute the same."""
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(3), indexing="ij")
    x, y, c = x.astype(np.uint32), y.astype(np.uint32), c.astype(np.uint32)
    if kind == 0:
        values = x * 7 + y * 13 + c * 85
    elif kind == 1:
        values = x * np.uint32(374761393) + y * np.uint32(668265263) + c * np.uint32(2246822519)
        values = (values ^ (values >> 13)) * np.uint32(1274126177)
        values = values ^ (values >> 16)
    else:
        values = ((x // 3 + y // 2 + c) % 2) * 255
    return (values & 255).astype(np.uint8)


def smooth(width, height, channels=3):
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(channels), indexing="ij")
    return (127.5 + 127.5 * np.sin(x * (0.21 + 0.07 * c) + y * 0.33 + c)).astype(np.uint8)


# PNG files, chunk by chunk, for PIL writes few of their kinds.
def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def packed_row(samples, depth):
    if depth == 16:
        return np.asarray(samples).astype(">u2").tobytes()
    if depth == 8:
        return np.asarray(samples).astype(np.uint8).tobytes()
    bits = "".join(format(int(sample), f"0{depth}b") for sample in samples)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))


ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def png(samples, depth, colour_type, before=b"", after=b"", interlaced=False):
    """samples: [height, width, channels] in the range of the depth."""
    height, width, _ = samples.shape
    passes = ADAM7 if interlaced else [(0, 0, 1, 1)]
    rows = []
    for left, top, right, down in passes:
        part = samples[top::down, left::right]
        if part.size:
            rows += [b"\0" + packed_row(row.reshape(-1), depth) for row in part]
    header = struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + before
            + chunk(b"IDAT", zlib.compress(b"".join(rows), 9)) + after + chunk(b"IEND", b""))


def exif(orientation, big_endian=False, kind=3):
    order = ">" if big_endian else "<"
    value = struct.pack(order + ("HH" if kind == 3 else "I"), *([orientation, 0] if kind == 3 else [orientation]))
    other = struct.pack(order + "HHIHH", 0x0128, 3, 1, 2, 0)
    entry = struct.pack(order + "HHI", 0x0112, kind, 1) + value
    return ((b"MM\0*" if big_endian else b"II*\0") + struct.pack(order + "IH", 8, 2) + entry + other
            + struct.pack(order + "I", 0))


def png_files():
    noise = pattern(1, 19, 11)
    wide = noise.astype(np.uint16) * 251 + 17
    indices = noise[:, :, :1].astype(int)
    palette = chunk(b"PLTE", bytes((i * 37 + 11) % 256 for i in range(3 * 16)))
    colours = {"grey": (0, 1), "rgb": (2, 3), "grey_alpha": (4, 2), "rgba": (6, 4)}
    for name, (colour_type, channels) in colours.items():
        four = np.concatenate([noise, noise[:, ::-1, :1]], axis=2)[:, :, :channels]
        for depth in ([1, 2, 4, 8] if channels == 1 else [8]):
            yield f"{name}_{depth}.png", png(four >> (8 - depth), depth, colour_type)
            yield f"{name}_{depth}_interlaced.png", png(four >> (8 - depth), depth, colour_type, interlaced=True)
        sixteen = np.concatenate([wide, wide[:, ::-1, :1]], axis=2)[:, :, :channels]
        yield f"{name}_16.png", png(sixteen, 16, colour_type)
        yield f"{name}_16_interlaced.png", png(sixteen, 16, colour_type, interlaced=True)
    yield "grey_16_dark.png", png(wide[:, :, :1] // 200, 16, 0)
    for depth in [1, 2, 4, 8]:
        # Deeper palettes have indices without a colour.
        yield f"palette_{depth}.png", png(indices >> (8 - depth), depth, 3, palette)
    clear = chunk(b"tRNS", bytes([0, 128, 255, 7]))
    yield "palette_transparent.png", png(indices % 16, 8, 3, palette + clear)
    yield "palette_interlaced.png", png(indices % 16, 4, 3, palette + clear, interlaced=True)
    yield "grey_transparent.png", png(noise[:, :, :1], 8, 0, chunk(b"tRNS", struct.pack(">H", 17)))
    yield "rgb_transparent.png", png(noise, 8, 2, chunk(b"tRNS", struct.pack(">3H", 1, 2, 3)))
    yield "gamma.png", png(noise, 8, 2, chunk(b"gAMA", struct.pack(">I", 100000)))
    yield "one_pixel.png", png(noise[:1, :1], 8, 2)
    yield "exif_before.png", png(noise, 8, 2, chunk(b"eXIf", exif(6)))
    yield "exif_after.png", png(noise, 8, 2, after=chunk(b"eXIf", exif(8, big_endian=True)))


def saved(array, mode="RGB", **options):
    file = io.BytesIO()
    Image.fromarray(array, mode).save(file, **options)
    return file.getvalue()


def with_app1(jpeg, content):
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(content) + 2) + content + jpeg[2:]


def jpeg_files():
    colours, inks = smooth(37, 21), smooth(37, 21, 4)
    for name, subsampling in {"444": 0, "422": 1, "420": 2}.items():
        yield f"rgb_{name}.jpg", saved(colours, format="JPEG", quality=85, subsampling=subsampling)
    yield "progressive.jpg", saved(colours, format="JPEG", quality=70, progressive=True)
    yield "grey.jpg", saved(colours[:, :, 0], "L", format="JPEG", quality=85)
    yield "restarts.jpg", saved(colours, format="JPEG", quality=85, restart_marker_blocks=2)
    yield "stored_as_rgb.jpg", saved(colours, format="JPEG", quality=85, keep_rgb=True)
    yield "one_pixel.jpg", saved(colours[:1, :1], format="JPEG", quality=85)
    cmyk = saved(inks, "CMYK", format="JPEG", quality=85)
    adobe = cmyk.index(b"Adobe")
    yield "cmyk.jpg", cmyk
    yield "ycck.jpg", cmyk[:adobe + 11] + b"\2" + cmyk[adobe + 12:]
    plain = cmyk[:adobe - 4] + cmyk[adobe + 12:]
    yield "cmyk_without_adobe.jpg", plain
    small = saved(smooth(13, 7), format="JPEG", quality=85, subsampling=0)
    for orientation in range(1, 9):
        block = exif(orientation, big_endian=orientation % 2 == 0, kind=4 if orientation % 3 == 0 else 3)
        yield f"orientation_{orientation}.jpg", with_app1(small, b"Exif\0\0" + block)


def webp_files():
    colours, transparent = smooth(37, 21), pattern(1, 19, 11)
    transparent = np.concatenate([transparent, transparent[:, :, :1] // 128 * 255], axis=2)
    yield "lossy.webp", saved(colours, format="WEBP", quality=80)
    yield "lossless.webp", saved(pattern(1, 19, 11), format="WEBP", lossless=True)
    yield "lossy_alpha.webp", saved(smooth(37, 21, 4), "RGBA", format="WEBP", quality=80)
    yield "lossless_alpha.webp", saved(transparent, "RGBA", format="WEBP", lossless=True, exact=True)
    frames = [Image.fromarray(np.roll(transparent, i, axis=1), "RGBA") for i in range(3)]
    file = io.BytesIO()
    frames[0].save(file, format="WEBP", save_all=True, append_images=frames[1:], lossless=True, exact=True)
    yield "animation.webp", file.getvalue()
    yield "exif.webp", saved(colours, format="WEBP", quality=80, exif=exif(5))
    yield "xmp.webp", saved(colours, format="WEBP", quality=80, xmp=b'<x tiff:Orientation="6"/>')


def write_decoding(folder):
    index, raw = [], b""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in [*png_files(), *jpeg_files(), *webp_files()]:
        (folder / name).write_bytes(data)
        pixels = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB"))
        index.append({"file": name, "width": pixels.shape[1], "height": pixels.shape[0], "offset": len(raw)})
        raw += pixels.tobytes()
    lines = ",\n ".join(json.dumps(entry) for entry in index)
    (folder / "expected.json").write_text(f"[{lines}]\n")
    (folder / "expected.rgb.gz").write_bytes(gzip.compress(raw, mtime=0))


SIZES = [  # width, height -> width, height
    (1, 1, 1, 1), (1, 1, 5, 3), (1, 1, 32, 32), (7, 5, 1, 1), (1, 9, 1, 4), (9, 1, 4, 1), (1, 50, 7, 7),
    (50, 1, 7, 7), (7, 5, 7, 5), (7, 5, 5, 7), (7, 5, 14, 10), (7, 5, 8, 6), (7, 5, 6, 4), (7, 5, 21, 5),
    (7, 5, 7, 20), (2, 2, 64, 64), (3, 4, 100, 50), (16, 16, 15, 17), (16, 16, 32, 16), (33, 17, 16, 8),
    (100, 100, 10, 10), (100, 37, 31, 29), (37, 100, 29, 31), (224, 224, 224, 224), (225, 223, 224, 224),
    (256, 256, 224, 224), (300, 200, 224, 224), (200, 300, 224, 224), (97, 61, 224, 224), (640, 480, 32, 32),
    (640, 480, 64, 48), (641, 479, 63, 49), (1000, 3, 10, 3), (3, 1000, 3, 10), (1000, 750, 224, 168),
    (2048, 16, 16, 2048), (513, 511, 256, 255), (19, 23, 384, 384), (1500, 1000, 224, 224), (2000, 3000, 14, 21),
]


def write_resizing(folder):
    lines = []
    for width, height, to_width, to_height in SIZES:
        for kind in range(PATTERNS):
            source = Image.fromarray(pattern(kind, width, height))
            for filter in range(6):
                pixels = np.asarray(source.resize((to_width, to_height), filter))
                middle = pixels.reshape(-1)[pixels.size // 2:][:12]
                lines.append(json.dumps([kind, width, height, to_width, to_height, filter,
                                         zlib.crc32(pixels.tobytes()), middle.tolist()]))
    text = "[" + ",\n".join(lines) + "]\n"
    (folder / "resized.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


PROCESSORS = {
    "vit": {"image_processor_type": "ViTImageProcessor"},
    "vit_old": {"feature_extractor_type": "ViTFeatureExtractor", "do_normalize": True, "do_resize": True, "size": 384,
                "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5], "resample": 2},
    "vit_unscaled": {"image_processor_type": "ViTImageProcessorFast", "do_rescale": False, "resample": 0,
                     "image_mean": 120, "image_std": [60, 61, 62], "size": [96, 160]},
    "swin": {"image_processor_type": "ViTImageProcessor", "resample": 3, "image_mean": [0.485, 0.456, 0.406],
             "image_std": [0.229, 0.224, 0.225], "size": {"height": 224, "width": 224}, "rescale_factor": 0.00392156862745098},
    "deit": {"image_processor_type": "DeiTImageProcessor"},
    "deit_old": {"feature_extractor_type": "DeiTFeatureExtractor", "size": 256, "crop_size": 224, "resample": 3,
                 "do_center_crop": True, "image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]},
    "beit": {"image_processor_type": "BeitImageProcessor", "do_reduce_labels": False, "reduce_labels": True},
    "beit_cropped": {"feature_extractor_type": "BeitFeatureExtractor", "do_center_crop": True, "size": 256,
                     "crop_size": 200, "resample": 2},
    "dinov2": {"image_processor_type": "BitImageProcessor", "do_convert_rgb": True, "size": {"shortest_edge": 256},
               "image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]},
    "bit": {"image_processor_type": "BitImageProcessor"},
    "bit_padded": {"image_processor_type": "BitImageProcessor", "size": {"shortest_edge": 64},
                   "crop_size": {"height": 101, "width": 90}},
    "clip": {"image_processor_type": "CLIPImageProcessor", "crop_size": 224, "size": 224, "do_convert_rgb": True},
    "clip_unsized": {"image_processor_type": "CLIPImageProcessor", "do_resize": False, "crop_size": 150},
    "siglip": {"image_processor_type": "SiglipImageProcessor", "size": {"height": 96, "width": 128}, "resample": 1},
    "convnext": {"feature_extractor_type": "ConvNextFeatureExtractor", "size": 224, "crop_pct": 0.875, "resample": 3},
    "convnext_third": {"image_processor_type": "ConvNextImageProcessor", "size": {"shortest_edge": 100}, "crop_pct": 0.93},
    "convnext_large": {"image_processor_type": "ConvNextImageProcessor"},
    "unnormalised": {"image_processor_type": "ViTImageProcessor", "do_normalize": False, "resample": 5},
}
PICTURES = [(1, 300, 200), (0, 131, 257), (2, 224, 224)]  # pattern, width, height


def write_processors(folder):
    from transformers import AutoImageProcessor

    entries = []
    for name, config in PROCESSORS.items():
        with tempfile.TemporaryDirectory() as model:
            (Path(model) / "preprocessor_config.json").write_text(json.dumps(config))
            processor = AutoImageProcessor.from_pretrained(model, backend="pil")
        assert processor.backend == "pil", processor
        for kind, width, height in PICTURES:
            image = Image.fromarray(pattern(kind, width, height))
            values = np.asarray(processor(image, return_tensors="np")["pixel_values"][0])
            assert values.dtype == np.float32, values.dtype
            some = list(range(0, values.size, values.size // 20))
            entries.append({"name": f"{name} {width}x{height}", "config": config, "pattern": kind, "width": width,
                            "height": height, "shape": list(values.shape), "crc": zlib.crc32(values.tobytes()),
                            "places": some, "values": [float(values.reshape(-1)[i]) for i in some]})
    lines = ",\n".join(json.dumps(entry) for entry in entries)
    (folder / "processors.json").write_text(f"[{lines}]\n")


def main(folder):
    write_decoding(folder / "files")
    write_resizing(folder)
    write_processors(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
