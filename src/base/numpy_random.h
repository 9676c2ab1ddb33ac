// The random stream of numpy.random.RandomState: what shap, LIME and scikit-learn draw from. Given
// the same seed and the same order of calls it gives the same numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace whyformer {

// Throws InvalidInput for a seed that NumPy does not take.
uint32_t numpy_seed(int64_t seed);

class NumpyRandom {
 public:
  explicit NumpyRandom(uint32_t seed) : words_(seed) {}

  double uniform();  // in [0, 1)
  void skip_uniforms(int64_t count) { words_.discard(2 * static_cast<uint64_t>(count)); }
  double normal();                 // mean 0, deviation 1
  int64_t up_to(int64_t largest);  // a whole number from 0 to `largest`, which fits 32 bits
  int64_t choose(
      const std::vector<double>& cumulative);  // an index, by shares that sum up to the last entry
  std::vector<int64_t> permutation(int64_t count);

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (int64_t i = static_cast<int64_t>(items.size()) - 1; i > 0; --i) {
      const T kept = items[i];
      const int64_t j = up_to(i);
      items[i] = items[j];
      items[j] = kept;
    }
  }

 private:
  std::mt19937 words_;
  std::optional<double> second_normal_;  // the polar method makes two at a time
};

}  // namespace whyformer
