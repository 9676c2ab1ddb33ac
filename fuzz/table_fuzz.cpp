// Reads the bytes as a CSV file of words; a table that loads is whole.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "readers/table_file.h"
#include "whyformer/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace whyformer;
  try {
    const NamedTable table =
        cells_in(Bytes{std::as_bytes(std::span(data, size)), nullptr}, "rows.csv");
    const auto columns = static_cast<int64_t>(table.names.size());
    const auto cells = static_cast<int64_t>(table.cells.size());
    if (columns == 0 || table.table.columns != columns) std::abort();
    if (table.table.rows <= 0 || cells != table.table.rows * columns) std::abort();
    if (static_cast<int64_t>(table.table.values.size()) != cells) std::abort();
    for (int64_t row = 0; row < table.table.rows; ++row) {
      if (row_of(table, row).cells.size() != table.names.size()) std::abort();
    }
  } catch (const Error&) {
  }
  return 0;
}
