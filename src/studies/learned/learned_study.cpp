#include "studies/learned/learned_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>

#include "base/pulse.h"
#include "studies/concepts/draws.h"
#include "studies/concepts/statistics.h"
#include "studies/learned/layer_rows.h"
#include "studies/learned/probe.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"

namespace whyformer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kFewestProbeInputs = 12;
constexpr int kAllSteps = 1 << 30;  // of a randomisation

double seconds_after(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Labels of rows as numbers.
using LabelNumbers = std::vector<int>;

class LearnedStudy {
 public:
  LearnedStudy(const Reader& reader, const std::vector<LearnedExample>& examples,
               const LearnedRequest& request)
      : reader_(reader), examples_(examples), request_(request) {
    check();
  }

  LearnedReport run() {
    const auto start = Clock::now();
    const PulseScope pulses([this] { return goes_on(); });
    total_ = count() * (request_.random_weights ? 2 : 1);
    origins_ = row_origins(reader_, examples_, [] { pulse(); });
    number_labels();
    split_inputs();
    const LayerRows own = rows_with({});
    const std::optional<LayerRows> random = random_rows();
    report_.run_seconds = seconds_after(start);
    const auto fitting = Clock::now();
    total_ += static_cast<int64_t>(own.layers.size()) * fits_of_layer();
    for (size_t slot = 0; slot < own.layers.size() && !report_.stopped_early; ++slot) {
      try {
        report_.layers.push_back(probed(own, random, slot));
      } catch (const Interrupted&) {
        if (report_.layers.empty()) throw;
        report_.stopped_early = true;
      }
    }
    report_.fit_seconds = seconds_after(fitting);
    add_notes(own);
    return std::move(report_);
  }

 private:
  int64_t count() const { return static_cast<int64_t>(examples_.size()); }
  bool of_words() const { return !examples_[0].words.empty(); }

  void check() const {
    const auto refuse = [](const std::string& why) { throw InvalidInput(why); };
    if (count() < kFewestProbeInputs) {
      refuse(fmt::format("{} inputs are too few for a probe: it takes {} at least, better hundreds",
                         count(), kFewestProbeInputs));
    }
    if (!(request_.held_out > 0 && request_.held_out < 1)) {
      refuse(fmt::format("a share of {:g} of inputs is held out: expected one between 0 and 1",
                         request_.held_out));
    }
    if (request_.shuffles < 1 || request_.shuffles > 100000) {
      refuse(fmt::format("{} fits to shuffled labels: expected 1 to 100000", request_.shuffles));
    }
    if (!(request_.strength > 0) || !std::isfinite(request_.strength)) {
      refuse(fmt::format("the strength C is {}: expected a number above 0", request_.strength));
    }
    if (request_.max_rows < 10) {
      refuse(
          fmt::format("a probe of {} rows says nothing: expected 10 or more", request_.max_rows));
    }
    if (request_.rows == TokenRows::kAll) {
      refuse("a probe of whole inputs takes the first token, the last, or the mean over tokens");
    }
  }

  void number_labels() {
    std::map<std::string, int64_t> counts;
    for (const RowOrigin& row : origins_.rows) ++counts[row.label];
    if (counts.size() < 2) {
      throw InvalidInput("all labels are the same: there is nothing to learn");
    }
    std::map<std::string, int> numbers;
    for (const auto& [label, rows] : counts) {
      numbers[label] = static_cast<int>(numbers.size());
      report_.labels.emplace_back(label, rows);
    }
    for (const RowOrigin& row : origins_.rows) labels_.push_back(numbers.at(row.label));
  }

  // Whole inputs go to one side: words of one text are alike.
  void split_inputs() {
    ExampleRows inputs(examples_.size());
    std::iota(inputs.begin(), inputs.end(), 0);
    inputs = shuffled(std::move(inputs), {request_.seed, "held-out inputs"});
    const auto wanted =
        static_cast<int64_t>(std::lround(request_.held_out * static_cast<double>(count())));
    const int64_t held_out = std::clamp<int64_t>(wanted, 1, count() - 1);
    std::vector<bool> is_held_out(examples_.size(), false);
    for (int64_t i = 0; i < held_out; ++i) is_held_out[inputs[i]] = true;
    for (size_t row = 0; row < origins_.rows.size(); ++row) {
      (is_held_out[origins_.rows[row].input] ? split_.held_out : split_.fitted)
          .push_back(static_cast<int64_t>(row));
    }
    rows_before_cut_ = static_cast<int64_t>(split_.fitted.size());
    if (rows_before_cut_ > request_.max_rows) split_.fitted.resize(request_.max_rows);
    if (split_.fitted.size() < 2 || split_.held_out.empty()) {
      throw InvalidInput("there are too few labelled rows to fit a probe and to hold some out");
    }
    report_.inputs = count();
    report_.held_out_inputs = held_out;
    report_.fitted_rows = static_cast<int64_t>(split_.fitted.size());
    report_.unit = of_words() ? "words" : reader_.what();
    report_.probe = request_.probe;
    report_.rows = request_.rows;
    report_.shuffles = request_.shuffles;
    report_.seed = request_.seed;
    report_.majority = accuracy_of_majority();
  }

  LabelNumbers of_rows(const LabelNumbers& labels, const std::vector<int64_t>& rows) const {
    LabelNumbers some;
    for (const int64_t row : rows) some.push_back(labels[row]);
    return some;
  }

  ProbeAccuracy accuracy_of_majority() const {
    std::vector<int64_t> counts(report_.labels.size(), 0);
    for (const int label : of_rows(labels_, split_.fitted)) ++counts[label];
    const auto most =
        static_cast<int>(std::max_element(counts.begin(), counts.end()) - counts.begin());
    const LabelNumbers right = of_rows(labels_, split_.held_out);
    return accuracy_of(std::count(right.begin(), right.end(), most),
                       static_cast<int64_t>(right.size()));
  }

  LayerRows rows_with(const std::optional<Randomisation>& randomisation) {
    return layer_rows(
        reader_, examples_, origins_.rows,
        {.layers = request_.layers,
         .rows = request_.rows,
         .dtype = request_.precision == Precision::kDouble ? DType::kFloat64 : DType::kFloat32,
         .randomisation = randomisation,
         .done = [this](int64_t runs) { advance(runs); }});
  }

  std::optional<LayerRows> random_rows() {
    if (!request_.random_weights) return std::nullopt;
    try {
      return rows_with(Randomisation{.cascading = true, .step = kAllSteps, .seed = request_.seed});
    } catch (const UnsupportedModel& error) {
      report_.notes.push_back(fmt::format("Without random weights: {}.", error.what()));
      return std::nullopt;
    }
  }

  int64_t fits_of_layer() const {
    return 1 + request_.shuffles + request_.random_weights + of_words();
  }

  // Fits a probe to some labels and counts those of the held-out rows that it gets right.
  ProbeAccuracy accuracy(const LinearProbe& probe, const FloatRows& rows,
                         const LabelNumbers& labels, LayerProbe* keep = nullptr) {
    const auto count = static_cast<int>(report_.labels.size());
    std::optional<double> penalty;
    ProbeDirections found = probe.fit(of_rows(labels, split_.fitted), count, &penalty);
    const std::vector<int> told = predictions(found, rows, split_.held_out);
    const LabelNumbers right = of_rows(labels, split_.held_out);
    int64_t hits = 0;
    for (size_t i = 0; i < told.size(); ++i) hits += told[i] == right[i];
    if (keep != nullptr) {
      keep->penalty = penalty;
      keep->directions = std::move(found);
    }
    advance(1);
    return accuracy_of(hits, static_cast<int64_t>(told.size()));
  }

  LayerProbe probed(const LayerRows& own, const std::optional<LayerRows>& random, size_t slot) {
    LayerProbe layer{.layer = own.layers[slot]};
    const FloatRows rows = own.of(slot);
    const auto probe = make_probe(rows, split_, request_);
    layer.accuracy = accuracy(*probe, rows, labels_, &layer);
    std::vector<double> shuffles;
    for (int draw = 0; draw < request_.shuffles; ++draw) {
      shuffles.push_back(accuracy(*probe, rows, shuffled_labels(draw)).share());
    }
    layer.shuffled = mean_of(shuffles);
    layer.shuffled_deviation = deviation_of(shuffles);
    layer.p = permutation_p(layer.accuracy.share(), shuffles);
    if (of_words()) layer.control_task = accuracy(*probe, rows, labels_of_control_task());
    if (random) {
      const FloatRows others = random->of(slot);
      layer.random_weights = accuracy(*make_probe(others, split_, request_), others, labels_);
    }
    return layer;
  }

  LabelNumbers shuffled_labels(int draw) const {
    ExampleRows rows(labels_.size());
    std::iota(rows.begin(), rows.end(), 0);
    rows = shuffled(std::move(rows), {request_.seed, "shuffled labels", draw});
    LabelNumbers labels;
    for (const int64_t row : rows) labels.push_back(labels_[row]);
    return labels;
  }

  // Each word type gets the label of some row, whatever the word: Hewitt & Liang (2019), section 2.
  LabelNumbers labels_of_control_task() const {
    const CounterRandom random(request_.seed, "labels of word types", 0);
    std::map<std::string, int> of_type;
    LabelNumbers labels;
    for (const RowOrigin& row : origins_.rows) {
      const auto [known, added] = of_type.try_emplace(row.word, 0);
      if (added) {
        const double at = random.uniform(static_cast<int64_t>(of_type.size()));
        const auto some = static_cast<size_t>(at * static_cast<double>(labels_.size()));
        known->second = labels_[std::min(some, labels_.size() - 1)];
      }
      labels.push_back(known->second);
    }
    return labels;
  }

  bool goes_on() const {
    return !request_.progress || request_.progress(done_, std::max({done_, total_, int64_t{1}}));
  }
  void advance(int64_t steps) {
    done_ += steps;
    if (!goes_on()) throw Interrupted();
  }

  void note(std::string text) { report_.notes.push_back(std::move(text)); }

  void add_notes(const LayerRows& own) {
    if (report_.stopped_early) {
      note(fmt::format("Stopped early: {} of {} layers were probed.", report_.layers.size(),
                       own.layers.size()));
    }
    if (rows_before_cut_ > request_.max_rows) {
      note(fmt::format("Probes were fitted to the first {} of {} rows.", request_.max_rows,
                       rows_before_cut_));
    }
    if (origins_.words_left_out > 0) {
      note(fmt::format("Left out, without a token of their own: {}.",
                       quantity(origins_.words_left_out, "word")));
    }
    if (own.layers[0] >= 0) note("The embeddings were not found, so they were not probed.");
    if (!of_words()) {
      note(
          "Selectivity needs a label for each word: whole inputs have no types that a control task "
          "could give random labels to.");
    } else {
      note("Intervals take words as independent; those of one text are not quite.");
    }
    const auto held_out = static_cast<int64_t>(split_.held_out.size());
    if (held_out < 100) {
      note(
          fmt::format("Only {} {} were held out: the intervals are wide.", held_out, report_.unit));
    }
  }

  const Reader& reader_;
  const std::vector<LearnedExample>& examples_;
  const LearnedRequest& request_;
  RowOrigins origins_;
  LabelNumbers labels_;
  ProbeSplit split_;
  int64_t rows_before_cut_ = 0;
  int64_t done_ = 0, total_ = 0;
  LearnedReport report_;
};

}  // namespace

LearnedReport study_learned(const Reader& reader, const std::vector<LearnedExample>& examples,
                            const LearnedRequest& request) {
  if (examples.empty()) throw InvalidInput("there are no inputs to probe layers on");
  return LearnedStudy(reader, examples, request).run();
}

}  // namespace whyformer
