// Words of a command line that mean nothing, and what was probably meant.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace whyformer::cli {

// The one of `names` that is fewest typing errors away; empty where all are far from it.
std::string nearest(const std::string& word, const std::vector<std::string>& names);

// After a parse that failed: "there is no command 'explian' (did you mean 'explain'?)", or the same
// about an option. Empty where something else was wrong.
std::string about_unknown_words(const CLI::App& program, int argc, const char* const* argv);

// The same about words behind a text, which were probably part of it.
std::string about_extra_words(const CLI::App& program);

}  // namespace whyformer::cli
