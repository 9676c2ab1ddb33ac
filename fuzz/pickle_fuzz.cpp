#include "fuzz_weights.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  whyformer::read_hostile_weights(whyformer::read_torch_pickle, data, size);
  return 0;
}
