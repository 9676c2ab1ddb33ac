// A ViT-B/16 with random weights, as concept tests take it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "ops/linear_weights.h"
#include "tests/support/pixel_concept_inputs.h"

namespace whyformer {

constexpr int64_t kVitSide = 224;

class RandomVit {
 public:
  PixelGraph build(int64_t pictures, LastBlock last);
  std::shared_ptr<const LinearWeights> weights(const std::string& name, int64_t out, int64_t in);

 private:
  std::map<std::string, std::shared_ptr<const LinearWeights>> weights_;  // shared by all graphs
};

// Pixels of a picture's number.
Tensor random_picture(int64_t example);

}  // namespace whyformer
