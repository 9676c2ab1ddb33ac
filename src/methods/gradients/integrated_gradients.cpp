#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "base/gauss_legendre.h"
#include "methods/gradients/token_gradients.h"
#include "methods/method.h"
#include "tensor/map.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

struct IntegratedGradientsOptions {
  Depth depth = Depth::kInput;
  std::string baseline = "auto";
  std::string rule = "gauss-legendre";
  int64_t steps = 0;  // 0: as many as the tolerance needs
  int64_t max_steps = 256;
  double tolerance = 1e-3;
};

Tensor between(const Tensor& from, const Tensor& to, double share) {
  return map([share](double start, double end) { return start + share * (end - start); }, from, to);
}

// Equally spaced nodes with both ends, which count half. Captum's riemann_trapezoid gives each the
// weight 1/n instead of 1/(n - 1), so that its weights sum to (n - 1)/n.
Quadrature trapezoid(int64_t nodes, bool as_captum) {
  Quadrature rule;
  const auto parts = static_cast<double>(nodes - 1);
  for (int64_t i = 0; i < nodes; ++i) {
    const double share = i == 0 || i + 1 == nodes ? 0.5 : 1;
    rule.nodes.push_back(static_cast<double>(i) / parts);
    rule.weights.push_back(share / (as_captum ? parts + 1 : parts));
  }
  return rule;
}

Quadrature quadrature(const std::string& rule, int64_t nodes) {
  if (rule == "gauss-legendre") return gauss_legendre(static_cast<int>(nodes));
  if (nodes < 2)
    throw InvalidInput("integrated-gradients.rule=trapezoid has two ends: give at least 2 steps");
  return trapezoid(nodes, rule == "captum-trapezoid");
}

// IG_i = Σ_d (x - x')_d ∫ ∂y/∂x_d (x' + a (x - x')) da, by quadrature: [units, numbers]. Nothing
// where the caller stops it: some of the nodes say nothing.
std::optional<Tensor> integrate(Run& run, Depth depth, const Tensor& baseline, const Tensor& input,
                                const Quadrature& rule) {
  const auto steps = static_cast<int64_t>(rule.nodes.size());
  std::vector<double> sum(input.size(), 0.0);
  const int64_t done = run.each_slope(
      depth, steps, [&](int64_t node) { return between(baseline, input, rule.nodes[node]); },
      [&](int64_t node, const Tensor&, const Run::Slope& there) {
        const std::vector<double> slope = there.gradient.to_doubles();
        for (size_t i = 0; i < sum.size(); ++i) sum[i] += rule.weights[node] * slope[i];
      });
  if (done < steps) return std::nullopt;
  const Tensor way = map([](auto to, auto from) { return to - from; }, input, baseline);
  return products(way, Tensor::of<double>(input.shape(), std::span<const double>(sum)));
}

Scores integrated_gradients(Run& run, const IntegratedGradientsOptions& options) {
  const Tensor input = run.embeddings(options.depth);
  const Input& parts = run.input();
  const Tensor baseline = parts.baseline(options.depth, options.baseline);
  const double at_baseline = run.slopes(options.depth, {baseline})[0].value;
  const double difference = run.target_value() - at_baseline;
  Scores scores;
  int64_t steps = options.steps > 0 ? options.steps : std::min<int64_t>(8, options.max_steps),
          taken = 0;
  while (true) {
    const std::optional<Tensor> rows =
        integrate(run, options.depth, baseline, input, quadrature(options.rule, steps));
    if (!rows && taken == 0) throw Interrupted();
    if (!rows) {
      scores.notes.push_back(fmt::format("Stopped before {} steps were taken.", steps));
      break;
    }
    taken = steps;
    scores = folded(parts, options.depth, *rows, row_sums);
    double sum = 0;
    for (const double score : scores.values) sum += score;
    scores.completeness_gap = sum - difference;
    const bool enough = std::abs(sum - difference) <= options.tolerance * std::abs(difference);
    if (options.steps > 0 || enough || steps >= options.max_steps) break;
    steps = std::min(2 * steps, options.max_steps);
  }
  scores.notes.push_back(
      fmt::format("{} steps from the {} baseline, where the target is {:.4f}; the scores should "
                  "add up to {:.4f} and do to within {:.2g}.",
                  taken, parts.baseline_taken(options.baseline), at_baseline, difference,
                  std::abs(*scores.completeness_gap)));
  const bool stopped = taken < steps;
  if (!stopped && std::abs(*scores.completeness_gap) > options.tolerance * std::abs(difference)) {
    scores.notes.push_back(
        "The completeness gap is larger than the tolerance: raise "
        "integrated-gradients.max-steps, or read small scores with care.");
  }
  return scores;
}

}  // namespace

const Method kIntegratedGradients{
    {.name = "integrated-gradients",
     .summary =
         "path integral of the gradient from a baseline; scores sum to the output difference",
     .paper = "Sundararajan et al., ICML 2017",
     .cost = "8 to 256 forwards and backwards",
     .class_specific = true,
     .is_signed = true,
     .options =
         {depth_option(),
          {"baseline",
           "baseline: text: [PAD] (auto), [MASK] or [UNK] for ordinary tokens, or zero vectors; "
           "picture: black (auto), grey, white or blurred",
           std::string("auto"),
           {"auto", "pad", "mask", "unk", "zero", "black", "grey", "white", "blur"}},
          {"rule",
           "quadrature rule: Gauss–Legendre, trapezoid, or trapezoid with Captum's weights "
           "(riemann_trapezoid), which sum to (n − 1)/n and leave a gap",
           std::string("gauss-legendre"),
           {"gauss-legendre", "trapezoid", "captum-trapezoid"}},
          {"steps",
           "number of quadrature nodes; 0: doubled until the completeness gap is within tolerance",
           int64_t{0},
           {},
           0,
           4096},
          {"max-steps", "maximum number of nodes when doubling", int64_t{256}, {}, 1, 4096},
          {"tolerance",
           "completeness gap allowed, as a fraction of the output difference",
           1e-3,
           {},
           0,
           1}},
     .presets = {{"captum", "Captum's default: 50 Gauss–Legendre nodes", {{"steps", int64_t{50}}}},
                 {"captum-trapezoid",
                  "Captum with method=\"riemann_trapezoid\": 50 nodes",
                  {{"rule", std::string("captum-trapezoid")}, {"steps", int64_t{50}}}}}},
    {.embedding_gradient = true},
    [](Run& run, const OptionReader& options) {
      return integrated_gradients(run, {.depth = depth_named(run.input(), options.word("at")),
                                        .baseline = options.word("baseline"),
                                        .rule = options.word("rule"),
                                        .steps = options.whole("steps"),
                                        .max_steps = options.whole("max-steps"),
                                        .tolerance = options.number("tolerance")});
    },
    OnSeveralParts::kTogether};

}  // namespace whyformer
