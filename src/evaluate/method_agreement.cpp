#include "whyformer/method_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "evaluate/bootstrap.h"
#include "evaluate/column_agreement.h"
#include "evaluate/first_lines.h"
#include "evaluate/magnitudes.h"
#include "evaluate/ordered_path.h"

namespace whyformer {
namespace {

std::optional<double> value_of(const std::optional<Correlation>& correlation) {
  return correlation ? std::optional(correlation->value) : std::nullopt;
}

int64_t top_k_of(const AgreementRequest& request, size_t units) {
  const auto count = static_cast<int64_t>(units);
  const int64_t asked = request.top_k > 0 ? request.top_k : std::max<int64_t>(1, count / 5);
  return std::min(asked, count);
}

double persistence_of(const AgreementRequest& request, size_t units) {
  constexpr size_t kManyUnits = 50;
  if (request.persistence > 0) return request.persistence;
  return units < kManyUnits ? 0.9 : 0.98;
}

// The first measures are correlations, which scores that are all alike do not have.
constexpr size_t kCorrelations = 2;

// Values over inputs, some of which have one unit alone.
struct AgreementSample {
  std::vector<AgreementValues> values = {};
  int64_t one_unit = 0;

  void add(const AgreementValues& one, size_t units) {
    values.push_back(one);
    if (units == 1) ++one_unit;
  }
};

// Values of a measure over inputs, summarised.
AgreementCell agreement_cell(const AgreementSample& sample, size_t measure, int64_t seed) {
  std::vector<double> defined;
  double sum = 0;
  for (const AgreementValues& one : sample.values) {
    if (!one[measure]) continue;
    defined.push_back(*one[measure]);
    sum += defined.back();
  }
  AgreementCell cell{.interval = mean_interval(defined, {.seed = seed}),
                     .inputs = static_cast<int64_t>(defined.size())};
  if (measure < kCorrelations) {
    cell.one_unit = sample.one_unit;
    cell.left_out = static_cast<int64_t>(sample.values.size() - defined.size()) - sample.one_unit;
  }
  if (!defined.empty()) cell.mean = sum / static_cast<double>(defined.size());
  cell.deviation = sample_deviation(defined);
  return cell;
}

AgreementCells agreement_cells(const AgreementSample& sample, int64_t seed) {
  AgreementCells cells;
  for (size_t i = 0; i < cells.size(); ++i) cells[i] = agreement_cell(sample, i, seed);
  return cells;
}

std::vector<double> relabelled(const std::vector<double>& scores, int64_t seed, int64_t number) {
  std::vector<double> moved;
  for (const int64_t unit : random_ranking(static_cast<int64_t>(scores.size()), seed, number)) {
    moved.push_back(scores[unit]);
  }
  return moved;
}

using TwoSides = std::pair<std::vector<double>, std::vector<double>>;
TwoSides scored_by_both(const std::vector<double>& a, const std::vector<double>& b) {
  TwoSides both;
  for (size_t unit = 0; unit < a.size(); ++unit) {
    if (std::isnan(a[unit]) || std::isnan(b[unit])) continue;
    both.first.push_back(a[unit]);
    both.second.push_back(b[unit]);
  }
  return both;
}

// Inputs where a method has scores.
class ComparedInputs {
 public:
  ComparedInputs(const std::vector<AgreementInput>& inputs, const AgreementRequest& request)
      : inputs_(inputs), request_(request) {}

  const std::vector<double>* scores(size_t input, const std::string& method) const {
    return find(inputs_[input], method, inputs_[input].scores);
  }
  const std::vector<double>* again(size_t input, const std::string& method) const {
    const std::vector<double>* found = find(inputs_[input], method, inputs_[input].again);
    return found == nullptr || found->empty() ? nullptr : found;
  }

  bool has_sign(size_t input, const std::string& method) const {
    const auto found = std::ranges::find(inputs_[input].methods, method);
    return inputs_[input].is_signed[found - inputs_[input].methods.begin()];
  }

  AgreementCells pair(const std::string& a, const std::string& b) const {
    AgreementSample sample;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const auto *left = scores(i, a), *right = scores(i, b);
      if (left != nullptr && right != nullptr) {
        sample.add(agreement_of(*left, *right, {has_sign(i, a) && has_sign(i, b)}, request_),
                   left->size());
      }
    }
    return agreement_cells(sample, request_.explain.seed);
  }

  // A method that draws nothing agrees with itself.
  AgreementCells ceiling(const std::string& method) const {
    AgreementSample sample;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const std::vector<double>* own = scores(i, method);
      if (own == nullptr) continue;
      const std::vector<double>* other = again(i, method);
      sample.add(
          agreement_of(*own, other != nullptr ? *other : *own, {has_sign(i, method)}, request_),
          own->size());
    }
    return agreement_cells(sample, request_.explain.seed);
  }

  // Of two rankings that know nothing of each other, k / units, mean over inputs and neighbours in
  // the list.
  std::optional<double> chance_of_top_k(const std::vector<std::string>& methods) const {
    double sum = 0;
    int64_t count = 0;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      for (size_t k = 0; k + 1 < methods.size(); ++k) {
        const auto *left = scores(i, methods[k]), *right = scores(i, methods[k + 1]);
        if (left == nullptr || right == nullptr) continue;
        const size_t units = scored_by_both(*left, *right).first.size();
        if (units == 0) continue;
        sum += static_cast<double>(top_k_of(request_, units)) / static_cast<double>(units);
        ++count;
      }
    }
    return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
  }

  AgreementCells floor(const std::vector<std::string>& methods) const {
    AgreementSample sample;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      for (size_t k = 0; k + 1 < methods.size(); ++k) {
        const auto *left = scores(i, methods[k]), *right = scores(i, methods[k + 1]);
        if (left == nullptr || right == nullptr) continue;
        const auto number = static_cast<int64_t>(i * methods.size() + k);
        sample.add(agreement_of(*left, relabelled(*right, request_.explain.seed, number),
                                {has_sign(i, methods[k]) && has_sign(i, methods[k + 1])}, request_),
                   left->size());
      }
    }
    return agreement_cells(sample, request_.explain.seed);
  }

 private:
  static const std::vector<double>* find(const AgreementInput& input, const std::string& method,
                                         const std::vector<std::vector<double>>& lists) {
    const auto found = std::ranges::find(input.methods, method);
    if (found == input.methods.end()) return nullptr;
    const auto index = static_cast<size_t>(found - input.methods.begin());
    return index < lists.size() ? &lists[index] : nullptr;
  }

  const std::vector<AgreementInput>& inputs_;
  const AgreementRequest& request_;
};

void add_agreement_notes(const std::vector<AgreementInput>& inputs, AgreementReport& report) {
  std::vector<std::string> problems;
  for (const AgreementInput& input : inputs) {
    if (!input.problem.empty())
      problems.push_back(fmt::format("{}: {}", input.name, input.problem));
  }
  report.inputs = static_cast<int64_t>(inputs.size() - problems.size());
  if (problems.empty()) return;
  report.notes.push_back(
      fmt::format("{} of {} inputs could not be explained:", problems.size(), inputs.size()));
  add_first_lines(problems, report.notes);
}

}  // namespace

AgreementValues agreement_of(const std::vector<double>& a, const std::vector<double>& b,
                             SidesHaveSigns signs, const AgreementRequest& request) {
  const auto [scored_a, scored_b] = scored_by_both(a, b);
  if (scored_a.empty() || !all_finite(scored_a) || !all_finite(scored_b)) return {};
  // One unit that is left of several is no ranking.
  if (scored_a.size() == 1 && a.size() > 1) return {};
  const std::vector<double> left = request.magnitudes ? magnitudes_of(scored_a) : scored_a,
                            right = request.magnitudes ? magnitudes_of(scored_b) : scored_b;
  const int64_t k = top_k_of(request, left.size());
  using Value = std::optional<double>;
  const bool have_signs = signs.both && !request.magnitudes;
  return {value_of(spearman(left, right)),
          value_of(kendall_tau_b(left, right)),
          top_k_overlap(left, right, k),
          have_signs ? Value(signed_top_k_overlap(left, right, k)) : std::nullopt,
          rank_biased_overlap(left, right, persistence_of(request, left.size())),
          have_signs ? Value(sign_agreement(left, right)) : std::nullopt};
}

AgreementReport summarise(const ModelName& model, const std::vector<AgreementInput>& inputs,
                          const AgreementRequest& request) {
  AgreementReport report{.model = model, .seed = request.explain.seed};
  for (const AgreementInput& input : inputs) {
    for (const std::string& method : input.methods) {
      if (std::ranges::find(report.methods, method) == report.methods.end()) {
        report.methods.push_back(method);
      }
    }
  }
  const ComparedInputs corpus(inputs, request);
  for (const std::string& a : report.methods) {
    std::vector<AgreementCells> row;
    for (const std::string& b : report.methods) row.push_back(corpus.pair(a, b));
    report.pairs.push_back(std::move(row));
    report.ceiling.push_back(corpus.ceiling(a));
  }
  report.floor = corpus.floor(report.methods);
  report.chance_of_top_k = corpus.chance_of_top_k(report.methods);
  add_column_agreement(inputs, request, report);
  add_agreement_notes(inputs, report);
  return report;
}

}  // namespace whyformer
