// The arguments of explain: what they are, which go together, and the request they make.
#pragma once

#include <string>
#include <vector>

#include "edit_arguments.h"
#include "input_arguments.h"
#include "table_arguments.h"
#include "whyformer/report.h"

namespace whyformer::cli {

struct ExplainArguments {
  InputArguments input;
  TargetArguments target;
  TableArguments table;
  EditArguments edits;
  std::string file;
  std::vector<std::string> methods;
  std::vector<std::string> options;
  std::string html, json, svg, png, waterfall_svg, waterfall_png, attention_svg, attention_png;
  std::string special = "show", words = "sum", precision = "single";
  std::string grain = "smooth", segment = "none";
  CLI::Option *has_grain = nullptr, *has_segment = nullptr, *has_words = nullptr;
  int64_t attention_layer = -1, attention_head = -1;
  std::string by = "columns";
  CLI::Option* has_by = nullptr;
  bool trust = false;
  int64_t trust_orders = 39;
  int64_t seed = 0;
  int64_t memory_megabytes = 1024;

  void add_to(CLI::App& command);
  // Before anything is read: outputs that overwrite each other or an input, and options without
  // effect.
  void check() const;
};

// Options that say nothing to the kind of input at hand would be ignored; these throw InvalidInput.
void check_options_of_arrays(const ExplainArguments& a);
void check_options_of_tables(const ExplainArguments& a);
void check_options_of_pictures(const ExplainArguments& a);
void check_options_of_texts(const ExplainArguments& a);
// Many inputs are answered by JSON lines alone.
void refuse_pictures(const ExplainArguments& a);

// With the methods that fit where none is named.
ExplainRequest request_of(const ExplainArguments& a, const Model& model, const InputValue& input);

SpecialTokens special_of(const ExplainArguments& a);
OverlayOptions overlay_of(const ExplainArguments& a);

}  // namespace whyformer::cli
