// A case of tests/golden/models: a tiny model and what PyTorch says about it.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/weights.h"
#include "tests/support/test_text.h"
#include "whyformer/parts.h"

namespace whyformer {

struct GoldenInput {
  std::string name;
  TokenBatch batch;  // `hidden` only where something is
  std::vector<std::vector<bool>> special;
  std::vector<int64_t> targets;
  double float32_deviation = 0;  // of PyTorch's own attention maps

  int64_t size() const { return static_cast<int64_t>(batch.ids.size()); }
  int64_t tokens() const { return static_cast<int64_t>(batch.ids[0].size()); }
  Encoding encoding() const;  // of the first sample
};

// Changes the weights of a case, by name, before its model is built.
using ChangeWeights = std::function<void(std::map<std::string, std::vector<float>>&)>;

struct GoldenModel {
  std::shared_ptr<const TestText> model;
  std::vector<GoldenInput> inputs;
  StoredTensors expected;

  explicit GoldenModel(const std::string& name, const ChangeWeights& change = {});
  // The case with the model from tests/golden/onnx/text instead: the same weights.
  static GoldenModel from_onnx(const std::string& name, const std::string& variant = "");
  Head head() const { return model->has_classifier() ? Head::kLogits : Head::kEmbedding; }
  const GoldenInput& input(const std::string& name) const;
  std::vector<double> values(const std::string& name) const;
};

// The files of a case, with a tokenizer that its ids allow.
FileLookup golden_files(const std::string& name);

// What another program would hand over of a folder's files.
ModelParts parts_of(const FileLookup& files, const std::string& name,
                    std::string_view weights = "model.safetensors");

// Names of all cases.
std::vector<std::string> golden_models();

}  // namespace whyformer
