// What a head measure is: it looks at one run per example and adds up.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "run/run.h"
#include "studies/heads/head_label.h"
#include "whyformer/heads.h"

namespace whyformer {

// One example's run, shared by all measures.
class HeadRun {
 public:
  // `label` and `problem` are only read by measures that need more than attention.
  HeadRun(const Run& explained, const HeadLabel& label, std::optional<Problem> problem)
      : explained_(explained), label_(label), problem_(problem) {}

  const Run& explained() const { return explained_; }
  const HeadLabel& label() const { return label_; }

  // ∂loss/∂ξ of a mask ξ on a head's output at each query: one [heads, queries] per layer, in
  // double. One backward walk however often it is asked for.
  const std::vector<Tensor>& mask_gradients();

 private:
  const Run& explained_;
  const HeadLabel& label_;
  std::optional<Problem> problem_;
  std::vector<Tensor> mask_gradients_;
};

// A zero for every head of the run's model.
HeadGrid zero_grid(const Run& explained);

class HeadMeasure {
 public:
  virtual ~HeadMeasure() = default;
  virtual void add(HeadRun& run) = 0;
  virtual std::unique_ptr<HeadMeasure> copy() const = 0;
  // Over all examples added so far; at least one was.
  virtual HeadGrid scores() const = 0;
};

// What a measure reads of the answer.
enum class AnswerNeeds {
  kNothing,
  kOutput,  // the label's output: a classifier or a regression
  kLoss     // and what is right, which a regression cannot do without
};

struct HeadMeasureEntry {
  HeadMeasureInfo info;
  Needs needs;
  AnswerNeeds answer;
  Options (*options)(const HeadsRequest&);  // those that the measure obeys
  std::unique_ptr<HeadMeasure> (*make)(const HeadsRequest&);
};

// One line per measure; measures.cpp lists them.
extern const HeadMeasureEntry kConfidence;
extern const HeadMeasureEntry kEntropy;
extern const HeadMeasureEntry kMichel;
extern const HeadMeasureEntry kMichelPositions;
extern const HeadMeasureEntry kVoitaLrp;

// Throws InvalidInput that lists the known names.
const HeadMeasureEntry& find_head_measure(std::string_view name);

}  // namespace whyformer
