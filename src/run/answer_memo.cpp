#include "run/answer_memo.h"

namespace whyformer {

size_t AnswerMemo::Hash::operator()(const Variant& input) const {
  // Mixing of splitmix64 (Steele, Lea & Flood, OOPSLA 2014) after each number.
  uint64_t state = input.size();
  for (const int64_t number : input) {
    state = (state ^ static_cast<uint64_t>(number)) + 0x9E3779B97F4A7C15u;
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9u;
    state = (state ^ (state >> 27)) * 0x94D049BB133111EBu;
    state ^= state >> 31;
  }
  return state;
}

const AnswerMemo::Outputs* AnswerMemo::find(const Variant& input) const {
  const auto known = answers_.find(input);
  return known == answers_.end() ? nullptr : &known->second;
}

void AnswerMemo::add(const Variant& input, Outputs answer, int64_t most_bytes) {
  const auto bytes = static_cast<int64_t>(8 * (input.size() + answer.size())) + 64;
  if (bytes_ + bytes > most_bytes) {
    answers_.clear();
    bytes_ = 0;
  }
  bytes_ += bytes;
  answers_.insert_or_assign(input, std::move(answer));
}

}  // namespace whyformer
