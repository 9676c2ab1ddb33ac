"""Writes tests/golden/tokenizers: small tokenizers, nasty texts, and what the reference makes of them.

Versions: tokenizers 0.23.3, transformers 5.22.2, sentencepiece 0.2.2, Python 3.11.
Usage: python scripts/golden/tokenizers_golden.py --out tests/golden/tokenizers

Each folder <name>/ holds a tokenizer as a model would ship it. texts.jsonl.gz has one input per line:
{"text": ..., "pair": ..., "max_length": ...} (the last two optional). <name>.expected.gz has one line per input,
fields between tabs: ids, start-end offsets, words (-1 = none), type ids, special mask; values between spaces.
A line that is only "-" means that this tokenizer does not test this input.
Everything is trained on the text below, with fixed seeds, on one thread.
"""

import argparse
import collections
import gzip
import json
import pathlib
import random
import tempfile
import unicodedata

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer

WORDS = """the a of and to in is it that was for on with as this film movie story good great bad boring bright dark
river mountain garden window table quickly slowly never always people children walked talked running jumping happier
sadness beautiful wonderful terrible unbelievable reading writing letter number three seven forest winter summer
houses house unhappy redo rebuild machine learning explain explanation attention token layer gradient café naïve
résumé façade über straße smörgåsbord jalapeño coöperate Zürich Łódź İstanbul Αθήνα σοφία Москва книга שלום ספר سلام
كتاب 中文 文字 日本語 テスト 한국어 사람 हिन्दी नमस्ते ไทย 2023 1999 3.14 100% $5 U.S. e-mail don't it's we'll they're
mother-in-law (aside) "quoted" [sic] hello world again together""".split()

SPECIAL_LITERALS = ["[CLS]", "[SEP]", "[MASK]", "[UNK]", "[PAD]", "<s>", "</s>", "<mask>", "<unk>", "<pad>", "[mask]",
                    "[MASK]like", "pre<mask>", " <mask> ", "<mask>  x", "new token", "  new token  ", "Movie", "moviee"]

SNIPPETS = ["", " ", "  ", "\t", "\n", "\r\n", "\u200b", "\u00a0", "\ufeff", "\u3000", "e\u0301", "é", "ﬁ", "ﬃ", "ſ", "ß",
            "ẞ", "İ", "I\u0307", "ı", "ΣΊΣΥΦΟΣ", "ＦＵＬＬ１２", "½ ⅓ ① Ⅷ", "한국", "\u1112\u1161\u11ab", "각\u11a8", "中文字符",
            "ｶﾞ", "か\u3099", "العَرَبِ", "עִבְרִ", "नमस्ते", "क्षि", "ไทย", "\u0e33", "👩‍🚀", "👨‍👩‍👧", "👍🏽", "🇩🇪🇫🇷🇬", "❤️", "1️⃣",
            "\ufffd", "\ufffe", "\U0010ffff", "\U000f0000", "\u0378", "\U0001d49c", "\U00020000", "豈", "http://a.b/c?d=%20",
            "me@ex.org", "1,000", "don't I'll", "'S", "''s ``q''", "a--b---c", "...", "!?!", "$1 €5", "C++ #t @me", "\x00",
            "\x01\x02", "\x7f", "\x85", "\u2028", "\u00ad", "\u200d", "\u202e", "a\u0300\u0301\u0327", "q\u0307\u0323",
            "\u0344", "\u1e9b\u0323", "\u212b", "ö\u0308", "\u0958", "ŉ", "ΐ", "\ufdfa", "㍿", "™", "…", "µ", "▁", "▁▁a", "Ġ",
            "\u0301a", " \u0301", "\ua7cb\u1c89", "\u0130ST", "\u0600 1", "\r\u0301", "ab" * 60, "é" * 110, "x" * 101]

RANGES = [(0x20, 0x7E)] * 6 + [(0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x52F), (0x590, 0x6FF), (0x900, 0xDFF), (0xE00, 0xFFF),
                               (0x1100, 0x11FF), (0x1E00, 0x1FFF), (0x2000, 0x206F), (0x2070, 0x27BF), (0x2E00, 0x33FF),
                               (0x4E00, 0x9FFF), (0xA640, 0xABFF), (0xAC00, 0xD7A3), (0xF900, 0xFDFF), (0xFE00, 0xFFFF),
                               (0x10000, 0x11FFF), (0x16000, 0x18FFF), (0x1D000, 0x1EFFF), (0x1F000, 0x1FAFF),
                               (0x20000, 0x2FFFF), (0xE0000, 0xE01FF), (0x0, 0x1F), (0x7F, 0x9F), (0xE000, 0xF8FF)]


def sentences(count=1500):
    rng = random.Random(1)
    return [" ".join(rng.choice(WORDS) for _ in range(rng.randint(4, 14))).capitalize() + rng.choice([".", "!", "?", ""])
            for _ in range(count)]


def nasty_texts(count=2100):
    rng = random.Random(2)
    texts = SNIPPETS + SPECIAL_LITERALS + ["ab" * 300, "中" * 150, "a" + "\u0300" * 60]
    while len(texts) < count:
        kind = rng.random()
        if kind < 0.4:
            text = "".join(chr(rng.randint(*rng.choice(RANGES))) for _ in range(rng.randint(1, 9)))
        elif kind < 0.65:
            text = rng.choice(["", " ", "  ", "\t"]).join(rng.choice(SNIPPETS[:-3] + SPECIAL_LITERALS) for _ in range(rng.randint(2, 3)))
        elif kind < 0.9:
            spaces = [" ", " ", "  ", "\u00a0", "\n", "\t", ", ", "", "\u200b", "\u3000"]
            text = "".join(rng.choice(WORDS) + rng.choice(spaces) for _ in range(rng.randint(1, 6)))
        else:
            marks = [chr(rng.randint(0x41, 0x7A)), chr(rng.randint(0x300, 0x345)), chr(rng.randint(0x93C, 0x94D)), " ", "\u200d"]
            text = "".join(rng.choice(marks) for _ in range(rng.randint(2, 12)))
        if rng.random() < 0.1:
            text = unicodedata.normalize("NFD", text)
        texts.append(text)
    return texts


def inputs():
    """Every text once: alone, in a pair, cut off, or both."""
    rng = random.Random(3)
    texts = nasty_texts()
    short = [text for text in texts if len(text) < 40]
    for index, text in enumerate(texts):
        item = {"text": text}
        if index % 4 in (2, 3):
            item["pair"] = rng.choice(short)
        # The package also builds every overflowing combination, so only short texts are cut off.
        if index % 4 in (1, 3) and len(text) < 200:
            item["max_length"] = rng.randint(5, 14)
        yield item


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def save(tokenizer, folder):
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)


def wordpiece_vocabulary(words, size):
    """The package's WordPiece trainer is not deterministic, so: characters, then the most frequent ends of words."""
    pieces = collections.Counter()
    for word in words:
        for length in range(2, len(word) + 1):
            pieces[word[:length]] += 1
            pieces["##" + word[-length:]] += 1
    characters = sorted({character for word in words for character in word})
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters, *("##" + c for c in characters)]
    frequent = sorted(pieces, key=lambda piece: (-pieces[piece], piece))
    return vocabulary + frequent[:size - len(vocabulary)]


def wordpiece(lowercase):
    normalizer, splitter = normalizers.BertNormalizer(lowercase=lowercase), pre_tokenizers.BertPreTokenizer()
    words = [word for text in sentences() for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(text))]
    vocabulary = {token: index for index, token in enumerate(wordpiece_vocabulary(words, 700))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, splitter
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return tokenizer


def ordered_vocabulary(tokenizer):
    vocabulary = tokenizer.get_vocab()
    return sorted(vocabulary, key=vocabulary.get)


def make_bert_vocab_txt(folder):
    tokenizer = wordpiece(lowercase=True)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("".join(token + "\n" for token in ordered_vocabulary(tokenizer)), encoding="utf-8")
    write_json(folder / "config.json", {"model_type": "bert"})
    write_json(folder / "tokenizer_config.json", {"do_lower_case": True, "model_max_length": 512})


def make_bert_cased(folder):
    tokenizer = wordpiece(lowercase=False)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.add_tokens([AddedToken("new token", lstrip=True, rstrip=True), AddedToken("Movie", single_word=True)])
    save(tokenizer, folder)


def byte_level_bpe(add_prefix_space):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
    mask = AddedToken("<mask>", lstrip=True, special=True, normalized=False)
    trainer = trainers.BpeTrainer(vocab_size=700, special_tokens=["<s>", "<pad>", "</s>", "<unk>", mask], show_progress=False,
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.train_from_iterator(sentences(), trainer)
    return tokenizer


def make_roberta(folder):
    tokenizer = byte_level_bpe(add_prefix_space=True)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=True)
    save(tokenizer, folder)


def make_roberta_vocab_json(folder):
    folder.mkdir(parents=True, exist_ok=True)
    byte_level_bpe(add_prefix_space=False).model.save(str(folder))
    write_json(folder / "config.json", {"model_type": "roberta"})
    write_json(folder / "special_tokens_map.json",
               {"mask_token": {"content": "<mask>", "lstrip": True, "normalized": False, "rstrip": False, "single_word": False}})


def character_rules():
    """A small normalisation table in SentencePiece's TSV form: full-width forms, ligatures, spaces, controls."""
    rules = {}
    for point in [*range(0xA0, 0x180), *range(0x2000, 0x2070), *range(0x2100, 0x2190), *range(0x2460, 0x2474),
                  *range(0xFB00, 0xFB07), *range(0xFF01, 0xFFA0), 0x3000, 0xFDFA, 0x33FF]:
        normal = unicodedata.normalize("NFKC", chr(point))
        if normal != chr(point):
            rules[chr(point)] = normal
            decomposed = unicodedata.normalize("NFD", chr(point))
            if decomposed != chr(point):
                rules[decomposed] = normal
    for point in [*range(0x1, 0x9), 0x7F, 0xAD, 0x200B, 0x200E, 0xFEFF]:
        rules[chr(point)] = ""
    for base in "aeiouAEIOU":
        for mark in "\u0300\u0301\u0302\u0308":
            rules[base + mark] = unicodedata.normalize("NFC", base + mark)
    return "".join("{}\t{}\n".format(" ".join(f"{ord(c):X}" for c in source), " ".join(f"{ord(c):X}" for c in target))
                   for source, target in sorted(rules.items()) if source != target)


def train_sentencepiece(path, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "text.txt").write_text("\n".join(sentences()), encoding="utf-8")
        (scratch / "rules.tsv").write_text(character_rules(), encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            input=str(scratch / "text.txt"), model_prefix=str(scratch / "m"), vocab_size=370, model_type="unigram",
            num_threads=1, minloglevel=2, normalization_rule_tsv=str(scratch / "rules.tsv"), **options)
        model = sentencepiece_model_pb2.ModelProto.FromString((scratch / "m.model").read_bytes())
    # Where the model was trained is no business of the file.
    del model.trainer_spec.input[:]
    model.trainer_spec.model_prefix = ""
    model.normalizer_spec.normalization_rule_tsv = ""
    path.write_bytes(model.SerializeToString(deterministic=True))
    return model


def make_albert(folder):
    train_sentencepiece(folder / "spiece.model", pad_id=0, unk_id=1, bos_id=-1, eos_id=-1,
                        control_symbols=["[CLS]", "[SEP]", "[MASK]"])
    write_json(folder / "config.json", {"model_type": "albert"})


def make_xlm_roberta(folder):
    train_sentencepiece(folder / "sentencepiece.bpe.model", unk_id=0, bos_id=1, eos_id=2, pad_id=-1,
                        user_defined_symbols=["new token"])
    write_json(folder / "config.json", {"model_type": "xlm-roberta"})


def make_unigram(folder):
    """Unigram with byte fallback and the normalizers that move offsets most."""
    with tempfile.TemporaryDirectory() as scratch:
        model = train_sentencepiece(pathlib.Path(scratch) / "m.model", unk_id=0, bos_id=1, eos_id=2, pad_id=-1)
    vocabulary = [(piece.piece, piece.score) for piece in model.pieces] + [(f"<0x{byte:02X}>", -15.0) for byte in range(256)]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=0, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.Nmt(), normalizers.Precompiled(model.normalizer_spec.precompiled_charsmap), normalizers.NFKC(),
        normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip(left=False, right=True)])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    tokenizer.add_special_tokens(["<s>", "</s>", AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B:1 </s>:1", special_tokens=[("<s>", 1), ("</s>", 2)])
    save(tokenizer, folder)


def make_bpe_words(folder):
    """BPE over ASCII characters, all others unknown, with digits and punctuation split off."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.Punctuation("contiguous")])
    trainer = trainers.BpeTrainer(vocab_size=500, special_tokens=["<unk>", "<s>", "</s>"], show_progress=False)
    tokenizer.train_from_iterator([text.encode("ascii", "ignore").decode() for text in sentences()], trainer)
    save(tokenizer, folder)


def make_bpe_regex(folder):
    """Byte-level BPE split by a regular expression of the kind GPT-4 uses."""
    tokenizer = byte_level_bpe(add_prefix_space=False)
    expression = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
                  r"\s*[\r\n]+|\s+(?!\S)|\s+")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(expression), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=True, add_prefix_space=False),
        processors.TemplateProcessing(single="<s> $A", pair="<s> $A </s> $B:1", special_tokens=[("<s>", 0), ("</s>", 2)])])
    save(tokenizer, folder)


MAKERS = {"bert_vocab_txt": make_bert_vocab_txt, "bert_cased": make_bert_cased, "roberta": make_roberta,
          "roberta_vocab_json": make_roberta_vocab_json, "albert": make_albert, "xlm_roberta": make_xlm_roberta,
          "unigram": make_unigram, "bpe_words": make_bpe_words, "bpe_regex": make_bpe_regex}


# Byte-level tokenizers make many tokens of nasty texts; these two see every fifth one.
SPARSE = {"roberta_vocab_json", "bpe_regex"}


def reference(folder):
    if (folder / "tokenizer.json").exists():
        return Tokenizer.from_file(str(folder / "tokenizer.json"))
    return AutoTokenizer.from_pretrained(str(folder)).backend_tokenizer


def expected_line(tokenizer, item):
    tokenizer.no_padding()
    if "max_length" in item:
        tokenizer.enable_truncation(item["max_length"])
    else:
        tokenizer.no_truncation()
    encoding = tokenizer.encode(item["text"], item.get("pair"))
    fields = [encoding.ids, [f"{start}-{end}" for start, end in encoding.offsets],
              [-1 if word is None else word for word in encoding.word_ids], encoding.type_ids, encoding.special_tokens_mask]
    return "\t".join(" ".join(map(str, field)) for field in fields)


def write_lines(path, lines):
    with open(path, "wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=9, mtime=0) as out:
        out.write("".join(line + "\n" for line in lines).encode("utf-8"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    out = parser.parse_args().out
    items = list(inputs())
    out.mkdir(parents=True, exist_ok=True)
    write_lines(out / "texts.jsonl.gz", [json.dumps(item) for item in items])
    for name, make in MAKERS.items():
        make(out / name)
        tokenizer = reference(out / name)
        step = 5 if name in SPARSE else 1  # prime to the four kinds of input
        write_lines(out / f"{name}.expected.gz",
                    [expected_line(tokenizer, item) if index % step == 0 else "-" for index, item in enumerate(items)])


if __name__ == "__main__":
    main()
