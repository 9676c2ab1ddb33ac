#include "readers/load_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/pass.h"
#include "models/checkpoint_row_source.h"
#include "models/table_answers.h"
#include "models/table_files.h"
#include "readers/context_choice.h"
#include "readers/table_file.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Further from the probe than this share of an answer, another model answered.
constexpr double kTolerance = 1e-4;

TableSpec spec_in(const FileLookup& files) {
  const std::optional<Bytes> file = files(kTableSpecFile);
  if (!file) throw FileError("found no table.json, which tells what a table model reads");
  return parse_table_spec(*file, kTableSpecFile);
}

NamedTable rows_in(const FileLookup& files, const std::string& name) {
  if (name.empty()) return {};
  const std::optional<Bytes> file = files(name);
  if (!file) throw FileError(fmt::format("table.json names '{}', which is not beside it", name));
  return cells_in(*file, name);
}

RowInput probe_row(const TableSpec& spec, size_t row) {
  RowInput input;
  input.cells = spec.probe.rows[row];
  input.values.assign(input.cells.size(), std::numeric_limits<double>::quiet_NaN());
  for (const ColumnSpec& column : spec.columns) input.names.push_back(column.name);
  return input;
}

// As the user's own framework gave them. Two that are shown may be one logit of the model:
// table.json or the probe says so.
std::vector<double> raw_answers(const TaskSpec& task, std::vector<double> shown, size_t expected) {
  const bool one = task.kind == TaskSpec::Kind::kBinary && shown.size() == 2 &&
                   (task.output == TaskSpec::Output::kOneLogit || expected == 1);
  const TableAnswers answers(task, one ? 1 : static_cast<int64_t>(shown.size()));
  return answers.raw(std::move(shown));
}

// The largest difference from the probe, as a share of the answer where that is above 1.
double deviation(const RowSource& source, const RowLayout& layout) {
  const TableSpec& spec = *layout.spec();
  double largest = 0;
  for (size_t row = 0; row < spec.probe.rows.size(); ++row) {
    const RowInput input = probe_row(spec, row);
    const FedGraph fed =
        source.fed(std::vector{RowSource::sample_of(layout.places(input), layout.numbers(input),
                                                    DType::kFloat32)},
                   {});
    const Pass pass = run(fed.graph->graph, fed.feeds, {.outputs = {fed.graph->output}});
    const std::vector<double>& expected = spec.probe.outputs[row];
    const std::vector<double> own =
        raw_answers(spec.task, pass[fed.graph->output].to_doubles(), expected.size());
    if (own.size() != expected.size()) {
      throw FileError(fmt::format("table.json: row {} of the probe has {} answers, the model {}",
                                  row, expected.size(), own.size()));
    }
    for (size_t i = 0; i < own.size(); ++i) {
      const double gap = std::abs(own[i] - expected[i]) / std::max(1.0, std::abs(expected[i]));
      largest =
          std::isfinite(gap) ? std::max(largest, gap) : std::numeric_limits<double>::infinity();
    }
  }
  return largest;
}

struct Tried {
  int64_t heads = 0;
  double gap = 0;
};

std::string told(const std::vector<Tried>& tried) {
  std::vector<std::string> words;
  for (const Tried& one : tried)
    words.push_back(fmt::format("{} heads: {:.2g}", one.heads, one.gap));
  return fmt::format("{}", fmt::join(words, ", "));
}

[[noreturn]] void throw_probe_failed(double gap, const std::vector<Tried>& others) {
  throw FileError(fmt::format(
      "the model does not answer as the probe of table.json says: {:.2g} off{}. Something that is "
      "not in the weights is told wrong: the number of heads, the activation, the order of columns "
      "or their encodings",
      gap, others.empty() ? "" : fmt::format(" (with {})", told(others))));
}

struct Found {
  std::shared_ptr<const RowSource> source;
  RowLayout layout;
};

Found found_with(const TableSpec& spec, const StoredTensors& tensors, const std::string& name,
                 const NamedTable& background) {
  auto source = checkpoint_row_source(spec, tensors, name);
  RowLayout layout(source, spec, background);
  return {std::move(source), std::move(layout)};
}

// Which of the possible numbers of heads answers as the probe says.
std::vector<Tried> try_heads(TableSpec spec, const StoredTensors& tensors,
                             const std::string& name) {
  std::vector<Tried> tried;
  for (const int64_t heads : possible_heads(spec, tensors)) {
    spec.model.heads = heads;
    const Found found = found_with(spec, tensors, name, {});
    tried.push_back({heads, deviation(*found.source, found.layout)});
  }
  std::ranges::stable_sort(tried, {}, &Tried::gap);
  return tried;
}

}  // namespace

std::shared_ptr<const Reader> table_reader(const FileLookup& files, const std::string& weights,
                                           const std::string& name, const LoadOptions& options) {
  TableSpec spec = spec_in(files);
  const StoredTensors tensors = table_weights(files, spec, weights);
  const NamedTable background = rows_in(files, spec.background);
  const bool has_probe = !spec.probe.rows.empty();
  if (has_probe && !spec.model.heads) {
    const std::vector<Tried> tried = try_heads(spec, tensors, name);
    if (!tried.empty() && tried[0].gap > kTolerance) throw_probe_failed(tried[0].gap, tried);
    if (!tried.empty()) spec.model.heads = tried[0].heads;
  }
  Found found = found_with(spec, tensors, name, background);
  if (has_probe) {
    const double gap = deviation(*found.source, found.layout);
    if (gap > kTolerance) throw_probe_failed(gap, try_heads(spec, tensors, name));
  }
  RowContexts contexts = contexts_of(files, options, found.source, found.layout);
  NamedTable rows;
  if (const std::optional<Bytes> own = files("rows.csv")) rows = cells_in(*own, "rows.csv");
  return std::make_shared<RowReader>(std::move(contexts), std::move(found.layout), std::move(rows));
}

std::shared_ptr<const Reader> table_reader(const FileLookup& files,
                                           std::shared_ptr<const RowSource> source,
                                           const LoadOptions& options) {
  const TableSpec spec = spec_in(files);
  RowLayout layout(source, spec, rows_in(files, spec.background));
  // Rows that attend to each other are probed alone, as checkpoints are.
  const auto alone = source->rows_attend() ? source->in_context({}, ContextMode::kLive) : source;
  const double gap = spec.probe.rows.empty() ? 0 : deviation(*alone, layout);
  if (gap > kTolerance) throw_probe_failed(gap, {});
  return std::make_shared<RowReader>(contexts_of(files, options, alone, layout), std::move(layout),
                                     NamedTable());
}

}  // namespace whyformer
