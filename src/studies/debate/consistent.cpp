#include <fmt/format.h>

#include <algorithm>

#include "base/pulse.h"
#include "studies/debate/adversarial_search.h"
#include "studies/debate/consistent_training.h"
#include "studies/debate/corpus_split.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kFewestInputs = 10;

std::vector<double> compared_row(const ConsistentExample& example,
                                 const std::vector<std::vector<double>>& heads) {
  std::vector<double> row(example.compared.size(), 0.0);
  for (const std::vector<double>& head : heads) {
    for (size_t i = 0; i < row.size(); ++i) row[i] += head[example.compared[i]];
  }
  return normalised(std::move(row));
}

class ConsistentTraining {
 public:
  ConsistentTraining(const DebateCorpus& corpus, const DebateReport& report)
      : request_(report.request), distance_{*corpus.answered.problem} {
    for (size_t i = 0; i < report.inputs.size(); ++i) {
      if (!report.inputs[i].problem.empty()) continue;
      pulse();
      add(corpus, corpus.examples[i]);
    }
    if (static_cast<int64_t>(examples_.size()) < kFewestInputs) {
      throw InvalidInput(fmt::format(
          "the model-consistent adversary is trained on the corpus: give {} inputs or more",
          kFewestInputs));
    }
    split_ = split_corpus(static_cast<int64_t>(examples_.size()), request_.seed);
    held_out_ = split_.dev;
    held_out_.insert(held_out_.end(), split_.test.begin(), split_.test.end());
  }

  ConsistentSummary train() {
    ConsistentSummary summary{.train = static_cast<int64_t>(split_.train.size()),
                              .held_out = static_cast<int64_t>(held_out_.size())};
    for (const double lambda : request_.consistent.lambdas)
      summary.points.push_back(judged(lambda, trained(lambda)));
    return summary;
  }

 private:
  void add(const DebateCorpus& corpus, const DebateExample& from) {
    Reading reading = corpus.models.reader.read(from.input, {});
    Run run(std::move(reading.inputs[0]),
            {.problem = reading.answered.problem, .needs = {.attention = true, .values = true}});
    const DebateRun debate(run, from.input, corpus.models, request_, distance_.problem, 0);
    examples_.push_back(consistent_example(debate));
  }

  TrainedParts trained(double lambda) const {
    const ConsistentSettings& settings = request_.consistent;
    TrainedParts parts = trained_parts(examples_[0]);
    AmsGrad query(parts.query.numbers.size(), settings.learning_rate),
        key(parts.key.numbers.size(), settings.learning_rate),
        classifier(parts.classifier.numbers.size(), settings.learning_rate);
    const auto count = static_cast<int64_t>(split_.train.size());
    for (int64_t epoch = 0; epoch < settings.epochs; ++epoch) {
      for (int64_t first = 0; first < count; first += settings.batch) {
        pulse();
        std::vector<const ConsistentExample*> batch;
        for (int64_t i = first; i < std::min(count, first + settings.batch); ++i)
          batch.push_back(&examples_[split_.train[(i + epoch) % count]]);
        const ConsistentLoss loss = consistent_loss(batch, parts, distance_, lambda);
        query.step(parts.query.numbers, loss.query);
        key.step(parts.key.numbers, loss.key);
        classifier.step(parts.classifier.numbers, loss.classifier);
      }
    }
    return parts;
  }

  ConsistentPoint judged(double lambda, const TrainedParts& parts) const {
    std::vector<double> tvd, jsd;
    ConsistentPoint point{.lambda = lambda};
    for (const int64_t i : held_out_) {
      const ConsistentExample& example = examples_[i];
      const ConsistentState state = state_of(example, parts, distance_.problem);
      tvd.push_back(distance_(state.probabilities, example.probabilities));
      jsd.push_back(js_divergence(compared_row(example, state.attention),
                                  compared_row(example, example.attention)));
      point.same_answer +=
          std::ranges::max_element(state.probabilities) - state.probabilities.begin() ==
          std::ranges::max_element(example.probabilities) - example.probabilities.begin();
    }
    point.same_answer /= static_cast<double>(held_out_.size());
    point.tvd = debate_mean(tvd);
    point.jsd = debate_mean(jsd);
    return point;
  }

  const DebateRequest& request_;
  AnswerDistance distance_;
  std::vector<ConsistentExample> examples_;
  CorpusSplit split_;
  std::vector<int64_t> held_out_;
};

void check_consistent(const DebateRequest& request) {
  const ConsistentSettings& settings = request.consistent;
  if (settings.lambdas.empty() || settings.epochs < 1 || settings.batch < 1)
    throw InvalidInput("the model-consistent adversary needs a lambda, an epoch and a batch");
}

void judge_consistent(DebateReport& report) {
  constexpr double kSameAnswers = 0.05;
  const ConsistentPoint* furthest = nullptr;
  for (const ConsistentPoint& point : report.consistent->points) {
    if (point.tvd.mean > kSameAnswers) continue;
    if (furthest == nullptr || point.jsd.mean > furthest->jsd.mean) furthest = &point;
  }
  std::string says =
      furthest == nullptr
          ? "No trained adversary keeps the answers within 0.05."
          : fmt::format(
                "A model trained to attend elsewhere reaches a Jensen–Shannon divergence of "
                "{:.2f} on held-out inputs with answers within {:.3f} (λ = {:g}).",
                furthest->jsd.mean, furthest->tvd.mean, furthest->lambda);
  report.verdicts.push_back(
      {"consistent", std::move(says),
       "Only queries and keys of the last layer and the classifier were trained, a lower bound of "
       "what a whole model could do. Tokens of the last layer hold mixtures of words: attending to "
       "another token is not yet using another word."});
}

void conclude_consistent(const DebateCorpus& corpus, DebateReport& report) {
  if (report.request.precision == Precision::kDouble)
    report.notes.push_back("The model-consistent adversary was trained in single precision.");
  report.consistent = ConsistentTraining(corpus, report).train();
  judge_consistent(report);
}

}  // namespace

const DebatePart kConsistentPart{
    {.name = "consistent",
     .question = "Can one model be trained to attend elsewhere and answer alike?",
     .paper = "Wiegreffe & Pinter, EMNLP 2019, 4, the cheap version"},
    check_consistent,
    nullptr,
    conclude_consistent};

}  // namespace whyformer
