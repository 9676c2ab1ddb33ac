// Arguments of commands that explain rows of a table.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "whyformer/tables.h"

namespace whyformer::cli {

struct TableArguments {
  std::string table, background;
  int64_t row = 0;
  int64_t background_rows = 100, clusters = 0;
  CLI::Option* has_row = nullptr;

  void add_to(CLI::App& command);
  bool given() const { return !table.empty(); }
  NamedTable read() const;
  // One row of it with what stands in for hidden columns: the background's rows, or else the
  // table's.
  RowInput input(const NamedTable& rows, int64_t row) const;

 private:
  Background background_of_rows(const NamedTable& rows) const;
};

}  // namespace whyformer::cli
