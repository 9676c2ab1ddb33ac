// What fused attention operators are spelled out with.
#pragma once

#include "onnx/node_scope.h"

namespace whyformer::onnx {

// [batch, tokens, heads · width] to [batch, heads, tokens, width], and back.
Value split_heads(NodeScope& scope, Value x, int64_t heads);
Value merge_heads(NodeScope& scope, Value x);

struct Operands {
  Value q, k, v;  // [batch, heads, tokens, width]
};

// Masks of one attention, added up; each is 0 where a key is seen. Biases that vary with what is
// explained are summed by themselves: our softmax takes its mask for a constant, but they need
// gradients.
class Masks {
 public:
  Masks(NodeScope& scope, int64_t queries, int64_t keys)
      : scope_(scope), queries_(queries), keys_(keys) {}

  void add(Value mask);                            // as it is
  void add_kept(Value kept, double filter);        // 1 where seen, 0 where not
  void add_lengths(Value lengths, double filter);  // [batch]: keys from there on are not seen
  // Query i, `past` keys behind the first, sees keys up to itself. By default all keys in front of
  // the queries are the past.
  void add_causal();
  void add_causal(int64_t past);
  // Query i stands at key i + offset (a number, or one per input of the batch) and sees as many
  // keys in front of itself and behind as told; -1 for all.
  void add_window(Value offset, int64_t in_front, int64_t behind);
  // The mask_index of com.microsoft operators: lengths, ends and starts, or 0/1 of rank 2 or 3.
  void add_microsoft(Value mask, int64_t batch, double filter);

  Value constant() const { return constant_; }  // what does not vary; invalid if there is none
  Value varying() const { return varying_; }    // what does

 private:
  Value numbers(int axis, int64_t count);

  NodeScope& scope_;
  int64_t queries_, keys_;
  Value constant_, varying_;
};

struct Attended {
  Value scores;   // q·kᵀ
  Value capped;   // scaled and, where there is a cap, tamed by it
  Value masked;   // capped, with biases and masks
  Value map;      // softmax(masked)
  Value context;  // map·v
  double scale = 1;
};

// Scale 0 stands for 1/√width. A cap c turns scaled scores s into c·tanh(s/c).
Attended attend(NodeScope& scope, const Operands& operands, const Masks& masks, double scale,
                double cap = 0);

}  // namespace whyformer::onnx
