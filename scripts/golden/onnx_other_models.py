"""Small transformers for pictures, sound, text with pictures, and tables, with random weights, for
onnx_models_golden.py."""

import torch
import transformers as hf
from torch import nn

from onnx_small_model import SmallModel, site
from onnx_text_models import BATCH, TOKENS, VOCABULARY, encoder_decoder_sites, padded_mask, token_ids

SIZES = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24)
PICTURE = dict(image_size=32, patch_size=8, **SIZES)
PATCHES = 16


def pixels(size=32):
    return torch.randn(BATCH, 3, size, size)



def picture(name, tokens=PATCHES + 1, **changes):
    def make(attention):
        config = getattr(hf, name + "Config")(**{**PICTURE, "num_labels": 3, **changes})
        model = getattr(hf, name + "ForImageClassification")._from_config(
            config, attn_implementation=attention)
        return SmallModel(model, {"pixel_values": pixels()}, lambda out: out.logits,
                          [site(4, tokens, tokens)] * 2)

    return make


def swin(attention):
    config = hf.SwinConfig(image_size=32, patch_size=2, embed_dim=8, depths=[2, 2], num_heads=[2, 4],
                           window_size=4, mlp_ratio=2.0, num_labels=3)
    model = hf.SwinForImageClassification(config)
    return SmallModel(model, {"pixel_values": pixels()}, lambda out: out.logits,
                      [site(2, 16, 16)] * 2 + [site(4, 16, 16)] * 2, only_eager=True)


def clip_config():
    text = dict(vocab_size=VOCABULARY, max_position_embeddings=16, eos_token_id=2, bos_token_id=0,
                pad_token_id=1, **SIZES)
    return hf.CLIPConfig(text_config=text, vision_config=PICTURE, projection_dim=12)


def clip(attention):
    model = hf.CLIPModel._from_config(clip_config(), attn_implementation=attention)
    ids = token_ids()
    ids[:, -1] = 2
    inputs = {"input_ids": ids, "pixel_values": pixels(), "attention_mask": padded_mask()}
    sites = [site(4, PATCHES + 1, PATCHES + 1)] * 2 + [site(4, TOKENS, TOKENS)] * 2
    return SmallModel(model, inputs, lambda out: out.logits_per_image, sites)


def clip_text(attention):
    config = clip_config().text_config
    config.projection_dim = 12
    model = hf.CLIPTextModelWithProjection._from_config(config, attn_implementation=attention)
    ids = token_ids()
    ids[:, -1] = 2
    return SmallModel(model, {"input_ids": ids, "attention_mask": padded_mask()},
                      lambda out: out.text_embeds, [site(4, TOKENS, TOKENS)] * 2,
                      model.get_input_embeddings())


def clip_vision(attention):
    config = clip_config().vision_config
    config.projection_dim = 12
    model = hf.CLIPVisionModelWithProjection._from_config(config, attn_implementation=attention)
    return SmallModel(model, {"pixel_values": pixels()}, lambda out: out.image_embeds,
                      [site(4, PATCHES + 1, PATCHES + 1)] * 2)


def whisper(attention):
    config = hf.WhisperConfig(
        vocab_size=VOCABULARY, num_mel_bins=8, d_model=16, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=24, decoder_ffn_dim=24,
        max_source_positions=10, max_target_positions=16, pad_token_id=1, bos_token_id=0,
        eos_token_id=2, decoder_start_token_id=3, use_cache=False)
    model = hf.WhisperForConditionalGeneration._from_config(config, attn_implementation=attention)
    inputs = {"input_features": torch.randn(BATCH, 8, 20), "decoder_input_ids": token_ids(5),
              "decoder_attention_mask": padded_mask(5)}
    return SmallModel(model, inputs, lambda out: out.logits, encoder_decoder_sites(10, 5))


def detr(attention):
    backbone = hf.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1],
                               layer_type="basic", out_features=["stage2"])
    config = hf.DetrConfig(
        use_timm_backbone=False, backbone=None, backbone_config=backbone, num_queries=6, d_model=16,
        encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=24, decoder_ffn_dim=24, num_labels=4)
    model = hf.DetrForObjectDetection(config)
    model.set_attn_implementation({"": attention, "backbone_config": "eager"})
    sites = [site(4, 16, 16)] * 2 + [site(4, 6, 6), site(4, 6, 16)] * 2
    return SmallModel(model, {"pixel_values": pixels()}, lambda out: out.logits, sites)


class SmallBackbone(nn.Module):
    """Pictures as sixteen tokens of width 16."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 4, stride=4)
        self.second = nn.Conv2d(8, 16, 2, stride=2)

    def forward(self, x):
        return self.second(self.first(x).relu())


class Demonstration(nn.Module):
    """The model by which DETR's paper demonstrates itself, with nn.Transformer's layers."""

    def __init__(self, queries=6):
        super().__init__()
        self.backbone = SmallBackbone()
        encoder = nn.TransformerEncoderLayer(16, 4, 24, dropout=0, batch_first=True)
        decoder = nn.TransformerDecoderLayer(16, 4, 24, dropout=0, batch_first=True)
        self.encoder = nn.TransformerEncoder(encoder, 2, enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(decoder, 2)
        self.queries = nn.Parameter(torch.randn(queries, 16))
        self.rows = nn.Parameter(torch.randn(4, 8))
        self.columns = nn.Parameter(torch.randn(4, 8))
        self.classes = nn.Linear(16, 5)

    def forward(self, pixel_values):
        features = self.backbone(pixel_values)
        height, width = features.shape[-2:]
        positions = torch.cat([self.columns[:width].unsqueeze(0).repeat(height, 1, 1),
                               self.rows[:height].unsqueeze(1).repeat(1, width, 1)], -1)
        tokens = features.flatten(2).transpose(1, 2) + positions.flatten(0, 1)
        queries = self.queries.unsqueeze(0).expand(tokens.shape[0], -1, -1)
        return self.classes(self.decoder(queries, self.encoder(tokens)))


def demonstration(attention):
    sites = [site(4, 16, 16)] * 2 + [site(4, 6, 6), site(4, 6, 16)] * 2
    return SmallModel(Demonstration(), {"pixel_values": pixels()}, lambda out: out, sites)


def lxmert(attention):
    config = hf.LxmertConfig(vocab_size=VOCABULARY, hidden_size=16, num_attention_heads=4,
                             intermediate_size=24, max_position_embeddings=16, l_layers=2, x_layers=2,
                             r_layers=1, visual_feat_dim=10, visual_pos_dim=4, num_qa_labels=5)
    model = hf.LxmertForQuestionAnswering(config)
    regions = 6
    inputs = {"input_ids": token_ids(), "visual_feats": torch.randn(BATCH, regions, 10),
              "visual_pos": torch.rand(BATCH, regions, 4), "attention_mask": padded_mask(),
              "token_type_ids": torch.zeros(BATCH, TOKENS, dtype=torch.int64)}
    text, seen = site(4, TOKENS, TOKENS), site(4, regions, regions)
    asks, shows = site(4, TOKENS, regions), site(4, regions, TOKENS)
    # The answer reads the text only: the last layer's visual side is not in the file.
    sites = [text, text, seen, asks, shows, text, seen, asks, text]
    return SmallModel(model, inputs, lambda out: out.question_answering_score, sites,
                      model.lxmert.embeddings.word_embeddings, only_eager=True)


def visual_bert(attention):
    config = hf.VisualBertConfig(vocab_size=VOCABULARY, max_position_embeddings=16,
                                 visual_embedding_dim=10, num_labels=5, **SIZES)
    model = hf.VisualBertForQuestionAnswering(config)
    regions = 4
    inputs = {"input_ids": token_ids(), "visual_embeds": torch.randn(BATCH, regions, 10),
              "attention_mask": padded_mask(),
              "token_type_ids": torch.zeros(BATCH, TOKENS, dtype=torch.int64),
              "visual_attention_mask": torch.ones(BATCH, regions, dtype=torch.int64),
              "visual_token_type_ids": torch.ones(BATCH, regions, dtype=torch.int64)}
    return SmallModel(model, inputs, lambda out: out.logits,
                      [site(4, TOKENS + regions, TOKENS + regions)] * 2, only_eager=True)


class EinsumAttention(nn.Module):
    """Attention as models written with einops have it."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.packed = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, x, *_keys_and_values, need_weights=False):
        batch, tokens, width = x.shape
        q, k, v = (part.reshape(batch, tokens, self.heads, -1).permute(0, 2, 1, 3)
                   for part in self.packed(x).chunk(3, -1))
        q = q * (width // self.heads) ** -0.5
        map = torch.einsum("b h i d, b h j d -> b h i j", q, k).softmax(-1)
        read = torch.einsum("b h i j, b h j d -> b h i d", map, v)
        return (self.out(read.permute(0, 2, 1, 3).reshape(batch, tokens, width)),)


class FlatAttention(nn.Module):
    """Attention with heads in the batch axis; `queries` may be fewer tokens than `keys`."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))

    def split(self, x):
        batch, tokens, width = x.shape
        x = x.reshape(batch, tokens, self.heads, width // self.heads).transpose(1, 2)
        return x.reshape(batch * self.heads, tokens, width // self.heads)

    def forward(self, queries, keys, values, need_weights=False):
        q, k, v = self.split(self.q(queries)), self.split(self.k(keys)), self.split(self.v(values))
        map = torch.softmax(q @ k.transpose(1, 2) / q.shape[-1] ** 0.5, -1)
        batch, tokens, width = queries.shape
        x = (map @ v).reshape(batch, self.heads, tokens, width // self.heads)
        return (self.out(x.transpose(1, 2).reshape(batch, tokens, width)),)


class TableTransformer(nn.Module):
    """FT-Transformer and TabTransformer: every column is a token, or only the categories are."""

    def __init__(self, tokens_of_numbers, attention, cardinalities=(4, 3, 5), numbers=4, width=16):
        super().__init__()
        self.tokens_of_numbers = tokens_of_numbers
        self.activation = nn.GELU() if attention is EinsumAttention else nn.ReLU()
        self.last_is_short = attention is FlatAttention  # the last layer has one query
        self.tables = nn.ModuleList([nn.Embedding(count, width) for count in cardinalities])
        self.weight = nn.Parameter(torch.randn(numbers, width))
        self.bias = nn.Parameter(torch.randn(numbers, width))
        self.start = nn.Parameter(torch.randn(1, 1, width))
        self.attention = nn.ModuleList([attention(width, 4) for _ in range(2)])
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(4)])
        self.inner = nn.ModuleList([nn.Linear(width, 48) for _ in range(2)])
        self.outer = nn.ModuleList([nn.Linear(24, width) for _ in range(2)])
        flat = width if tokens_of_numbers else width * len(cardinalities) + numbers
        self.head = nn.Linear(flat, 2)

    def forward(self, numbers, categories):
        tokens = torch.stack([table(categories[:, i]) for i, table in enumerate(self.tables)], 1)
        if self.tokens_of_numbers:
            measured = numbers.unsqueeze(-1) * self.weight + self.bias
            start = self.start.expand(numbers.shape[0], -1, -1)
            tokens = torch.cat([start, measured, tokens], 1)
        for layer, attention in enumerate(self.attention):
            x = self.norms[2 * layer](tokens)
            short = self.last_is_short and layer == 1
            read = attention(x[:, :1] if short else x, x, x, need_weights=False)[0]
            tokens = (tokens[:, :1] if short else tokens) + read
            gate, value = self.inner[layer](self.norms[2 * layer + 1](tokens)).chunk(2, -1)
            tokens = tokens + self.outer[layer](self.activation(gate) * value)
        if self.tokens_of_numbers:
            return self.head(tokens[:, 0])
        return self.head(torch.cat([tokens.flatten(1), numbers], 1))


def batch_first(width, heads):
    return nn.MultiheadAttention(width, heads, batch_first=True)


def table(tokens_of_numbers, tokens, attention=batch_first):
    def make(_attention):
        inputs = {"numbers": torch.randn(BATCH, 4), "categories": torch.randint(0, 3, (BATCH, 3))}
        sites = [site(4, tokens, tokens)] * 2
        if attention is FlatAttention:
            sites[1] = site(4, 1, tokens, is_self=True)
        return SmallModel(TableTransformer(tokens_of_numbers, attention), inputs, lambda out: out, sites)

    return make


OTHER_MODELS = {
    "vit": picture("ViT"),
    "deit": picture("DeiT", tokens=PATCHES + 2),
    "beit": picture("Beit", use_mask_token=False, use_relative_position_bias=True,
                    use_mean_pooling=True),
    "dinov2": picture("Dinov2", mlp_ratio=2),
    "swin": swin,
    "clip": clip,
    "clip-text": clip_text,
    "clip-vision": clip_vision,
    "whisper": whisper,
    "detr": detr,
    "nn-transformer": demonstration,
    "lxmert": lxmert,
    "visual-bert": visual_bert,
    "ft-transformer": table(True, 8),
    "ft-transformer-einsum": table(True, 8, EinsumAttention),
    "ft-transformer-flat": table(True, 8, FlatAttention),
    "tab-transformer": table(False, 3),
}
