// Edits as people type them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <sstream>

#include "models/edit_fields.h"
#include "whyformer/edits.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"

namespace whyformer {
namespace {

constexpr std::array<const char*, 9> kOpNames{"set",  "add",    "scale",   "zero", "mean",
                                              "copy", "freeze", "permute", "noise"};
constexpr const char* kHowToWrite =
    "write an edit as 'zero blocks.3.attention.context head=5' or 'scale blocks.2.mlp.output 0.5 "
    "token=3'";

[[noreturn]] void fail_edit(std::string_view text, const std::string& why) {
  throw InvalidInput(fmt::format("the edit '{}' {}", printable(text), why));
}

template <class T>
T edit_number(std::string_view word, std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool whole = error == std::errc() && end == word.data() + word.size();
  if (!whole || !std::isfinite(static_cast<double>(number)))
    fail_edit(text, fmt::format("has '{}' where a number belongs", printable(word)));
  return number;
}

template <class T>
std::vector<T> edit_numbers(std::string_view list, std::string_view text) {
  std::vector<T> numbers;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    numbers.push_back(edit_number<T>(list.substr(begin, end - begin), text));
    begin = end + 1;
  }
  return numbers;
}

// key=value behind the value's name.
void read_setting(std::string_view key, std::string_view value, std::string_view text, Edit& edit) {
  const bool draws = edit.op == EditOp::kNoise || edit.op == EditOp::kPermute;
  if (key == "sd" && edit.op == EditOp::kNoise) {
    edit.number = edit_number<double>(value, text);
  } else if (key == "seed" && draws) {
    edit.seed = edit_number<int64_t>(value, text);
  } else if (key == "axis" && edit.op == EditOp::kPermute) {
    edit.axis = value;
  } else if (!edit.at.emplace(key, edit_numbers<int64_t>(value, text)).second) {
    fail_edit(text, fmt::format("names '{}' twice", printable(key)));
  }
}

void check_complete(const Edit& edit, bool has_number, std::string_view text) {
  const EditFields given{.number = has_number && !edit.array.given(),
                         .array = edit.array.given(),
                         .source = !edit.source.empty(),
                         .axis = !edit.axis.empty(),
                         .seed = edit.seed != 0};
  const std::string fault = fault_of(edit, given);
  if (fault.empty()) return;
  const char* how = edit.op == EditOp::kNoise     ? "write it as sd=0.1"
                    : edit.op == EditOp::kPermute ? "write it as axis=key"
                                                  : kHowToWrite;
  fail_edit(text, fmt::format("{}; {}", fault, how));
}

// Which run a copy is from stands in front of the value's name.
void split_source(std::string_view text, Edit& edit) {
  const size_t dot = edit.value.find('.');
  if (dot == 0 || dot == edit.value.npos || dot + 1 == edit.value.size())
    fail_edit(text, "needs the run to copy from: copy other.blocks.4.output");
  edit.source = edit.value;
  edit.value = edit.value.substr(dot + 1);
}

}  // namespace

bool EditArray::operator==(const EditArray& other) const {
  if (shape != other.shape || given() != other.given()) return false;
  return !given() || *values == *other.values;
}

Edit parse_edit(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string word;
  Edit edit;
  words >> word;
  const auto op = std::ranges::find(kOpNames, word);
  if (op == kOpNames.end()) {
    fail_edit(text,
              fmt::format("begins with none of {}; {}", fmt::join(kOpNames, ", "), kHowToWrite));
  }
  edit.op = static_cast<EditOp>(op - kOpNames.begin());
  if (!(words >> edit.value)) fail_edit(text, fmt::format("names no value; {}", kHowToWrite));
  if (edit.op == EditOp::kCopy) split_source(text, edit);
  bool has_number = false;
  const bool takes_vector = edit.op == EditOp::kSet || edit.op == EditOp::kAdd;
  while (words >> word) {
    if (const size_t equals = word.find('='); equals != word.npos) {
      read_setting(word.substr(0, equals), word.substr(equals + 1), text, edit);
      continue;
    }
    if (has_number || !(takes_vector || edit.op == EditOp::kScale))
      fail_edit(text, fmt::format("has '{}' too much; {}", printable(word), kHowToWrite));
    has_number = true;
    const std::vector<double> numbers = edit_numbers<double>(word, text);
    if (numbers.size() == 1) {
      edit.number = numbers[0];
    } else if (takes_vector) {
      edit.array = {{static_cast<int64_t>(numbers.size())},
                    std::make_shared<const std::vector<double>>(numbers)};
    } else {
      fail_edit(text, "scales by one number");
    }
  }
  check_complete(edit, has_number || edit.number != 0, text);
  return edit;
}

std::string to_text(const Edit& edit) {
  const bool copies = edit.op == EditOp::kCopy && !edit.source.empty();
  std::string text = fmt::format("{} {}", kOpNames[static_cast<size_t>(edit.op)],
                                 copies ? edit.source : edit.value);
  const bool takes = edit.op == EditOp::kSet || edit.op == EditOp::kAdd;
  if (takes && edit.array.given()) {
    const bool vector = edit.array.shape.size() == 1;
    text += vector ? fmt::format(" {}", fmt::join(*edit.array.values, ","))
                   : fmt::format(" [{}]", fmt::join(edit.array.shape, " × "));
  } else if (takes || edit.op == EditOp::kScale) {
    text += fmt::format(" {}", edit.number);
  }
  if (edit.op == EditOp::kPermute) text += fmt::format(" axis={}", edit.axis);
  for (const auto& [axis, places] : edit.at)
    text += fmt::format(" {}={}", axis, fmt::join(places, ","));
  if (edit.op == EditOp::kNoise) text += fmt::format(" sd={}", edit.number);
  if (edit.op == EditOp::kNoise || edit.op == EditOp::kPermute)
    text += fmt::format(" seed={}", edit.seed);
  return text;
}

}  // namespace whyformer
