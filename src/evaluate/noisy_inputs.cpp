#include "evaluate/noisy_inputs.h"

#include <cmath>

#include "base/random.h"

namespace whyformer {
namespace {

// Puts the run back, also where a method throws.
class OwnInputAgain {
 public:
  explicit OwnInputAgain(Run& run) : run_(run) {}
  ~OwnInputAgain() { run_.enter_own(); }
  OwnInputAgain(const OwnInputAgain&) = delete;
  OwnInputAgain& operator=(const OwnInputAgain&) = delete;

 private:
  Run& run_;
};

}  // namespace

bool visit_noisy_inputs(Run& run, const NoiseOptions& options,
                        const std::function<void(int64_t copy, double length)>& visit) {
  const std::optional<Tensor> own = run.entering();
  if (!own) return false;
  const std::vector<double> ranges = run.input().ranges(Depth::kInput, *own);
  const std::vector<double> numbers = own->to_doubles();
  const OwnInputAgain restore(run);
  for (int64_t copy = 0; copy < options.copies; ++copy) {
    const CounterRandom random(options.seed, "noisy-input", copy);
    std::vector<double> noisy = numbers;
    double squares = 0;
    for (size_t i = 0; i < noisy.size(); ++i) {
      const double reach = options.radius * ranges[i / own->dim(1)];
      const double noise = reach * (2 * random.uniform(static_cast<int64_t>(i)) - 1);
      squares += noise * noise;
      noisy[i] += noise;
    }
    run.enter(Tensor::of<double>(own->shape(), std::span<const double>(noisy)).cast(own->dtype()));
    visit(copy, std::sqrt(squares));
  }
  return true;
}

}  // namespace whyformer
