#include "run/input.h"

#include <algorithm>

#include "whyformer/error.h"

namespace whyformer {
namespace {

// [rows, width] with zeros behind, or cut off there.
Tensor of_width(const Tensor& rows, int64_t width) {
  Tensor result = Tensor::zeros({rows.dim(0), width}, rows.dtype());
  const int64_t common = std::min(width, rows.dim(1));
  result.slice(1, 0, common).copy_from(rows.slice(1, 0, common));
  return result;
}

Tensor below_each_other(const std::vector<Tensor>& parts) {
  int64_t width = 0, height = 0;
  for (const Tensor& part : parts) {
    width = std::max(width, part.dim(1));
    height += part.dim(0);
  }
  Tensor result = Tensor::zeros({height, width}, parts[0].dtype());
  int64_t first = 0;
  for (const Tensor& part : parts) {
    result.slice(0, first, part.dim(0)).copy_from(of_width(part, width));
    first += part.dim(0);
  }
  return result;
}

template <class T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// The trees of the parts one after the other, then their roots, pair by pair from the first.
PlayerTree joined(const std::vector<PlayerTree>& trees, const std::vector<int64_t>& players) {
  PlayerTree all;
  int64_t total = 0, first_player = 0;
  for (const int64_t count : players) total += count;
  std::vector<int64_t> roots;
  for (size_t part = 0; part < trees.size(); ++part) {
    const auto first_merge = static_cast<int64_t>(all.merges.size());
    const auto moved = [&](int64_t node) {
      return node < players[part] ? first_player + node
                                  : total + first_merge + node - players[part];
    };
    for (const auto& [left, right] : trees[part].merges) {
      all.merges.push_back({moved(left), moved(right)});
    }
    // A part of one player is that player.
    roots.push_back(moved(players[part] + static_cast<int64_t>(trees[part].merges.size()) - 1));
    first_player += players[part];
  }
  int64_t root = roots[0];
  for (size_t part = 1; part < roots.size(); ++part) {
    all.merges.push_back({root, roots[part]});
    root = total + static_cast<int64_t>(all.merges.size()) - 1;
  }
  return all;
}

}  // namespace

Input::Input(InputFacts facts, std::vector<std::unique_ptr<const Part>> parts)
    : facts_(std::move(facts)), parts_(std::move(parts)), vectors_(parts_.size()) {
  for (const auto& part : parts_) append(special_, special_units(part->units()));
}

FedGraph Input::copies(int64_t count) const {
  return facts_.source->fed(std::vector<Sample>(count, facts_.sample), facts_.kind);
}

SampleShapes Input::sample_shapes() const {
  SampleShapes shapes;
  for (const auto& [name, tensor] : facts_.sample) shapes[name] = tensor.shape();
  return shapes;
}

template <class T>
std::vector<std::vector<T>> Input::by_part(const std::vector<T>& by_unit) const {
  std::vector<std::vector<T>> all;
  auto first = by_unit.begin();
  for (const auto& part : parts_) {
    const auto last = first + static_cast<int64_t>(part->units().size());
    all.emplace_back(first, last);
    first = last;
  }
  return all;
}

std::string Input::word_for(const Part& part, const std::string& word) const {
  std::vector<const Part*> all;
  for (const auto& other : parts_) all.push_back(other.get());
  return whyformer::word_for(part, all, word);
}

// A variant of several parts is how long each but the last is, and those one after the other.
Variant Input::hiding(const std::vector<bool>& hidden, const std::string& how,
                      std::optional<int64_t> background) const {
  if (is_one_part()) return parts_[0]->hiding(hidden, how, background);
  Variant lengths, all;
  const std::vector<std::vector<bool>> of_parts = by_part(hidden);
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Variant one = parts_[i]->hiding(of_parts[i], word_for(*parts_[i], how), background);
    if (i + 1 < parts_.size()) lengths.push_back(static_cast<int64_t>(one.size()));
    append(all, one);
  }
  append(lengths, all);
  return lengths;
}

Variant Input::hiding_cells(const std::vector<bool>& hidden, const std::string& how) const {
  if (const PartCells* own = own_cells()) return own->hiding_cells(hidden, how);
  std::vector<bool> by_unit(units(), false);
  const Cells all = cells();
  for (size_t cell = 0; cell < hidden.size(); ++cell) by_unit[all.unit[cell]] = hidden[cell];
  return hiding(by_unit, how);
}

FedGraph Input::run_of(std::span<const Variant> inputs) const {
  return is_one_part() ? parts_[0]->run_of(inputs) : compared(inputs);
}

std::vector<int64_t> Input::players() const {
  std::vector<int64_t> all;
  int64_t first = 0;
  for (const auto& part : parts_) {
    for (const int64_t unit : part->players()) all.push_back(first + unit);
    first += static_cast<int64_t>(part->units().size());
  }
  return all;
}

std::vector<bool> Input::can_hide(const std::string& how) const {
  std::vector<bool> all;
  for (const auto& part : parts_) append(all, part->can_hide(word_for(*part, how)));
  return all;
}

PlayerTree Input::player_tree() const {
  if (is_one_part()) return parts_[0]->player_tree();
  std::vector<PlayerTree> trees;
  std::vector<int64_t> players;
  for (const auto& part : parts_) {
    trees.push_back(part->player_tree());
    players.push_back(static_cast<int64_t>(part->players().size()));
  }
  return joined(trees, players);
}

Cells Input::cells() const {
  if (const PartCells* own = own_cells()) return own->cells();
  Cells cells;
  for (const int64_t unit : players()) {
    if (!special_[unit]) cells.unit.push_back(unit);
  }
  cells.width = static_cast<int64_t>(cells.unit.size());
  return cells;
}

std::vector<double> Input::unit_means(const std::vector<double>& values) const {
  std::vector<double> sums(units(), 0.0), counts(units(), 0.0);
  const Cells all = cells();
  for (size_t cell = 0; cell < values.size(); ++cell) {
    if (all.unit[cell] < 0) continue;
    sums[all.unit[cell]] += values[cell];
    counts[all.unit[cell]] += 1;
  }
  for (size_t i = 0; i < sums.size(); ++i) sums[i] /= std::max(1.0, counts[i]);
  return sums;
}

Tensor Input::rows(Depth depth, const std::vector<Tensor>& values) const {
  if (is_one_part()) return parts_[0]->entrance().rows(depth, values);
  std::vector<Tensor> all;
  for (size_t i = 0; i < parts_.size(); ++i)
    all.push_back(parts_[i]->entrance().rows(depth, {values[i]}));
  return below_each_other(all);
}

std::vector<int64_t> Input::row_widths(Depth depth) const {
  const FedGraph own = copies(1);
  const std::vector<Value> values = own.graph->values_at(depth);
  std::vector<int64_t> widths;
  for (size_t i = 0; i < parts_.size(); ++i) {
    Shape shape = own.graph->graph.shape(values[i]);
    shape.erase(shape.begin());
    widths.push_back(
        parts_[i]->entrance().rows(depth, {Tensor::zeros(shape, facts_.kind.dtype)}).dim(1));
  }
  return widths;
}

std::vector<Tensor> Input::from_rows(Depth depth, const Tensor& rows) const {
  if (is_one_part()) return parts_[0]->entrance().from_rows(depth, rows);
  const std::vector<int64_t> widths = row_widths(depth);
  std::vector<Tensor> values;
  int64_t first = 0;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const auto count = static_cast<int64_t>(parts_[i]->units().size());
    const Tensor own = of_width(rows.slice(0, first, count), widths[i]);
    values.push_back(parts_[i]->entrance().from_rows(depth, own)[0]);
    first += count;
  }
  return values;
}

std::vector<double> Input::ranges(Depth depth, const Tensor& rows) const {
  if (is_one_part()) return parts_[0]->entrance().ranges(depth, rows);
  return std::vector<double>(units(), range_of(rows.to_doubles()));
}

std::optional<Tensor> Input::pixel_channels(const Tensor& rows) const {
  if (is_one_part()) return parts_[0]->entrance().pixel_channels(rows);
  const std::vector<int64_t> widths = row_widths(Depth::kInput);
  int64_t first = 0;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const auto count = static_cast<int64_t>(parts_[i]->units().size());
    const auto found =
        parts_[i]->entrance().pixel_channels(of_width(rows.slice(0, first, count), widths[i]));
    if (found) return found;
    first += count;
  }
  return std::nullopt;
}

Tensor Input::baseline(Depth depth, const std::string& name) const {
  std::vector<Tensor> all;
  for (const auto& part : parts_) {
    const std::string word = word_for(*part, name);
    all.push_back(
        part->entrance().baseline(depth, word == "auto" ? part->traits().baseline : word));
  }
  return all.size() == 1 ? all[0] : below_each_other(all);
}

std::string Input::taken(const std::string& word, std::string PartTraits::*fallback) const {
  std::string all;
  for (const auto& part : parts_) {
    const std::string said = word_for(*part, word);
    all += (all.empty() ? "" : " and ") + (said == "auto" ? part->traits().*fallback : said);
  }
  return all;
}

std::string Input::baseline_taken(const std::string& name) const {
  return taken(name, &PartTraits::baseline);
}

std::string Input::hiding_taken(const std::string& how) const {
  return taken(how, &PartTraits::hiding);
}

}  // namespace whyformer
