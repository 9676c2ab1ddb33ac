// Arguments that several commands share: the model, the text, the target.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "whyformer/model.h"

namespace whyformer::cli {

// The built-in model of that name, as reports call it and Python loads it; nothing for a path.
std::optional<Model> built_in_named(const std::string& name);

struct ModelArguments {
  std::string model;                  // empty: the built-in one for the kind of input
  std::string output;                 // of an ONNX file; empty: chosen
  std::string table_spec;             // of a bare checkpoint
  std::string context, context_mode;  // of a model whose rows attend to each other
  int threads = 0;

  void add_to(CLI::App& command);
  void add_output_to(CLI::App& command);
  Model load() const;
  Model load_for_pictures() const;
  Model load_for_tables() const;
  void apply_threads() const;  // the other two do it too

 private:
  Model load_or(Model (*built_in)()) const;
};

struct TextArguments {
  std::string positional, text, pair;
  CLI::Option *has_positional = nullptr, *has_text = nullptr, *has_pair = nullptr;

  void add_to(CLI::App& command);
  // The text given as an argument, if any. Throws InvalidInput if it is given twice.
  std::optional<TextInput> given() const;
};

struct PictureArguments {
  std::string picture;
  std::vector<std::string> among;
  int64_t top = 1;
  CLI::Option* has_top = nullptr;

  void add_to(CLI::App& command);
  void add_classes_to(CLI::App& command);
  // The picture given as an option, or in place of a text. Throws InvalidInput if both are given.
  std::optional<PictureFile> given(const TextArguments& text) const;
  Model load(const ModelArguments& model) const;
};

struct TargetArguments {
  std::vector<std::string> targets;  // several for pictures only
  std::string similar_to, read_out;
  CLI::Option *has_target = nullptr, *has_similar_to = nullptr;

  void add_to(CLI::App& command);
  void fill(ExplainRequest& request) const;
  bool any_given() const {
    return has_target->count() > 0 || has_similar_to->count() > 0 || !read_out.empty();
  }
};

// Every option that names something (a file, a model, a column) refuses an empty name: that is what
// an unset variable of the shell gives, and it must not stand for an option that was left out.
// Pages and pictures refuse "-".
void refuse_empty_names(CLI::App& program);

// Where a command takes a text or a file by its place, an option takes one value each time: it must
// not eat the text behind it, nor the "--" in front of a text that looks like an option.
void leave_arguments_alone(CLI::App& program);

}  // namespace whyformer::cli
