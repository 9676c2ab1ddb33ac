// What the model answered to inputs made from the explained one.
#pragma once

#include <unordered_map>
#include <vector>

#include "run/part.h"

namespace whyformer {

class AnswerMemo {
 public:
  using Outputs = std::vector<double>;  // one per output

  // Null where the input was not asked yet.
  const Outputs* find(const Variant& input) const;
  // Forgets everything first where it would grow beyond so many bytes.
  void add(const Variant& input, Outputs answer, int64_t most_bytes);

 private:
  struct Hash {
    size_t operator()(const Variant& input) const;
  };
  std::unordered_map<Variant, Outputs, Hash> answers_;
  int64_t bytes_ = 0;
};

}  // namespace whyformer
