// Reads the bytes as table.json and, if they load, writes and reads them again and encodes a few
// cells.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "formats/tables/table_spec.h"
#include "whyformer/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace whyformer;
  try {
    const TableSpec spec =
        parse_table_spec(Bytes{std::as_bytes(std::span(data, size)), nullptr}, "table.json");
    const std::string written = to_json(spec);
    if (to_json(parse_table_spec(bytes_of(written), "written")) != written) std::abort();
    for (const ColumnSpec& column : spec.columns) {
      const std::string word = column.categories.empty() ? "1" : column.categories.back();
      for (const std::string_view cell :
           {std::string_view(word), std::string_view("39"), std::string_view(" -1e300 "),
            std::string_view("NA"), std::string_view("Stategov \xff")}) {
        try {
          if (encoded(spec, column, cell).numbers.size() != column.at.size()) std::abort();
        } catch (const InvalidInput&) {
        }
      }
    }
  } catch (const Error&) {
  }
  return 0;
}
