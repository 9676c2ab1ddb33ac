// The memory of the pickle machine: values, the stack with its marks, and the memo.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "formats/byte_reader.h"
#include "formats/pickle_machine.h"

namespace whyformer {

// All that grows is bounded, and each operation costs no more than the items it moves.
class PickleStack {
 public:
  // The reader, which must outlive this, is for the file and position in messages.
  PickleStack(const ByteReader& reader, ForeignGlobals foreign)
      : reader_(reader), foreign_(foreign) {}

  void push(PickleValue value);
  PickleId pop();
  PickleId top() const;
  std::vector<PickleId> pop_many(size_t count);
  void duplicate() { stack_.push_back(top()); }
  void drop();  // the top, or the mark when nothing lies on it

  // What lies below the last mark is out of reach until the mark is taken away.
  void mark() { marks_.push_back(stack_.size()); }
  std::vector<PickleId> pop_to_mark();

  void memorise(uint64_t place);
  void memorise() { memorise(memo_.size()); }
  void recall(uint64_t place);

  // To the list or dict on top; what is opaque keeps nothing.
  void append(const std::vector<PickleId>& items);
  void assign(const std::vector<PickleId>& keys_and_values);

  // Pops a module and a name.
  PickleGlobal pop_global();

  // Pops a function and its arguments, and pushes a note of the call, or an OrderedDict.
  void call();
  // The same of what lies behind the mark, the function first.
  void call_behind_mark();

  // The values so far, of which the top is the result.
  Pickle finish();

  [[noreturn]] void fail(std::string_view problem) const;

 private:
  PickleDict ordered_dict(const PickleList& arguments);
  bool is_opaque(PickleId id) const { return pickle_.as<PickleOpaque>(id) != nullptr; }
  // What a call of that would make.
  PickleOpaque made_by(PickleId callable) const;

  const ByteReader& reader_;
  ForeignGlobals foreign_;
  Pickle pickle_;
  std::vector<PickleId> stack_;
  std::vector<size_t> marks_;  // heights of the stack
  std::map<uint64_t, PickleId> memo_;
  size_t copied_ = 0;  // items copied from one container to another
};

}  // namespace whyformer
