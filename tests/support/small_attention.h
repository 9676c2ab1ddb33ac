// Graphs of a few nodes with attention in them, for tests of discovery.
#pragma once

#include <string>

#include "ops/ops.h"

namespace whyformer {

// Two heads over streams [batch, tokens, 4].
struct SmallAttention {
  static constexpr int64_t kWidth = 4;

  GraphBuilder graph;

  Value stream(const std::string& name, int64_t tokens, int64_t batch = 1);
  Value learned(int64_t tokens);
  // The heads' outputs put together again; `mask` may be invalid.
  Value attend(Value queries, Value keys, const std::string& name, Value mask = {});
  // The same added to the queries.
  Value layer(Value queries, Value keys, const std::string& name, Value mask = {});

 private:
  Value heads_of(Value x, const std::string& name);
};

}  // namespace whyformer
