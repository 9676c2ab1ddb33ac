// Activation patching between two inputs.
#include <fmt/format.h>

#include <algorithm>

#include "studies/patching/patch_study.h"
#include "studies/patching/sweep.h"
#include "whyformer/error.h"
#include "whyformer/interrupted.h"

namespace whyformer {
namespace {

void note_units(const AlignedUnits& aligned, const std::vector<Unit>& clean,
                std::vector<std::string>& notes) {
  if (aligned.size() == clean.size()) return;
  const auto without = std::ranges::count(aligned, -1);
  notes.push_back(fmt::format(
      "The inputs have {} and {} units: {} of the corrupted one have no counterpart, and no score.",
      clean.size(), aligned.size(), without));
}

void check_request(const PatchRequest& request) {
  if (request.kinds.empty()) throw InvalidInput("there is no kind of values to patch");
  for (const std::string& kind : request.kinds) patch_kind_named(kind);
  if (!(request.exact_share > 0 && request.exact_share <= 1)) {
    throw InvalidInput(fmt::format("the share of cells to run is {}: give one above 0, up to 1",
                                   request.exact_share));
  }
  if (!request.preview && request.exact_share < 1)
    throw InvalidInput("without estimates all cells are run: leave out the share");
}

}  // namespace

PatchReport study_patches(const Reader& reader, const InputValue& clean,
                          const InputValue& corrupted, const PatchRequest& request) {
  check_request(request);
  PatchStudy study(reader, clean, request, "activation patching");
  const auto base = study.read_corrupted(corrupted);
  const AlignedUnits aligned = align_units(study.units(), study.report.corrupted->units);
  note_units(aligned, study.units(), study.report.notes);
  const SweepSettings settings{.preview = request.preview, .exact_share = request.exact_share};
  const SweepWork work{study.metric(), aligned, study.counter(),
                       [&study](double forwards) { study.expect(forwards); }};
  Swept swept = sweep(request.kinds, study.clean(), *base, settings, work);
  if (swept.grids.empty()) throw Interrupted();
  if (request.preview) ++study.report.cost.backwards;
  for (EffectGrid& grid : swept.grids) {
    study.report.effects_are_shares =
        add_effects(study.report.clean_value, *study.report.corrupted_value, grid);
    study.report.grids.push_back(std::move(grid));
  }
  if (swept.stopped) study.stop();
  if (!study.report.effects_are_shares) {
    study.report.notes.emplace_back(
        "Both inputs have nearly the same answer: shares of the gap are undefined, changes are "
        "told.");
  }
  return study.finish();
}

}  // namespace whyformer
