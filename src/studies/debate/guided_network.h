// The diagnostic network of Wiegreffe & Pinter: words one by one, h_t = tanh(W e_t + b), put
// together by given weights, logits = U Σ α_t h_t + c. What it learns can come from the words and
// the weights alone.
#pragma once

#include <cstdint>
#include <vector>

namespace whyformer {

struct GuidedExample {
  std::vector<float> vectors;  // [tokens, depth], never trained
  int64_t label = 0;
};

struct GuidedOptions {
  int64_t depth = 0;
  int64_t classes = 2;
  int64_t width = 128;
  int64_t epochs = 8;
  int64_t batch = 32;
  double learning_rate = 1e-3;
  double weight_decay = 1e-5;
  // α is trained too: softmax of v · tanh(A h_t + a), A of half the width.
  bool learns_weights = false;
};

using GuideWeights = std::vector<std::vector<double>>;  // [example][token]; empty where learned

class GuidedNetwork {
 public:
  GuidedNetwork(const GuidedOptions& options, int64_t seed);

  std::vector<double> logits(const GuidedExample& example,
                             const std::vector<double>& weights) const;
  // Mean cross-entropy of a batch and its gradient, by parameter.
  struct Loss {
    double value = 0;
    std::vector<double> gradient;
  };
  Loss loss(const std::vector<const GuidedExample*>& batch,
            const std::vector<const std::vector<double>*>& weights) const;

  std::vector<double>& parameters() { return parameters_; }

 private:
  struct Forward;
  Forward forward(const GuidedExample& example, const std::vector<double>& weights) const;
  void add_gradient(const GuidedExample& example, const Forward& at, double factor,
                    std::vector<double>& gradient) const;
  void add_weight_gradient(const Forward& at, const std::vector<double>& to_weights,
                           std::vector<double>& to_hidden, std::vector<double>& gradient) const;

  GuidedOptions options_;
  int64_t score_width_;
  // Places in `parameters_`: W, b, U, c, A, a, v.
  int64_t b_, u_, c_, a_matrix_, a_, v_;
  std::vector<double> parameters_;
};

struct GuidedData {
  std::vector<GuidedExample> examples;
  GuideWeights weights;
};

// The network of the epoch with the lowest loss on `dev`.
GuidedNetwork train_guided(const GuidedData& train, const GuidedData& dev,
                           const GuidedOptions& options, int64_t seed);

struct GuidedScore {
  double accuracy = 0;
  double f1 = 0;  // mean over the classes that there are (macro)
};
GuidedScore score_guided(const GuidedNetwork& network, const GuidedData& data, int64_t classes);

}  // namespace whyformer
