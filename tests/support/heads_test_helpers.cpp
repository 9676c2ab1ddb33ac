#include "tests/support/heads_test_helpers.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/support/token_reader.h"

namespace whyformer {
namespace {

std::string attention_place(int layer) {
  return fmt::format("bert.encoder.layer.{}.attention.", layer);
}

}  // namespace

std::vector<LabelledInput> corpus_of(const GoldenModel& golden,
                                     const std::vector<std::string>& names) {
  std::vector<LabelledInput> corpus;
  for (const GoldenInput& input : golden.inputs) {
    const bool named = std::find(names.begin(), names.end(), input.name) != names.end();
    if (input.size() > 1 || !input.batch.hidden.empty() || (!names.empty() && !named)) continue;
    corpus.push_back({TextInput{input.name, {}}, {{std::to_string(input.targets[0])}}, input.name});
  }
  return corpus;
}

HeadImportance heads_of(const GoldenModel& golden, const std::vector<LabelledInput>& corpus,
                        const HeadsRequest& request) {
  return study_heads(TokenReader(golden), corpus, request);
}

HeadGrid scores_of(const GoldenModel& golden, const std::string& measure,
                   const std::vector<LabelledInput>& corpus, HeadsRequest request) {
  request.measures = {measure};
  request.precision = Precision::kDouble;
  return heads_of(golden, corpus, request).measures[0].values;
}

void forget_head(std::map<std::string, std::vector<float>>& weights, int layer, int head,
                 int64_t width, int64_t head_width) {
  std::vector<float>& output = weights.at(attention_place(layer) + "output.dense.weight");
  for (int64_t row = 0; row < width; ++row) {
    std::fill_n(output.begin() + row * width + head * head_width, head_width, 0.0f);
  }
}

void copy_head(std::map<std::string, std::vector<float>>& weights, int layer, int from, int to,
               int64_t width, int64_t head_width) {
  const std::string place = attention_place(layer);
  for (const std::string part : {"query", "key", "value"}) {
    std::vector<float>& matrix = weights.at(place + "self." + part + ".weight");
    std::copy_n(matrix.begin() + from * head_width * width, head_width * width,
                matrix.begin() + to * head_width * width);
    std::vector<float>& bias = weights.at(place + "self." + part + ".bias");
    std::copy_n(bias.begin() + from * head_width, head_width, bias.begin() + to * head_width);
  }
  std::vector<float>& output = weights.at(place + "output.dense.weight");
  for (int64_t row = 0; row < width; ++row) {
    std::copy_n(output.begin() + row * width + from * head_width, head_width,
                output.begin() + row * width + to * head_width);
  }
}

}  // namespace whyformer
