#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "evaluate/ordered_path.h"
#include "evaluate/protocols/removal.h"
#include "evaluate/ranks.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"

namespace whyformer {
namespace {

// Words that count as the hard rationale (Chefer et al., CVPR 2021).
constexpr std::array<double, 16> kWordCounts{5,  10, 15, 20, 25, 30, 35, 40,
                                             45, 50, 55, 60, 65, 70, 75, 80};

// The words of a text with the units that they were cut into. Words that the model did not read
// have none.
class WordUnits {
 public:
  explicit WordUnits(const ProtocolCase& one) {
    const MarkedWords words = words_of(one);
    marked_ = words.marked;
    const std::vector<Unit>& units = one.explanation.units;
    units_.resize(words.words.size());
    size_t first = 0;  // words are in order, and so are the units of a segment
    for (size_t unit = 0; unit < units.size(); ++unit) {
      if (units[unit].special || units[unit].segment != 0) continue;
      while (first < words.words.size() && words.words[first].end <= units[unit].start) ++first;
      for (size_t word = first; word < words.words.size(); ++word) {
        if (words.words[word].start >= units[unit].end) break;
        units_[word].push_back(static_cast<int64_t>(unit));
      }
    }
    for (size_t word = 0; word < units_.size(); ++word) {
      if (!units_[word].empty()) read_.push_back(static_cast<int64_t>(word));
    }
    tell_what_was_cut(one);
  }

  size_t count() const { return units_.size(); }
  const std::vector<bool>& marked() const { return marked_; }
  // Those with units.
  const std::vector<int64_t>& read() const { return read_; }

  // The largest score of each word's pieces, at least 0: evidence against the class does not count.
  std::vector<double> scores_of(const ScoredInput& scored) const {
    std::vector<double> scores(units_.size(), 0.0);
    for (const int64_t word : read_) {
      for (const int64_t unit : units_[word]) {
        scores[word] = std::max(scores[word], scored.scores[unit]);
      }
    }
    return scores;
  }

  // The units of these words, by unit.
  std::vector<bool> units_of(std::span<const int64_t> words, size_t units) const {
    std::vector<bool> chosen(units, false);
    for (const int64_t word : words) {
      for (const int64_t unit : units_[word]) chosen[unit] = true;
    }
    return chosen;
  }

 private:
  static MarkedWords words_of(const ProtocolCase& one) {
    if (one.input.words) return one.input.words(one.explanation);
    throw InvalidInput("eraser needs the words of the text and which of them are the rationale");
  }

  void tell_what_was_cut(const ProtocolCase& one) const {
    const auto in_rationale = std::ranges::count(marked_, true);
    if (in_rationale == 0) {
      add_note(one, "The rationale is empty: token-F1 and AUPRC are not defined.");
    }
    if (read_.size() == units_.size()) return;
    int64_t lost = in_rationale;
    for (const int64_t word : read_) lost -= marked_[word] ? 1 : 0;
    add_note(one, fmt::format("The model read {} of {} words. Cut off, and counted as "
                              "not found: {} of the rationale.",
                              read_.size(), units_.size(), quantity(lost, "word")));
  }

  std::vector<bool> marked_;
  std::vector<std::vector<int64_t>> units_;  // of each word
  std::vector<int64_t> read_;
};

// Words that the model read, by score; of equal ones the first comes first.
std::vector<int64_t> ranked_words(const WordUnits& words, const std::vector<double>& scores) {
  std::vector<double> of_read;
  for (const int64_t word : words.read()) of_read.push_back(scores[word]);
  std::vector<int64_t> ranking;
  for (const int64_t place : descending_order(of_read)) ranking.push_back(words.read()[place]);
  return ranking;
}

// F1 of the first `count` words of the ranking; nothing where there are fewer, or no rationale.
MetricValue f1_of_first(const WordUnits& words, const std::vector<int64_t>& ranking,
                        int64_t count) {
  const auto in_rationale = std::ranges::count(words.marked(), true);
  if (in_rationale == 0 || count > static_cast<int64_t>(ranking.size())) return std::nullopt;
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) found += words.marked()[ranking[i]] ? 1 : 0;
  return 2.0 * static_cast<double>(found) / static_cast<double>(count + in_rationale);
}

std::vector<MeasuredRow> measure_rationales(const ProtocolCase& one,
                                            std::span<const ScoredInput> scored) {
  const WordUnits words(one);
  const bool has_rationale = std::ranges::count(words.marked(), true) > 0;
  std::vector<MeasuredRow> all;
  for (const ScoredInput& method : scored) {
    const std::vector<double> scores = words.scores_of(method);
    const std::vector<int64_t> ranking = ranked_words(words, scores);
    MeasuredRow points;
    double sum = 0, defined = 0;
    for (const double count : kWordCounts) {
      points.push_back({f1_of_first(words, ranking, static_cast<int64_t>(count))});
      if (!points.back().value) continue;
      sum += *points.back().value;
      defined += 1;
    }
    MeasuredRow values{{defined > 0 ? MetricValue(sum / defined) : std::nullopt},
                       {has_rationale ? MetricValue(localisation("auprc", scores, words.marked()))
                                      : std::nullopt}};
    values.insert(values.end(), points.begin(), points.end());
    all.push_back(std::move(values));
  }
  return all;
}

// The predicted class's probability without the highest words, and with them alone.
std::vector<MeasuredRow> measure_removed_words(const ProtocolCase& one,
                                               std::span<const ScoredInput> scored) {
  const WordUnits words(one);
  std::vector<MeasuredRow> all(scored.size(), MeasuredRow(2));
  if (words.read().empty()) return all;
  const size_t units = one.explanation.units.size();
  const std::vector<int64_t> sizes = eraser_sizes(static_cast<int64_t>(words.read().size()));
  std::vector<std::vector<bool>> removed;
  for (const ScoredInput& method : scored) {
    const std::vector<int64_t> ranking = ranked_words(words, words.scores_of(method));
    for (const int64_t size : sizes) {
      const std::span<const int64_t> order(ranking);
      const auto first = static_cast<size_t>(size);
      removed.push_back(words.units_of(order.first(first), units));
      removed.push_back(words.units_of(order.subspan(first), units));
    }
  }
  const OutputSpace space =
      one.run.has_probabilities() ? OutputSpace::kProbability : OutputSpace::kLogit;
  const double whole = one.run.in_space(space, one.run.outputs());
  const std::vector<std::vector<double>> answers = answers_without(one, removed);
  for (size_t i = 0; i < scored.size(); ++i) {
    std::array<double, 2> drops{};
    for (size_t k = 0; k < 2 * sizes.size(); ++k) {
      drops[k % 2] += whole - one.run.in_space(space, answers[i * 2 * sizes.size() + k]);
    }
    all[i] = {{drops[0] / static_cast<double>(sizes.size())},
              {drops[1] / static_cast<double>(sizes.size())}};
  }
  return all;
}

std::vector<EvaluationColumn> rationale_columns() {
  const EvaluationColumn f1{
      .metric = "token-f1",
      .summary = "F1 of the rationale and the highest-ranked words for the right class",
      .paper = "DeYoung et al., ACL 2020; words as in Chefer et al., CVPR 2021",
      .misleads = "what people marked need not be what the model reads"};
  std::vector<EvaluationColumn> columns{f1, f1};
  columns[0].summary =
      "mean over the 5, 10, …, 80 highest-ranked words of the F1 with the "
      "rationale; scores for the right class";
  columns[1].metric = "auprc";
  columns[1].summary = "area under precision and recall of the words' scores for the rationale";
  add_curve(columns, f1, kWordCounts);
  return columns;
}

std::vector<EvaluationColumn> removal_columns() {
  const std::string paper = "DeYoung et al., ACL 2020";
  const std::string misleads =
      "texts without some of their words are unlike what the model was trained on";
  return {{.metric = "comprehensiveness",
           .hiding = "delete",
           .summary = "mean drop of the predicted class's probability when the highest 1, 5, 10, "
                      "20 and 50 % of the words are taken out",
           .paper = paper,
           .misleads = misleads},
          {.metric = "sufficiency",
           .hiding = "delete",
           .higher_is_better = false,
           .summary = "the same drop when only these words stay",
           .paper = paper,
           .misleads = misleads}};
}

}  // namespace

const Protocol kEraser{
    .info = {.name = "eraser",
             .summary = "word scores against rationales that people marked (token-F1, AUPRC), and "
                        "the predicted class without the highest words, or with them alone",
             .paper = "DeYoung et al., ACL 2020; word scores as in Chefer et al., CVPR 2021",
             .data = "an ERASER folder (docs and test.jsonl), or texts with labels and rationales"},
    .parts = {{ExplainedClass::kLabel, rationale_columns(), measure_rationales},
              {ExplainedClass::kPredicted, removal_columns(), measure_removed_words}},
    .needs_label = true};

}  // namespace whyformer
