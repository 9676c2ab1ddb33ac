#include <algorithm>
#include <atomic>

#include "methods/jobs.h"
#include "whyformer/error.h"
#include "whyformer/method_agreement.h"
#include "whyformer/threads.h"

namespace whyformer {
namespace {

std::vector<double> ordinary(const Explanation& explanation, const Attribution& attribution) {
  std::vector<double> scores;
  for (size_t unit = 0; unit < explanation.units.size(); ++unit) {
    if (!explanation.units[unit].special) scores.push_back(attribution.scores[unit]);
  }
  return scores;
}

// None unless every unit is one.
std::vector<std::string> columns_of(const Explanation& explanation) {
  std::vector<std::string> columns;
  for (const Unit& unit : explanation.units) {
    if (unit.special) continue;
    if (unit.column.empty()) return {};
    columns.push_back(unit.column);
  }
  return columns;
}

// Methods that draw, with another seed.
void add_again(const Model& model, const InputValue& input, const Explanation& first,
               ExplainRequest request, AgreementInput& result) {
  std::vector<MethodRequest> drawing;
  for (const MethodRequest& asked : request.methods) {
    const auto found = std::ranges::find_if(
        first.attributions, [&](const Attribution& one) { return one.method == asked.name; });
    if (found != first.attributions.end() && found->seed) drawing.push_back(asked);
  }
  result.again.resize(result.methods.size());
  if (drawing.empty()) return;
  request.methods = drawing;
  ++request.seed;
  const Explanation second = explain(model, input, request)[0];
  for (const Attribution& attribution : second.attributions) {
    const auto method = std::ranges::find(result.methods, attribution.method);
    result.again[method - result.methods.begin()] = ordinary(second, attribution);
  }
}

// Scores of one input by all methods, once more where they draw.
AgreementInput agreement_of_explained(const Model& model, const std::string& name,
                                      const InputValue& input, const Explanation& first,
                                      const ExplainRequest& request) {
  AgreementInput result{.name = name, .columns = columns_of(first)};
  for (const Attribution& attribution : first.attributions) {
    result.methods.push_back(attribution.method);
    result.is_signed.push_back(attribution.is_signed);
    result.scores.push_back(ordinary(first, attribution));
  }
  add_again(model, input, first, request, result);
  return result;
}

void check_methods(const AgreementRequest& request) {
  if (jobs_of(request.explain.methods).size() < 2)
    throw InvalidInput("agreement needs two methods at least");
  require_each_once(request.explain.methods);
}

// Entries side by side, in groups that can run together: few in a group, so that all threads have
// some and an interruption loses little. The first are groups of one, whose time tells whether
// groups go side by side.
class ComparedCorpus {
 public:
  ComparedCorpus(const Model& model, std::span<const EvaluationEntry> corpus,
                 const AgreementRequest& request, const Progress& progress)
      : model_(model),
        corpus_(corpus),
        request_(request),
        progress_(progress),
        compared_(corpus.size()) {
    constexpr size_t kTogether = 16, kFirst = 4;
    for (size_t i = 0; i < corpus.size(); ++i) {
      if (i <= kFirst || i - groups_.back() == kTogether || !alike(corpus[i - 1], corpus[i]))
        groups_.push_back(i);
    }
  }

  std::vector<AgreementInput> run() {
    try {
      work_in_order(
          static_cast<int64_t>(groups_.size()), [&](const PieceOfWork& piece) { compare(piece); },
          [&](int64_t) { return goes_on(); });
    } catch (const Interrupted&) {
      if (finished_ == 0) throw;
    }
    // Of all groups: where it was interrupted, others than the first may be done as well.
    std::vector<AgreementInput> done;
    for (std::optional<AgreementInput>& one : compared_) {
      if (one) done.push_back(std::move(*one));
    }
    return done;
  }

 private:
  static bool alike(const EvaluationEntry& a, const EvaluationEntry& b) {
    return a.problem.empty() && b.problem.empty() && a.input.target == b.input.target;
  }

  bool goes_on() const {
    return !progress_ || progress_(finished_, static_cast<int64_t>(corpus_.size()));
  }

  size_t end_of(size_t group) const {
    return group + 1 < groups_.size() ? groups_[group + 1] : corpus_.size();
  }

  bool keep_one(size_t i, AgreementInput one) {
    compared_[i] = std::move(one);
    ++finished_;
    return goes_on();
  }

  // Where it is interrupted, what is done of the group stays.
  void compare(const PieceOfWork& piece) {
    const size_t first = groups_[piece.number], end = end_of(piece.number);
    const EvaluationInput& alike = corpus_[first].input;
    if (!corpus_[first].problem.empty()) {
      keep_one(first, {.name = alike.name, .problem = corpus_[first].problem});
      return;
    }
    ExplainRequest explain = request_.explain;
    if (!std::holds_alternative<std::monostate>(alike.target)) explain.target = alike.target;
    explain.memory_bytes /= piece.at_once;
    explain.progress = [this](int64_t, int64_t) { return goes_on(); };
    std::vector<InputValue> inputs;
    for (size_t i = first; i < end; ++i) inputs.push_back(corpus_[i].input.input);
    const auto name = [&](size_t i) { return corpus_[first + i].input.name; };
    try {
      explain_each(
          model_, inputs, explain,
          [&](size_t i, const std::vector<Explanation>& found) {
            return keep_one(first + i,
                            agreement_of_explained(model_, name(i), inputs[i], found[0], explain));
          },
          [&](size_t i, const Error& why) {
            return keep_one(first + i, {.name = name(i), .problem = why.what()});
          });
    } catch (const Interrupted&) {
      if (!compared_[first]) throw;
    }
  }

  const Model& model_;
  std::span<const EvaluationEntry> corpus_;
  const AgreementRequest& request_;
  const Progress& progress_;
  std::vector<std::optional<AgreementInput>> compared_;
  std::vector<size_t> groups_;  // the first of each
  std::atomic<int64_t> finished_ = 0;
};

}  // namespace

AgreementInput agreement_input(const Model& model, const std::string& name, const InputValue& input,
                               const AgreementRequest& request) {
  check_methods(request);
  try {
    const Explanation first = explain(model, input, request.explain)[0];
    return agreement_of_explained(model, name, input, first, request.explain);
  } catch (const Error& error) {
    return {.name = name, .problem = error.what()};
  }
}

std::vector<AgreementInput> agreement_inputs(const Model& model,
                                             std::span<const EvaluationEntry> corpus,
                                             const AgreementRequest& request,
                                             const Progress& progress) {
  check_methods(request);
  return ComparedCorpus(model, corpus, request, progress).run();
}

}  // namespace whyformer
