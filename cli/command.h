// A subcommand: its arguments, and what it does.
#pragma once

#include <CLI/CLI.hpp>

namespace whyformer::cli {

// Adds the subcommand to the program; its callback runs it. Errors are exceptions.
void add_explain(CLI::App& program);
void add_evaluate(CLI::App& program);
void add_agree(CLI::App& program);
void add_heads(CLI::App& program);
void add_importance(CLI::App& program);
void add_learned(CLI::App& program);
void add_patch(CLI::App& program);
void add_probe(CLI::App& program);
void add_sanity(CLI::App& program);
void add_debate(CLI::App& program);
void add_tcav(CLI::App& program);
void add_trace(CLI::App& program);
void add_tokenize(CLI::App& program);
void add_inspect(CLI::App& program);
void add_methods(CLI::App& program);

}  // namespace whyformer::cli
