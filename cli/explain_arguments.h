// The arguments of explain: what they are, which go together, and the request they make.
#pragma once

#include <string>
#include <vector>

#include "array_arguments.h"
#include "model_arguments.h"
#include "table_arguments.h"
#include "whyformer/report.h"

namespace whyformer::cli {

struct ExplainArguments {
  ModelArguments model;
  TextArguments text;
  PictureArguments picture;
  TargetArguments target;
  ArrayArguments arrays;
  TableArguments table;
  std::string file;
  std::vector<std::string> methods;
  std::vector<std::string> options;
  std::string html, json, svg, png, attention_svg, attention_png;
  std::string special = "show", words = "sum", precision = "single";
  std::string grain = "smooth", segment = "none";
  CLI::Option *has_grain = nullptr, *has_segment = nullptr, *has_words = nullptr;
  int64_t attention_layer = -1, attention_head = -1;
  int64_t seed = 0;
  int64_t memory_megabytes = 1024;

  void add_to(CLI::App& command);
  // Before anything is read: outputs that overwrite each other or an input, and options without
  // effect.
  void check() const;
};

// Options that say nothing to the kind of input at hand would be ignored; these throw InvalidInput.
void refuse_what_pictures_have(const ExplainArguments& a);
void refuse_what_texts_have(const ExplainArguments& a);
void check_options_of_pictures(const ExplainArguments& a);
void refuse_pictures(const ExplainArguments& a);
void refuse_names_of_methods(const ExplainArguments& a);

// With the methods that fit the model where none is named; those for a row depend on it.
ExplainRequest request_of(const ExplainArguments& a, const Model& model);
ExplainRequest request_of(const ExplainArguments& a, const Model& model, const TextInput& input);
ExplainRequest request_of(const ExplainArguments& a, const Model& model, const RowInput& row);
ArrayRequest array_request_of(const ExplainArguments& a, const ArrayModel& model,
                              const ArrayViews& inputs);

SpecialTokens special_of(const ExplainArguments& a);

}  // namespace whyformer::cli
