// A part of the debate: what it measures on one input, and what it concludes from all of them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "readers/reader.h"
#include "studies/debate/attention_tail.h"
#include "studies/debate/distributions.h"
#include "whyformer/debate.h"

namespace whyformer {

// What a debate is about, for all inputs.
struct DebateModels {
  const Reader& reader;
  std::vector<const Reader*> others;
  std::vector<ModelName> names;  // of the others
};

// One input's run, shared by all parts.
class DebateRun {
 public:
  DebateRun(Run& run, const InputValue& value, const DebateModels& models,
            const DebateRequest& request, Problem problem, int64_t number);

  Run& run() { return run_; }
  const Run& run() const { return run_; }
  const InputValue& value() const { return value_; }
  const DebateModels& models() const { return models_; }
  const DebateRequest& request() const { return request_; }
  Problem problem() const { return distance_.problem; }
  const AnswerDistance& distance() const { return distance_; }
  const std::vector<double>& probabilities() const { return probabilities_; }
  std::vector<double> probabilities_of(const std::vector<double>& outputs) const;
  // Between an answer and the model's own.
  double change(const std::vector<double>& outputs) const;

  // Tokens whose weights are compared: all but the special ones, unless those take part.
  const std::vector<int64_t>& compared() const { return compared_; }
  const std::vector<int64_t>& ordinary() const { return ordinary_; }
  bool is_compared(int64_t unit) const { return is_compared_[unit]; }
  // Of weights by unit, the compared ones, divided by their sum.
  std::vector<double> compared_share(std::span<const double> by_unit) const;

  // The token that the output reads. Throws InvalidInput where there is none.
  int64_t read_out_row() const;
  // Its row of a layer's map, mean over heads or of one head, by unit.
  std::vector<double> attention_row(int layer, int64_t head = -1) const;
  int last_layer() const { return run_.layers() - 1; }

  // Draws for (seed, part, input, layer, head).
  CounterRandom random(std::string_view part, int64_t layer = -1, int64_t head = -1) const;

 private:
  Run& run_;
  const InputValue& value_;
  const DebateModels& models_;
  const DebateRequest& request_;
  AnswerDistance distance_;
  int64_t number_;
  std::vector<double> probabilities_;
  std::vector<int64_t> compared_, ordinary_;
  std::vector<bool> is_compared_;
};

// What a part reads to conclude.
struct DebateCorpus {
  const DebateModels& models;
  const std::vector<DebateExample>& examples;  // at least as many as there are inputs
  const Answered& answered;
};

struct DebatePart {
  DebatePartInfo info;
  // Throws InvalidInput for settings that have no meaning; null where none can be wrong.
  void (*check)(const DebateRequest& request) = nullptr;
  // Null where nothing is measured on one input. Throws InvalidInput where the part has no meaning.
  void (*measure)(DebateRun& run, DebateInput& result) = nullptr;
  // Adds its numbers and its verdict. Throws InvalidInput where there is too little to conclude.
  void (*conclude)(const DebateCorpus& corpus, DebateReport& report) = nullptr;
};

// One line per part; debate_parts.cpp lists them.
extern const DebatePart kCorrelationPart;
extern const DebatePart kPermutationPart;
extern const DebatePart kAdversaryPart;
extern const DebatePart kUniformPart;
extern const DebatePart kSeedsPart;
extern const DebatePart kDiagnosticPart;
extern const DebatePart kConsistentPart;

std::span<const DebatePart* const> debate_part_list();
// Those that are asked for, in order. Throws InvalidInput for unknown names.
std::vector<const DebatePart*> parts_asked(const DebateRequest& request);

// A distribution's places that can be changed: weights above 0 at compared tokens.
std::vector<int64_t> free_keys(const DebateRun& run, std::span<const double> row);

// Mean and deviation of those that are numbers.
DebateMean debate_mean(std::span<const double> values);

}  // namespace whyformer
