#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/parallel.h"
#include "methods/method.h"
#include "studies/debate/corpus_split.h"
#include "studies/debate/debate_part.h"
#include "studies/debate/guided_network.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kFewestInputs = 30;  // 18 to train on, 6 to choose the epoch by, 6 to judge

constexpr std::array<std::string_view, 8> kGuides{"uniform",  "learned", "attention", "rollout",
                                                  "grad-sam", "gae",     "shap",      "adversary"};

void check_diagnostic(const DebateRequest& request) {
  const DiagnosticSettings& settings = request.diagnostic;
  for (const std::string& guide : settings.guides) {
    if (std::ranges::find(kGuides, guide) != kGuides.end()) continue;
    throw InvalidInput(
        fmt::format("there is no guide '{}': choose from {}", guide, fmt::join(kGuides, ", ")));
  }
  if (settings.seeds < 1 || settings.width < 2 || settings.epochs < 1 || settings.batch < 1)
    throw InvalidInput("the diagnostic network needs a seed, an epoch, a batch and two units");
}

// Scores as weights of the ordinary tokens: evidence against the class counts nothing, but for
// Shapley values, whose size counts.
std::vector<double> as_guide(const DebateRun& debate, std::vector<double> scores, bool magnitudes) {
  std::vector<double> guide(scores.size(), 0.0), kept;
  for (const int64_t unit : debate.ordinary()) {
    const double score = magnitudes ? std::abs(scores[unit]) : std::max(scores[unit], 0.0);
    kept.push_back(std::isfinite(score) ? score : 0);
  }
  kept = normalised(std::move(kept));
  for (size_t i = 0; i < kept.size(); ++i) guide[debate.ordinary()[i]] = kept[i];
  return guide;
}

std::vector<double> method_scores(DebateRun& debate, const std::string& name) {
  const Method& method = find_method(name);
  return method.run(debate.run(), complete_options(method, {})).values;
}

void add_guide(DebateRun& debate, const std::string& guide, DebateInput& result) {
  if (guide == "uniform" || guide == "learned") return;
  std::vector<double> scores;
  if (guide == "attention") {
    scores = debate.attention_row(debate.last_layer());
  } else if (guide == "adversary") {
    for (const DebateAdversary& one : result.adversaries) {
      if (one.scope == "joint") scores = one.weights;
    }
    if (scores.empty()) return;  // the part was not asked for
  } else {
    scores = method_scores(debate, guide);
  }
  scores.resize(debate.run().tokens());
  result.guides[guide] = as_guide(debate, std::move(scores), guide == "shap");
}

void measure_guides(DebateRun& debate, DebateInput& result) {
  if (debate.ordinary().empty()) throw InvalidInput("there is no token but special ones");
  for (const std::string& guide : debate.request().diagnostic.guides)
    add_guide(debate, guide, result);
}

// What the network is trained on, without weights.
struct GuidedCorpus {
  std::vector<GuidedExample> examples;
  std::vector<const DebateInput*> inputs;
  int64_t depth = 0;
};

// Rows of the ordinary tokens.
template <class T>
std::vector<T> ordinary_rows(const std::vector<T>& rows, int64_t width, const DebateInput& input) {
  std::vector<T> kept;
  for (size_t unit = 0; unit < input.special.size(); ++unit) {
    if (input.special[unit]) continue;
    const auto first = rows.begin() + static_cast<int64_t>(unit) * width;
    kept.insert(kept.end(), first, first + width);
  }
  return kept;
}

// Word vectors alone: no position, no neighbours.
GuidedExample example_of(const DebateCorpus& corpus, const DebateExample& from,
                         const DebateInput& input, bool of_labels, int64_t& depth) {
  Reading reading = corpus.models.reader.read(from.input, {});
  const Run run(std::move(reading.inputs[0]),
                {.problem = corpus.answered.problem, .needs = {.embedding_gradient = true}});
  const Tensor rows = run.embeddings(Depth::kInput);
  depth = rows.dim(1);
  const std::vector<double> numbers = rows.to_doubles();
  const std::vector<float> all(numbers.begin(), numbers.end());
  return {ordinary_rows(all, depth, input), of_labels ? input.label : input.predicted};
}

GuidedCorpus guided_corpus(const DebateCorpus& corpus, const DebateReport& report, bool of_labels) {
  GuidedCorpus found;
  for (size_t i = 0; i < report.inputs.size(); ++i) {
    const DebateInput& input = report.inputs[i];
    if (input.guides.empty() || !input.problem.empty()) continue;
    found.examples.push_back(example_of(corpus, corpus.examples[i], input, of_labels, found.depth));
    found.inputs.push_back(&input);
  }
  return found;
}

std::vector<double> weights_for(const std::string& guide, const DebateInput& input) {
  if (guide == "learned") return {};
  if (guide != "uniform") return ordinary_rows(input.guides.at(guide), 1, input);
  const auto words = static_cast<size_t>(std::ranges::count(input.special, false));
  return std::vector<double>(words, 1 / static_cast<double>(words));
}

GuidedData data_of(const GuidedCorpus& corpus, const std::string& guide,
                   const std::vector<int64_t>& members) {
  GuidedData data;
  for (const int64_t i : members) {
    data.examples.push_back(corpus.examples[i]);
    data.weights.push_back(weights_for(guide, *corpus.inputs[i]));
  }
  return data;
}

bool all_have(const GuidedCorpus& corpus, const std::string& guide) {
  if (guide == "uniform" || guide == "learned") return true;
  return std::ranges::all_of(
      corpus.inputs, [&](const DebateInput* input) { return input->guides.contains(guide); });
}

GuideSummary train_guide(const GuidedCorpus& corpus, const CorpusSplit& split,
                         const std::string& guide, GuidedOptions options,
                         const DebateRequest& request) {
  options.learns_weights = guide == "learned";
  const GuidedData train = data_of(corpus, guide, split.train),
                   dev = data_of(corpus, guide, split.dev),
                   test = data_of(corpus, guide, split.test);
  const int64_t seeds = request.diagnostic.seeds;
  std::vector<double> accuracy(seeds), f1(seeds);
  parallel_for(seeds, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const GuidedNetwork network = train_guided(train, dev, options, request.seed + i);
      const GuidedScore score = score_guided(network, test, options.classes);
      accuracy[i] = score.accuracy;
      f1[i] = score.f1;
    }
  });
  return {guide, debate_mean(accuracy), debate_mean(f1)};
}

double majority_share(const GuidedCorpus& corpus, const CorpusSplit& split, int64_t classes) {
  std::vector<int64_t> counts(classes, 0);
  for (const int64_t i : split.train) ++counts[corpus.examples[i].label];
  const int64_t commonest = std::ranges::max_element(counts) - counts.begin();
  double hits = 0;
  for (const int64_t i : split.test) hits += corpus.examples[i].label == commonest;
  return hits / static_cast<double>(split.test.size());
}

void judge_diagnostic(DebateReport& report) {
  const DiagnosticSummary& found = *report.diagnostic;
  const auto accuracy = [&](std::string_view name) -> std::optional<double> {
    for (const GuideSummary& one : found.guides) {
      if (one.guide == name) return one.accuracy.mean;
    }
    return std::nullopt;
  };
  std::string says = "A network of single words";
  std::string separator = " reaches";
  for (const GuideSummary& one : found.guides) {
    says += fmt::format("{} {:.0f} % ({})", separator, 100 * one.accuracy.mean, one.guide);
    separator = ",";
  }
  says += fmt::format("; the commonest class alone {:.0f} %.", 100 * found.majority);
  const auto attention = accuracy("attention"), uniform = accuracy("uniform");
  if (attention && uniform) {
    // About two standard errors of an accuracy.
    const double margin = 1 / std::sqrt(static_cast<double>(found.test));
    says += *attention > *uniform + margin
                ? " Attention tells it which words count: the weights carry over."
            : *attention < *uniform - margin
                ? " The model's attention is a worse guide than equal weights."
                : " Between the model's attention and equal weights the difference may be chance.";
  }
  report.verdicts.push_back(
      {"diagnostic", std::move(says),
       fmt::format(
           "{} inputs decide. A good guide shows that weights go with words that tell the "
           "class, not that the model used them. Guides of the predicted class may give the "
           "class away.",
           found.test)});
}

void conclude_diagnostic(const DebateCorpus& corpus, DebateReport& report) {
  const auto used = [](const DebateInput& one) {
    return one.problem.empty() && !one.guides.empty();
  };
  const bool of_labels = std::ranges::all_of(
      report.inputs, [&](const DebateInput& one) { return !used(one) || one.label >= 0; });
  if (std::ranges::count_if(report.inputs, used) < kFewestInputs) {
    throw InvalidInput(fmt::format(
        "the diagnostic network is trained on the corpus: give {} inputs or more", kFewestInputs));
  }
  const GuidedCorpus guided = guided_corpus(corpus, report, of_labels);
  const CorpusSplit split =
      split_corpus(static_cast<int64_t>(guided.examples.size()), report.request.seed);
  const auto classes = static_cast<int64_t>(report.labels.size());
  const DiagnosticSettings& settings = report.request.diagnostic;
  const GuidedOptions options{.depth = guided.depth,
                              .classes = classes,
                              .width = settings.width,
                              .epochs = settings.epochs,
                              .batch = settings.batch,
                              .learning_rate = settings.learning_rate,
                              .weight_decay = settings.weight_decay};
  DiagnosticSummary found{.train = static_cast<int64_t>(split.train.size()),
                          .dev = static_cast<int64_t>(split.dev.size()),
                          .test = static_cast<int64_t>(split.test.size()),
                          .of_labels = of_labels,
                          .majority = majority_share(guided, split, classes)};
  for (const std::string& guide : settings.guides) {
    if (all_have(guided, guide))
      found.guides.push_back(train_guide(guided, split, guide, options, report.request));
    else
      report.notes.push_back(
          fmt::format("The guide {} was left out: not every input has it.", guide));
  }
  report.diagnostic = std::move(found);
  judge_diagnostic(report);
}

}  // namespace

const DebatePart kDiagnosticPart{
    {.name = "diagnostic",
     .question = "Do the weights help a network that sees single words?",
     .paper = "Wiegreffe & Pinter, EMNLP 2019, 3.4"},
    check_diagnostic,
    measure_guides,
    conclude_diagnostic};

}  // namespace whyformer
