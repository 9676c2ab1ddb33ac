#include "studies/patching/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "whyformer/agreement.h"
#include "whyformer/error.h"
#include "whyformer/interrupted.h"

namespace whyformer {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

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

class Sweep {
 public:
  Sweep(const PatchKind& kind, const PatchedRun& clean, const PatchedRun& corrupted,
        const SweepSettings& settings, const SweepWork& work)
      : kind_(kind),
        corrupted_(corrupted),
        settings_(settings),
        work_(work),
        rows_(rows_of(kind, corrupted)),
        base_(work.metric.value(corrupted.outputs())) {
    for (const std::string& name : rows_.names) {
      heads_.push_back(length_along(name, "head"));
      check_tokens(name);
      check_keys(name, clean);
      patches_.emplace_back(corrupted.names().at(name), clean.value(name), work.aligned);
    }
    name_axes();
    add_cells();
    grid_.changes.assign(cells_.size(), kNotANumber);
  }

  const std::vector<std::string>& values() const { return rows_.names; }

  // First-order estimates from a walk back through the corrupted run.
  void add_previews(const ValuesByName& gradients) {
    for (const PatchCell& cell : cells_) {
      const std::string& name = rows_.names[cell.row];
      grid_.previews.push_back(
          is_defined(cell) ? patches_[cell.row].slope(cell, corrupted_.value(name).select(0, 0),
                                                      gradients.at(name).select(0, 0))
                           : kNotANumber);
    }
  }

  // What is to run is known in front of the first run, so that people hear how long it takes.
  void choose_cells() {
    const std::vector<bool> wanted = cells_wanted();
    runs_.resize(rows_.names.size());
    double forwards = 0;
    for (size_t cell = 0; cell < cells_.size(); ++cell) {
      if (!wanted[cell] || !is_defined(cells_[cell])) continue;
      if (changes_nothing(cells_[cell])) {
        grid_.changes[cell] = 0;
        continue;
      }
      const size_t row = cells_[cell].row;
      runs_[row].push_back(cell);
      forwards += corrupted_.forwards_behind(rows_.names[window_at(row).first]);
    }
    work_.expect(forwards);
  }

  void run() {
    began_ = true;
    for (size_t row = 0; row < runs_.size(); ++row) run_row(row, runs_[row]);
  }

  // Nothing where it did not begin.
  std::optional<EffectGrid> finish() {
    if (!began_) return std::nullopt;
    if (!grid_.previews.empty()) compare_previews();
    return std::move(grid_);
  }

 private:
  int64_t length_along(const std::string& name, std::string_view axis) const {
    const int place = corrupted_.names().at(name).axis(axis);
    return place < 0 ? 0 : corrupted_.value(name).dim(place);
  }

  void check_tokens(const std::string& name) const {
    const int64_t tokens = length_along(name, "token");
    if (tokens == static_cast<int64_t>(work_.aligned.size()) &&
        corrupted_.input().attends_by_unit())
      return;
    throw InvalidInput(fmt::format(
        "'{}' has {} tokens, which are not the {} units of the input: they cannot be patched by "
        "unit",
        name, tokens, work_.aligned.size()));
  }

  // Rows of a map are distributions over all keys.
  void check_keys(const std::string& name, const PatchedRun& clean) const {
    const int keys = corrupted_.names().at(name).axis("key");
    if (keys < 0 || clean.value(name).dim(keys) == corrupted_.value(name).dim(keys)) return;
    throw InvalidInput(fmt::format(
        "'{}' can be patched between inputs of equally many units: these have {} and {}", name,
        clean.value(name).dim(keys), corrupted_.value(name).dim(keys)));
  }

  void name_axes() {
    grid_.kind = kind_.info.name;
    if (kind_.cells == PatchKind::Cells::kHeads) {
      grid_.column_axis = "head";
      // Layers may have different numbers of heads: those with fewer leave cells without a score.
      for (int64_t head = 0; head < *std::ranges::max_element(heads_); ++head)
        grid_.columns.push_back(fmt::format("{}", head));
    } else {
      for (const Unit& unit : corrupted_.input().parts()[0]->units())
        grid_.columns.push_back(unit.text);
    }
    if (kind_.cells != PatchKind::Cells::kHeadsAndTokens) {
      grid_.rows = rows_.titles;
      return;
    }
    grid_.row_axis = "layer and head";
    for (size_t row = 0; row < rows_.titles.size(); ++row) {
      for (int64_t head = 0; head < heads_[row]; ++head)
        grid_.rows.push_back(fmt::format("{} head {}", rows_.titles[row], head));
    }
  }

  // In the order of the grid, row after row.
  void add_cells() {
    const auto columns = static_cast<int64_t>(grid_.columns.size());
    for (size_t row = 0; row < rows_.names.size(); ++row) {
      if (kind_.cells == PatchKind::Cells::kHeads) {
        for (int64_t head = 0; head < columns; ++head) cells_.push_back({row, head, -1});
        continue;
      }
      const bool by_head = kind_.cells == PatchKind::Cells::kHeadsAndTokens;
      for (int64_t head = by_head ? 0 : -1; head < (by_head ? heads_[row] : 0); ++head) {
        for (int64_t token = 0; token < columns; ++token) cells_.push_back({row, head, token});
      }
    }
  }

  bool is_defined(const PatchCell& cell) const {
    return cell.head < heads_[cell.row] && patches_[cell.row].is_defined(cell);
  }

  // The share of cells with the largest estimates.
  std::vector<bool> cells_wanted() const {
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
  std::pair<size_t, size_t> window_at(size_t row) const {
    const auto reach = static_cast<size_t>((settings_.window - 1) / 2);
    const size_t begin = row > reach ? row - reach : 0;
    return {begin,
            std::min(rows_.names.size(), row + static_cast<size_t>(settings_.window) - reach)};
  }

  // Where both runs have the same numbers nothing needs to run: the change is exactly 0.
  bool changes_nothing(const PatchCell& cell) const {
    const auto [begin, end] = window_at(cell.row);
    for (size_t row = begin; row < end; ++row) {
      if (patches_[row].changes(cell, corrupted_.value(rows_.names[row]).select(0, 0)))
        return false;
    }
    return true;
  }

  void run_row(size_t row, const std::vector<size_t>& runs) {
    const auto [begin, end] = window_at(row);
    std::vector<PatchedRun::Stop> stops;
    for (size_t at = begin; at < end; ++at) stops.push_back({rows_.names[at], false});
    const auto change = [&](int64_t sample, size_t stop, const Tensor& value) {
      patches_[begin + stop].write(cells_[runs[sample]], value);
    };
    corrupted_.go_on(
        stops, static_cast<int64_t>(runs.size()), change, "",
        [&](int64_t sample, const Tensor& answer) {
          grid_.changes[runs[sample]] = work_.metric.value(answer.to_doubles()) - base_;
        },
        work_.made);
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
  const PatchedRun& corrupted_;
  const SweepSettings& settings_;
  const SweepWork& work_;
  PatchRows rows_;
  double base_;
  std::vector<int64_t> heads_;      // by row; 0 where values have none
  std::vector<CellPatch> patches_;  // by row
  std::vector<PatchCell> cells_;
  std::vector<std::vector<size_t>> runs_;  // cells that are run, by row
  EffectGrid grid_;
  bool began_ = false;
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
       kHeadsAndTokens},
      {{"pattern", "the attention map of each head, all tokens together"},
       "attention.pattern",
       kHeads}};
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

Swept sweep(const std::vector<std::string>& kinds, const PatchedRun& clean,
            const PatchedRun& corrupted, const SweepSettings& settings, const SweepWork& work) {
  std::vector<std::unique_ptr<Sweep>> sweeps;
  std::vector<std::string> names;
  for (const std::string& kind : kinds) {
    sweeps.push_back(
        std::make_unique<Sweep>(patch_kind_named(kind), clean, corrupted, settings, work));
    names.insert(names.end(), sweeps.back()->values().begin(), sweeps.back()->values().end());
  }
  Swept swept;
  try {
    if (settings.preview) {
      // One walk serves all kinds.
      const ValuesByName gradients =
          corrupted.gradients(work.metric.gradient(corrupted.outputs()), names);
      for (const auto& one : sweeps) one->add_previews(gradients);
    }
    for (const auto& one : sweeps) one->choose_cells();
    for (const auto& one : sweeps) one->run();
  } catch (const Interrupted&) {
    swept.stopped = true;
  }
  for (const auto& one : sweeps) {
    if (auto grid = one->finish()) swept.grids.push_back(std::move(*grid));
  }
  return swept;
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
