// Arguments of commands that explain rows of a table.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "whyformer/tables.h"

namespace whyformer::cli {

struct TableArguments {
  std::string table, background;
  std::vector<std::string> chosen;  // numbers from 0, or COLUMN=VALUE
  int64_t background_rows = 100, clusters = 0;
  CLI::Option *has_row = nullptr, *has_background_rows = nullptr;

  void add_to(CLI::App& command);
  void add_row_to(CLI::App& command);  // rows of it, for commands that explain some of them
  bool given() const { return !table.empty() || (has_row != nullptr && has_row->count() > 0); }
  // Throws InvalidInput where no table is given, but what belongs to one.
  void refuse_without_table() const;
  // The table, or the rows that came with the model.
  NamedTable read(const Model& model) const;
  // The same with rows that cannot be read told apart.
  SoundRows read_sound(const Model& model) const;
  // Which rows are asked for, in that order. Throws InvalidInput where there is none.
  std::vector<int64_t> rows_in(const NamedTable& rows) const;
  // The same of one alone. Throws InvalidInput for several.
  int64_t row_in(const NamedTable& rows) const;
  // Rows that hidden columns are taken from: those given, the model's own (then nothing is told
  // here), or else the table's.
  void fill_background(const Model& model, const NamedTable& rows, RowInput& input) const;
  // One row of it with its background.
  RowInput input(const Model& model, const NamedTable& rows, int64_t row) const;
  // Makes it another row of the table, with the same background.
  void take_row(const Model& model, const NamedTable& rows, int64_t row, RowInput& input) const;
  // The same for the first rows of it.
  std::vector<RowInput> inputs(const Model& model, const NamedTable& rows, int64_t count) const;

 private:
  void take_block(const Model& model, const NamedTable& rows, int64_t row, RowInput& input) const;
};

}  // namespace whyformer::cli
