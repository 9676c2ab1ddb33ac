#include <fmt/format.h>

#include <array>

#include "studies/heads/head_measure.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr std::array kMeasures{&kMichel, &kMichelPositions, &kConfidence, &kEntropy, &kVoitaLrp};

}  // namespace

std::span<const HeadMeasureInfo> head_measures() {
  static const std::vector<HeadMeasureInfo> infos = [] {
    std::vector<HeadMeasureInfo> list;
    for (const HeadMeasureEntry* measure : kMeasures) list.push_back(measure->info);
    return list;
  }();
  return infos;
}

const HeadMeasureEntry& find_head_measure(std::string_view name) {
  std::string names;
  for (const HeadMeasureEntry* measure : kMeasures) {
    if (measure->info.name == name) return *measure;
    names += (names.empty() ? "" : ", ") + measure->info.name;
  }
  throw InvalidInput(fmt::format("there is no measure '{}'; known are {}", name, names));
}

}  // namespace whyformer
