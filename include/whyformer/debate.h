// Is attention explanation? Both sides of the debate for one model and a corpus: the experiments of
// Jain & Wallace ("Attention is not Explanation", NAACL 2019) and of Wiegreffe & Pinter ("Attention
// is not not Explanation", EMNLP 2019), carried over to transformers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "whyformer/model.h"

namespace whyformer {

// A part of the debate, in the order of reports.
struct DebatePartInfo {
  std::string name = {};
  std::string question = {};
  std::string paper = {};
};
std::vector<DebatePartInfo> debate_parts();

// What becomes of the weights of special tokens where attention is changed.
enum class SpecialAttention {
  kStays,     // they stay; distributions are compared over the other tokens, as the authors do
  kTakesPart  // they are weights like all others
};

// Adversarial attention: the distribution furthest from the observed one with nearly the same
// answer.
struct AdversarySettings {
  // "joint": the read-out row of the last layer, all heads; "heads": each by itself; "on-uniform":
  // jointly, from a model whose last layer attends uniformly; "rows": all rows of the last layer;
  // "layers": all rows of each layer by itself, with what is above computed anew; "all": all rows
  // of all layers together.
  std::vector<std::string> scopes{"joint", "heads", "on-uniform"};
  int64_t steps = 500;
  int64_t candidates = 5;
  int64_t restarts = 1;  // of all candidates, with other draws
  double learning_rate = 0.01;
  double search_epsilon = 0.01;              // change of the answer that the search allows
  std::vector<double> epsilons{0.01, 0.05};  // that the furthest distributions are reported for
};

// The diagnostic network: words alone, weighted by a guide.
struct DiagnosticSettings {
  // Of "uniform", "learned", "attention", "rollout", "grad-sam", "gae", "shap", "adversary".
  std::vector<std::string> guides{"uniform",  "learned", "attention", "rollout",
                                  "grad-sam", "gae",     "shap",      "adversary"};
  int64_t seeds = 5;
  int64_t width = 128;
  int64_t epochs = 8;
  int64_t batch = 32;
  double learning_rate = 1e-3;
  double weight_decay = 1e-5;
};

// Queries and keys of the last layer and the classifier, trained to give the same answers with
// other attention.
struct ConsistentSettings {
  std::vector<double> lambdas{0, 0.001, 0.01, 0.1, 1};
  int64_t epochs = 20;
  int64_t batch = 32;
  double learning_rate = 1e-3;
};

struct DebateRequest {
  std::vector<std::string> parts = {};  // empty: all
  SpecialAttention special = SpecialAttention::kStays;
  int64_t permutations = 100;       // of the read-out row
  int64_t layer_permutations = 10;  // of whole maps, for the other semantics
  // What is permuted: "last-row", the read-out row; "frozen", a layer's map, with what is above
  // computed anew; "frozen-heads", the same for one head at a time; "live", all maps while they
  // are computed.
  std::vector<std::string> semantics{"last-row", "frozen", "live"};
  AdversarySettings adversary = {};
  DiagnosticSettings diagnostic = {};
  ConsistentSettings consistent = {};
  Precision precision = Precision::kSingle;
  int64_t seed = 0;
  int64_t memory_bytes = int64_t{1} << 30;
  Progress progress = {};
};

struct DebateExample {
  std::string name = {};
  InputValue input = {};
  std::optional<std::string> label = {};  // name or number of the right output
};

// Kendall's tau-b between one attention and one importance of the same tokens.
struct DebateCorrelation {
  std::string attention = {};   // "last-row", "rollout", "layer 1 head 3"; or "gradient" itself
  std::string importance = {};  // "gradient", "full-gradient", "leave-one-out"
  bool with_special = false;
  std::optional<double> tau, p_value = {};  // nothing where one side is constant
};

// Change of the answer (total variation distance) over permutations.
struct DebatePermutation {
  std::string semantics = {};  // "frozen-heads" are "frozen" with a head
  int64_t layer = -1;          // -1: all
  int64_t head = -1;           // -1: all
  double median = 0, max = 0;
  double max_attention = 0, entropy = 0;  // of the read-out row that was permuted
};

struct DebateAdversary {
  std::string scope = {};
  int64_t layer = -1;  // -1: all
  int64_t head = -1;
  std::vector<double> jsd = {};  // by epsilon; 0 where nothing but the original was found
  std::vector<double> tvd = {};  // of these
  double last_jsd = 0;           // of the last iterates at the largest epsilon, the authors' rule
  std::vector<double> weights =
      {};  // by unit, mean over heads, of the furthest at the largest epsilon
};

struct DebateUniform {
  std::string layers = {};  // "last", "all"
  double tvd = 0;
  int64_t predicted = 0;
};

struct DebateOtherModel {
  double jsd = 0;  // between the read-out rows of the last layers, mean over heads
  double tvd = 0;  // between the answers
};

// What was measured on one input.
struct DebateInput {
  std::string name = {};
  std::string problem = {};  // why there is nothing; empty otherwise
  std::vector<std::string> units = {};
  std::vector<bool> special = {};
  int64_t label = -1;  // -1: unknown
  int64_t predicted = 0;
  std::vector<double> probabilities = {};
  std::vector<double> attention = {};  // last layer's read-out row, mean over heads, by unit
  double max_attention = 0, entropy = 0, special_share = 0;  // of the compared tokens in it
  std::vector<DebateCorrelation> correlations = {};
  std::vector<DebatePermutation> permutations = {};
  std::vector<DebateAdversary> adversaries = {};
  std::vector<DebateUniform> uniform = {};
  std::vector<DebateOtherModel> others = {};
  std::map<std::string, std::vector<double>> guides = {};  // by unit, none below 0
  std::vector<Refusal> refused = {};                       // parts, with the reason
  std::vector<std::string> notes = {};
  double seconds = 0;
};

// A mean over inputs or seeds.
struct DebateMean {
  double mean = 0;
  std::optional<double> deviation = {};  // nothing for fewer than two
  int64_t count = 0;
};

struct CorrelationSummary {
  std::string attention, importance = {};
  bool with_special = false;
  std::string predicted = {};  // class; empty: all inputs
  DebateMean tau = {};
  double significant = 0;  // share with p ≤ 0.05
  int64_t undefined = 0;   // inputs where one side is constant
};

struct PermutationSummary {
  std::string semantics = {};
  int64_t layer = -1, head = -1;
  DebateMean median = {}, max = {};
  std::optional<double> tau_with_max_attention = {};  // of the medians, over inputs
};

struct AdversarySummary {
  std::string scope = {};
  int64_t layer = -1;
  int64_t head = -1;
  double epsilon = 0;
  DebateMean jsd = {};
  double far = 0;             // share of inputs above half of ln 2
  bool last_iterate = false;  // the authors' rule
};

struct UniformSummary {
  std::string layers = {};
  DebateMean tvd = {};
  double same_answer = 0;                                      // share of inputs
  std::optional<double> accuracy_before, accuracy_after = {};  // of those with a label
};

struct ModelSummary {
  std::string model = {};
  DebateMean jsd = {};
  DebateMean tvd = {};
};

struct GuideSummary {
  std::string guide = {};
  DebateMean accuracy = {}, f1 = {};  // over seeds
};

struct DiagnosticSummary {
  int64_t train = 0, dev = 0, test = 0;
  bool of_labels = true;  // else of the model's own answers
  double majority = 0;    // accuracy of the commonest class of the training inputs
  std::vector<GuideSummary> guides = {};
};

struct ConsistentPoint {
  double lambda = 0;
  DebateMean tvd = {}, jsd = {};  // over the held-out inputs
  double same_answer = 0;
};

struct ConsistentSummary {
  int64_t train = 0, held_out = 0;
  std::vector<ConsistentPoint> points = {};
};

// What a part says, and what it does not show.
struct DebateVerdict {
  std::string part = {};
  std::string says = {};
  std::string does_not_show = {};
};

struct DebateReport {
  static constexpr const char* kSchema = "whyformer.debate/1";

  ModelName model = {};
  std::vector<std::string> labels = {};
  std::vector<DebateInput> inputs = {};
  int64_t layers = 0, heads = 0;
  std::vector<CorrelationSummary> correlations = {};
  std::vector<PermutationSummary> permutations = {};
  std::vector<AdversarySummary> adversaries = {};
  std::vector<UniformSummary> uniform = {};
  std::vector<ModelSummary> models = {};
  std::optional<DebateMean> median_jsd_of_models =
      {};  // per input the median over the other models
  std::optional<DiagnosticSummary> diagnostic = {};
  std::optional<ConsistentSummary> consistent = {};
  std::vector<DebateVerdict> verdicts = {};
  std::vector<Refusal> refused = {};
  DebateRequest request = {};  // without progress
  bool stopped_early = false;
  double seconds = 0;
  std::vector<std::string> notes = {};
};

// The parts that look at one input. `others` are the same architecture trained from other seeds;
// `number` is the input's place in the corpus, which keys the random draws. Throws InvalidInput for
// a wrong request, and Interrupted; what is wrong with the input becomes DebateInput::problem.
DebateInput debate_input(const Model& model, const std::vector<Model>& others,
                         const DebateExample& example, int64_t number,
                         const DebateRequest& request);

// All of it together, with the parts that are trained on the corpus. `inputs` are the results for
// the first examples, in their order. Throws InvalidInput where there are none.
DebateReport summarise(const Model& model, const std::vector<Model>& others,
                       const std::vector<DebateExample>& examples,
                       const std::vector<DebateInput>& inputs, const DebateRequest& request);

}  // namespace whyformer
