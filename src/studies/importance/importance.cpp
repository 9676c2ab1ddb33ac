#include "whyformer/importance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/numpy_random.h"
#include "base/pulse.h"
#include "readers/reader.h"
#include "studies/importance/scores.h"
#include "studies/importance/table_predictor.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"

namespace whyformer {
namespace {

void check_answers(const std::vector<double>& answers, const NamedTable& table,
                   const TablePredictor& predict) {
  if (static_cast<int64_t>(answers.size()) != table.table.rows) {
    throw InvalidInput(fmt::format("{} answers for {} rows", answers.size(), table.table.rows));
  }
  if (predict.facts().problem == Problem::kRegression) return;
  if (predict.facts().problem == Problem::kMultiLabel) {
    throw InvalidInput(
        "several labels may hold for a row of this model: importance needs one right answer");
  }
  const int64_t classes = std::max<int64_t>(2, predict.facts().width);
  for (size_t row = 0; row < answers.size(); ++row) {
    const double answer = answers[row];
    if (answer >= 0 && answer < static_cast<double>(classes) &&
        answer == static_cast<double>(static_cast<int64_t>(answer))) {
      continue;
    }
    throw InvalidInput(fmt::format("the answer of row {} is {}: this model's classes are 0 to {}",
                                   row, answer, classes - 1));
  }
}

struct Groups {
  ColumnGroups columns;
  std::vector<std::string> names;
};

Groups groups_of(const std::vector<std::string>& names,
                 const std::vector<std::vector<std::string>>& asked) {
  std::vector<int> group_of(names.size(), -1);
  for (size_t group = 0; group < asked.size(); ++group) {
    for (const std::string& name : asked[group]) {
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end())
        throw InvalidInput(fmt::format("there is no column '{}' for a group", name));
      int& own = group_of[found - names.begin()];
      if (own >= 0) throw InvalidInput(fmt::format("the column '{}' is in two groups", name));
      own = static_cast<int>(group);
    }
  }
  Groups groups;
  std::set<int> done;
  for (size_t column = 0; column < names.size(); ++column) {
    const int group = group_of[column];
    if (group >= 0 && !done.insert(group).second) continue;
    std::vector<int64_t> members;
    std::string name;
    for (size_t other = column; other < names.size(); ++other) {
      if (other != column && (group < 0 || group_of[other] != group)) continue;
      members.push_back(static_cast<int64_t>(other));
      name += (name.empty() ? "" : " + ") + names[other];
    }
    groups.columns.push_back(std::move(members));
    groups.names.push_back(std::move(name));
  }
  return groups;
}

void add_columns(ImportanceReport& report, const std::vector<std::string>& names,
                 const std::vector<double>& values, const std::vector<double>& errors) {
  for (size_t i = 0; i < names.size(); ++i)
    report.columns.push_back({names[i], values[i], errors[i]});
}

// A question about a table: who predicts, what is right, and how that is scored.
struct ImportanceQuestion {
  const std::vector<double>& answers;
  const ImportanceRequest& request;
  ImportanceScore score;
  Groups groups;
};

void add_permutation(const ImportanceQuestion& asked, TablePredictor& predict, const Watch& watch,
                     ImportanceReport& report) {
  report.method = "permutation";
  const TableScore score_rows = [&](const std::vector<double>& values,
                                    const std::vector<int64_t>& of) {
    std::vector<double> theirs;
    for (const int64_t row : of) theirs.push_back(asked.answers[row]);
    return score_of(asked.score, predict(values, static_cast<int64_t>(of.size())),
                    predict.facts().width, theirs);
  };
  const PermutationImportance found =
      permutation_importance(predict.facts().table, score_rows,
                             {.repeats = asked.request.repeats,
                              .seed = numpy_seed(asked.request.seed),
                              .groups = asked.groups.columns},
                             watch);
  report.whole = found.score;
  report.finished = found.finished;
  if (!found.finished) {
    report.notes.push_back(
        fmt::format("Stopped after {} of {} repeats.", found.repeats, asked.request.repeats));
  }
  add_columns(report, asked.groups.names, found.means, found.errors);
}

void add_sage(const ImportanceQuestion& asked, TablePredictor& predict, const Watch& watch,
              ImportanceReport& report) {
  report.method = "sage";
  const TablePrediction predict_rows = [&](const std::vector<double>& values, int64_t count) {
    return predict(values, count);
  };
  const PredictionLoss loss = [&](std::span<const double> prediction, int64_t row) {
    return loss_of(asked.score, prediction, asked.answers[row]);
  };
  const SageValues found =
      sage(predict.facts().table,
           background_of(predict.facts().table, asked.request.background_rows), predict_rows, loss,
           {.seed = numpy_seed(asked.request.seed),
            .precision = asked.request.precision,
            .max_draws = asked.request.draws,
            .groups = asked.groups.columns},
           watch);
  report.whole = found.total;
  report.finished = found.finished;
  if (!found.finished) {
    report.notes.push_back(fmt::format(
        "Stopped after {} draws, before the precision asked for was reached.", found.draws));
  }
  add_columns(report, asked.groups.names, found.values, found.errors);
}

}  // namespace

ImportanceReport importance(const Model& model, const NamedTable& rows,
                            const std::vector<double>& answers, const ImportanceRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  check_table(rows);
  TablePredictor predict(model.reader_of(RowInput()).columns_of(rows));
  check_answers(answers, rows, predict);
  const ImportanceScore score =
      chosen_score(request.score, request.method, predict.facts().problem);
  const ImportanceQuestion asked{answers, request, score,
                                 groups_of(predict.facts().names, request.groups)};
  int64_t done = 0, total = 1;
  const Watch watch = [&](int64_t evaluations, int64_t of) {
    done = evaluations;
    total = of;
    return !request.progress || request.progress(done, total);
  };
  const PulseScope pulses([&] { return watch(done, total); });
  ImportanceReport report;
  report.model = model.name();
  report.notes = predict.facts().notes;
  report.score = score_name(score);
  report.rows = rows.table.rows;
  report.seed = request.seed;
  const bool permutes = request.method == ImportanceMethod::kPermutation;
  (permutes ? add_permutation : add_sage)(asked, predict, watch, report);
  report.evaluations = predict.predicted();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

std::vector<double> answers_in(const Model& model, const std::vector<std::string>& cells) {
  const Answered answered = model.reader_of(RowInput()).answered(RowInput(), {});
  std::vector<double> answers;
  for (const std::string& cell : cells) {
    double number = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
    const bool is_number = error == std::errc() && end == cell.data() + cell.size();
    const auto label = std::ranges::find(answered.labels, cell);
    if (label != answered.labels.end() && answered.problem != Problem::kRegression) {
      answers.push_back(static_cast<double>(label - answered.labels.begin()));
    } else if (is_number) {
      answers.push_back(number);
    } else {
      throw InvalidInput(fmt::format(
          "the answer '{}' of row {} is no number{}", cell.substr(0, 40), answers.size(),
          answered.problem == Problem::kRegression
              ? ""
              : fmt::format(", and no label of this model: {}", fmt::join(answered.labels, ", "))));
    }
  }
  return answers;
}

std::string to_json(const ImportanceReport& report) {
  nlohmann::ordered_json columns = nlohmann::ordered_json::array();
  for (const ColumnImportance& column : report.columns) {
    columns.push_back({{"name", column.name}, {"value", column.value}, {"error", column.error}});
  }
  const nlohmann::ordered_json json{
      {"schema", ImportanceReport::kSchema},
      {"model", {{"name", report.model.name}, {"architecture", report.model.architecture}}},
      {"method", report.method},
      {"score", report.score},
      {"whole", report.whole},
      {"rows", report.rows},
      {"columns", columns},
      {"cost", {{"evaluations", report.evaluations}, {"seconds", report.seconds}}},
      {"seed", report.seed},
      {"finished", report.finished},
      {"notes", report.notes}};
  return printable_json(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace whyformer
