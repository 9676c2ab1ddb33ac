#include "methods/blocks/alti.h"

#include <fmt/format.h>

#include <cmath>

#include "methods/blocks/block_methods.h"
#include "methods/blocks/block_vectors.h"
#include "methods/blocks/sums.h"
#include "methods/method.h"
#include "run/not_a_number.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// ‖state‖ - ‖state - vector‖, in one of two norms.
double nearness(std::span<const double> state, std::span<const double> vector,
                AltiOptions::Norm norm) {
  const auto width = static_cast<int64_t>(state.size());
  const auto rest = [&](int64_t d) { return state[d] - vector[d]; };
  if (norm == AltiOptions::Norm::kL1) {
    return sum_of(width, [&](int64_t d) { return std::abs(state[d]); }) -
           sum_of(width, [&](int64_t d) { return std::abs(rest(d)); });
  }
  return std::sqrt(sum_of(width, [&](int64_t d) { return state[d] * state[d]; })) -
         std::sqrt(sum_of(width, [&](int64_t d) { return rest(d) * rest(d); }));
}

// Divides by the sum; where no token brings the row nearer, it is left to itself.
void normalise(std::span<double> row, int64_t own) {
  double sum = 0;
  for (const double x : row) sum += x;
  if (sum == 0) row[own] = sum = 1;
  for (double& x : row) x /= sum;
}

std::vector<OptionInfo> alti_options() {
  std::vector<OptionInfo> options{
      {"norm", "norm of the distances", std::string("l1"), {"l1", "l2"}},
      {"through",
       "compare states after the attention part, or at the end of the block",
       std::string("attention"),
       {"attention", "block"}}};
  for (OptionInfo& option : layer_options()) options.push_back(std::move(option));
  return options;
}

}  // namespace

// c_ij = max(0, ‖ȳ_i‖ - ‖ȳ_i - T_ij‖) / Σ_j. Biases are in ȳ_i, the true state, but not in T_ij.
Matrix alti_map(const EncoderBlock& block, const Pass& pass, int64_t sample,
                const AltiOptions& options) {
  const bool whole_block = options.through == AltiOptions::Through::kBlock;
  if (whole_block && block.norms_before()) {
    throw InvalidInput(fmt::format(
        "alti.through=block needs layers that normalise behind each part, but '{}' normalises in "
        "front: use through=attention",
        block.name));
  }
  const BlockVectors vectors(block, pass, sample,
                             {.reach = whole_block ? Reach::kBlock : Reach::kAttentionNorm});
  const Value state = whole_block ? block.output() : block.attended.output();
  const std::vector<double> states = state_rows(pass, state, sample).to_doubles();
  Matrix map(vectors.rows(), vectors.tokens());
  const int64_t width = vectors.width();
  vectors.for_each([&](int64_t i, int64_t j, std::span<const double> vector) {
    const std::span<const double> y(states.data() + i * width, width);
    map.at(i, j) = positive_part(nearness(y, vector, options.norm));
  });
  for (int64_t i = 0; i < map.rows; ++i) {
    normalise({map.values.data() + i * map.columns, static_cast<size_t>(map.columns)},
              block.first_row + i);
  }
  return map;
}

const Method kAlti{
    {.name = "alti",
     .summary = "rollout of each token's contribution to the layer output, by distance",
     .paper = "Ferrando et al., EMNLP 2022",
     .cost = "1 forward, M² vectors per layer",
     .class_specific = false,
     .is_signed = false,
     .options = alti_options(),
     .presets = {{"ours2",
                  "second variant of the reference code: to the end of the block",
                  {{"through", std::string("block")}}}}},
    {.attention = true, .values = true},
    [](Run& run, const OptionReader& options) {
      const AltiOptions chosen{
          .norm = options.word("norm") == "l2" ? AltiOptions::Norm::kL2 : AltiOptions::Norm::kL1,
          .through = options.word("through") == "block" ? AltiOptions::Through::kBlock
                                                        : AltiOptions::Through::kAttention};
      return Scores{read_out_of_product(
          run, "alti", layer_choice(options),
          [&](const EncoderBlock& block) { return alti_map(block, run.pass(), 0, chosen); })};
    }};

}  // namespace whyformer
