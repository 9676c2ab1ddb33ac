#include <fmt/format.h>

#include "base/code_points.h"
#include "explanation/panels.h"
#include "whyformer/evaluation.h"

namespace whyformer {
namespace {

std::vector<std::string> oddities_of(const std::vector<TextSpan>& spans, const std::string& text) {
  std::vector<std::string> notes;
  const int64_t length = CodePointText(text).size();
  if (spans.empty()) notes.emplace_back("the rationale is empty");
  for (const TextSpan& span : spans) {
    if (span.segment != 0) continue;  // of the second text
    if (span.end <= span.start) {
      notes.push_back(
          fmt::format("the rationale [{}, {}] has no characters: it does not end "
                      "behind its start",
                      span.start, span.end));
    } else if (span.start < 0 || span.end > length) {
      notes.push_back(fmt::format("the rationale [{}, {}] leaves the text of {} characters",
                                  span.start, span.end, length));
    }
  }
  return notes;
}

// A reversed span would overlap what lies around it.
std::vector<TextSpan> with_characters(std::vector<TextSpan> spans) {
  std::erase_if(spans, [](const TextSpan& span) { return span.end <= span.start; });
  return spans;
}

}  // namespace

void add_known_mask(EvaluationInput& input, const PictureInput& mask) {
  input.region = region_of_mask(mask);
  input.pixels = pixels_of_mask(mask);
  input.known_from = [mask] { return "mask " + content_hash(InputValue(mask)); };
}

void add_known_spans(EvaluationInput& input, const std::vector<TextSpan>& spans) {
  const std::vector<TextSpan> sound = with_characters(spans);
  std::string told = "spans";
  for (const TextSpan& span : spans) {
    told += fmt::format(" {} {} {}", span.start, span.end, span.segment);
  }
  input.region = region_of_spans(sound);
  input.words = words_of_spans(sound);
  input.known_from = [told] { return told; };
  input.oddities = [spans](const Explanation& explanation) {
    return has_characters(explanation) ? oddities_of(spans, explanation.text)
                                       : std::vector<std::string>();
  };
}

}  // namespace whyformer
