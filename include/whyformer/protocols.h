// Published evaluation protocols by name, as their authors ran them: what is explained, how it is
// perturbed, and which numbers are told. The results are an Evaluation like any other.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "whyformer/evaluation.h"

namespace whyformer {

struct ProtocolInfo {
  std::string name;
  std::string summary;
  std::string paper;
  std::string data;  // what it runs on, in words
  std::vector<EvaluationColumn> columns;
};

// In the order they are listed to people.
std::span<const ProtocolInfo> protocols();

// Throws InvalidInput that lists the known names.
const ProtocolInfo& protocol_named(std::string_view name);

// An ERASER folder as it is: docs/ (or docs.jsonl) and SPLIT.jsonl, at most `limit` annotations,
// all if it is 0. An annotation that cannot be read keeps its place, with its problem. Throws
// FileError where the folder has no such split.
std::vector<EvaluationEntry> read_eraser(const std::filesystem::path& folder,
                                         const std::string& split = "test", int64_t limit = 0);

}  // namespace whyformer
