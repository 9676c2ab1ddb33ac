#include <algorithm>
#include <cmath>

#include "studies/heads/head_measure.h"

namespace whyformer {
namespace {

// Where the absolute value is taken.
enum class Magnitude {
  kOfText,     // |Σ over positions|: the paper's |∂loss/∂ξ|
  kOfPosition  // Σ over positions of |·|: what the authors' code adds up
};

void scale_to_unit_length(HeadGrid& grid) {
  for (std::vector<double>& layer : grid) {
    double squares = 0;
    for (const double score : layer) squares += score * score;
    for (double& score : layer) score /= std::sqrt(squares) + 1e-20;
  }
}

class Michel final : public HeadMeasure {
 public:
  Michel(Magnitude magnitude, LayerScale scale) : magnitude_(magnitude), scale_(scale) {}

  std::unique_ptr<HeadMeasure> copy() const override { return std::make_unique<Michel>(*this); }

  void add(HeadRun& run) override {
    if (sums_.empty()) sums_ = zero_grid(run.explained());
    for (size_t layer = 0; layer < sums_.size(); ++layer) {
      const Tensor& gradients = run.mask_gradients()[layer];
      for (size_t head = 0; head < sums_[layer].size(); ++head) {
        sums_[layer][head] += size_of(gradients.select(0, static_cast<int64_t>(head)));
      }
    }
    ++texts_;
    tokens_ += run.explained().tokens();
    const std::vector<double> read = run.explained().read_out();
    last_rows_ += std::ranges::count_if(read, [](double share) { return share != 0; });
  }

  HeadGrid scores() const override {
    HeadGrid grid = sums_;
    for (size_t layer = 0; layer < grid.size(); ++layer) {
      // Of the last layer only the rows that the output reads are positions: mostly one per text.
      const int64_t positions = layer + 1 < grid.size() ? tokens_ : last_rows_;
      const int64_t count = magnitude_ == Magnitude::kOfPosition ? positions : texts_;
      for (double& score : grid[layer]) score /= static_cast<double>(count);
    }
    if (scale_ == LayerScale::kUnitLength) scale_to_unit_length(grid);
    return grid;
  }

 private:
  double size_of(const Tensor& positions) const {
    double sum = 0;
    for (const double slope : positions.to_doubles()) {
      sum += magnitude_ == Magnitude::kOfPosition ? std::abs(slope) : slope;
    }
    return std::abs(sum);
  }

  Magnitude magnitude_;
  LayerScale scale_;
  HeadGrid sums_;
  int64_t texts_ = 0;
  int64_t tokens_ = 0;
  int64_t last_rows_ = 0;
};

Options options_of(const HeadsRequest& request) {
  const bool unit = request.michel_scale == LayerScale::kUnitLength;
  return {{"normalise", std::string(unit ? "layer" : "none")}};
}

constexpr Needs kReadsAttentionGradients{.attention = true, .attention_gradient = true};

}  // namespace

const HeadMeasureEntry kMichel{
    {.name = "michel",
     .summary = "sensitivity of the loss to the head's output: mean of |∂loss/∂mask|",
     .paper = "Michel et al., NeurIPS 2019",
     .cost = "1 forward, 1 backward"},
    kReadsAttentionGradients,
    AnswerNeeds::kLoss,
    options_of,
    [](const HeadsRequest& request) -> std::unique_ptr<HeadMeasure> {
      return std::make_unique<Michel>(Magnitude::kOfText, request.michel_scale);
    }};

const HeadMeasureEntry kMichelPositions{
    {.name = "michel-positions",
     .summary = "the same with |·| taken at every position, as in the authors' code",
     .paper = "Michel et al., NeurIPS 2019 (code)",
     .cost = "1 forward, 1 backward"},
    kReadsAttentionGradients,
    AnswerNeeds::kLoss,
    options_of,
    [](const HeadsRequest& request) -> std::unique_ptr<HeadMeasure> {
      return std::make_unique<Michel>(Magnitude::kOfPosition, request.michel_scale);
    }};

}  // namespace whyformer
