#include "models/architectures/tables/table_family.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "whyformer/error.h"

namespace whyformer {
namespace {

// The first that recognises its tensors is taken.
constexpr std::array kFamilies{
    &kRtdlRevisiting,    &kRtdlOld,       &kRtdlPaper,       &kLucidHyperConnections,
    &kLucidFt,           &kSaint,         &kLitSaint,        &kPytorchTabularFt,
    &kPytorchTabularTab, &kPytorchFrame,  &kPytorchFrameTab, &kAutoGluon,
    &kWidedeepTab,       &kWidedeepSaint, &kWidedeepFt,      &kLucidTab};

constexpr std::string_view kNameWrappers[] = {"model.", "module.", "net.", "_orig_mod."};

std::string family_names() {
  std::string names;
  for (const TableFamily* family : kFamilies) {
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", family->name, family->package);
  }
  return names;
}

StoredTensors renamed(const StoredTensors& tensors, std::string_view prefix) {
  StoredTensors result;
  for (const auto& [name, tensor] : tensors) {
    const bool wrapped = name.starts_with(prefix);
    result.insert_or_assign(wrapped ? name.substr(prefix.size()) : name, tensor);
  }
  return result;
}

}  // namespace

const TableFamily* recognised_family(const Checkpoint& tensors) {
  const auto found = std::ranges::find_if(
      kFamilies, [&](const TableFamily* family) { return family->recognises(tensors); });
  return found == kFamilies.end() ? nullptr : *found;
}

std::span<const TableFamily* const> table_families() { return kFamilies; }

StoredTensors without_wrapper(StoredTensors tensors) {
  if (recognised_family(Checkpoint(tensors)) != nullptr) return tensors;
  for (const std::string_view prefix : kNameWrappers) {
    const auto wraps = [&](const auto& item) { return item.first.starts_with(prefix); };
    if (std::ranges::none_of(tensors, wraps)) continue;
    StoredTensors inner = renamed(tensors, prefix);
    if (recognised_family(Checkpoint(inner)) != nullptr) return inner;
  }
  return tensors;
}

const TableFamily& table_family_of(const TableWeights& weights) {
  const std::string& told = weights.spec.model.family;
  if (told.empty()) {
    if (const TableFamily* found = recognised_family(weights.tensors)) return *found;
    constexpr size_t kMostListed = 6;
    std::vector<std::string> names = weights.tensors.never_asked();
    names.resize(std::min(names.size(), kMostListed));
    throw UnsupportedModel(fmt::format(
        "the weights match no known family of table models: tensors such as '{}'; known are {}. "
        "Export the model to ONNX and give that file",
        fmt::join(names, "', '"), family_names()));
  }
  for (const TableFamily* family : kFamilies) {
    if (family->name == told) return *family;
  }
  throw UnsupportedModel(
      fmt::format("table.json names the family '{}'; known are {}", told, family_names()));
}

void check_sizes(const TableFamily& family, const TableFacts& facts) {
  const bool sound = facts.width > 0 && facts.blocks > 0 && facts.numbers >= 0 &&
                     facts.numbers + facts.categories() > 0;
  if (sound) return;
  throw FileError(fmt::format(
      "tensor names match {}, but shapes do not: {} blocks, tokens of width {}, {} numbers and "
      "{} categories",
      family.name, facts.blocks, facts.width, facts.numbers, facts.categories()));
}

int64_t heads_of(const TableFamily& family, const TableWeights& weights, const TableFacts& facts) {
  const auto& possible = facts.possible_heads;
  const std::optional<int64_t> told = weights.spec.model.heads;
  if (told && std::ranges::find(possible, *told) == possible.end()) {
    throw UnsupportedModel(
        fmt::format("table.json declares {} attention heads, but the weights allow {}", *told,
                    fmt::join(possible, ", ")));
  }
  if (told) return *told;
  if (facts.heads) return *facts.heads;
  if (possible.size() == 1) return possible[0];
  throw UnsupportedModel(fmt::format(
      "files of {} models do not store the number of attention heads, on which the answers "
      "depend: write it into table.json, \"model\": {{\"heads\": …}}; the "
      "weights allow {}",
      family.name, fmt::join(possible, ", ")));
}

}  // namespace whyformer
