#include "studies/concepts/concept_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "base/large_memory.h"
#include "base/pulse.h"
#include "studies/concepts/activations.h"
#include "studies/concepts/corrections.h"
#include "studies/concepts/layer_tests.h"
#include "tensor/check_size.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"

namespace whyformer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kMostExamples =
    10000;  // of concepts and random sets: the Gram matrix grows with their square

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Rows of one layer.
struct Store {
  std::shared_ptr<float[]> floats;
  int64_t rows = 0;
  int64_t width = 0;

  FloatRows view() const { return {floats.get(), rows, width}; }
};

class ConceptStudy {
 public:
  ConceptStudy(const ConceptInputs& inputs, const ConceptExamples& examples,
               const ConceptsRequest& request)
      : inputs_(inputs), examples_(examples), request_(request), layers_(request.layers) {
    check_request();
    check_sets();
    choose_layers();
    number_rows();
    allocate();
    settings_ = {.counterparts = request.counterparts,
                 .permutations = request.permutations,
                 .level = request.level,
                 .jobs = {.cav = {.strength = request.strength},
                          .seed = request.seed,
                          .done = [this](int64_t fits) {
                            report_.fits += fits;
                            advance(fits);
                          }}};
    total_ = static_cast<int64_t>(rows_.size()) + static_cast<int64_t>(slopes_.size()) +
             static_cast<int64_t>(layers_.size()) * fit_count(sets_, settings_);
  }

  bool goes_on() const {
    return !request_.progress || request_.progress(done_, std::max({done_, total_, int64_t{1}}));
  }

  ConceptReport run() {
    describe();
    const auto start = Clock::now();
    run_examples();
    report_.run_seconds = seconds_since(start);
    const auto fitting = Clock::now();
    std::vector<LayerTests> by_layer;
    for (size_t slot = 0; slot < layers_.size(); ++slot) {
      const InnerProducts products =
          inner_products(activations_[slot].view(), gradients_[slot].view());
      check_finite(products, layers_[slot]);
      activations_[slot].floats = nullptr;
      by_layer.push_back(test_layer(products, ranges_, sets_, settings_));
    }
    collect(by_layer);
    judge(report_.tests, request_.level);
    add_notes();
    report_.fit_seconds = seconds_since(fitting);
    return std::move(report_);
  }

 private:
  void check_request() const {
    const auto refuse = [](const std::string& why) { throw InvalidInput(why); };
    if (request_.counterparts < 0 || request_.counterparts == 1 || request_.counterparts > 10000) {
      refuse(fmt::format("{} random counterparts: expected 2 to 10000, or 0 for the sets as given",
                         request_.counterparts));
    }
    if (request_.permutations < 0 || request_.permutations > 1000000) {
      refuse(fmt::format("{} permutations: expected 0 to 1000000", request_.permutations));
    }
    if (!(request_.strength > 0) || !std::isfinite(request_.strength)) {
      refuse(fmt::format("the strength C is {}: expected a number above 0", request_.strength));
    }
    if (!(request_.level > 0 && request_.level < 1)) {
      refuse(fmt::format("the level of the tests is {}: expected a number between 0 and 1",
                         request_.level));
    }
  }

  // Before the model runs: what is wrong with the sets is known now.
  void check_sets() const {
    if (examples_.concepts.empty()) throw InvalidInput("there is no concept to test");
    if (examples_.random.empty())
      throw InvalidInput("there are no random examples to test concepts against");
    if (examples_.targets.empty()) throw InvalidInput("there is no target");
    int64_t random = 0;
    for (const ExampleRange& set : examples_.random) {
      random += set.count;
      if (request_.counterparts == 0 && set.count < kFewestExamples) too_few("random set", set);
    }
    for (const ExampleRange& set : examples_.concepts) {
      if (set.count < kFewestExamples) too_few("concept", set);
    }
    if (random < kFewestRandom) {
      throw InvalidInput(
          fmt::format("there are {} random examples: it takes {} at least, better 100 and more",
                      random, kFewestRandom));
    }
    if (request_.counterparts == 0 && examples_.random.size() < 4) {
      throw InvalidInput(
          fmt::format("fewer than 4 random sets ({}) leave fewer than two pairs that share none: "
                      "give at least 4, or let counterparts be drawn from them",
                      examples_.random.size()));
    }
    for (const TargetExamples& target : examples_.targets) {
      if (target.examples.count == 0) {
        throw InvalidInput(fmt::format("the target '{}' has no examples", target.examples.name));
      }
    }
  }

  static void too_few(const char* what, const ExampleRange& set) {
    throw InvalidInput(fmt::format("the {} '{}' has {}: it takes {} at least, better 50", what,
                                   set.name, quantity(set.count, "example"), kFewestExamples));
  }

  void choose_layers() {
    const BlockGraph graph = inputs_.graph(inputs_.length(0), 1, LastBlock::kReadRows);
    report_.layers = static_cast<int>(graph.blocks.size());
    const Shape& answers = graph.graph->shape(graph.output);
    for (const TargetExamples& target : examples_.targets) {
      if (answers.size() == 2 && target.output < answers[1]) continue;
      throw InvalidInput(fmt::format("the model's output has the shape {}: there is no output {}",
                                     to_string(answers), target.output));
    }
    if (layers_.empty()) {
      for (int layer = 0; layer < report_.layers; ++layer) layers_.push_back(layer);
    }
    std::set<int> seen;
    for (const int layer : layers_) {
      if (layer < 0 || layer >= report_.layers) {
        throw InvalidInput(fmt::format("there is no layer {}: this model has {}, from 0 to {}",
                                       layer, report_.layers, report_.layers - 1));
      }
      if (!seen.insert(layer).second)
        throw InvalidInput(fmt::format("layer {} is given twice", layer));
    }
  }

  // Each example has one row, whatever sets it is in.
  void number_rows() {
    std::map<int64_t, int64_t> row_of;
    const auto rows_of = [&](const ExampleRange& set) {
      ExampleRows rows;
      for (int64_t i = set.first; i < set.first + set.count; ++i) {
        const auto [place, fresh] = row_of.try_emplace(i, static_cast<int64_t>(rows_.size()));
        if (fresh) rows_.push_back(i);
        rows.push_back(place->second);
      }
      return rows;
    };
    for (const ExampleRange& set : examples_.concepts) sets_.concepts.push_back(rows_of(set));
    for (const ExampleRange& set : examples_.random) sets_.random.push_back(rows_of(set));
    if (static_cast<int64_t>(rows_.size()) > kMostExamples) {
      throw InvalidInput(
          fmt::format("{} examples of concepts and random sets: at most {} are supported",
                      rows_.size(), kMostExamples));
    }
    for (const TargetExamples& target : examples_.targets) {
      ranges_.push_back({static_cast<int64_t>(slopes_.size()), target.examples.count});
      for (int64_t i = 0; i < target.examples.count; ++i)
        slopes_.push_back(target.examples.first + i);
    }
  }

  void check_lengths() const {
    if (request_.rows != TokenRows::kAll) return;
    const int64_t length = inputs_.length(rows_[0]);
    for (int64_t example = 0; example < inputs_.count(); ++example) {
      if (inputs_.length(example) == length) continue;
      throw InvalidInput(fmt::format(
          "examples have {} and {} tokens: all tokens can only be compared between inputs of one "
          "length; use their mean or the first",
          length, inputs_.length(example)));
    }
  }

  void allocate() {
    check_lengths();
    std::vector<int64_t> widths;
    int64_t bytes = 0;
    const auto activations = static_cast<int64_t>(rows_.size());
    const auto gradients = static_cast<int64_t>(slopes_.size());
    for (const int layer : layers_) {
      widths.push_back(row_width(inputs_, inputs_.length(rows_[0]), layer, request_.rows));
      check_size({activations + gradients, widths.back()});
      bytes += (activations + gradients) * widths.back() * static_cast<int64_t>(sizeof(float));
    }
    const LargeMemory kind =
        bytes <= request_.memory_bytes ? LargeMemory::kResident : LargeMemory::kTemporaryFile;
    for (const int64_t width : widths) {
      activations_.push_back({large_floats(activations * width, kind), activations, width});
      gradients_.push_back({large_floats(gradients * width, kind), gradients, width});
    }
  }

  void run_examples() {
    std::map<int64_t, int64_t> row_of;
    for (size_t row = 0; row < rows_.size(); ++row) row_of[rows_[row]] = static_cast<int64_t>(row);
    const auto count_runs = [this](int64_t runs) {
      report_.runs += runs;
      advance(runs);
    };
    RowRequest request{.layers = layers_, .rows = request_.rows, .done = count_runs};
    const auto into = [](Store& store, int64_t row, std::span<const float> numbers) {
      std::copy(numbers.begin(), numbers.end(), store.floats.get() + row * store.width);
    };
    request.take = [&](int64_t example, size_t slot, std::span<const float> row) {
      into(activations_[slot], row_of.at(example), row);
    };
    take_activations(inputs_, rows_, request);
    for (size_t target = 0; target < ranges_.size(); ++target) {
      const TargetRange& range = ranges_[target];
      const int64_t first = examples_.targets[target].examples.first;
      request.take = [&](int64_t example, size_t slot, std::span<const float> row) {
        into(gradients_[slot], range.first + example - first, row);
      };
      take_gradients(inputs_, {slopes_.data() + range.first, static_cast<size_t>(range.count)},
                     examples_.targets[target].output, request);
    }
  }

  static void check_finite(const InnerProducts& products, int layer) {
    const auto finite = [](const std::vector<double>& numbers) {
      return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
    };
    if (finite(products.gram.numbers) && finite(products.slopes)) return;
    throw InvalidInput(fmt::format(
        "activations or gradients of layer {} are not numbers, or too large to multiply", layer));
  }

  void advance(int64_t steps) {
    done_ += steps;
    if (!goes_on()) throw Interrupted();
  }

  void describe() {
    report_.rows = request_.rows;
    for (const ExampleRange& set : examples_.concepts)
      report_.concepts.emplace_back(set.name, set.count);
    for (const ExampleRange& set : examples_.random)
      report_.random.emplace_back(set.name, set.count);
    for (const TargetExamples& target : examples_.targets) {
      report_.targets.emplace_back(target.examples.name, target.examples.count);
    }
    report_.counterparts = request_.counterparts > 0
                               ? request_.counterparts
                               : static_cast<int64_t>(examples_.random.size());
    report_.permutations = request_.permutations;
    report_.strength = request_.strength;
    report_.level = request_.level;
    report_.seed = request_.seed;
  }

  void collect(std::vector<LayerTests>& by_layer) {
    const auto& concepts = examples_.concepts;
    for (size_t target = 0; target < ranges_.size(); ++target) {
      const std::string& label = examples_.targets[target].examples.name;
      for (size_t slot = 0; slot < layers_.size(); ++slot) {
        for (size_t i = 0; i < concepts.size(); ++i) {
          ConceptTest& test = by_layer[slot].tests[target][i];
          test.concept_name = concepts[i].name;
          test.layer = layers_[slot];
          test.target = label;
          report_.tests.push_back(std::move(test));
        }
        size_t pair = 0;
        for (size_t i = 0; i < concepts.size(); ++i) {
          for (size_t j = i + 1; j < concepts.size(); ++j) {
            ConceptPair& found = by_layer[slot].pairs[target][pair++];
            found.concept_name = concepts[i].name;
            found.against = concepts[j].name;
            found.layer = layers_[slot];
            found.target = label;
            report_.pairs.push_back(std::move(found));
          }
        }
      }
    }
  }

  void add_notes() {
    int64_t random = 0, largest = 0;
    for (const ExampleRange& set : examples_.random) random += set.count;
    for (const ExampleRange& set : examples_.concepts) largest = std::max(largest, set.count);
    if (request_.counterparts > 0 && random < 2 * largest) {
      report_.notes.push_back(fmt::format(
          "Fits had {} examples a side, though a concept has {}: counterparts are drawn from {} "
          "random examples, and must differ. Give at least {} random examples to use all of them.",
          random / 2, largest, random, 2 * largest));
    }
    note_equal_counterparts();
    const auto count = [&](Verdict verdict) {
      return std::count_if(report_.tests.begin(), report_.tests.end(),
                           [&](const ConceptTest& test) { return test.verdict == verdict; });
    };
    if (count(Verdict::kNotLearnt) > 0) {
      report_.notes.push_back(
          "Where concept and random examples cannot be told apart on held-out examples there is no "
          "direction, and no score is shown.");
    }
    if (count(Verdict::kUndefined) > 0) {
      report_.notes.push_back(
          "Undefined: no score varies, or fewer than two counterparts differ, so the t-test has "
          "nothing to compare with.");
    }
  }

  void note_equal_counterparts() {
    size_t fewest = static_cast<size_t>(report_.counterparts);
    for (const ConceptTest& test : report_.tests) fewest = std::min(fewest, test.scores.size());
    if (fewest == static_cast<size_t>(report_.counterparts)) return;
    report_.notes.push_back(
        fmt::format("Of {} counterparts only {} differ at some layer; equal ones count once. Give "
                    "more random examples, or other sets.",
                    report_.counterparts, fewest));
  }

  const ConceptInputs& inputs_;
  const ConceptExamples& examples_;
  const ConceptsRequest& request_;
  std::vector<int> layers_;
  std::vector<int64_t> rows_;    // examples that activations are taken of
  std::vector<int64_t> slopes_;  // examples that gradients are taken of, target by target
  std::vector<TargetRange> ranges_;
  LayerTestSets sets_;
  std::vector<Store> activations_, gradients_;  // by slot of layers_
  ConceptTestSettings settings_;
  int64_t done_ = 0, total_ = 0;
  ConceptReport report_;
};

}  // namespace

ConceptReport study_concepts(const ConceptInputs& inputs, const ConceptExamples& examples,
                             const ConceptsRequest& request) {
  ConceptStudy study(inputs, examples, request);
  const PulseScope pulses([&study] { return study.goes_on(); });
  return study.run();
}

}  // namespace whyformer
