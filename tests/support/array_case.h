// Golden models of several streams with inputs and traces, which formulas start from.
#pragma once

#include <algorithm>
#include <numeric>

#include "tests/support/array_test_helpers.h"

namespace whyformer {

using Choice = std::pair<std::string, OptionValue>;

// What the formulas start from: maps of every site and head, and their gradients.
struct Maps {
  explicit Maps(const TracedArrays& trace) {
    for (size_t l = 0; l < trace.info.sites.size(); ++l) {
      attention.push_back(by_head(trace, fmt::format("attention.{}", l), trace.info.sites[l]));
      gradient.push_back(
          by_head(trace, fmt::format("attention_gradient.{}", l), trace.info.sites[l]));
    }
  }
  static std::vector<NumberRows> by_head(const TracedArrays& trace, const std::string& name,
                                         const SiteInfo& site) {
    const std::vector<float> flat = tensor(trace, name);
    std::vector<NumberRows> heads(site.heads, zeros(site.queries, site.keys));
    // Of several inputs that go together the first; formulas of others look at no maps.
    for (int64_t i = 0; i < site.heads * site.queries * site.keys; ++i) {
      const int64_t at = i % (site.queries * site.keys);
      heads[i / (site.queries * site.keys)][at / site.keys][at % site.keys] = flat[i];
    }
    return heads;
  }
  NumberRows mean(size_t site) const {
    NumberRows sum = zeros(attention[site][0].size(), attention[site][0][0].size());
    for (const NumberRows& head : attention[site]) sum = plus(sum, head);
    for (auto& row : sum) {
      for (double& x : row) x /= static_cast<double>(attention[site].size());
    }
    return sum;
  }
  // (A + I) / row sums.
  NumberRows factor(size_t site) const {
    NumberRows result = plus(mean(site), identity(attention[site][0].size()));
    for (auto& row : result) {
      const double sum = std::accumulate(row.begin(), row.end(), 0.0);
      for (double& x : row) x /= sum;
    }
    return result;
  }
  std::vector<std::vector<NumberRows>> attention, gradient;  // [site][head]
};

struct Case {
  explicit Case(const std::string& name, OutputElement target = {})
      : model(golden(name)),
        inputs(model),
        trace(trace_arrays(model, inputs.path(), target)),
        maps(trace),
        target(target) {}
  Explanation run(const std::string& method, Options options = {}) const {
    return explained(model, inputs.path(), {{method, std::move(options)}}, target);
  }
  std::filesystem::path model;
  InputFile inputs;
  TracedArrays trace;
  Maps maps;
  OutputElement target;
};

inline constexpr const char* kEncoderDecoder = "t5.eager.new.18";
inline constexpr const char* kObjects = "detr.sdpa.new.23";
inline constexpr const char* kTwoStreams = "lxmert.eager.new.20";

inline double total(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

inline Explanation in_double(const Case& one, const std::string& method, Options options = {}) {
  ExplainRequest request;
  request.target = one.target;
  request.methods = {{method, std::move(options)}};
  request.hiding_id = 1;
  request.precision = Precision::kDouble;
  return explain(Model::load(one.model, {.arrays = true}), read_array_views(one.inputs.path()),
                 request)[0];
}

inline void expect_near(const std::vector<double>& found, const std::vector<double>& expected,
                        double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  double most = 0;
  for (const double x : expected) most = std::max(most, std::abs(x));
  EXPECT_GT(most, 0);
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], tolerance * most) << i;
}

inline std::vector<double> stream_of(const Explanation& found, int stream) {
  return stream_scores(found, found.attributions[0], stream);
}

}  // namespace whyformer
