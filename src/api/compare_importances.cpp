#include <fmt/format.h>

#include <algorithm>

#include "whyformer/compared_importances.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kRowsAtOnce = 256;

class ImportanceComparison {
 public:
  ImportanceComparison(const Model& model, const NamedTable& rows,
                       const std::vector<double>& answers, const CompareImportancesRequest& request)
      : model_(model), rows_(rows), answers_(answers), request_(request) {
    if (rows.table.rows < 2)
      throw InvalidInput("importances are compared over a table of at least two rows");
    if (!request.importance.groups.empty())
      throw InvalidInput("importances are compared column by column: leave out groups");
    explain_ = request.explain;
    if (explain_.methods.empty())
      explain_.methods = {MethodRequest{"raw-attention:gorishniy"}, MethodRequest{"shap"}};
    explain_.seed = request.importance.seed;
    explain_.progress = [this](int64_t, int64_t) { return goes_on(done_, rows_.table.rows); };
  }

  ComparedImportances run() {
    explain_rows();
    for (const MethodRequest& method : explain_.methods) add_explained(method.name);
    explanations_.clear();
    add(ImportanceMethod::kPermutation, "permutation");
    add(ImportanceMethod::kSage, "sage");
    // One side alone is no comparison.
    if (stopped_ && sides_.size() < 2) throw Interrupted();
    if (stopped_ && done_ < rows_.table.rows)
      notes_.push_back(fmt::format("Stopped after {} of {} rows.", done_, rows_.table.rows));
    ComparedImportances found = compare_importances(std::move(sides_));
    found.model = model_.name();
    found.rows = done_;
    found.stopped_early = stopped_;
    found.seed = request_.importance.seed;
    found.notes = std::move(notes_);
    return found;
  }

 private:
  bool goes_on(int64_t done, int64_t total) {
    if (request_.progress && !request_.progress(done, total)) stopped_ = true;
    return !stopped_;
  }

  void explain_rows() {
    const NamedTable background = has_background(model_)
                                      ? NamedTable()
                                      : background_of(rows_, request_.importance.background_rows);
    std::string refusal;
    while (done_ < rows_.table.rows) {
      std::vector<InputValue> inputs;
      for (int64_t row = done_; row < std::min(rows_.table.rows, done_ + kRowsAtOnce); ++row)
        inputs.push_back(input_of(row, background));
      explain_each(
          model_, inputs, explain_,
          [&](size_t, std::vector<Explanation> found) {
            explanations_.push_back(std::move(found.front()));
            explanations_.back().attention.clear();  // the most memory, and nothing reads it
            return goes_on(++done_, rows_.table.rows);
          },
          [&](size_t, const Error& why) {
            if (dynamic_cast<const InvalidInput*>(&why) == nullptr) throw;
            refusal = why.what();
            notes_.push_back(fmt::format("Row {} was left out: {}.", done_, refusal));
            return goes_on(++done_, rows_.table.rows);
          });
      if (stopped_) break;
    }
    if (!explanations_.empty()) return;
    if (stopped_) throw Interrupted();
    throw InvalidInput(refusal);
  }

  InputValue input_of(int64_t row, const NamedTable& background) const {
    RowInput input = row_of(rows_, row);
    input.background = background.table;
    input.background_cells = background.cells;
    return input;
  }

  // Nothing where a row has no scores by the method.
  void add_explained(const std::string& method) {
    for (const Explanation& row : explanations_) {
      const auto refused = std::ranges::find(row.refused, method, &Refusal::method);
      if (refused == row.refused.end()) continue;
      notes_.push_back(fmt::format("{} was left out: {}.", method, refused->reason));
      return;
    }
    sides_.push_back(importance_side(explanations_, method, request_.importance.seed));
  }

  // What is stopped on its way is no side: it would stand beside whole ones.
  void add(ImportanceMethod method, const std::string& name) {
    const auto leave_out = [&] {
      notes_.push_back(name + " was left out: stopped before its end.");
    };
    if (stopped_) return leave_out();
    ImportanceRequest asked = request_.importance;
    asked.method = method;
    asked.progress = [this](int64_t done, int64_t total) { return goes_on(done, total); };
    const bool is_loss =
        asked.score != ImportanceScore::kAccuracy && asked.score != ImportanceScore::kR2;
    if (method == ImportanceMethod::kSage && !is_loss) asked.score = ImportanceScore::kAuto;
    try {
      const ImportanceReport report = importance(model_, rows_, answers_, asked);
      if (stopped_) return leave_out();
      sides_.push_back(importance_side(report));
      for (const std::string& note : report.notes) notes_.push_back(report.method + ": " + note);
    } catch (const Interrupted&) {
      stopped_ = true;
      leave_out();
    }
  }

  const Model& model_;
  const NamedTable& rows_;
  const std::vector<double>& answers_;
  const CompareImportancesRequest& request_;
  ExplainRequest explain_;
  std::vector<Explanation> explanations_;
  std::vector<ImportanceSide> sides_;
  std::vector<std::string> notes_;
  int64_t done_ = 0;
  bool stopped_ = false;
};

}  // namespace

ComparedImportances compare_importances(const Model& model, const NamedTable& rows,
                                        const std::vector<double>& answers,
                                        const CompareImportancesRequest& request) {
  return ImportanceComparison(model, rows, answers, request).run();
}

}  // namespace whyformer
