// Models of many kinds, given arrays: the rules of Chefer et al. written out for each architecture.
#include <gmock/gmock.h>

#include "tests/support/array_test_helpers.h"

namespace whyformer {
namespace {

Explanation explain_arrays(const std::filesystem::path& model, const std::filesystem::path& inputs,
                           const OutputElement& target) {
  return explained(model, inputs, {{"gae", {}}}, target);
}

// Equations 8 and 9.
NumberRows bar(NumberRows r) {
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
std::vector<NumberRows> weighted_maps(const TracedArrays& trace) {
  std::vector<NumberRows> result;
  for (size_t l = 0; l < trace.info.sites.size(); ++l) {
    const SiteInfo& site = trace.info.sites[l];
    const std::vector<float> a = tensor(trace, fmt::format("attention.{}", l));
    const std::vector<float> g = tensor(trace, fmt::format("attention_gradient.{}", l));
    NumberRows map = zeros(site.queries, site.keys);
    for (size_t i = 0; i < a.size(); ++i) {
      const size_t at = i % (site.queries * site.keys);
      map[at / site.keys][at % site.keys] +=
          std::max(double{a[i]} * g[i], 0.0) / static_cast<double>(site.heads);
    }
    result.push_back(std::move(map));
  }
  return result;
}

TEST(ExplainArrays, OfOneStreamMultipliesItsLayers) {
  const auto model = golden("vit.eager.legacy.17");
  const InputFile inputs(model);
  const std::vector<NumberRows> maps = weighted_maps(trace_arrays(model, inputs.path(), {}));
  NumberRows r = identity(maps[0].size());
  for (const NumberRows& map : maps) r = plus(r, times(map, r));
  expect_scores(explain_arrays(model, inputs.path(), {}), 0, r[0], 0);
}

// An encoder and a decoder, two layers each, as DETR and T5 have them.
void check_encoder_decoder(const std::string& name) {
  const auto model = golden(name);
  const InputFile inputs(model);
  const TracedArrays trace = trace_arrays(model, inputs.path(), {});
  const std::vector<NumberRows> maps = weighted_maps(trace);
  NumberRows ii = identity(maps[0].size()), qq = identity(maps[2].size());
  NumberRows qi = zeros(qq.size(), ii.size());
  for (const int layer : {0, 1}) ii = plus(ii, times(maps[layer], ii));
  for (const int layer : {2, 4}) {
    const NumberRows old = qi;
    qi = plus(old, times(maps[layer], old));
    qq = plus(qq, times(maps[layer], qq));
    qi = plus(qi, times(flipped(bar(qq)), times(maps[layer + 1], bar(ii))));
  }
  const Explanation explanation = explain_arrays(model, inputs.path(), {});
  const int64_t row = trace.element.indices[1];
  expect_scores(explanation, 0, qi[row]);
  if (row > 0) expect_scores(explanation, 1, qq[row], row);
}

TEST(ExplainArrays, OfObjectQueriesReachesThePicture) { check_encoder_decoder("detr.sdpa.new.23"); }
TEST(ExplainArrays, OfADecoderReachesTheEncoder) { check_encoder_decoder("t5.eager.new.18"); }

// LXMERT: two language layers, one of vision, a block of both ways, and a last one of language
// alone.
TEST(ExplainArrays, OfTwoStreamsThatReadEachOtherUsesTheOldStateOfBoth) {
  const auto model = golden("lxmert.eager.new.20");
  const InputFile inputs(model);
  const std::vector<NumberRows> a = weighted_maps(trace_arrays(model, inputs.path(), {}));
  NumberRows tt = identity(a[0].size()), ii = identity(a[2].size());
  NumberRows ti = zeros(tt.size(), ii.size()), it = zeros(ii.size(), tt.size());
  const auto language = [&](const NumberRows& map) {
    tt = plus(tt, times(map, tt));
    ti = plus(ti, times(map, ti));
  };
  const auto vision = [&](const NumberRows& map) {
    ii = plus(ii, times(map, ii));
    it = plus(it, times(map, it));
  };
  language(a[0]);
  language(a[1]);
  vision(a[2]);
  const NumberRows more_ti = times(flipped(bar(tt)), times(a[3], bar(ii))),
                   more_tt = times(a[3], it);
  const NumberRows more_it = times(flipped(bar(ii)), times(a[4], bar(tt))),
                   more_ii = times(a[4], ti);
  ti = plus(ti, more_ti), tt = plus(tt, more_tt), it = plus(it, more_it), ii = plus(ii, more_ii);
  language(a[5]);
  vision(a[6]);
  const NumberRows last_ti = times(flipped(bar(tt)), times(a[7], bar(ii))),
                   last_tt = times(a[7], it);
  ti = plus(ti, last_ti), tt = plus(tt, last_tt);
  language(a[8]);
  const Explanation explanation = explain_arrays(model, inputs.path(), {});
  expect_scores(explanation, 0, tt[0], 0);
  expect_scores(explanation, 1, ti[0]);
}

TEST(ExplainArrays, RefusesWindows) {
  const auto model = golden("swin.eager.new.18");
  const InputFile inputs(model);
  EXPECT_THROW(explain_arrays(model, inputs.path(), {}), InvalidInput);
}

TEST(TraceArrays, GivesMapsAndTheGradientOfTheChosenElement) {
  const auto model = golden("vit.eager.legacy.17");
  const OutputElement target{"", {0, 1}};
  const auto traced_with = [&](float change) {
    const InputFile inputs(model, change);
    return trace_arrays(model, inputs.path(), target);
  };
  const TracedArrays trace = traced_with(0);
  const std::vector<float> map = tensor(trace, "attention.0");
  double row = 0;
  for (int64_t i = 0; i < trace.info.sites[0].keys; ++i) row += map[i];
  EXPECT_NEAR(row, 1, 1e-5);
  const double step = 0.05;
  const std::vector<float> gradient = tensor(trace, "input_gradient.pixel_values");
  const double slope = gradient[gradient.size() / 2];
  EXPECT_NEAR((traced_with(step).value - traced_with(-step).value) / (2 * step), slope,
              1e-3 * std::max(1.0, std::abs(slope)));
}

TEST(TraceArrays, RefusesWrongNamesAndElements) {
  const auto model = golden("vit.eager.legacy.17");
  const InputFile inputs(model);
  EXPECT_THROW(trace_arrays(model, inputs.path(), {"nothing", {}}), InvalidInput);
  EXPECT_THROW(trace_arrays(model, inputs.path(), {"", {0, 99}}), InvalidInput);
  EXPECT_THROW(trace_arrays(golden("t5.eager.new.18"), inputs.path(), {}), InvalidInput);
}

// f(c·e) = f(e) for vectors that are normalised first, so Σ e ∂f/∂e is 0 (Euler's theorem).
TEST(GradientTimesInput, SaysWhereItIsZeroBecauseVectorsAreNormalisedFirst) {
  for (const std::string name :
       {"modernbert.sdpa.legacy.14", "deberta.eager.legacy.11", "bert.eager.new.18"}) {
    SCOPED_TRACE(name);
    const InputFile inputs(golden(name));
    const auto found =
        explained(golden(name), inputs.path(), {{"gradient-x-input", {}}, {"saliency", {}}});
    const auto largest = [&](size_t method) {
      double most = 0;
      for (const double score : found.attributions[method].scores)
        most = std::max(most, std::abs(score));
      return most;
    };
    const bool zero = name != "bert.eager.new.18";
    EXPECT_EQ(largest(0) < 1e-2 * largest(1), zero);
    EXPECT_THAT(found.attributions[0].notes,
                testing::Contains(testing::HasSubstr("0 by construction")).Times(zero ? 1 : 0));
    EXPECT_THAT(found.attributions[1].notes, testing::IsEmpty());
  }
}

}  // namespace
}  // namespace whyformer
