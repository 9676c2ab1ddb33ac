#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_set>

#include "base/numpy_random.h"
#include "games/table_columns.h"
#include "whyformer/error.h"
#include "whyformer/games.h"
#include "whyformer/interrupted.h"

namespace whyformer {
namespace {

constexpr int64_t kMostRepeats = 1'000'000;

// scikit-learn's sample_without_replacement, which has one way for each range of shares.
std::vector<int64_t> draw_rows(NumpyRandom& random, int64_t rows, int64_t wanted) {
  const double share = static_cast<double>(wanted) / static_cast<double>(rows);
  std::vector<int64_t> drawn;
  if (share > 0.01 && share < 0.99) {
    drawn = random.permutation(rows);
    drawn.resize(wanted);
  } else if (share < 0.2) {
    std::unordered_set<int64_t> taken;
    while (static_cast<int64_t>(drawn.size()) < wanted) {
      if (const int64_t row = random.up_to(rows - 1); taken.insert(row).second)
        drawn.push_back(row);
    }
  } else {
    drawn.resize(wanted);
    std::iota(drawn.begin(), drawn.end(), 0);
    for (int64_t row = wanted; row < rows; ++row) {
      if (const int64_t place = random.up_to(row); place < wanted) drawn[place] = row;
    }
  }
  return drawn;
}

class Shuffles {
 public:
  Shuffles(const Table& table, const TableScore& score, const PermutationImportanceOptions& options,
           const Watch& watch)
      : table_(table), score_(score), watch_(watch), repeats_(options.repeats) {
    check_table(table, "permutation importance");
    groups_ = checked_groups(options.groups, table.columns);
    if (options.repeats < 1 || options.repeats > kMostRepeats) {
      throw InvalidInput(fmt::format("permutation importance: repeats is {}, expected 1 to {}",
                                     options.repeats, kMostRepeats));
    }
    if (options.max_samples < 0 || options.max_samples > table.rows) {
      throw InvalidInput(
          fmt::format("permutation importance: max_samples is {}, the table has {} rows",
                      options.max_samples, table.rows));
    }
    // One seed for every column: they are shuffled alike.
    constexpr int64_t kLargestSeed = std::numeric_limits<int32_t>::max();
    NumpyRandom random(static_cast<uint32_t>(NumpyRandom(options.seed).up_to(kLargestSeed)));
    const int64_t wanted = options.max_samples > 0 ? options.max_samples : table.rows;
    rows_.resize(table.rows);
    std::iota(rows_.begin(), rows_.end(), 0);
    if (wanted < table.rows) rows_ = draw_rows(random, table.rows, wanted);
    run(random);
  }

  PermutationImportance result() { return std::move(result_); }

 private:
  int64_t groups() const { return static_cast<int64_t>(groups_.size()); }

  void run(NumpyRandom& random) {
    std::vector<int64_t> every(table_.rows);
    std::iota(every.begin(), every.end(), 0);
    if (!count(score_(table_.values, every), result_.score)) throw Interrupted();

    std::vector<double> rows = pick_rows();
    std::vector<double> drops;  // [repeats × groups]
    try {
      repeat_all(random, rows, drops);
    } catch (const Interrupted&) {
      // The model itself noticed, in the middle of its rows.
    }
    summarise(drops);
  }

  void repeat_all(NumpyRandom& random, std::vector<double>& rows, std::vector<double>& drops) {
    std::vector<int64_t> list(rows_.size()), source(rows_.size()), first;
    std::iota(list.begin(), list.end(), 0);
    source = list;
    bool goes_on = true;
    for (int64_t repeat = 0; repeat < repeats_ && goes_on; ++repeat) {
      // The list is shuffled on, and applied to columns that are shuffled already.
      random.shuffle(list);
      std::vector<int64_t> next(source.size());
      for (size_t i = 0; i < list.size(); ++i) next[i] = source[list[i]];
      source = std::move(next);
      if (repeat == 0) first = source;
      shuffles_differ_ = shuffles_differ_ || source != first;
      for (int64_t group = 0; group < groups() && goes_on; ++group) {
        double score = 0;
        goes_on = score_shuffled(rows, group, source, score);
        drops.push_back(result_.score - score);
      }
    }
  }

  std::vector<double> pick_rows() const {
    std::vector<double> rows;
    for (const int64_t row : rows_) {
      const auto begin = table_.values.begin() + row * table_.columns;
      rows.insert(rows.end(), begin, begin + table_.columns);
    }
    return rows;
  }

  bool score_shuffled(std::vector<double>& rows, int64_t group, const std::vector<int64_t>& source,
                      double& score) {
    const auto fill = [&](bool shuffled) {
      for (const int64_t column : groups_[group]) {
        for (size_t i = 0; i < rows_.size(); ++i) {
          rows[i * table_.columns + column] =
              table_.values[rows_[shuffled ? source[i] : i] * table_.columns + column];
        }
      }
    };
    fill(true);
    const bool goes_on = count(score_(rows, rows_), score);
    fill(false);
    return goes_on;
  }

  bool count(double score, double& kept) {
    kept = score;
    ++result_.evaluations;
    return !watch_ || watch_(result_.evaluations, 1 + groups() * repeats_);
  }

  // Over the repeats that all groups have.
  void summarise(const std::vector<double>& drops) {
    const int64_t repeats = static_cast<int64_t>(drops.size()) / groups();
    if (repeats == 0) throw Interrupted();
    result_.repeats = repeats;
    result_.finished = repeats == repeats_;
    const double count = static_cast<double>(repeats);
    for (int64_t group = 0; group < groups(); ++group) {
      double mean = 0, squares = 0;
      for (int64_t repeat = 0; repeat < repeats; ++repeat) {
        result_.importances.push_back(drops[repeat * groups() + group]);
        mean += result_.importances.back() / count;
      }
      for (int64_t repeat = 0; repeat < repeats; ++repeat) {
        const double off = drops[repeat * groups() + group] - mean;
        squares += off * off;
      }
      result_.means.push_back(mean);
      result_.deviations.push_back(std::sqrt(squares / count));
      result_.errors.push_back(repeats > 1 && shuffles_differ_
                                   ? std::sqrt(squares / (count * (count - 1)))
                                   : std::numeric_limits<double>::quiet_NaN());
    }
  }

  const Table& table_;
  const TableScore& score_;
  const Watch& watch_;
  int64_t repeats_;
  ColumnGroups groups_;
  std::vector<int64_t> rows_;  // of the table, those that are shuffled
  bool shuffles_differ_ = false;
  PermutationImportance result_;
};

}  // namespace

PermutationImportance permutation_importance(const Table& table, const TableScore& score,
                                             const PermutationImportanceOptions& options,
                                             const Watch& watch) {
  return Shuffles(table, score, options, watch).result();
}

}  // namespace whyformer
