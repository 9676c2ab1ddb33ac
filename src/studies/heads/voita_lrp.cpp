#include <algorithm>

#include "studies/heads/head_measure.h"
#include "studies/heads/voita_walk.h"
#include "tensor/map.h"

namespace whyformer {
namespace {

// Outputs of a text that are explained: what is right about it, else what the model says loudest.
std::vector<int64_t> explained_outputs(const HeadRun& run) {
  const std::vector<double>& outputs = run.explained().outputs();
  if (!run.label().classes.empty()) return run.label().classes;
  return {std::max_element(outputs.begin(), outputs.end()) - outputs.begin()};
}

// A head's share in the relevance of its layer, mean over explained outputs.
class VoitaLrp final : public HeadMeasure {
 public:
  explicit VoitaLrp(voita::AttentionMaps maps) : maps_(maps) {}

  std::unique_ptr<HeadMeasure> copy() const override { return std::make_unique<VoitaLrp>(*this); }

  void add(HeadRun& run) override {
    if (sums_.empty()) sums_ = zero_grid(run.explained());
    for (const int64_t target : explained_outputs(run)) {
      const std::vector<Tensor> relevance =
          voita::relevance_of_heads(run.explained().graph(), run.explained().pass(), target, maps_);
      for (size_t layer = 0; layer < sums_.size(); ++layer) {
        const std::vector<double> heads = sample_sums(relevance[layer]);
        const double total = sums_of(relevance[layer]).plain;
        for (size_t head = 0; head < heads.size(); ++head) {
          sums_[layer][head] += total > 0 ? heads[head] / total : 0;
        }
      }
      ++outputs_;
    }
  }

  HeadGrid scores() const override {
    HeadGrid grid = sums_;
    for (std::vector<double>& layer : grid) {
      for (double& score : layer) score /= static_cast<double>(outputs_);
    }
    return grid;
  }

 private:
  voita::AttentionMaps maps_;
  HeadGrid sums_;
  int64_t outputs_ = 0;
};

}  // namespace

const HeadMeasureEntry kVoitaLrp{
    {.name = "voita-lrp",
     .summary = "the head's share in its layer's relevance for the label's output (LRP)",
     .paper = "Voita et al., ACL 2019",
     .cost = "1 forward and a relevance walk that visits every weight for every token"},
    {.values = true},
    AnswerNeeds::kOutput,
    [](const HeadsRequest& request) {
      return Options{{"attention-constant", request.attention_constant}};
    },
    [](const HeadsRequest& request) -> std::unique_ptr<HeadMeasure> {
      return std::make_unique<VoitaLrp>(request.attention_constant
                                            ? voita::AttentionMaps::kConstant
                                            : voita::AttentionMaps::kFunction);
    }};

}  // namespace whyformer
