#include "fuzz_weights.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  whyformer::read_hostile_weights(whyformer::read_torch_pickle, data, size);
  const auto of_training = [](const whyformer::Bytes& file, const char* what) {
    return whyformer::read_training_pickle(file, what).tensors;
  };
  whyformer::read_hostile_weights(of_training, data, size);
  return 0;
}
