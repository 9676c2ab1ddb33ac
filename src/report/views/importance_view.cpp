#include "report/views/importance_view.h"
#include "whyformer/printable.h"

#include <fmt/format.h>

#include <cmath>

namespace whyformer::report {
namespace {

std::string words_of(const RankedImportance& found) {
  if (!found.value) return "–";
  if (!found.low) return fmt::format("{:.3g}", *found.value);
  return fmt::format("{:.3g} [{:.3g}, {:.3g}]", *found.value, *found.low, *found.high);
}

// "3.", or "2.5" of two that share the places 2 and 3.
std::string rank_words(double rank) {
  return fmt::format("{:g}{}", rank, rank == std::floor(rank) ? "." : "");
}

}  // namespace

ReportTable importance_table(const ComparedImportances& found) {
  ReportTable table{
      .title = "Importances of the columns",
      .head = {"column"},
      .explained = "The rank of each column, and its value with an interval of 95 %:"};
  for (const ImportanceSide& side : found.sides) {
    table.head.emplace_back("");
    table.head.push_back(side.method);
    table.explained += fmt::format(" {} is the {}{}", side.method, side.what,
                                   &side == &found.sides.back() ? "." : ";");
  }
  for (size_t column = 0; column < found.columns.size(); ++column) {
    std::vector<std::string> row{found.columns[column]};
    for (const ImportanceSide& side : found.sides) {
      const RankedImportance& own = side.columns[column];
      row.push_back(own.rank ? rank_words(*own.rank) : "");
      row.push_back(words_of(own));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string importance_facts(const ComparedImportances& found) {
  return quantity(found.rows, "row") + " · " + quantity(std::ssize(found.columns), "column") +
         ", the best mean rank first";
}

}  // namespace whyformer::report
