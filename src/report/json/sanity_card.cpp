// Sanity cards in the user's cache, one for each model.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/files.h"
#include "whyformer/error.h"
#include "whyformer/report.h"
#include "whyformer/sanity.h"

namespace whyformer {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kLargestCard = uintmax_t{1} << 26;

// Empty where the user has no home. The base directory specification has relative paths ignored.
fs::path cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && fs::path(cache).is_absolute()) return cache;
  const char* home = std::getenv("HOME");
  return home != nullptr && fs::path(home).is_absolute() ? fs::path(home) / ".cache" : fs::path();
}

// Empty where there is no cache.
fs::path folder_of_cards() {
  const fs::path folder = cache_folder();
  return folder.empty() ? folder : folder / "whyformer" / "sanity";
}

bool has_cards() {
  std::error_code error;
  const fs::path folder = folder_of_cards();
  return !folder.empty() && fs::directory_iterator(folder, error) != fs::directory_iterator();
}

// Hashes become names of files, so they are hexadecimal digits or nothing.
fs::path card_of(const std::string& hash) {
  const bool sound = hash.size() == 64 && hash.find_first_not_of("0123456789abcdef") == hash.npos;
  const fs::path folder = folder_of_cards();
  return sound && !folder.empty() ? folder / (hash + ".json") : fs::path();
}

// Nothing for one of another version, or a broken one: a new check writes it anew.
std::optional<SanityReport> card_in(const fs::path& path, const std::string& hash) {
  std::error_code error;
  if (path.empty() || !fs::is_regular_file(path, error) ||
      fs::file_size(path, error) > kLargestCard)
    return std::nullopt;
  try {
    SanityReport report = sanity_report_from_json(map_file(path).text());
    return report.hash == hash ? std::optional(std::move(report)) : std::nullopt;
  } catch (const FileError&) {
    return std::nullopt;
  }
}

// A method with other options is another one.
bool is_same_method(const MethodSanity& a, const MethodSanity& b) {
  return a.method == b.method && a.options == b.options;
}

// What an earlier check found out about other methods stays on the card.
SanityReport with_methods_of(SanityReport report, const SanityReport& before) {
  for (const MethodSanity& one : before.methods) {
    const bool checked_again = std::ranges::any_of(
        report.methods, [&](const MethodSanity& other) { return is_same_method(one, other); });
    if (!checked_again) report.methods.push_back(one);
  }
  return report;
}

int64_t inputs_of(const MethodSanity& method) {
  int64_t inputs = 0;
  for (const SanityComparison& one : method.comparisons) inputs = std::max(inputs, one.inputs);
  return inputs;
}

}  // namespace

void keep_sanity_card(const SanityReport& report) {
  if (report.stopped_early) return;
  const fs::path path = card_of(report.hash);
  if (path.empty()) throw FileError("there is no folder for the user's cache to keep the card in");
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error)
    throw FileError(fmt::format("cannot make the folder '{}': {}", path.parent_path().string(),
                                error.message()));
  const std::optional<SanityReport> before = card_in(path, report.hash);
  write_file(path, to_json(before ? with_methods_of(report, *before) : report) + "\n");
}

std::optional<SanityReport> find_sanity_card(const Model& model) {
  if (!has_cards()) return std::nullopt;  // a hash reads all weights
  const std::string hash = model.hash();
  return card_in(card_of(hash), hash);
}

SanityFindings sanity_findings(const Model& model) {
  const std::optional<SanityReport> card = find_sanity_card(model);
  if (!card) return std::nullopt;
  std::vector<SanityFinding> findings;
  for (const MethodSanity& one : card->methods) {
    findings.push_back({.method = one.method,
                        .options = one.options,
                        .depends_on_class = one.depends_on_class,
                        .depends_on_weights = one.depends_on_weights,
                        .inputs = inputs_of(one)});
  }
  return findings;
}

}  // namespace whyformer
