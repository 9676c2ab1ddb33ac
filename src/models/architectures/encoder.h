// Text encoders: what each architecture must say so that a graph can be built from its checkpoint.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "models/checkpoint.h"
#include "models/config.h"

namespace whyformer {

// The values that come from outside, [batch, tokens] each; `mask` is additive, [batch, 1, 1,
// tokens], and invalid where nothing is masked.
struct EncoderInputs {
  Value ids;
  Value types;
  Value positions;
  Value mask;
};

struct EncoderOutputs {
  Value word_embeddings;  // rows of the word table, before anything is added
  Value embeddings;       // with positions and types added, normalised
  Value layers_input;     // what enters the first layer: projected, where the layers are wider
  Value hidden;           // [batch, tokens, width]
};

// A graph under construction together with the weights it is made from.
class EncoderBuilder {
 public:
  EncoderBuilder(GraphBuilder& graph, const Checkpoint& checkpoint, const Config& config,
                 std::string prefix, DType type);

  GraphBuilder& graph() { return graph_; }
  const Config& config() const { return config_; }
  const Checkpoint& checkpoint() const { return checkpoint_; }
  // In front of the encoder's own tensors: "bert." or nothing.
  const std::string& prefix() const { return prefix_; }
  DType type() const { return type_; }
  // Build for so many tokens that are given instead of made from the input; 0: for all of them,
  // made.
  void set_given_tokens(int64_t count) { given_tokens_ = count; }
  int64_t given_tokens() const { return given_tokens_; }

  Tensor parameter(const std::string& name, const Shape& shape) const {
    return checkpoint_.tensor(name, shape, type_);
  }
  Value table(Value ids, const std::string& name, int64_t rows, int64_t width);
  Value linear(Value x, const std::string& name, int64_t out, const LinearParts& parts = {});
  Value norm(Value x, const std::string& name, double epsilon);
  Value activate(Value x, const std::string& function, const std::string& name);
  // Row `index` of the tokens: [batch, width].
  Value row(Value x, int64_t index, const std::string& name);

  struct AttentionNames {
    std::string query, key, value, site;
    Bias query_bias = Bias::kYes, key_bias = Bias::kYes, value_bias = Bias::kYes;
  };
  // Multi-head self-attention without its output projection.
  Value self_attention(Value x, const AttentionNames& names, int64_t heads, Value mask);

 private:
  Value split_heads(Value x, int64_t heads, const std::string& name);

  GraphBuilder& graph_;
  const Checkpoint& checkpoint_;
  const Config& config_;
  std::string prefix_;
  DType type_;
  int64_t given_tokens_ = 0;
};

inline int64_t positions_from_zero(const Config&) { return 0; }

struct Architecture {
  std::string_view model_type;  // in config.json
  std::string_view prefix;      // of the encoder's tensors in a model with a head
  std::string_view classifier;  // a tensor that only a classifier has
  EncoderOutputs (*encode)(EncoderBuilder&, const EncoderInputs&);
  Value (*classify)(EncoderBuilder&, Value hidden, int64_t labels);
  // Position of the first token in the position table (RoBERTa counts from padding_idx + 1).
  int64_t (*first_position)(const Config&) = positions_from_zero;
  bool has_token_types = true;
  std::string_view width = "hidden_size";  // its key in config.json
};

// One line per architecture.
extern const Architecture kAlbert;
extern const Architecture kBert;
extern const Architecture kDistilBert;
extern const Architecture kElectra;
extern const Architecture kRoberta;
extern const Architecture kXlmRoberta;

std::span<const Architecture* const> architectures();

// Throws UnsupportedModel that lists what is supported.
const Architecture& architecture_of(const Config& config);

// What BERT, RoBERTa and ELECTRA share: post-norm layers, the sum of three embeddings before, both.
Value bert_layers(EncoderBuilder& build, Value x, Value mask);
EncoderOutputs bert_embeddings(EncoderBuilder& build, const EncoderInputs& inputs, int64_t width);
EncoderOutputs bert_encoder(EncoderBuilder& build, const EncoderInputs& inputs);

}  // namespace whyformer
