// The logit lens: what the model's head says of the stream behind each block.
#include <fmt/format.h>

#include "studies/patching/patch_study.h"
#include "whyformer/error.h"
#include "whyformer/interrupted.h"

namespace whyformer {
namespace {

constexpr int64_t kAllTokens = -1;

// A sample of a layer: the stream as it is, or one token's row in the place of all.
void look_at(const Tensor& stream, int64_t token, Tensor value) {
  if (token == kAllTokens) {
    value.copy_from(stream);
    return;
  }
  value.copy_from(stream.slice(0, token, 1).expand(stream.shape()));
}

}  // namespace

PatchReport study_lens(const Reader& reader, const InputValue& input, const PatchRequest& request) {
  PatchStudy study(reader, input, request, "logit lens");
  const PatchedRun& run = study.clean();
  if (run.blocks().empty())
    throw InvalidInput("no encoder blocks of a known form were found in this model");
  const std::string last = run.blocks().back() + ".output";
  std::vector<std::string> streams{run.blocks().front() + ".input"};
  EffectGrid grid{.kind = "answer", .rows = {"input"}, .columns = {"all tokens"}};
  for (const std::string& block : run.blocks()) {
    streams.push_back(block + ".output");
    grid.rows.push_back("layer " + block.substr(block.find('.') + 1));
  }
  const auto& units = study.units();
  const bool by_token =
      run.value(last).dim(1) == static_cast<int64_t>(units.size()) && run.input().attends_by_unit();
  if (by_token) {
    for (const Unit& unit : units) grid.columns.push_back(unit.text);
  } else {
    study.report.notes.emplace_back(
        "The tokens inside this model are not the units of the input: single tokens are left "
        "out.");
  }
  const auto columns = static_cast<int64_t>(grid.columns.size());
  grid.effects.assign(grid.cells(), std::nan(""));
  study.expect(static_cast<double>(grid.cells()) * run.forwards_behind(last));
  const RunsMade made = study.counter();
  try {
    for (size_t row = 0; row < streams.size(); ++row) {
      const Tensor stream = run.value(streams[row]).select(0, 0);
      const auto change = [&](int64_t column, size_t, const Tensor& value) {
        look_at(stream, column - 1, value);
      };
      const auto answers = run.answers({{last}}, columns, change, made);
      for (size_t column = 0; column < answers.size(); ++column)
        grid.effects[row * grid.columns.size() + column] = study.metric().value(answers[column]);
    }
  } catch (const Interrupted&) {
    study.stop();
  }
  grid.changes = grid.effects;
  for (double& change : grid.changes) change -= study.report.clean_value;
  study.report.effects_are_shares = false;
  study.report.grids.push_back(std::move(grid));
  return study.finish();
}

}  // namespace whyformer
