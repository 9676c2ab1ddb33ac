// What becomes of the answer without each attention head.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/patching/patch_study.h"
#include "whyformer/error.h"
#include "whyformer/interrupted.h"

namespace whyformer {
namespace {

// The head's context in each token, [tokens, width], replaced.
void ablate(HeadAblation ablation, Tensor context) {
  if (ablation == HeadAblation::kZero) {
    context.fill(0);
    return;
  }
  const int64_t tokens = context.dim(0), width = context.dim(1);
  const std::vector<double> numbers = context.to_doubles();
  std::vector<double> mean(static_cast<size_t>(width), 0.0);
  for (size_t i = 0; i < numbers.size(); ++i)
    mean[i % static_cast<size_t>(width)] += numbers[i] / static_cast<double>(tokens);
  const Tensor row =
      Tensor::of<double>({1, width}, std::span<const double>(mean)).cast(context.dtype());
  context.copy_from(row.expand({tokens, width}));
}

}  // namespace

PatchReport study_ablations(const Reader& reader, const InputValue& input, HeadAblation ablation,
                            const PatchRequest& request) {
  PatchStudy study(reader, input, request, "head ablation");
  const PatchedRun& run = study.clean();
  if (run.blocks().empty())
    throw InvalidInput("no encoder blocks of a known form were found in this model");
  EffectGrid grid{.kind = ablation == HeadAblation::kZero ? "zero" : "mean over tokens",
                  .column_axis = "head"};
  std::vector<int64_t> heads;
  for (const std::string& block : run.blocks()) {
    const std::string name = block + ".attention.context";
    heads.push_back(run.value(name).dim(run.names().at(name).axis("head")));
    grid.rows.push_back("layer " + block.substr(block.find('.') + 1));
    study.expect(static_cast<double>(heads.back()) * run.forwards_behind(name));
  }
  // Layers may have different numbers of heads: those with fewer leave cells without a change.
  const int64_t most = *std::ranges::max_element(heads);
  for (int64_t head = 0; head < most; ++head) grid.columns.push_back(fmt::format("{}", head));
  grid.changes.assign(grid.cells(), std::nan(""));
  const RunsMade made = study.counter();
  try {
    for (size_t layer = 0; layer < heads.size(); ++layer) {
      const std::string name = run.blocks()[layer] + ".attention.context";
      const int head_axis = run.names().at(name).axis("head") - 1;  // the batch is gone
      const auto change = [&](int64_t head, size_t, const Tensor& context) {
        ablate(ablation, context.select(head_axis, head));
      };
      const auto answers = run.answers({{name}}, heads[layer], change, made);
      for (size_t head = 0; head < answers.size(); ++head)
        grid.changes[layer * grid.columns.size() + head] =
            study.metric().value(answers[head]) - study.report.clean_value;
    }
  } catch (const Interrupted&) {
    study.stop();
  }
  grid.effects = grid.changes;
  study.report.effects_are_shares = false;
  study.report.grids.push_back(std::move(grid));
  return study.finish();
}

}  // namespace whyformer
