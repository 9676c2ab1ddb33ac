#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/numpy_random.h"
#include "games/table_columns.h"
#include "whyformer/error.h"
#include "whyformer/games.h"
#include "whyformer/interrupted.h"

namespace whyformer {
namespace {

// Draws between two looks at the precision.
constexpr int64_t kRound = 32;

class Draws {
 public:
  Draws(const Table& table, const Table& background, const TablePrediction& predict,
        const PredictionLoss& loss, const SageOptions& options, const Watch& watch)
      : table_(table),
        background_(background),
        predict_(predict),
        loss_(loss),
        options_(options),
        watch_(watch),
        random_(options.seed) {
    check_table(table, "SAGE, table");
    check_table(background, "SAGE, background");
    if (table.columns != background.columns) {
      throw InvalidInput(fmt::format("SAGE: the table has {} columns, its background {}",
                                     table.columns, background.columns));
    }
    if (!(options.precision > 0) || options.max_draws < 0 || options.max_rows_at_once < 1) {
      throw InvalidInput(
          "SAGE: precision and max_rows_at_once must be above 0, max_draws not below");
    }
    groups_ = checked_groups(options.groups, table.columns);
    if (options_.max_draws == 0) options_.max_draws = 512 * groups();
    means_.resize(groups());
    squares_.resize(groups());
  }

  SageValues run() {
    std::vector<double> hidden;
    if (!predict(background_.values, hidden)) throw Interrupted();
    nothing_ = mean_prediction(hidden, 0);
    while (draws_ < options_.max_draws && !precise_) {
      if (!draw()) break;
      if (draws_ % kRound == 0) precise_ = is_precise();
    }
    if (draws_ == 0) throw Interrupted();
    return summary();
  }

 private:
  int64_t groups() const { return static_cast<int64_t>(groups_.size()); }

  // Appends the predictions for `rows` in batches. False where the watch ended it.
  bool predict(const std::vector<double>& rows, std::vector<double>& predictions) {
    const int64_t count = static_cast<int64_t>(rows.size()) / table_.columns;
    bool goes_on = true;
    for (int64_t begin = 0; begin < count && goes_on; begin += options_.max_rows_at_once) {
      const int64_t size = std::min(options_.max_rows_at_once, count - begin);
      const auto first = rows.begin() + begin * table_.columns;
      std::vector<double> got;
      try {
        got = predict_({first, first + size * table_.columns}, size);
      } catch (const Interrupted&) {
        return false;  // the model itself noticed
      }
      if (got.empty() || got.size() % size != 0 ||
          (outputs_ > 0 && static_cast<int64_t>(got.size()) != size * outputs_)) {
        throw Error(fmt::format("SAGE: {} rows were predicted by {} numbers", size, got.size()));
      }
      outputs_ = static_cast<int64_t>(got.size()) / size;
      predictions.insert(predictions.end(), got.begin(), got.end());
      evaluations_ += size;
      goes_on = !watch_ || watch_(evaluations_, std::max(evaluations_, expected()));
    }
    return goes_on && static_cast<int64_t>(predictions.size()) == count * outputs_;
  }

  int64_t expected() const {
    const double per_draw =
        static_cast<double>(groups() - 1) * static_cast<double>(background_.rows) + 1;
    const double rows =
        static_cast<double>(background_.rows) + static_cast<double>(options_.max_draws) * per_draw;
    constexpr double kMost = 9e18;
    return static_cast<int64_t>(std::min(rows, kMost));
  }

  // Over as many rows as the background has. As an offset from the first, so that predictions which
  // are all equal keep their bits.
  std::vector<double> mean_prediction(const std::vector<double>& predictions,
                                      int64_t first_row) const {
    const double* first = predictions.data() + first_row * outputs_;
    std::vector<double> mean(first, first + outputs_);
    for (int64_t output = 0; output < outputs_; ++output) {
      double off = 0;
      for (int64_t row = 1; row < background_.rows; ++row)
        off += first[row * outputs_ + output] - first[output];
      mean[output] += off / static_cast<double>(background_.rows);
    }
    return mean;
  }

  int64_t next_row() {
    if (place_ % table_.rows == 0) {
      order_.resize(table_.rows);
      std::iota(order_.begin(), order_.end(), 0);
      random_.shuffle(order_);
    }
    return order_[place_++ % table_.rows];
  }

  // One row, its groups made visible in one order. False where the watch ended it before it was
  // complete.
  bool draw() {
    const int64_t row = next_row();
    const std::vector<int64_t> order = random_.permutation(groups());
    std::vector<double> losses(groups());
    if (!losses_along(order, row, losses)) return false;
    ++draws_;
    double before = loss_(nothing_, row);
    total_ += before - losses.back();
    for (int64_t step = 0; step < groups(); ++step) {
      add(order[step], before - losses[step]);
      before = losses[step];
    }
    return true;
  }

  // When the first, the first two, ... groups of the order are visible. In portions: all imputed
  // rows together may be many. The row itself goes with the first portion.
  bool losses_along(const std::vector<int64_t>& order, int64_t row, std::vector<double>& losses) {
    const double* own = table_.values.data() + row * table_.columns;
    const int64_t steps_at_once =
        std::max<int64_t>(1, options_.max_rows_at_once / background_.rows);
    std::vector<double> current = background_.values, portion(own, own + table_.columns),
                        predictions;
    int64_t step = 0;
    do {
      const int64_t first = step, before = first == 0 ? 1 : 0;
      for (; step < std::min(first + steps_at_once, groups() - 1); ++step) {
        show(groups_[order[step]], own, current);
        portion.insert(portion.end(), current.begin(), current.end());
      }
      predictions.clear();
      if (!predict(portion, predictions)) return false;
      if (before > 0) losses.back() = loss_(std::span(predictions).first(outputs_), row);
      for (int64_t s = first; s < step; ++s) {
        losses[s] =
            loss_(mean_prediction(predictions, before + (s - first) * background_.rows), row);
      }
      portion.clear();
    } while (step + 1 < groups());
    return true;
  }

  void show(const std::vector<int64_t>& columns, const double* own,
            std::vector<double>& rows) const {
    for (const int64_t column : columns) {
      for (size_t i = column; i < rows.size(); i += table_.columns) rows[i] = own[column];
    }
  }

  // Welford's running mean and sum of squares.
  void add(int64_t group, double saved) {
    const double off = saved - means_[group];
    means_[group] += off / static_cast<double>(draws_);
    squares_[group] += off * (saved - means_[group]);
  }

  double error(int64_t group) const {
    const double draws = static_cast<double>(draws_);
    if (draws < 2) return std::numeric_limits<double>::infinity();
    return std::sqrt(squares_[group] / (draws * (draws - 1)));
  }

  bool is_precise() const {
    const auto [low, high] = std::minmax_element(means_.begin(), means_.end());
    double largest = 0;
    for (int64_t group = 0; group < groups(); ++group) largest = std::max(largest, error(group));
    return largest <= options_.precision * (*high - *low);
  }

  SageValues summary() const {
    SageValues values{.values = means_,
                      .total = total_ / static_cast<double>(draws_),
                      .draws = draws_,
                      .evaluations = evaluations_,
                      .finished = precise_};
    for (int64_t group = 0; group < groups(); ++group) values.errors.push_back(error(group));
    return values;
  }

  const Table& table_;
  const Table& background_;
  const TablePrediction& predict_;
  const PredictionLoss& loss_;
  SageOptions options_;
  const Watch& watch_;
  NumpyRandom random_;
  ColumnGroups groups_;
  int64_t outputs_ = 0, evaluations_ = 0, place_ = 0;
  std::vector<int64_t> order_;   // of the rows
  std::vector<double> nothing_;  // predicted when everything is hidden
  std::vector<double> means_, squares_;
  double total_ = 0;
  int64_t draws_ = 0;
  bool precise_ = false;
};

}  // namespace

SageValues sage(const Table& table, const Table& background, const TablePrediction& predict,
                const PredictionLoss& loss, const SageOptions& options, const Watch& watch) {
  return Draws(table, background, predict, loss, options, watch).run();
}

}  // namespace whyformer
