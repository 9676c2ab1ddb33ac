// Arguments of commands that measure methods over many inputs: the corpus, the model that reads it,
// and the methods.
#pragma once

#include <string>
#include <vector>

#include "labelled_texts.h"
#include "model_arguments.h"
#include "table_arguments.h"
#include "whyformer/evaluation.h"

namespace whyformer::cli {

struct CorpusArguments {
  ModelArguments model;
  TableArguments table;
  std::string file, pictures, masks, data, split = "test";
  std::vector<std::string> methods, options;
  int64_t examples = 0;
  int64_t seed = 0;
  int64_t memory_megabytes = 1024;
  bool explain_labels = false;
  mutable std::optional<Model> table_model = {};  // tells how a table is read

  void add_inputs_to(CLI::App& command);
  void add_methods_to(CLI::App& command);
  // Folders of data sets as they are published.
  void add_data_sets_to(CLI::App& command);

  // What is read, so that no output overwrites it.
  std::vector<std::string> files() const {
    return {file, pictures, table.table, table.background, model.model};
  }

  using Entry = EvaluationEntry;
  // Throws InvalidInput where none or several corpora are given.
  std::vector<Entry> read() const;
  // The built-in model for such inputs where none is named.
  Model load(const std::vector<Entry>& corpus) const;
  Model load_table_model() const;
  // The first that can be read, if any.
  static const InputValue& first_of(const std::vector<Entry>& corpus);
  // Methods with their options, seed and memory; `fallback` where none is named.
  ExplainRequest request(const std::vector<std::string>& fallback) const;

 private:
  std::vector<Entry> read_lines() const;
  std::vector<Entry> read_rows() const;
  void add_masks(const std::vector<CorpusEntry>& all, std::vector<Entry>& corpus) const;
};

}  // namespace whyformer::cli
