// What is read, as people type it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "whyformer/error.h"
#include "whyformer/printable.h"
#include "whyformer/probe.h"

namespace whyformer {
namespace {

[[noreturn]] void fail_read(std::string_view text, const std::string& why) {
  throw InvalidInput(fmt::format(
      "'{}' {}; write what is read as 'blocks.*.output token=0' or 'logits reduce=topk:3'",
      printable(text), why));
}

std::vector<std::string_view> parts_of_list(std::string_view list) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

int64_t place_number(std::string_view word, std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc() && end == word.data() + word.size()) return number;
  fail_read(text, fmt::format("has '{}' where a whole number belongs", printable(word)));
}

void read_reducer(std::string_view value, std::string_view text, Read& read) {
  const size_t colon = value.find(':');
  const std::string_view name = value.substr(0, colon);
  const auto known = std::ranges::find(kReducerNames, name);
  if (known == kReducerNames.end() || name == "dot") {
    fail_read(text, fmt::format("has the reducer '{}'; known are {}", printable(name),
                                "none, mean, sum, max, norm, topk:K, gram, histogram:K"));
  }
  read.reduce = static_cast<Reducer>(known - kReducerNames.begin());
  const bool counts = read.reduce == Reducer::kTopK || read.reduce == Reducer::kHistogram;
  if (counts != (colon != value.npos))
    fail_read(text, counts ? "needs a number: topk:3" : "has a number that says nothing");
  if (counts) read.count = place_number(value.substr(colon + 1), text);
}

}  // namespace

Read parse_read(std::string_view text) {
  std::istringstream words{std::string(text)};
  Read read;
  if (!(words >> read.value)) fail_read(text, "names no value");
  std::string word;
  while (words >> word) {
    const size_t equals = word.find('=');
    if (equals == word.npos) fail_read(text, fmt::format("has '{}' too much", printable(word)));
    const std::string key = word.substr(0, equals);
    const std::string_view value = std::string_view(word).substr(equals + 1);
    if (key == "reduce") {
      read_reducer(value, text, read);
    } else if (key == "over") {
      for (const std::string_view axis : parts_of_list(value)) read.over.emplace_back(axis);
    } else {
      for (const std::string_view place : parts_of_list(value))
        read.at[key].push_back(place_number(place, text));
    }
  }
  if (!read.over.empty() && read.reduce == Reducer::kNone)
    fail_read(text, "names axes but no reducer");
  return read;
}

}  // namespace whyformer
