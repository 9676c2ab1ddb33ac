#include "explanation/label_names.h"

#include <fmt/format.h>

#include "base/code_points.h"

namespace whyformer {

std::string label_name(const Explanation& explanation, size_t index) {
  const std::vector<std::string>& labels = explanation.output.labels;
  return index < labels.size() ? valid_utf8(labels[index]) : fmt::format("label {}", index);
}

std::string target_name(const Explanation& explanation) {
  const Target& target = explanation.target;
  return target.label.empty() ? label_name(explanation, static_cast<size_t>(target.index))
                              : valid_utf8(target.label);
}

}  // namespace whyformer
