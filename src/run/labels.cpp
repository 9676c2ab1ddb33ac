#include "run/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "whyformer/error.h"
#include "whyformer/printable.h"

namespace whyformer {
namespace {

std::optional<int64_t> whole_number(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string some_labels(const std::vector<std::string>& labels) {
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(labels.size(), 8); ++i) {
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", i, labels[i]);
  }
  return labels.size() > 8 ? text + ", …" : text;
}

[[noreturn]] void refuse(const std::vector<std::string>& labels, const std::string& asked,
                         const std::string& what) {
  throw InvalidInput(fmt::format("there is no {} '{}': this model has {}: {}", what, asked,
                                 quantity(std::ssize(labels), "output"), some_labels(labels)));
}

}  // namespace

int64_t label_index(const std::vector<std::string>& labels, int64_t asked,
                    const std::string& what) {
  if (asked < 0 || asked >= static_cast<int64_t>(labels.size())) {
    refuse(labels, std::to_string(asked), what);
  }
  return asked;
}

int64_t label_index(const std::vector<std::string>& labels, const std::string& asked,
                    const std::string& what) {
  const auto found = std::find(labels.begin(), labels.end(), asked);
  if (found != labels.end()) return found - labels.begin();
  const std::optional<int64_t> index = whole_number(asked);
  if (!index) refuse(labels, asked, what);
  return label_index(labels, *index, what);
}

}  // namespace whyformer
