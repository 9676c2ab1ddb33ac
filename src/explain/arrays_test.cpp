// Models of many kinds, given arrays: the rules of Chefer et al. written out for each architecture.
#include "whyformer/arrays.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/source_folder.h"
#include "explain/stream_relevance.h"
#include "formats/weights.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

std::filesystem::path golden(const std::string& name) {
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
    const std::string own = testing::UnitTest::GetInstance()->current_test_info()->name();
    path_ = std::filesystem::temp_directory_path() / ("whyformer_" + own + ".safetensors");
    save(path_, write_safetensors(tensors_));
  }
  ~InputFile() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::vector<std::vector<float>> values_;
  std::vector<NamedFloats> tensors_;
  std::filesystem::path path_;
};

std::vector<float> tensor(const ArrayTrace& trace, const std::string& name) {
  return to_float32(read_safetensors(bytes_of(trace.safetensors), "trace").at(name));
}

// Plain matrices for the rules below.
using Rows = std::vector<std::vector<double>>;

Rows identity(size_t n) {
  Rows result(n, std::vector<double>(n, 0));
  for (size_t i = 0; i < n; ++i) result[i][i] = 1;
  return result;
}
Rows zeros(size_t rows, size_t columns) { return Rows(rows, std::vector<double>(columns, 0)); }
Rows times(const Rows& a, const Rows& b) {
  Rows c = zeros(a.size(), b[0].size());
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b[0].size(); ++j) {
      for (size_t k = 0; k < b.size(); ++k) c[i][j] += a[i][k] * b[k][j];
    }
  }
  return c;
}
Rows plus(Rows a, const Rows& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < a[i].size(); ++j) a[i][j] += b[i][j];
  }
  return a;
}
Rows flipped(const Rows& a) {
  Rows result = zeros(a[0].size(), a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < a[i].size(); ++j) result[j][i] = a[i][j];
  }
  return result;
}
// Equations 8 and 9.
Rows bar(Rows r) {
  for (size_t i = 0; i < r.size(); ++i) {
    r[i][i] -= 1;
    double sum = 0;
    for (const double x : r[i]) sum += x;
    for (double& x : r[i]) x = sum != 0 ? x / sum : 0;
    r[i][i] += 1;
  }
  return r;
}

// Equation 5 for every site.
std::vector<Rows> weighted_maps(const ArrayTrace& trace) {
  std::vector<Rows> result;
  for (size_t l = 0; l < trace.info.sites.size(); ++l) {
    const SiteInfo& site = trace.info.sites[l];
    const std::vector<float> a = tensor(trace, fmt::format("attention.{}", l));
    const std::vector<float> g = tensor(trace, fmt::format("attention_gradient.{}", l));
    Rows map = zeros(site.queries, site.keys);
    for (size_t i = 0; i < a.size(); ++i) {
      const size_t at = i % (site.queries * site.keys);
      map[at / site.keys][at % site.keys] +=
          std::max(double{a[i]} * g[i], 0.0) / static_cast<double>(site.heads);
    }
    result.push_back(std::move(map));
  }
  return result;
}

void expect_scores(const ArrayExplanation& explanation, int stream, std::vector<double> expected,
                   int64_t itself = -1) {
  if (itself >= 0) expected[itself] = 0;
  const std::vector<double>& scores = explanation.streams[stream].scores;
  ASSERT_EQ(scores.size(), expected.size());
  double most = 0;
  for (const double x : expected) most = std::max(most, std::abs(x));
  EXPECT_GT(most, 0);
  for (size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(scores[i], expected[i], 1e-6 * most) << i;
}

TEST(ExplainArrays, OfOneStreamMultipliesItsLayers) {
  const auto model = golden("vit.eager.legacy.17");
  const InputFile inputs(model);
  const std::vector<Rows> maps = weighted_maps(trace_arrays(model, inputs.path(), {}));
  Rows r = identity(maps[0].size());
  for (const Rows& map : maps) r = plus(r, times(map, r));
  expect_scores(explain_arrays(model, inputs.path(), {}), 0, r[0], 0);
}

// An encoder and a decoder, two layers each, as DETR and T5 have them.
void check_encoder_decoder(const std::string& name) {
  const auto model = golden(name);
  const InputFile inputs(model);
  const ArrayTrace trace = trace_arrays(model, inputs.path(), {});
  const std::vector<Rows> maps = weighted_maps(trace);
  Rows ii = identity(maps[0].size()), qq = identity(maps[2].size());
  Rows qi = zeros(qq.size(), ii.size());
  for (const int layer : {0, 1}) ii = plus(ii, times(maps[layer], ii));
  for (const int layer : {2, 4}) {
    const Rows old = qi;
    qi = plus(old, times(maps[layer], old));
    qq = plus(qq, times(maps[layer], qq));
    qi = plus(qi, times(flipped(bar(qq)), times(maps[layer + 1], bar(ii))));
  }
  const ArrayExplanation explanation = explain_arrays(model, inputs.path(), {});
  const int64_t row = trace.indices[1];
  expect_scores(explanation, 0, qi[row]);
  if (row > 0) expect_scores(explanation, 1, qq[row], row);
}

TEST(ExplainArrays, OfObjectQueriesReachesThePicture) { check_encoder_decoder("detr.sdpa.new.23"); }
TEST(ExplainArrays, OfADecoderReachesTheEncoder) { check_encoder_decoder("t5.eager.new.18"); }

// LXMERT: two language layers, one of vision, a block of both ways, and a last one of language alone.
TEST(ExplainArrays, OfTwoStreamsThatReadEachOtherUsesTheOldStateOfBoth) {
  const auto model = golden("lxmert.eager.new.20");
  const InputFile inputs(model);
  const std::vector<Rows> a = weighted_maps(trace_arrays(model, inputs.path(), {}));
  Rows tt = identity(a[0].size()), ii = identity(a[2].size());
  Rows ti = zeros(tt.size(), ii.size()), it = zeros(ii.size(), tt.size());
  const auto language = [&](const Rows& map) {
    tt = plus(tt, times(map, tt));
    ti = plus(ti, times(map, ti));
  };
  const auto vision = [&](const Rows& map) {
    ii = plus(ii, times(map, ii));
    it = plus(it, times(map, it));
  };
  language(a[0]);
  language(a[1]);
  vision(a[2]);
  const Rows more_ti = times(flipped(bar(tt)), times(a[3], bar(ii))), more_tt = times(a[3], it);
  const Rows more_it = times(flipped(bar(ii)), times(a[4], bar(tt))), more_ii = times(a[4], ti);
  ti = plus(ti, more_ti), tt = plus(tt, more_tt), it = plus(it, more_it), ii = plus(ii, more_ii);
  language(a[5]);
  vision(a[6]);
  const Rows last_ti = times(flipped(bar(tt)), times(a[7], bar(ii))), last_tt = times(a[7], it);
  ti = plus(ti, last_ti), tt = plus(tt, last_tt);
  language(a[8]);
  const ArrayExplanation explanation = explain_arrays(model, inputs.path(), {});
  expect_scores(explanation, 0, tt[0], 0);
  expect_scores(explanation, 1, ti[0]);
}

TEST(ExplainArrays, RefusesWindows) {
  const auto model = golden("swin.eager.new.18");
  const InputFile inputs(model);
  EXPECT_THROW(explain_arrays(model, inputs.path(), {}), UnsupportedModel);
}

TEST(TraceArrays, GivesMapsAndTheGradientOfTheChosenElement) {
  const auto model = golden("vit.eager.legacy.17");
  const ArrayTarget target{"", {0, 1}};
  const auto traced = [&](float change) {
    const InputFile inputs(model, change);
    return trace_arrays(model, inputs.path(), target);
  };
  const ArrayTrace trace = traced(0);
  const std::vector<float> map = tensor(trace, "attention.0");
  double row = 0;
  for (int64_t i = 0; i < trace.info.sites[0].keys; ++i) row += map[i];
  EXPECT_NEAR(row, 1, 1e-5);
  const double step = 0.05;
  const std::vector<float> gradient = tensor(trace, "input_gradient.pixel_values");
  const double slope = gradient[gradient.size() / 2];
  EXPECT_NEAR((traced(step).value - traced(-step).value) / (2 * step), slope,
              1e-3 * std::max(1.0, std::abs(slope)));
}

TEST(TraceArrays, RefusesWrongNamesAndElements) {
  const auto model = golden("vit.eager.legacy.17");
  const InputFile inputs(model);
  EXPECT_THROW(trace_arrays(model, inputs.path(), {"nothing", {}}), InvalidInput);
  EXPECT_THROW(trace_arrays(model, inputs.path(), {"", {0, 99}}), InvalidInput);
  EXPECT_THROW(trace_arrays(golden("t5.eager.new.18"), inputs.path(), {}), InvalidInput);
}

}  // namespace
}  // namespace whyformer
