#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "studies/debate/debate_part.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr std::array kDebateParts{&kCorrelationPart, &kPermutationPart, &kAdversaryPart,
                                  &kUniformPart,     &kSeedsPart,       &kDiagnosticPart,
                                  &kConsistentPart};

}  // namespace

std::span<const DebatePart* const> debate_part_list() { return kDebateParts; }

std::vector<DebatePartInfo> debate_parts() {
  std::vector<DebatePartInfo> infos;
  for (const DebatePart* part : kDebateParts) infos.push_back(part->info);
  return infos;
}

std::vector<const DebatePart*> parts_asked(const DebateRequest& request) {
  std::vector<std::string> known;
  for (const DebatePart* part : kDebateParts) known.push_back(part->info.name);
  for (const std::string& name : request.parts) {
    if (std::ranges::find(known, name) == known.end()) {
      throw InvalidInput(fmt::format("there is no part '{}' of the debate: choose from {}", name,
                                     fmt::join(known, ", ")));
    }
  }
  std::vector<const DebatePart*> asked;
  for (const DebatePart* part : kDebateParts) {
    if (request.parts.empty() ||
        std::ranges::find(request.parts, part->info.name) != request.parts.end())
      asked.push_back(part);
  }
  return asked;
}

}  // namespace whyformer
