// Models given arrays: their explanations as all others, with their streams and read-out.
#include "whyformer/arrays.h"
#include "whyformer/report.h"

namespace whyformer {
namespace {

Explanation common_explanation(const ArrayExplanation& arrays) {
  Explanation explanation = arrays.explanation;
  for (const ArrayExplanation::Stream& stream : arrays.streams) {
    explanation.streams.push_back({stream.units, stream.first, stream.count});
  }
  explanation.read_out = arrays.info.read_out;
  return explanation;
}

}  // namespace

std::string to_json(const ArrayExplanation& explanation, int indent) {
  return to_json(common_explanation(explanation), indent);
}

std::string to_terminal(const ArrayExplanation& explanation) {
  return to_terminal(common_explanation(explanation));
}

}  // namespace whyformer
