#include "unknown_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace whyformer::cli {
namespace {

// Letters to insert, leave out, change, or swap with their neighbour (optimal string alignment).
size_t typing_errors(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> errors(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        errors[i][j] = i + j;
        continue;
      }
      const size_t changed = errors[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      errors[i][j] = std::min({changed, errors[i - 1][j] + 1, errors[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        errors[i][j] = std::min(errors[i][j], errors[i - 2][j - 2] + 1);
      }
    }
  }
  return errors[a.size()][b.size()];
}

std::string guess(const std::string& word, const std::vector<std::string>& names) {
  const std::string meant = nearest(word, names);
  return meant.empty() ? "" : fmt::format(" (did you mean '{}'?)", meant);
}

std::string about_command(const CLI::App& program, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands({})) {
    if (command->get_name() == word) return "";
    names.push_back(command->get_name());
  }
  const std::string meant = guess(word, names);
  return fmt::format("there is no command '{}'{}", word,
                     meant.empty() ? fmt::format("; there are {}", fmt::join(names, ", ")) : meant);
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& names) {
  constexpr size_t kLongestWord = 40;
  if (word.size() > kLongestWord) return "";
  std::string best;
  size_t fewest = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& name : names) {
    const size_t errors = typing_errors(word, name);
    if (errors >= fewest) continue;
    fewest = errors;
    best = name;
  }
  return best;
}

std::string about_unknown_words(const CLI::App& program, int argc, const char* const* argv) {
  if (argc < 2) return "";
  const std::string first = argv[1];
  if (!first.starts_with('-')) {
    if (const std::string problem = about_command(program, first); !problem.empty()) return problem;
  }
  for (const CLI::App* command : program.get_subcommands()) {
    for (const std::string& word : command->remaining()) {
      if (!word.starts_with("--") || word == "--") continue;
      const std::string option = word.substr(0, word.find('='));
      std::vector<std::string> names;
      for (const CLI::Option* known : command->get_options()) {
        for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
      }
      return fmt::format("'whyformer {}' has no option '{}'{}", command->get_name(), option,
                         guess(option, names));
    }
  }
  return "";
}

std::string about_extra_words(const CLI::App& program) {
  for (const CLI::App* command : program.get_subcommands()) {
    if (command->get_option_no_throw("TEXT") == nullptr || command->remaining().empty()) continue;
    return fmt::format("'{}' was not expected: put a text of several words in quotes",
                       fmt::join(command->remaining(), " "));
  }
  return "";
}

}  // namespace whyformer::cli
