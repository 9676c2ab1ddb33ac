#include "readers/context_part.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "graph/pass.h"
#include "whyformer/error.h"

namespace whyformer {

ContextPart::ContextPart(RowsExplained sources, Sample row, const RowsSeen& seen, std::string told,
                         RunKind kind)
    : sources_(std::move(sources)),
      row_(std::move(row)),
      kind_(std::move(kind)),
      answers_(seen.answers) {
  units_.push_back({.text = "itself", .column = "itself", .cell = std::move(told), .row = -1});
  for (int64_t place = 0; place < seen.count(); ++place) {
    const std::string name = fmt::format("row {}", seen.numbers[place]);
    std::string cells = seen.cells[place];
    if (!answers_.empty()) cells = fmt::format("{} → {}", cells, answers_[place]);
    units_.push_back(
        {.text = name, .column = name, .cell = std::move(cells), .row = seen.numbers[place]});
  }
}

const ContextPart* as_context(const Part& part) { return dynamic_cast<const ContextPart*>(&part); }

std::string ContextPart::by_answer(const std::vector<double>& scores) const {
  if (answers_.empty()) return {};
  struct Group {
    std::string answer;
    double sum = 0;
    int64_t rows = 0, strongest = 0;
  };
  constexpr size_t kStrongest = 20;
  std::vector<Group> groups;
  std::vector<size_t> order;
  for (size_t row = 0; row < answers_.size(); ++row) {
    if (std::isnan(scores[row + 1])) return {};
    if (groups.empty() || groups.back().answer != answers_[row]) groups.push_back({answers_[row]});
    groups.back().sum += scores[row + 1];
    ++groups.back().rows;
    order.push_back(row);
  }
  std::ranges::stable_sort(order, std::greater(),
                           [&](size_t row) { return std::abs(scores[row + 1]); });
  order.resize(std::min(order.size(), kStrongest));
  for (const size_t row : order)
    ++std::ranges::find(groups, answers_[row], &Group::answer)->strongest;
  std::vector<std::string> sums, counts;
  for (const Group& group : groups) {
    sums.push_back(fmt::format("{} {:.3g} ({} row{})", group.answer, group.sum, group.rows,
                               group.rows == 1 ? "" : "s"));
    counts.push_back(fmt::format("{} {}", group.strongest, group.answer));
  }
  return fmt::format("Sums by the rows' own answers: {}. Of the {} rows that count most: {}.",
                     fmt::join(sums, ", "), order.size(), fmt::join(counts, ", "));
}

Sample ContextPart::sample_of(const std::vector<bool>& hidden) const {
  Sample sample = row_;
  Tensor seen = Tensor::empty({static_cast<int64_t>(units_.size()) - 1}, DType::kFloat64);
  for (size_t unit = 1; unit < units_.size(); ++unit)
    seen.mutable_data<double>()[unit - 1] = hidden[unit] ? 0 : 1;
  sample[kRowsSeen] = seen;
  return sample;
}

const PartTraits& ContextPart::traits() const {
  static const PartTraits kTraits{.name = "context",
                                  .side = "Context",
                                  .hiding = "drop",
                                  .baseline = "mean",
                                  .few_players = true};
  return kTraits;
}

std::vector<int64_t> ContextPart::players() const {
  std::vector<int64_t> units;
  for (size_t unit = 1; unit < units_.size(); ++unit) units.push_back(static_cast<int64_t>(unit));
  return units;
}

// One after the other.
PlayerTree ContextPart::player_tree() const {
  PlayerTree tree;
  const auto players = static_cast<int64_t>(units_.size()) - 1;
  for (int64_t next = 1; next < players; ++next) {
    const int64_t before = next == 1 ? 0 : players + next - 2;
    tree.merges.push_back({before, next});
  }
  return tree;
}

std::vector<bool> ContextPart::can_hide(const std::string&) const {
  std::vector<bool> can(units_.size(), true);
  can[0] = false;
  return can;
}

Variant ContextPart::hiding(const std::vector<bool>& hidden, const std::string& how,
                            std::optional<int64_t>) const {
  if (how != "auto" && how != "drop") {
    throw InvalidInput(
        fmt::format("rows of a context are left out (drop), they are not hidden by '{}'", how));
  }
  Variant variant{0};
  for (size_t unit = 1; unit < units_.size(); ++unit) variant.push_back(hidden[unit] ? 1 : 0);
  return variant;
}

FedGraph ContextPart::run_of(std::span<const Variant> inputs) const {
  std::vector<Sample> samples;
  for (const Variant& input : inputs) {
    std::vector<bool> hidden;
    for (const int64_t left_out : input) hidden.push_back(left_out == 1);
    samples.push_back(sample_of(hidden));
  }
  return sources_.leaving_out->fed(samples, kind_);
}

Tensor ContextPart::baseline(Depth depth, const std::string& name) const {
  if (name != "mean" && name != "zero") {
    throw InvalidInput(
        fmt::format("the baseline of a context is the mean of its rows or zero, not '{}'", name));
  }
  const FedGraph own = sources_.attending->fed(std::vector{sample()}, kind_);
  const Value value = own.graph->values_at(depth).front();
  const Tensor rows =
      run(own.graph->graph, own.feeds, {.outputs = {value}})[value].select(0, 0).contiguous();
  std::vector<double> numbers = rows.to_doubles();
  const auto count = static_cast<size_t>(rows.dim(0)), width = static_cast<size_t>(rows.dim(1));
  std::vector<double> mean(width, 0.0);
  for (size_t i = width; i < count * width && name == "mean"; ++i)
    mean[i % width] += numbers[i] / static_cast<double>(count - 1);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = mean[i % width];
  return Tensor::of<double>(rows.shape(), std::span<const double>(numbers)).cast(rows.dtype());
}

}  // namespace whyformer
