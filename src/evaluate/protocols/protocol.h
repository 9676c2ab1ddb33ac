// What a protocol is: its entry in the list, which classes it explains, and how the scores of one
// input are measured.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "evaluate/measured_values.h"
#include "run/run.h"
#include "whyformer/protocols.h"

namespace whyformer {

enum class ExplainedClass { kPredicted, kLabel };

// Scores of a method, those with their sign changed, or random ones.
struct ScoredInput {
  std::vector<double> scores;  // of all units
  std::vector<double> pixels;  // of all pixels, for methods that score them; else empty
};

// One input with the class that is explained.
struct ProtocolCase {
  const EvaluationInput& input;
  const Explanation& explanation;
  std::optional<int64_t> label;  // the right answer among the outputs, where it is known
  Run& run;                      // of the whole input; its target is the explained class
  int64_t seed = 0;              // of the draws for this input
  std::vector<std::string>& notes;
};

// Columns that are measured from the scores for one class.
struct ProtocolPart {
  ExplainedClass explained = ExplainedClass::kPredicted;
  std::vector<EvaluationColumn> columns;
  // The values of each scored input, one for each column; nothing for columns that are not defined.
  // Scores are finite. Throws InvalidInput where the input does not have what the protocol
  // perturbs.
  std::vector<MeasuredRow> (*measure)(const ProtocolCase& one,
                                      std::span<const ScoredInput> scored) = nullptr;
};

struct Protocol {
  ProtocolInfo info;  // its columns are those of the parts
  std::vector<ProtocolPart> parts;
  bool needs_label = false;
  std::string why_not = {};  // of protocols that need more than a model
};

// One line per protocol; protocols.cpp lists them.
extern const Protocol kCvpr21Perturbation;
extern const Protocol kCvpr21Segmentation;
extern const Protocol kEraser;
extern const Protocol kRise;
extern const Protocol kVqaPerturbation;
extern const Protocol kRoar;

// Throws InvalidInput that lists the known names.
const Protocol& find_protocol(std::string_view name);

// Whether the model answers with the label; nothing where it gives numbers that are no labels. Of
// several labels that may hold together: whether this one does.
std::optional<bool> says_label(const Run& run, const std::vector<double>& outputs, int64_t label);

// Columns along a path, one for each x.
void add_curve(std::vector<EvaluationColumn>& columns, const EvaluationColumn& like,
               std::span<const double> shares);

}  // namespace whyformer
