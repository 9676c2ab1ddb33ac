// How much each attention head matters over a corpus, what it attends to, and what pruning heads
// does to the answers.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "whyformer/head_roles.h"
#include "whyformer/model.h"
#include "whyformer/treebank.h"

namespace whyformer {

// One input of a corpus with what is right about it.
struct LabelledInput {
  InputValue input;
  // Names or indices of the right outputs (one, but any number for multi-label models); for
  // regression the right numbers. Nothing: the model's own answer stands in.
  std::optional<std::vector<std::string>> labels;
  std::string place;  // for messages, such as "line 7"
  // Code points [start, end) of the text that are known to hold the reason, where they are.
  std::optional<std::vector<std::pair<int64_t, int64_t>>> rationales = {};
  // Of a sentence with its dependency tree; null where there is none.
  std::shared_ptr<const DependencyTree> tree = {};
};

// A number per layer (0 is nearest the input) and head.
using HeadGrid = std::vector<std::vector<double>>;

struct HeadMeasureInfo {
  std::string name;
  std::string summary;
  std::string paper;
  std::string cost;  // of one text, in words
};

// Every measure, in the order they are listed to people.
std::span<const HeadMeasureInfo> head_measures();

// What becomes of a layer's scores in the michel measures.
enum class LayerScale { kUnitLength, kNone };

struct PruneRequest {
  double step = 0.1;      // share of all heads that goes in each step
  bool keep_one = false;  // the last head of a layer stays
  int64_t seed = 0;       // of the random order beside it
};

struct HeadsRequest {
  std::vector<std::string> measures{"michel", "confidence"};
  LayerScale michel_scale = LayerScale::kUnitLength;
  bool all_tokens = false;          // confidence: special tokens count too
  bool attention_constant = false;  // voita-lrp: relevance reaches values only
  Precision precision = Precision::kSingle;
  std::optional<PruneRequest> prune = {};      // by the first measure
  std::optional<HeadRolesRequest> roles = {};  // then there may be no measure
  Progress progress = {};  // counts runs; returning false ends the work with what there is by then
};

struct HeadScores {
  std::string measure;
  std::string summary;
  Options options;
  HeadGrid values;
};

struct HeadName {
  int layer = 0;
  int head = 0;
  bool operator==(const HeadName&) const = default;
};

struct PruningStep {
  int64_t pruned = 0;          // heads
  double accuracy = 0;         // pruned in the curve's order
  double random_accuracy = 0;  // as many heads, in a random order
};

struct PruningCurve {
  std::string measure;
  bool keep_one = false;
  int64_t seed = 0;
  std::vector<HeadName> order = {};  // the first goes first: the measure's lowest
  std::vector<PruningStep> steps = {};
  int64_t examples = 0;  // that accuracies are measured on
};

struct HeadImportance {
  static constexpr const char* kSchema = "whyformer.heads/1";

  ModelName model;
  std::string kind = "texts";  // or "pictures": what the examples are
  int64_t examples = 0;
  int64_t tokens = 0;
  int64_t labelled = 0;  // examples that came with a label
  std::vector<HeadScores> measures = {};
  std::optional<PruningCurve> pruning = {};
  std::optional<HeadRoles> roles = {};
  bool stopped_early = false;  // Progress asked to stop
  double seconds = 0;
  std::vector<std::string> notes = {};  // what the reader must know, in sentences
};

// One run per example serves all measures. Throws InvalidInput for unknown measures and labels, for
// empty texts, and where a measure does not fit the model.
HeadImportance head_importance(const Model& model, const std::vector<LabelledInput>& corpus,
                               const HeadsRequest& request);

}  // namespace whyformer
