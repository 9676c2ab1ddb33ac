// Inputs for models of many kinds, and plain matrices to compute with.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "formats/weights.h"
#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"
#include "whyformer/error.h"
#include "whyformer/model.h"

namespace whyformer {

inline std::filesystem::path golden(const std::string& name) {
  return source_folder() / "tests/golden/onnx/models" / (name + ".onnx");
}

// Inputs for a model in a file that goes away again: numbers for numbers, small ids for ids.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& model, float change = 0) {
    for (const InputInfo& input : inspect(model).inputs) {
      if (input.name.find("mask") != std::string::npos) continue;
      int64_t count = 1;
      for (const int64_t length : input.shape) count *= length;
      std::vector<float> values(count);
      for (int64_t i = 0; i < count; ++i) {
        const double wave = std::sin(0.37 * static_cast<double>(i) + 1);
        values[i] = static_cast<float>(input.type == "float32" ? wave : std::floor(4 + 3 * wave));
      }
      if (input.name.find("type") != std::string::npos) std::fill(values.begin(), values.end(), 0);
      if (input.type == "float32") values[count / 2] += change;
      values_.push_back(std::move(values));
      tensors_.push_back({input.name, input.shape, values_.back()});
    }
    for (size_t i = 0; i < tensors_.size(); ++i) tensors_[i].values = values_[i];
    save(path_, write_safetensors(tensors_));
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::vector<std::vector<float>> values_;
  std::vector<NamedFloats> tensors_;
  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "inputs.safetensors";
};

// A run with given arrays: what its trace holds as a file, and what was found in the model.
struct TracedArrays {
  ModelInfo info;
  OutputElement element;  // that was chosen
  double value = 0;
  std::string safetensors;
};

// "logits[0,3]".
inline OutputElement element_named(const std::string& label) {
  const size_t bracket = label.rfind('[');
  OutputElement element{.output = label.substr(0, bracket)};
  std::istringstream numbers(label.substr(bracket + 1, label.size() - bracket - 2));
  for (std::string number; std::getline(numbers, number, ',');)
    element.indices.push_back(std::stoll(number));
  return element;
}

inline TracedArrays traced(const Model& model, const ArrayViews& views,
                           const OutputElement& element) {
  const Trace found = trace(model, views, {.target = element});
  return {model.inspect(views), element_named(found.target.label), found.target.value,
          to_safetensors(found)};
}

inline TracedArrays trace_arrays(const std::filesystem::path& model,
                                 const std::filesystem::path& inputs, const OutputElement& target) {
  return traced(Model::load(model, {.arrays = true}), read_array_views(inputs), target);
}

inline Explanation explained(const std::filesystem::path& model,
                             const std::filesystem::path& inputs,
                             const std::vector<MethodRequest>& methods,
                             const OutputElement& target = {}) {
  ExplainRequest request;
  request.target = target;
  request.methods = methods;
  request.hiding_id = 1;
  return explain(Model::load(model, {.arrays = true}), read_array_views(inputs), request)[0];
}

inline std::vector<float> tensor(const TracedArrays& trace, const std::string& name) {
  return to_float32(read_safetensors(bytes_of(trace.safetensors), "trace").at(name));
}

// One method's scores of the tokens of a stream.
inline std::vector<double> stream_scores(const Explanation& explanation,
                                         const Attribution& attribution, int stream) {
  const UnitStream& own = explanation.streams.at(stream);
  const auto first = attribution.scores.begin() + own.first;
  return {first, first + own.count};
}

// Plain matrices for the rules below.
using NumberRows = std::vector<std::vector<double>>;

inline NumberRows identity(size_t n) {
  NumberRows result(n, std::vector<double>(n, 0));
  for (size_t i = 0; i < n; ++i) result[i][i] = 1;
  return result;
}
inline NumberRows zeros(size_t rows, size_t columns) {
  return NumberRows(rows, std::vector<double>(columns, 0));
}
inline NumberRows times(const NumberRows& a, const NumberRows& b) {
  NumberRows c = zeros(a.size(), b[0].size());
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b[0].size(); ++j) {
      for (size_t k = 0; k < b.size(); ++k) c[i][j] += a[i][k] * b[k][j];
    }
  }
  return c;
}
inline NumberRows plus(NumberRows a, const NumberRows& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < a[i].size(); ++j) a[i][j] += b[i][j];
  }
  return a;
}
inline NumberRows flipped(const NumberRows& a) {
  NumberRows result = zeros(a[0].size(), a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < a[i].size(); ++j) result[j][i] = a[i][j];
  }
  return result;
}
inline void expect_scores(const Explanation& explanation, int stream, std::vector<double> expected,
                          int64_t itself = -1) {
  if (itself >= 0) expected[itself] = 0;
  const std::vector<double> scores =
      stream_scores(explanation, explanation.attributions[0], stream);
  ASSERT_EQ(scores.size(), expected.size());
  double most = 0;
  for (const double x : expected) most = std::max(most, std::abs(x));
  EXPECT_GT(most, 0);
  for (size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(scores[i], expected[i], 1e-6 * most) << i;
}

}  // namespace whyformer
