// A table of words that terminals and pages draw alike.
#pragma once

#include <string>
#include <vector>

namespace whyformer::report {

struct ReportTable {
  std::string title;
  std::vector<std::string> head;               // of the columns; the first ones are names
  std::vector<std::vector<std::string>> rows;  // as long as the head
  size_t names = 1;                            // columns that are aligned on the left
  std::string explained = {};                  // a sentence below
};

// Lines without newlines, columns as wide as their widest word; in blocks below each other, each
// with the names, where the table is wider than the terminal.
std::vector<std::string> terminal_lines(const ReportTable& table, int width);
// A heading and the table, as markup.
std::string table_markup(const ReportTable& table);

}  // namespace whyformer::report
