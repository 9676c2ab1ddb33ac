#include "evaluate/protocols/removal.h"

#include <fmt/format.h>

#include <algorithm>

namespace whyformer {
namespace {

const Part& part_with(const Input& input, const std::vector<bool>& removed) {
  const auto first = std::ranges::find(removed, true) - removed.begin();
  int64_t end = 0;
  for (const auto& part : input.parts()) {
    end += static_cast<int64_t>(part->units().size());
    if (first < end) return *part;
  }
  return *input.parts()[0];  // nothing is removed
}

}  // namespace

void add_note(const ProtocolCase& one, const std::string& note) {
  if (std::ranges::find(one.notes, note) == one.notes.end()) one.notes.push_back(note);
}

std::vector<std::vector<double>> answers_without(const ProtocolCase& one,
                                                 const std::vector<std::vector<bool>>& removed) {
  std::vector<Variant> inputs;
  for (const std::vector<bool>& units : removed) {
    const PartTraits& traits = part_with(one.run.input(), units).traits();
    if (traits.removal.empty()) {
      add_note(one, fmt::format("Units of {} cannot be taken out; they were hidden by '{}'.",
                                traits.name, traits.hiding));
    }
    inputs.push_back(
        one.run.input().hiding(units, traits.removal.empty() ? traits.hiding : traits.removal));
  }
  return one.run.answers(inputs);
}

}  // namespace whyformer
