"""Small text transformers with random weights, for onnx_models_golden.py."""

import torch
import transformers as hf

from onnx_small_model import SmallModel, site

BATCH, TOKENS, TARGET_TOKENS, VOCABULARY = 2, 7, 5, 50


def token_ids(tokens=TOKENS):
    return torch.randint(5, VOCABULARY, (BATCH, tokens))


def padded_mask(tokens=TOKENS):
    """The last two tokens of the last text are padding."""
    mask = torch.ones(BATCH, tokens, dtype=torch.int64)
    mask[-1, -2:] = 0
    return mask


SMALL = dict(vocab_size=VOCABULARY, hidden_size=16, num_hidden_layers=2, num_attention_heads=4,
             intermediate_size=24, max_position_embeddings=16, pad_token_id=1, num_labels=3)


def self_sites(heads=4, layers=2, tokens=TOKENS):
    return [site(heads, tokens, tokens)] * layers


def encoder(name, types=False, **changes):
    """A sequence classifier `name` of transformers with SMALL's sizes."""

    def make(attention):
        config = getattr(hf, name + "Config")(**{**SMALL, **changes})
        kind = getattr(hf, name + "ForSequenceClassification")
        model = kind._from_config(config, attn_implementation=attention)
        ids = token_ids()
        ids[-1, -2:] = 1
        inputs = {"input_ids": ids, "attention_mask": padded_mask()}
        if types:
            inputs["token_type_ids"] = torch.randint(0, 2, (BATCH, TOKENS))
        return SmallModel(model, inputs, lambda out: out.logits, self_sites(),
                          model.get_input_embeddings())

    return make


class SentenceVectors(torch.nn.Module):
    """Mean pooling and unit length, as files of sentence vectors have them."""

    def __init__(self, model):
        super().__init__()
        self.model, self.config = model, model.config

    def forward(self, input_ids, attention_mask):
        states = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        mask = attention_mask.unsqueeze(-1).expand(states.size()).float()
        mean = (states * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return torch.nn.functional.normalize(mean, p=2, dim=1)


def sentence_vectors(attention):
    model = hf.BertModel._from_config(hf.BertConfig(**SMALL), attn_implementation=attention)
    ids = token_ids()
    ids[-1, -2:] = 1
    return SmallModel(SentenceVectors(model), {"input_ids": ids, "attention_mask": padded_mask()},
                      lambda out: out, self_sites(), model.get_input_embeddings())


def decoder(name, **changes):
    def make(attention):
        config = getattr(hf, name + "Config")(**{**SMALL, "use_cache": False, **changes})
        model = getattr(hf, name + "ForSequenceClassification")._from_config(
            config, attn_implementation=attention)
        ids = token_ids()
        ids[-1, -2:] = 1
        return SmallModel(model, {"input_ids": ids, "attention_mask": padded_mask()},
                          lambda out: out.logits, self_sites(), model.get_input_embeddings())

    return make


def encoder_decoder_sites(sources=TOKENS, targets=TARGET_TOKENS, layers=2, heads=4):
    decoder_layer = [site(heads, targets, targets), site(heads, targets, sources)]
    return [site(heads, sources, sources)] * layers + decoder_layer * layers


def translator(name, **config):
    """Encoder and decoder; the gradient is asked for at the encoder's embeddings, read first."""

    def make(attention):
        settings = getattr(hf, name + "Config")(use_cache=False, vocab_size=VOCABULARY, **config)
        kind = {"T5": hf.T5ForConditionalGeneration, "Bart": hf.BartForConditionalGeneration,
                "Marian": hf.MarianMTModel}[name]
        model = kind._from_config(settings, attn_implementation=attention)
        inputs = {"input_ids": token_ids(), "attention_mask": padded_mask(),
                  "decoder_input_ids": token_ids(TARGET_TOKENS)}
        encoder = model.get_encoder()
        return SmallModel(model, inputs, lambda out: out.logits, encoder_decoder_sites(),
                          encoder.embed_tokens)

    return make


BART_SIZES = dict(d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                  decoder_attention_heads=4, encoder_ffn_dim=24, decoder_ffn_dim=24,
                  max_position_embeddings=16, pad_token_id=1, decoder_start_token_id=2)

DEBERTA = dict(relative_attention=True, position_biased_input=False, pos_att_type=["p2c", "c2p"],
               max_relative_positions=8, pooler_hidden_size=16)


def xlnet(attention):
    config = hf.XLNetConfig(vocab_size=VOCABULARY, d_model=16, n_layer=2, n_head=4, d_inner=24,
                            num_labels=3, use_mems_eval=False, summary_type="last")
    model = hf.XLNetForSequenceClassification(config)
    inputs = {"input_ids": token_ids(), "attention_mask": padded_mask()}
    return SmallModel(model, inputs, lambda out: out.logits, self_sites(),
                      model.transformer.word_embedding, only_eager=True)


TEXT_MODELS = {
    "bert": encoder("Bert", types=True),
    "sentence-vectors": sentence_vectors,
    "distilbert": encoder("DistilBert", dim=16, n_layers=2, n_heads=4, hidden_dim=24),
    "roberta": encoder("Roberta", max_position_embeddings=18),
    "albert": encoder("Albert", types=True, embedding_size=12),
    "electra": encoder("Electra", types=True, embedding_size=12),
    "mpnet": encoder("MPNet", max_position_embeddings=18),
    "deberta": encoder("Deberta", **DEBERTA),
    "deberta-v2": encoder("DebertaV2", position_buckets=4, norm_rel_ebd="layer_norm",
                          share_att_key=True, **DEBERTA),
    "modernbert": encoder("ModernBert", hidden_activation="gelu", global_attn_every_n_layers=2,
                          local_attention=4, bos_token_id=0, eos_token_id=2, cls_token_id=0,
                          sep_token_id=2),
    "xlnet": xlnet,
    "gpt2": decoder("GPT2", n_embd=16, n_layer=2, n_head=4, n_positions=16, bos_token_id=0,
                    eos_token_id=2),
    "llama": decoder("Llama", num_key_value_heads=2, bos_token_id=0, eos_token_id=2),
    "qwen3": decoder("Qwen3", num_key_value_heads=2, head_dim=8, bos_token_id=0, eos_token_id=2),
    "t5": translator("T5", d_model=16, d_kv=4, d_ff=24, num_layers=2, num_heads=4,
                     relative_attention_num_buckets=8, relative_attention_max_distance=12,
                     pad_token_id=0, eos_token_id=1, decoder_start_token_id=0),
    "t5-gated": translator("T5", d_model=16, d_kv=4, d_ff=24, num_layers=2, num_heads=4,
                           relative_attention_num_buckets=8, feed_forward_proj="gated-gelu",
                           pad_token_id=0, eos_token_id=1, decoder_start_token_id=0),
    "bart": translator("Bart", **BART_SIZES),
    "marian": translator("Marian", **BART_SIZES),
}
