#include "studies/patching/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "whyformer/agreement.h"
#include "whyformer/error.h"
#include "whyformer/interrupted.h"

namespace whyformer {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

// A cell: one value, or a head or a token of it; -1 stands for all of them.
struct PatchCell {
  size_t row = 0;
  int64_t head = -1;
  int64_t token = -1;
};

// Where the values of a grid's rows are found.
struct PatchRows {
  std::vector<std::string> names;   // of values
  std::vector<std::string> titles;  // "layer 3"
};

PatchRows rows_of(const PatchKind& kind, const PatchedRun& run) {
  PatchRows rows;
  if (kind.from_input) {
    rows.names.push_back("blocks.0.input");
    rows.titles.emplace_back("input");
  }
  for (const std::string& block : run.blocks()) {
    const std::string name = block + "." + kind.part;
    run.names().at(name);  // throws where this block has none
    rows.names.push_back(name);
    rows.titles.push_back("layer " + block.substr(block.find('.') + 1));
  }
  if (run.blocks().empty()) {
    throw InvalidInput(
        "no encoder blocks of a known form were found in this model: there is "
        "nothing to patch by layers");
  }
  return rows;
}

// Copies the clean run's numbers into those of a sample, where units stand for each other.
class CellPatch {
 public:
  CellPatch(const NamedValue& at, const Tensor& clean, const AlignedUnits& aligned)
      : clean_(clean.select(0, 0)), aligned_(aligned) {
    const int head = at.axis("head"), token = at.axis("token");
    head_axis_ = head < 0 ? -1 : head - 1;  // the batch is gone
    token_axis_ = token - 1;
  }

  // False where the cell has no counterpart in the clean run.
  bool is_defined(const PatchCell& cell) const {
    return cell.token < 0 || aligned_[cell.token] >= 0;
  }

  void write(const PatchCell& cell, Tensor value) const { copy(cell, value, clean_); }

  bool changes(const PatchCell& cell, const Tensor& own) const {
    Tensor patched = own.copy();
    write(cell, patched);
    return patched.to_doubles() != own.to_doubles();
  }

  // ⟨clean − own, gradient⟩ over the cell.
  double slope(const PatchCell& cell, const Tensor& own, const Tensor& gradient) const {
    Tensor patched = own.copy();
    write(cell, patched);
    const std::vector<double> after = patched.to_doubles(), before = own.to_doubles(),
                              by = gradient.to_doubles();
    double sum = 0;
    for (size_t i = 0; i < after.size(); ++i) sum += (after[i] - before[i]) * by[i];
    return sum;
  }

 private:
  void copy(const PatchCell& cell, Tensor into, Tensor from) const {
    int token_axis = token_axis_;
    if (cell.head >= 0) {
      into = into.slice(head_axis_, cell.head, 1);
      from = from.slice(head_axis_, cell.head, 1);
    }
    for (size_t token = 0; token < aligned_.size(); ++token) {
      if (aligned_[token] < 0 || (cell.token >= 0 && cell.token != static_cast<int64_t>(token)))
        continue;
      Tensor row = into.select(token_axis, static_cast<int64_t>(token));
      row.copy_from(from.select(token_axis, aligned_[token]));
    }
  }

  Tensor clean_;
  const AlignedUnits& aligned_;
  int head_axis_ = -1, token_axis_ = 0;
};

class Sweep {
 public:
  Sweep(const PatchKind& kind, const PatchedRun& clean, const PatchedRun& corrupted,
        const SweepSettings& settings, const SweepWork& work)
      : kind_(kind),
        clean_(clean),
        corrupted_(corrupted),
        settings_(settings),
        work_(work),
        rows_(rows_of(kind, corrupted)),
        base_(work.metric.value(corrupted.outputs())) {
    const NamedValue& first = corrupted.names().at(rows_.names.back());
    const Shape& shape = corrupted.value(first.name).shape();
    heads_ = first.axis("head") < 0 ? 0 : shape[first.axis("head")];
    tokens_ = shape[first.axis("token")];
    check_tokens();
    name_axes();
    add_cells();
  }

  Swept run() {
    if (settings_.preview) add_previews();
    grid_.changes.assign(cells_.size(), kNotANumber);
    const std::vector<bool> wanted = cells_to_run();
    try {
      for (size_t row = 0; row < rows_.names.size(); ++row) run_row(row, wanted);
    } catch (const Interrupted&) {
      interrupted_ = true;
    }
    if (settings_.preview) compare_previews();
    return {std::move(grid_), interrupted_};
  }

 private:
  void check_tokens() const {
    if (tokens_ == static_cast<int64_t>(work_.aligned.size()) &&
        corrupted_.input().attends_by_unit())
      return;
    throw InvalidInput(fmt::format(
        "'{}' has {} tokens, which are not the {} units of the input: they cannot be patched by "
        "unit",
        rows_.names.back(), tokens_, work_.aligned.size()));
  }

  void name_axes() {
    grid_.kind = kind_.info.name;
    grid_.rows = rows_.titles;
    const auto& units = corrupted_.input().parts()[0]->units();
    if (kind_.cells == PatchKind::Cells::kHeads) {
      grid_.column_axis = "head";
      for (int64_t head = 0; head < heads_; ++head)
        grid_.columns.push_back(fmt::format("{}", head));
      return;
    }
    for (const Unit& unit : units) grid_.columns.push_back(unit.text);
    if (kind_.cells != PatchKind::Cells::kHeadsAndTokens) return;
    grid_.row_axis = "layer and head";
    grid_.rows.clear();
    for (const std::string& title : rows_.titles) {
      for (int64_t head = 0; head < heads_; ++head)
        grid_.rows.push_back(fmt::format("{} head {}", title, head));
    }
  }

  void add_cells() {
    const bool by_head = kind_.cells != PatchKind::Cells::kTokens;
    const bool by_token = kind_.cells != PatchKind::Cells::kHeads;
    for (size_t row = 0; row < rows_.names.size(); ++row) {
      for (int64_t head = by_head ? 0 : -1; head < (by_head ? heads_ : 0); ++head) {
        for (int64_t token = by_token ? 0 : -1; token < (by_token ? tokens_ : 0); ++token)
          cells_.push_back({row, head, token});
      }
    }
  }

  CellPatch patch_at(size_t row) const {
    const std::string& name = rows_.names[row];
    return {corrupted_.names().at(name), clean_.value(name), work_.aligned};
  }

  // First-order estimates from one walk back through the corrupted run.
  void add_previews() {
    const ValuesByName gradients =
        corrupted_.gradients(work_.metric.gradient(corrupted_.outputs()), rows_.names);
    for (const PatchCell& cell : cells_) {
      const std::string& name = rows_.names[cell.row];
      const CellPatch patch = patch_at(cell.row);
      grid_.previews.push_back(patch.is_defined(cell)
                                   ? patch.slope(cell, corrupted_.value(name).select(0, 0),
                                                 gradients.at(name).select(0, 0))
                                   : kNotANumber);
    }
  }

  // The share of cells with the largest estimates.
  std::vector<bool> cells_to_run() const {
    std::vector<bool> wanted(cells_.size(), true);
    if (!settings_.preview || settings_.exact_share >= 1) return wanted;
    std::vector<size_t> order(cells_.size());
    std::iota(order.begin(), order.end(), 0);
    const auto size_of = [&](size_t cell) {
      return std::isnan(grid_.previews[cell]) ? -1.0 : std::abs(grid_.previews[cell]);
    };
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return size_of(a) > size_of(b); });
    const auto exact =
        static_cast<size_t>(std::ceil(settings_.exact_share * static_cast<double>(cells_.size())));
    for (size_t i = exact; i < order.size(); ++i) wanted[order[i]] = false;
    return wanted;
  }

  // The layers that are patched together with this row's.
  std::vector<PatchedRun::Stop> stops_at(size_t row) const {
    const auto reach = static_cast<size_t>((settings_.window - 1) / 2);
    const size_t begin = row > reach ? row - reach : 0;
    const size_t end =
        std::min(rows_.names.size(), row + static_cast<size_t>(settings_.window) - reach);
    std::vector<PatchedRun::Stop> stops;
    for (size_t at = begin; at < end; ++at) stops.push_back({rows_.names[at], false});
    return stops;
  }

  void run_row(size_t row, const std::vector<bool>& wanted) {
    const std::vector<PatchedRun::Stop> stops = stops_at(row);
    std::vector<CellPatch> patches;
    for (const PatchedRun::Stop& stop : stops)
      patches.emplace_back(corrupted_.names().at(stop.name), clean_.value(stop.name),
                           work_.aligned);
    std::vector<size_t> runs;
    int64_t skipped = 0;
    for (size_t cell = 0; cell < cells_.size(); ++cell) {
      if (cells_[cell].row != row || !wanted[cell]) continue;
      if (!patches[0].is_defined(cells_[cell])) continue;
      if (changes_nothing(cells_[cell], stops, patches)) {
        grid_.changes[cell] = 0;
        ++skipped;
        continue;
      }
      runs.push_back(cell);
    }
    if (skipped > 0) work_.left_out(skipped);
    const auto change = [&](int64_t sample, size_t stop, const Tensor& value) {
      patches[stop].write(cells_[runs[sample]], value);
    };
    corrupted_.go_on(
        stops, static_cast<int64_t>(runs.size()), change, "",
        [&](int64_t sample, const Tensor& answer) {
          grid_.changes[runs[sample]] = work_.metric.value(answer.to_doubles()) - base_;
        },
        work_.made);
  }

  // Where both runs have the same numbers nothing needs to run: the change is exactly 0.
  bool changes_nothing(const PatchCell& cell, const std::vector<PatchedRun::Stop>& stops,
                       const std::vector<CellPatch>& patches) const {
    for (size_t stop = 0; stop < stops.size(); ++stop) {
      if (patches[stop].changes(cell, corrupted_.value(stops[stop].name).select(0, 0)))
        return false;
    }
    return true;
  }

  void compare_previews() {
    std::vector<double> guessed, found;
    for (size_t cell = 0; cell < cells_.size(); ++cell) {
      if (std::isnan(grid_.changes[cell]) || std::isnan(grid_.previews[cell])) continue;
      guessed.push_back(grid_.previews[cell]);
      found.push_back(grid_.changes[cell]);
    }
    if (const auto rank = spearman(guessed, found)) grid_.preview_rank = rank->value;
  }

  const PatchKind& kind_;
  const PatchedRun& clean_;
  const PatchedRun& corrupted_;
  const SweepSettings& settings_;
  const SweepWork& work_;
  PatchRows rows_;
  double base_;
  int64_t heads_ = 0, tokens_ = 0;
  std::vector<PatchCell> cells_;
  EffectGrid grid_;
  bool interrupted_ = false;
};

const std::vector<PatchKind>& all_patch_kinds() {
  using enum PatchKind::Cells;
  static const std::vector<PatchKind> kKinds{
      {{"residual", "the stream behind each block, one token at a time"}, "output", kTokens, true},
      {{"attention", "what attention adds to the stream, one token at a time"},
       "attention.output",
       kTokens},
      {{"mlp", "what the feed-forward part adds to the stream, one token at a time"},
       "mlp.output",
       kTokens},
      {{"heads", "the context of each head, all tokens together"}, "attention.context", kHeads},
      {{"head-tokens", "the context of each head, one token at a time"},
       "attention.context",
       kHeadsAndTokens}};
  return kKinds;
}

}  // namespace

std::span<const PatchKindInfo> patch_kinds() {
  static const std::vector<PatchKindInfo> kInfos = [] {
    std::vector<PatchKindInfo> infos;
    for (const PatchKind& kind : all_patch_kinds()) infos.push_back(kind.info);
    return infos;
  }();
  return kInfos;
}

const PatchKind& patch_kind_named(const std::string& name) {
  std::string known;
  for (const PatchKind& kind : all_patch_kinds()) {
    if (kind.info.name == name) return kind;
    known += (known.empty() ? "" : ", ") + kind.info.name;
  }
  throw InvalidInput(fmt::format("there is no kind of patch '{}': choose from {}", name, known));
}

AlignedUnits align_units(const std::vector<Unit>& clean, const std::vector<Unit>& corrupted) {
  AlignedUnits aligned(corrupted.size(), -1);
  if (clean.size() == corrupted.size()) {
    std::iota(aligned.begin(), aligned.end(), 0);
    return aligned;
  }
  // Lengths of the longest common sequences of what is left of both.
  const size_t width = clean.size() + 1;
  std::vector<int> longest((corrupted.size() + 1) * width, 0);
  const auto same = [&](size_t i, size_t j) { return corrupted[i].text == clean[j].text; };
  for (size_t i = corrupted.size(); i-- > 0;) {
    for (size_t j = clean.size(); j-- > 0;) {
      longest[i * width + j] =
          same(i, j) ? longest[(i + 1) * width + j + 1] + 1
                     : std::max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  for (size_t i = 0, j = 0; i < corrupted.size() && j < clean.size();) {
    if (same(i, j)) {
      aligned[i++] = static_cast<int64_t>(j++);
    } else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  return aligned;
}

Swept sweep(const PatchKind& kind, const PatchedRun& clean, const PatchedRun& corrupted,
            const SweepSettings& settings, const SweepWork& work) {
  return Sweep(kind, clean, corrupted, settings, work).run();
}

int64_t sweep_runs(const PatchKind& kind, const PatchedRun& run) {
  const PatchRows rows = rows_of(kind, run);
  const NamedValue& last = run.names().at(rows.names.back());
  const Shape& shape = run.value(last.name).shape();
  int64_t cells = static_cast<int64_t>(rows.names.size());
  if (kind.cells != PatchKind::Cells::kTokens) cells *= shape[last.axis("head")];
  if (kind.cells != PatchKind::Cells::kHeads) cells *= shape[last.axis("token")];
  return cells;
}

bool add_effects(double clean, double corrupted, EffectGrid& grid) {
  const double gap = clean - corrupted;
  const bool are_shares = std::abs(gap) >= 1e-6 * std::max(1.0, std::abs(clean));
  const double unit = are_shares ? gap : 1;
  grid.effects = grid.changes;
  for (double& effect : grid.effects) effect /= unit;
  for (double& preview : grid.previews) preview /= unit;
  for (double& error : grid.errors) error /= std::abs(unit);
  return are_shares;
}

}  // namespace whyformer
