#include "report/views/agreement_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/views/evaluation_view.h"

namespace whyformer::report {
namespace {

// Measures that are told of columns: all but signs, which means of |score| do not have.
constexpr size_t kColumnMeasures[] = {0, 1, 2, 4};

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : "–";
}

// "0.31 ± 0.21 (0.05 to 0.50)".
std::string spread_words(const std::optional<AgreementSpread>& spread) {
  if (!spread) return "–";
  const std::string deviation =
      spread->deviation ? fmt::format(" ± {:.2f}", *spread->deviation) : "";
  return fmt::format("{:.2f}{} ({:.2f} to {:.2f})", spread->mean, deviation, spread->least,
                     spread->most);
}

ReportTable table_of_means(const AgreementReport& report) {
  ReportTable table{
      .title = fmt::format("Between mean |scores| of {} columns", report.columns.size()),
      .head = {"", ""},
      .names = 2,
      .explained =
          "One ranking of the columns for each method, over all inputs; the "
          "interval resamples the inputs."};
  for (const size_t measure : kColumnMeasures) table.head.emplace_back(kAgreementMeasures[measure]);
  for (size_t a = 0; a < report.methods.size(); ++a) {
    for (size_t b = a + 1; b < report.methods.size(); ++b) {
      std::vector<std::string> row{report.methods[a], report.methods[b]};
      for (const size_t measure : kColumnMeasures)
        row.push_back(agreement_words(report.by_column[a][b].means[measure]));
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

ReportTable table_of_each(const AgreementReport& report) {
  ReportTable table{.title = "Column by column, Spearman's correlation over the inputs",
                    .head = {"", "", "mean", "lowest", "", "highest", ""},
                    .names = 2,
                    .explained =
                        "Whether a column that counts more than usual for one method does "
                        "so for the other; which columns count at all is not asked."};
  for (size_t a = 0; a < report.methods.size(); ++a) {
    for (size_t b = a + 1; b < report.methods.size(); ++b) {
      const auto& each = report.by_column[a][b].each;
      std::optional<size_t> least, most;
      double sum = 0;
      int64_t defined = 0;
      for (size_t column = 0; column < each.size(); ++column) {
        if (!each[column]) continue;
        if (!least || *each[column] < *each[*least]) least = column;
        if (!most || *each[column] > *each[*most]) most = column;
        sum += *each[column];
        ++defined;
      }
      std::vector<std::string> row{report.methods[a], report.methods[b]};
      row.push_back(defined > 0 ? fmt::format("{:.2f}", sum / static_cast<double>(defined)) : "–");
      for (const std::optional<size_t>& column : {least, most}) {
        row.push_back(column ? number(each[*column]) : "–");
        row.push_back(column ? report.columns[*column] : "");
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

// The models' numbers of one pair, and their spread.
void add_models(const AgreementOverModels& found, size_t a, size_t b, ReportTable& table) {
  const bool columns = table.head.size() > 4;
  for (const AgreementReport& report : found.models) {
    const auto index = [&](size_t method) {
      return std::ranges::find(report.methods, found.methods[method]) - report.methods.begin();
    };
    std::vector<std::string> row{found.methods[a], found.methods[b], report.model.name,
                                 agreement_words(report.pairs[index(a)][index(b)][0])};
    if (columns)
      row.push_back(report.by_column.empty()
                        ? "–"
                        : agreement_words(report.by_column[index(a)][index(b)].means[0]));
    table.rows.push_back(std::move(row));
  }
  std::vector<std::string> row{found.methods[a], found.methods[b],
                               fmt::format("{} models", found.models.size()),
                               spread_words(found.pairs[a][b][0])};
  if (columns) row.push_back(spread_words(found.columns[a][b][0]));
  table.rows.push_back(std::move(row));
}

}  // namespace

std::string agreement_extent(const AgreementCell& cell) {
  std::string words = cell.deviation ? fmt::format("sd {:.2f}", *cell.deviation) : "";
  if (cell.left_out > 0) {
    words += fmt::format("{}{} of {} inputs left out, as all scores are alike",
                         words.empty() ? "" : ", ", cell.left_out,
                         cell.left_out + cell.one_unit + cell.inputs);
  }
  if (cell.one_unit > 0) {
    words += fmt::format("{}{} of one unit, which has no ranking", words.empty() ? "" : ", ",
                         cell.one_unit);
  }
  return words;
}

std::vector<ReportTable> column_tables(const AgreementReport& report) {
  if (report.by_column.empty()) return {};
  return {table_of_means(report), table_of_each(report)};
}

std::vector<ReportTable> model_tables(const AgreementOverModels& found) {
  ReportTable table{.title = "Spearman's correlation over trained models",
                    .head = {"", "", "model", "mean over inputs"},
                    .names = 3,
                    .explained =
                        "Agreement belongs to trained weights: the spread over models, mean "
                        "± sd (lowest to highest), says how far one model's number holds."};
  if (std::ranges::any_of(found.models,
                          [](const AgreementReport& one) { return !one.by_column.empty(); }))
    table.head.emplace_back("between mean |scores|");
  for (size_t a = 0; a < found.methods.size(); ++a) {
    for (size_t b = a + 1; b < found.methods.size(); ++b) add_models(found, a, b, table);
  }
  return {table};
}

}  // namespace whyformer::report
