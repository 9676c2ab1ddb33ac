#include "formats/pickle_stack.h"

#include <fmt/format.h>

namespace whyformer {
namespace {

// A checkpoint has some twenty values for each tensor; a pickle with more than this many is
// hostile.
constexpr size_t kMaxValues = 1'000'000;
constexpr std::string_view kTooMany = "more values than any checkpoint has";

}  // namespace

void PickleStack::push(PickleValue value) {
  if (pickle_.values.size() == kMaxValues) fail(kTooMany);
  stack_.push_back(static_cast<PickleId>(pickle_.values.size()));
  pickle_.values.push_back(std::move(value));
}

PickleId PickleStack::top() const {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) fail("an empty stack is used");
  return stack_.back();
}

PickleId PickleStack::pop() {
  const PickleId id = top();
  stack_.pop_back();
  return id;
}

std::vector<PickleId> PickleStack::pop_many(size_t count) {
  std::vector<PickleId> items(count);
  for (size_t i = count; i-- > 0;) items[i] = pop();
  return items;
}

void PickleStack::drop() {
  if (!marks_.empty() && marks_.back() == stack_.size()) {
    marks_.pop_back();
  } else {
    pop();
  }
}

std::vector<PickleId> PickleStack::pop_to_mark() {
  if (marks_.empty()) fail("a mark is missing");
  const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleId> items(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return items;
}

void PickleStack::memorise(uint64_t place) {
  if (memo_.size() == kMaxValues) fail(kTooMany);
  memo_.insert_or_assign(place, top());
}

void PickleStack::recall(uint64_t place) {
  const auto found = memo_.find(place);
  if (found == memo_.end()) fail("a value is used before it is made");
  stack_.push_back(found->second);
}

void PickleStack::append(const std::vector<PickleId>& items) {
  if (is_opaque(top())) return;
  auto* list = std::get_if<PickleList>(&pickle_.values[top()]);
  if (list == nullptr) fail("an item for something which is not a list");
  list->items.insert(list->items.end(), items.begin(), items.end());
}

void PickleStack::assign(const std::vector<PickleId>& keys_and_values) {
  if (is_opaque(top())) return;
  auto* dict = std::get_if<PickleDict>(&pickle_.values[top()]);
  if (dict == nullptr) fail("an item for something which is not a dict");
  if (keys_and_values.size() % 2 != 0) fail("a key without a value");
  for (size_t i = 0; i < keys_and_values.size(); i += 2) {
    dict->items.emplace_back(keys_and_values[i], keys_and_values[i + 1]);
  }
}

PickleGlobal PickleStack::pop_global() {
  const auto* name = pickle_.as<PickleText>(pop());
  const auto* module = pickle_.as<PickleText>(pop());
  if (name == nullptr || module == nullptr) fail("a global without a name");
  return {module->text, name->text};
}

void PickleStack::call() {
  const PickleId arguments = pop();
  const PickleId callable = pop();
  const auto* list = pickle_.as<PickleList>(arguments);
  const auto* global = pickle_.as<PickleGlobal>(callable);
  const bool foreign = foreign_ == ForeignGlobals::kOpaque && global == nullptr;
  if (foreign) return push(made_by(callable));
  if (list == nullptr || global == nullptr) fail("a call of something which is not a function");
  if (global->is("collections", "OrderedDict")) return push(ordered_dict(*list));
  push(PickleCall{callable, arguments});
}

void PickleStack::call_behind_mark() {
  const std::vector<PickleId> items = pop_to_mark();
  if (items.empty()) fail("an object without a class");
  push(made_by(items.front()));
}

PickleOpaque PickleStack::made_by(PickleId callable) const {
  if (const auto* opaque = pickle_.as<PickleOpaque>(callable)) return *opaque;
  if (const auto* global = pickle_.as<PickleGlobal>(callable))
    return {global->module, global->name};
  return {"?", "?"};
}

// Python 2 wrote OrderedDict([[key, value], ...]); Python 3 makes it empty and assigns.
PickleDict PickleStack::ordered_dict(const PickleList& arguments) {
  if (arguments.items.empty()) return {};
  const auto* pairs = pickle_.as<PickleList>(arguments.items.front());
  if (pairs == nullptr || arguments.items.size() != 1) fail("an OrderedDict which is not one");
  copied_ += pairs->items.size();
  if (copied_ > kMaxValues) fail(kTooMany);
  PickleDict dict;
  for (const PickleId id : pairs->items) {
    const auto* pair = pickle_.as<PickleList>(id);
    if (pair == nullptr || pair->items.size() != 2) fail("an OrderedDict which is not one");
    dict.items.emplace_back(pair->items[0], pair->items[1]);
  }
  return dict;
}

Pickle PickleStack::finish() {
  pickle_.root = pop();
  return std::move(pickle_);
}

void PickleStack::fail(std::string_view problem) const {
  throw_damaged(reader_.what(),
                fmt::format("has a malformed pickle: {} at byte {}", problem, reader_.position()));
}

}  // namespace whyformer
