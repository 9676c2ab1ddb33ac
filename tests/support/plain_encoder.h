// A small encoder as plain numbers, for tests: what it computes in plain loops, and the same
// network as a graph. It may normalise before or after its parts, and read one row or the mean of
// all.
#pragma once

#include <optional>
#include <vector>

#include "discovery/attention_sites.h"
#include "graph/pass.h"
#include "kernels/elementwise.h"

namespace whyformer {

using PlainVector = std::vector<double>;
using PlainRows = std::vector<PlainVector>;  // [rows][width]

struct PlainLinear {
  PlainRows weight;  // [out][in]
  PlainVector bias;  // empty: none

  PlainVector without_bias(const PlainVector& x) const;
  PlainVector operator()(const PlainVector& x) const;
};

struct PlainNorm {
  PlainVector weight, bias;
  double epsilon = 1e-12;

  double deviation(const PlainVector& x) const;
  PlainVector operator()(const PlainVector& x) const;
};

struct PlainLayer {
  PlainLinear query, key, value, output, inner, outer;
  PlainNorm first, second;
};

struct PlainEncoder {
  int64_t heads = 1;
  bool norms_before = false;
  ActivationFunction activation = ActivationFunction::kGelu;
  std::vector<PlainLayer> layers;
  std::optional<PlainNorm> final_norm;
  bool reads_mean = false;  // otherwise row `read_row`
  int64_t read_row = 0;
  std::optional<PlainLinear> pooler;  // followed by tanh
  PlainLinear classifier;
};

struct PlainShape {
  int64_t layers = 3, heads = 2, width = 8, inner = 12, classes = 3;
  bool norms_before = false;
  bool pooler = true;
};
PlainEncoder random_encoder(const PlainShape& shape, int64_t seed);
PlainRows random_rows(int64_t rows, int64_t width, int64_t seed);

// f(x) and f'(x) from their definitions.
double plain_activation(ActivationFunction f, double x);
double plain_slope(ActivationFunction f, double x);

// Every state of one layer, by row.
struct PlainStates {
  PlainRows input;
  PlainRows value_input;        // what the values are made from: the input, or its norm
  PlainRows values;             // [tokens][heads · head width], bias included
  std::vector<PlainRows> maps;  // [heads][queries][keys]
  PlainRows attended;           // the attention's own output, bias included
  PlainRows sum;                // with the residual
  PlainRows middle;             // the stream between the parts
  PlainRows inner_input, before_activation;
  PlainRows second_sum;
  PlainRows output;
};
std::vector<PlainStates> run_plain(const PlainEncoder& encoder, const PlainRows& input);
PlainVector plain_logits(const PlainEncoder& encoder, const PlainStates& last);

// The same network as a graph on [batch, tokens, width]; `mask` as in EncoderInputs.
struct EncoderGraph {
  Graph graph;
  Value input, mask, output;
  Discovery found;
};
struct EncoderGraphOptions {
  int64_t batch = 1;
  int64_t tokens = 1;
  bool masked = false;
  bool restrict_rows = true;  // as models do
  bool cut_queries = false;   // the last map, too, has only the rows that are read
};
// The layers alone, on a stream that is there.
Value encoder_layers(GraphBuilder& builder, const PlainEncoder& encoder, Value stream,
                     Value mask = {});
EncoderGraph graph_of(const PlainEncoder& encoder, const EncoderGraphOptions& options);
Tensor tensor_of(const std::vector<PlainRows>& batch);
// A pass that kept everything, for unmasked input.
Pass run_graph(const EncoderGraph& graph, const std::vector<PlainRows>& batch);

}  // namespace whyformer
