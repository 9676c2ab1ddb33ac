#include "advice.h"

#include <fmt/format.h>

namespace whyformer::cli {
namespace {

std::string options_for(Remedy remedy) {
  switch (remedy) {
    case Remedy::kNone:
      return "";
    case Remedy::kArrays:
      return "--inputs FILE";
    case Remedy::kElement:
      return "--inputs FILE --output NAME --element I,J,…";
    case Remedy::kOutput:
      return "--output NAME";
    case Remedy::kHidingId:
      return "--hiding-id N";
    case Remedy::kPicture:
      return "--picture FILE";
    case Remedy::kRow:
      return "--table FILE";
    case Remedy::kTableSpec:
      return "--table-spec table.json; 'whyformer inspect MODEL --draft table.json' drafts one";
    case Remedy::kText:
      return "--text TEXT";
  }
  return "";
}

// Of the subcommand that was run.
bool has_option(const CLI::App& program, const std::string& name) {
  for (const CLI::App* command : program.get_subcommands()) {
    if (command->get_option_no_throw(name) != nullptr) return true;
  }
  return false;
}

}  // namespace

std::string with_advice(const Error& error, const CLI::App& program) {
  const std::string options = options_for(error.remedy());
  const std::string first = options.substr(0, options.find(' '));
  if (first.empty() || !has_option(program, first)) return error.what();
  return fmt::format("{} ({})", error.what(), options);
}

}  // namespace whyformer::cli
