#!/usr/bin/env python3
"""Train the built-in sentiment model from scratch.

Only needed to retrain; the engine reads the files this script writes.

    pip install torch==2.15.0 transformers==5.22.2 tokenizers==0.23.3 safetensors==0.8.0
    python scripts/train_sentiment.py --data ../shared/data/sst2 --out models/sentiment

Steps:
  1. a lower-cased WordPiece vocabulary from the SST-2 training phrases;
  2. classification training on the labelled phrases, from random weights;
  3. weights rounded to F16 and written.

train-heldout.tsv selects the epoch. dev.tsv is read once, at the end, to report the accuracy.
Everything runs on one CPU thread, so a seed gives the same model again on the same kind of machine.
"""

import argparse
import copy
import json
import math
import os
import random
import re
import tempfile
import time
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertForSequenceClassification, logging

PAD, UNK, CLS, SEP, MASK = range(5)
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

VOCABULARY = 8192
POSITIONS = 512
CONFIG = dict(hidden_size=128, num_hidden_layers=4, num_attention_heads=4, intermediate_size=512,
              hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1)

EXAMPLES = ["I cannot wait for next time", "This is so boring", "I like the movie",
            "She hates the book", "You look extremely confused"]


# ---------------------------------------------------------------------------------------- data

def read_tsv(path):
    """(sentence, label) pairs of a file with one header line."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()[1:]
    rows = (line.split("\t") for line in lines)
    return [(text.strip(), int(label)) for text, label in rows]


def as_written(text):
    """Treebank spelling back to ordinary spelling: "is n't" -> "isn't", "can not" -> "cannot"."""
    return re.sub(r"\bcan not\b", "cannot", text.replace(" n't", "n't"))


# ----------------------------------------------------------------------------------- tokenizer

def train_tokenizer(texts):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    respelled = [as_written(text) for text in texts]
    respelled = [new for new, old in zip(respelled, texts) if new != old]
    tokenizer.train_from_iterator(texts + respelled, trainers.WordPieceTrainer(
        vocab_size=VOCABULARY, special_tokens=SPECIAL, show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)])
    return tokenizer


def encode(tokenizer, texts):
    return [encoding.ids for encoding in tokenizer.encode_batch(texts)]


# ------------------------------------------------------------------------------------- batches

def shuffled_batches(sequences, size, rng):
    """Index batches in random order, each of sequences of similar length."""
    order = list(range(len(sequences)))
    rng.shuffle(order)
    batches = []
    for start in range(0, len(order), size * 40):
        block = sorted(order[start:start + size * 40], key=lambda i: len(sequences[i]))
        batches += [block[k:k + size] for k in range(0, len(block), size)]
    rng.shuffle(batches)
    return batches


def pad(sequences):
    ids = torch.full((len(sequences), max(map(len, sequences))), PAD)
    for row, sequence in zip(ids, sequences):
        row[:len(sequence)] = torch.tensor(sequence)
    return ids


def random_positions(ids, rng):
    """Half of the time the text starts at a random position, so that all positions are trained."""
    positions = torch.arange(ids.shape[1])
    if rng.random() < 0.5:
        positions[1:] += rng.randrange(POSITIONS - ids.shape[1] + 1)
    return positions.expand_as(ids)


# ------------------------------------------------------------------------------------ training

def make_optimizer(parameters, rate, decay):
    parameters = list(parameters)
    return torch.optim.AdamW(
        [dict(params=[p for p in parameters if p.ndim > 1], weight_decay=decay),
         dict(params=[p for p in parameters if p.ndim <= 1], weight_decay=0.0)],
        lr=rate, betas=(0.9, 0.98), fused=True)


def step(loss, optimizer, rate, progress, warmup=0.06):
    """One update at the warmed-up, cosine-decayed rate."""
    for group in optimizer.param_groups:
        group["lr"] = rate * min(1, progress / warmup) * 0.5 * (1 + math.cos(math.pi * progress))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_((p for g in optimizer.param_groups for p in g["params"]), 1.0)
    optimizer.step()


def finetune(model, tokenizer, train, heldout, rng, epochs, out, rate=5e-4, size=96):
    """Classification training; writes and returns the averaged weights of the best epoch."""
    plain = encode(tokenizer, [text for text, _ in train])
    respelled = encode(tokenizer, [as_written(text) for text, _ in train])
    labels = [label for _, label in train]
    optimizer = make_optimizer(model.parameters(), rate, decay=0.05)
    average = copy.deepcopy(model).eval()
    total, done, start = epochs * math.ceil(len(plain) / size), 0, time.time()
    best, best_accuracy = None, 0.0
    for epoch in range(epochs):
        model.train()
        losses = []
        for batch in shuffled_batches(plain, size, rng):
            texts = [(plain if rng.random() < 0.5 else respelled)[i] for i in batch]
            targets = [labels[i] for i in batch]
            ids = pad(texts)
            dropped = (torch.rand(ids.shape) < 0.1) & (ids > MASK)
            logits = model(input_ids=ids.masked_fill(dropped, MASK),
                           attention_mask=(ids != PAD).long(),
                           position_ids=random_positions(ids, rng)).logits
            loss = F.cross_entropy(logits, torch.tensor(targets), label_smoothing=0.1)
            step(loss, optimizer, rate, done / total)
            losses.append(loss.item())
            done += 1
            if done % 10 == 0:
                keep = min(0.99, done / (done + 100))
                with torch.no_grad():
                    for mean, new in zip(average.parameters(), model.parameters()):
                        mean.lerp_(new, 1 - keep)
        reached = accuracy(average, tokenizer, heldout)
        print(f"  labels, epoch {epoch + 1}: loss {sum(losses) / len(losses):.3f}, "
              f"held-out phrases {reached:.4f}, {time.time() - start:.0f} s", flush=True)
        if reached > best_accuracy:
            best, best_accuracy = copy.deepcopy(average), reached
            write(best, tokenizer, out)
    return best


# ---------------------------------------------------------------------- evaluation and writing

@torch.no_grad()
def probabilities(model, tokenizer, texts, size=64):
    """Probability of the positive label for each text."""
    model.eval()
    sequences = [s if len(s) <= POSITIONS else s[:POSITIONS - 1] + [SEP]
                 for s in encode(tokenizer, texts)]
    order = sorted(range(len(sequences)), key=lambda i: len(sequences[i]))
    result = torch.zeros(len(sequences))
    for start in range(0, len(order), size):
        chosen = order[start:start + size]
        ids = pad([sequences[i] for i in chosen])
        logits = model(input_ids=ids, attention_mask=(ids != PAD).long()).logits
        result[chosen] = logits.softmax(-1)[:, 1]
    return result


def accuracy(model, tokenizer, rows):
    positive = probabilities(model, tokenizer, [text for text, _ in rows]) > 0.5
    return (positive == torch.tensor([label == 1 for _, label in rows])).float().mean().item()


def rounded(model):
    """The model with its weights rounded to F16, computing in F32."""
    return copy.deepcopy(model).half().float()


def write(model, tokenizer, out):
    """Weights as F16; each file is complete before it replaces an older one."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as folder:
        folder = Path(folder)
        copy.deepcopy(model).half().save_pretrained(folder)
        config = json.loads((folder / "config.json").read_text())
        config["dtype"] = "float32"  # the type to compute in
        (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
        tokenizer.save(str(folder / "tokenizer.json"))
        settings = dict(tokenizer_class="BertTokenizer", do_lower_case=True,
                        model_max_length=POSITIONS, pad_token="[PAD]", unk_token="[UNK]",
                        cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]")
        (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n")
        for path in folder.iterdir():
            path.chmod(0o644)
            os.replace(path, out / path.name)


def main():
    parser = argparse.ArgumentParser(description="Train the built-in sentiment model from scratch.")
    parser.add_argument("--data", default="../shared/data/sst2",
                        help="folder of train.tsv, train-heldout.tsv and dev.tsv")
    parser.add_argument("--out", default="models/sentiment")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=2)
    arguments = parser.parse_args()

    start = time.time()
    torch.set_num_threads(1)
    torch.manual_seed(arguments.seed)
    rng = random.Random(arguments.seed)
    logging.set_verbosity_error()
    logging.disable_progress_bar()

    data = Path(arguments.data)
    train, heldout = read_tsv(data / "train.tsv"), read_tsv(data / "train-heldout.tsv")
    tokenizer = train_tokenizer([text for text, _ in train])

    config = BertConfig(vocab_size=VOCABULARY, max_position_embeddings=POSITIONS, pad_token_id=PAD,
                        id2label={0: "negative", 1: "positive"},
                        label2id={"negative": 0, "positive": 1}, **CONFIG)
    model = BertForSequenceClassification(config)
    print(f"{len(train)} phrases, "
          f"{sum(p.numel() for p in model.parameters())} parameters, "
          f"{time.time() - start:.0f} s", flush=True)

    model = finetune(model, tokenizer, train, heldout, rng, arguments.epochs, arguments.out)

    dev = read_tsv(data / "dev.tsv")
    stored = rounded(model)
    print(f"dev accuracy: {accuracy(model, tokenizer, dev):.4f} (F32), "
          f"{accuracy(stored, tokenizer, dev):.4f} (as stored, F16)")
    for text, positive in zip(EXAMPLES, probabilities(stored, tokenizer, EXAMPLES)):
        print(f"  {positive:.3f} positive  {text}")
    print(f"total {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
