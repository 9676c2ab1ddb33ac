#include "readers/row_contexts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "base/random.h"
#include "base/sha256.h"
#include "graph/pass.h"
#include "whyformer/tables.h"

namespace whyformer {
namespace {

// The places of rows in the order of their answers; as they are where one of them is not told.
std::vector<int64_t> in_order_of_answers(const RowLayout& layout, const NamedTable& rows,
                                         std::vector<std::string>& answers) {
  std::vector<int64_t> order(static_cast<size_t>(rows.table.rows));
  std::iota(order.begin(), order.end(), 0);
  for (const int64_t row : order) {
    const std::optional<std::string> answer = layout.answer_in(row_of(rows, row));
    if (!answer) {
      answers.clear();
      return order;
    }
    answers.push_back(*answer);
  }
  const std::vector<std::string>& labels = layout.spec()->task.labels;
  std::ranges::stable_sort(order, {},
                           [&](int64_t row) { return std::ranges::find(labels, answers[row]); });
  return order;
}

RowsSeen rows_seen(const RowLayout& layout, const NamedTable& rows, std::string from,
                   ContextMode mode, int64_t but = -1) {
  RowsSeen seen{.from = std::move(from), .mode = mode};
  std::vector<std::string> answers;
  for (const int64_t row : in_order_of_answers(layout, rows, answers)) {
    if (row == but) continue;
    const RowInput input = row_of(rows, row);
    seen.samples.push_back(
        RowSource::sample_of(layout.places(input), layout.numbers(input), DType::kFloat64));
    seen.cells.push_back(layout.told(input));
    seen.numbers.push_back(row);
    if (!answers.empty()) seen.answers.push_back(answers[row]);
  }
  return seen;
}

std::vector<double> answers_to(const RowSource& source, const Sample& row, DType dtype) {
  const FedGraph fed = source.fed({&row, 1}, {.dtype = dtype});
  return run(fed.graph->graph, fed.feeds, {.outputs = {fed.graph->output}})[fed.graph->output]
      .to_doubles();
}

// As the model reads them in single precision.
bool are_equal(const Sample& a, const Sample& b) {
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
    return std::ranges::equal(
        one.second.to_doubles(), other.second.to_doubles(), [](double x, double y) {
          return (std::isnan(x) && std::isnan(y)) || static_cast<float>(x) == static_cast<float>(y);
        });
  });
}

}  // namespace

std::string RowsSeen::hash() const {
  Sha256 hash;
  for (const Sample& sample : samples) {
    for (const auto& [name, tensor] : sample) {
      const std::vector<double> numbers = tensor.to_doubles();
      hash.add_text(name);
      hash.add(std::as_bytes(std::span(numbers)));
    }
  }
  return hash.digest();
}

RowContexts::RowContexts(std::shared_ptr<const RowSource> alone, const RowLayout& layout,
                         const NamedTable& rows, std::string from, ContextMode mode)
    : alone_(std::move(alone)),
      given_(rows_seen(layout, rows, std::move(from), mode)),
      source_(alone_->in_context(given_.samples, mode)),
      answering_(alone_->in_context(given_.samples, ContextMode::kLive)) {}

RowContexts::RowContexts(std::shared_ptr<const RowSource> alone, int64_t block, ContextMode mode)
    : alone_(std::move(alone)), answering_(alone_->in_blocks()), block_(block), mode_(mode) {}

RowsSeen RowContexts::seen_by(const RowLayout& layout, const RowInput& row) const {
  if (block_ == 0 || row.block == nullptr) return given_;
  RowsSeen seen = rows_seen(layout, {row.names, row.block->table, row.block->cells}, "block", mode_,
                            row.in_block);
  for (int64_t& number : seen.numbers) number += row.block->first;
  return seen;
}

std::shared_ptr<const RowSource> RowContexts::source_of(const RowsSeen& seen) const {
  if (block_ == 0 || seen.samples.empty()) return source_;
  return alone_->in_context(seen.samples, seen.mode);
}

ContextFacts facts_of_context(const RowSource& alone, const RowsSeen& seen, const Sample& row,
                              const std::vector<Sample>& background, DType dtype) {
  const auto is_row = [&](const Sample& other) { return are_equal(other, row); };
  std::vector<Sample> drawn_from = seen.samples;
  drawn_from.insert(drawn_from.end(), background.begin(), background.end());
  const auto equal_rows = std::ranges::count_if(seen.samples, is_row);
  std::erase_if(drawn_from, is_row);
  const int contexts = drawn_from.empty() ? 0 : 5;
  const auto answers_in = [&](const std::vector<Sample>& rows, ContextMode mode) {
    return answers_to(*alone.in_context(rows, mode), row, dtype);
  };
  ContextFacts facts{.rows = seen.count(),
                     .from = seen.from,
                     .mode = std::string(word_of(seen.mode)),
                     .hash = seen.hash(),
                     .live = answers_in(seen.samples, ContextMode::kLive),
                     .alone = answers_to(*alone.in_context({}, seen.mode), row, dtype),
                     .equal_rows = equal_rows,
                     .contexts = contexts,
                     .drawn_from = static_cast<int64_t>(drawn_from.size())};
  facts.explained =
      seen.mode == ContextMode::kLive ? facts.live : answers_in(seen.samples, seen.mode);
  facts.lowest.assign(facts.live.size(), std::numeric_limits<double>::infinity());
  facts.highest.assign(facts.live.size(), -std::numeric_limits<double>::infinity());
  for (int context = 0; context < contexts; ++context) {
    const CounterRandom random(0, "contexts", context);
    std::vector<Sample> rows;
    for (int64_t i = 0; i < facts.rows; ++i) {
      const double share = random.uniform(i);
      rows.push_back(
          drawn_from[static_cast<size_t>(share * static_cast<double>(drawn_from.size()))]);
    }
    const std::vector<double> answers = answers_in(rows, ContextMode::kLive);
    for (size_t i = 0; i < answers.size(); ++i) {
      facts.lowest[i] = std::min(facts.lowest[i], answers[i]);
      facts.highest[i] = std::max(facts.highest[i], answers[i]);
    }
  }
  return facts;
}

}  // namespace whyformer
