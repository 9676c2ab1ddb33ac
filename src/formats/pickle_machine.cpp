// The instructions are those of Lib/pickletools.py in CPython which data of numbers, text,
// containers and tensors is written with.
#include "formats/pickle_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>

#include "whyformer/error.h"

namespace whyformer {
namespace {

// A checkpoint has some twenty values for each tensor; a pickle with more than this many is hostile.
constexpr size_t kMaxValues = 2'000'000;

class PickleMachine {
 public:
  PickleMachine(ByteReader& reader, AllowedGlobal allowed) : reader_(reader), allowed_(allowed) {}

  Pickle run() {
    while (true) {
      const char instruction = reader_.take(1).front();
      if (instruction == '.') {
        pickle_.root = pop();
        return std::move(pickle_);
      }
      const bool known = push_constant(instruction) || push_number(instruction) ||
                         push_text(instruction) || build_container(instruction) ||
                         fill_container(instruction) || use_memo(instruction) ||
                         use_stack(instruction) || name_object(instruction);
      if (!known) refuse_instruction(instruction);
    }
  }

 private:
  bool push_constant(char instruction);
  bool push_number(char instruction);
  bool push_text(char instruction);
  bool build_container(char instruction);
  bool fill_container(char instruction);
  bool use_memo(char instruction);
  bool use_stack(char instruction);
  bool name_object(char instruction);

  void push(PickleValue value);
  void push_id(PickleId id) { stack_.push_back(id); }
  PickleId pop();
  PickleId top() const;
  std::vector<PickleId> pop_to_mark();
  std::vector<PickleId> pop_many(size_t count);
  void memorise(uint64_t place);
  void recall(uint64_t place);

  void push_long(std::string_view bytes);
  void push_decimal(std::string_view digits);
  void push_float(std::string_view digits);
  void push_big_endian_float(std::string_view bytes);
  void push_global(std::string_view module, std::string_view name);
  void append(PickleId list, const std::vector<PickleId>& items);
  void assign(PickleId dict, const std::vector<PickleId>& items);
  void call();
  PickleDict ordered_dict(const PickleList& arguments);
  uint64_t place_in(std::string_view digits) const;

  [[noreturn]] void fail(std::string_view problem) const {
    throw_damaged(reader_.what(), fmt::format("has a malformed pickle: {} at byte {}", problem,
                                              reader_.position()));
  }
  [[noreturn]] void refuse_instruction(char instruction) const;

  ByteReader& reader_;
  AllowedGlobal allowed_;
  Pickle pickle_;
  std::vector<PickleId> stack_;
  std::vector<size_t> marks_;  // heights of the stack
  std::map<uint64_t, PickleId> memo_;
  size_t copied_ = 0;  // items copied from one container to another
};

void PickleMachine::push(PickleValue value) {
  if (pickle_.values.size() == kMaxValues) fail("more values than any checkpoint has");
  push_id(static_cast<PickleId>(pickle_.values.size()));
  pickle_.values.push_back(std::move(value));
}

// What lies below the last mark is out of reach until the mark is taken away.
PickleId PickleMachine::top() const {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) fail("an empty stack is used");
  return stack_.back();
}

PickleId PickleMachine::pop() {
  const PickleId id = top();
  stack_.pop_back();
  return id;
}

std::vector<PickleId> PickleMachine::pop_many(size_t count) {
  std::vector<PickleId> items(count);
  for (size_t i = count; i-- > 0;) items[i] = pop();
  return items;
}

std::vector<PickleId> PickleMachine::pop_to_mark() {
  if (marks_.empty()) fail("a mark is missing");
  const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleId> items(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return items;
}

bool PickleMachine::push_constant(char instruction) {
  switch (instruction) {
    case 'N': push(PickleNone{}); return true;
    case '\x88': push(true); return true;
    case '\x89': push(false); return true;
    case '\x80':  // protocol
      if (reader_.number<uint8_t>() > 5) fail("an unknown protocol");
      return true;
    case '\x95':  // frame: only a hint how much to read at once
      if (reader_.number<uint64_t>() > reader_.remaining()) fail("a frame past the end");
      return true;
    default: return false;
  }
}

bool PickleMachine::push_number(char instruction) {
  switch (instruction) {
    case 'K': push(int64_t{reader_.number<uint8_t>()}); return true;
    case 'M': push(int64_t{reader_.number<uint16_t>()}); return true;
    case 'J': push(int64_t{reader_.number<int32_t>()}); return true;
    case '\x8a': push_long(reader_.take(reader_.number<uint8_t>())); return true;
    case '\x8b': push_long(reader_.take(reader_.number<uint32_t>())); return true;
    case 'I': push_decimal(reader_.line()); return true;
    case 'L': push_decimal(reader_.line()); return true;
    case 'F': push_float(reader_.line()); return true;
    case 'G': push_big_endian_float(reader_.take(8)); return true;
    default: return false;
  }
}

bool PickleMachine::push_text(char instruction) {
  switch (instruction) {
    case '\x8c':  // short unicode
    case 'U':     // and the byte strings of Python 2, which are names there
      push(PickleText{reader_.take(reader_.number<uint8_t>())});
      return true;
    case 'X':
    case 'T': push(PickleText{reader_.take(reader_.number<uint32_t>())}); return true;
    case '\x8d': push(PickleText{reader_.take(reader_.number<uint64_t>())}); return true;
    case 'V': {
      const std::string_view text = reader_.line();
      if (text.find('\\') != std::string_view::npos) fail("an escaped text");
      push(PickleText{text});
      return true;
    }
    case 'C': reader_.take(reader_.number<uint8_t>()); break;
    case 'B': reader_.take(reader_.number<uint32_t>()); break;
    case '\x8e':
    case '\x96': reader_.take(reader_.number<uint64_t>()); break;
    default: return false;
  }
  push(PickleBlob{});
  return true;
}

bool PickleMachine::build_container(char instruction) {
  switch (instruction) {
    case ')':     // tuple
    case ']':     // list
    case '\x8f':  // set
      push(PickleList{});
      return true;
    case '}': push(PickleDict{}); return true;
    case 't':
    case 'l':
    case '\x91': push(PickleList{pop_to_mark()}); return true;
    case '\x85': push(PickleList{pop_many(1)}); return true;
    case '\x86': push(PickleList{pop_many(2)}); return true;
    case '\x87': push(PickleList{pop_many(3)}); return true;
    case 'd': {
      const std::vector<PickleId> items = pop_to_mark();
      push(PickleDict{});
      assign(top(), items);
      return true;
    }
    default: return false;
  }
}

bool PickleMachine::fill_container(char instruction) {
  std::vector<PickleId> items;
  switch (instruction) {
    case 'a':
      items = pop_many(1);
      append(top(), items);
      return true;
    case 'e':
    case '\x90':
      items = pop_to_mark();
      append(top(), items);
      return true;
    case 's':
      items = pop_many(2);
      assign(top(), items);
      return true;
    case 'u':
      items = pop_to_mark();
      assign(top(), items);
      return true;
    default: return false;
  }
}

bool PickleMachine::use_memo(char instruction) {
  switch (instruction) {
    case 'p': memorise(place_in(reader_.line())); return true;
    case 'q': memorise(reader_.number<uint8_t>()); return true;
    case 'r': memorise(reader_.number<uint32_t>()); return true;
    case '\x94': memorise(memo_.size()); return true;
    case 'g': recall(place_in(reader_.line())); return true;
    case 'h': recall(reader_.number<uint8_t>()); return true;
    case 'j': recall(reader_.number<uint32_t>()); return true;
    default: return false;
  }
}

bool PickleMachine::use_stack(char instruction) {
  switch (instruction) {
    case '(': marks_.push_back(stack_.size()); return true;
    case '1': pop_to_mark(); return true;
    case '2': push_id(top()); return true;
    case '0':  // pops the mark when nothing lies on it
      if (!marks_.empty() && marks_.back() == stack_.size()) {
        marks_.pop_back();
      } else {
        pop();
      }
      return true;
    default: return false;
  }
}

bool PickleMachine::name_object(char instruction) {
  switch (instruction) {
    case 'c': {
      const std::string_view module = reader_.line();
      push_global(module, reader_.line());
      return true;
    }
    case '\x93': {
      const PickleText* name = pickle_.as<PickleText>(pop());
      const PickleText* module = pickle_.as<PickleText>(pop());
      if (name == nullptr || module == nullptr) fail("a global without a name");
      push_global(module->text, name->text);
      return true;
    }
    case 'R':
    case '\x81': call(); return true;
    case 'b': pop(); top(); return true;  // attributes of an object, none of which we use
    case 'Q': push(PicklePersistent{pop()}); return true;
    default: return false;
  }
}

void PickleMachine::memorise(uint64_t place) {
  if (memo_.size() == kMaxValues) fail("more values than any checkpoint has");
  memo_.insert_or_assign(place, top());
}

void PickleMachine::recall(uint64_t place) {
  const auto found = memo_.find(place);
  if (found == memo_.end()) fail("a value is used before it is made");
  push_id(found->second);
}

uint64_t PickleMachine::place_in(std::string_view digits) const {
  uint32_t place = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), place);
  if (error != std::errc() || end != digits.end()) fail("a memo without a number");
  return place;
}

void PickleMachine::push_long(std::string_view bytes) {
  if (bytes.size() > sizeof(int64_t)) return push(PickleLong{bytes});
  const bool negative = !bytes.empty() && (bytes.back() & 0x80) != 0;
  int64_t value = negative ? -1 : 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  push(value);
}

void PickleMachine::push_decimal(std::string_view digits) {
  if (digits == "00" || digits == "01") return push(digits == "01");
  if (digits.ends_with('L')) digits.remove_suffix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
  if (end != digits.end() || error == std::errc::invalid_argument) fail("a malformed number");
  if (error == std::errc::result_out_of_range) return push(PickleLong{digits});
  push(value);
}

void PickleMachine::push_float(std::string_view digits) {
  double value = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
  if (end != digits.end() || error == std::errc::invalid_argument) fail("a malformed number");
  push(value);
}

void PickleMachine::push_big_endian_float(std::string_view bytes) {
  uint64_t bits = 0;
  for (const char byte : bytes) bits = bits << 8 | static_cast<unsigned char>(byte);
  push(std::bit_cast<double>(bits));
}

void PickleMachine::push_global(std::string_view module, std::string_view name) {
  const PickleGlobal global{module, name};
  if (!allowed_(global)) {
    throw FileError(fmt::format(
        "{} refers to {}, which plain tensors have no need of; it was refused and nothing in the "
        "file was executed; use a safetensors file, or a state dict of tensors alone",
        in_quotes(reader_.what()), in_quotes(fmt::format("{}.{}", module, name))));
  }
  push(global);
}

void PickleMachine::append(PickleId list, const std::vector<PickleId>& items) {
  auto* target = std::get_if<PickleList>(&pickle_.values[list]);
  if (target == nullptr) fail("an item for something which is not a list");
  target->items.insert(target->items.end(), items.begin(), items.end());
}

void PickleMachine::assign(PickleId dict, const std::vector<PickleId>& items) {
  auto* target = std::get_if<PickleDict>(&pickle_.values[dict]);
  if (target == nullptr) fail("an item for something which is not a dict");
  if (items.size() % 2 != 0) fail("a key without a value");
  for (size_t i = 0; i < items.size(); i += 2) target->items.emplace_back(items[i], items[i + 1]);
}

void PickleMachine::call() {
  const PickleId arguments = pop();
  const PickleId callable = pop();
  const auto* list = pickle_.as<PickleList>(arguments);
  const auto* global = pickle_.as<PickleGlobal>(callable);
  if (list == nullptr || global == nullptr) fail("a call of something which is not a function");
  if (global->is("collections", "OrderedDict")) return push(ordered_dict(*list));
  push(PickleCall{callable, arguments});
}

// Python 2 wrote OrderedDict([[key, value], ...]); Python 3 makes it empty and assigns.
PickleDict PickleMachine::ordered_dict(const PickleList& arguments) {
  if (arguments.items.empty()) return {};
  const auto* pairs = pickle_.as<PickleList>(arguments.items.front());
  if (pairs == nullptr || arguments.items.size() != 1) fail("an OrderedDict which is not one");
  copied_ += pairs->items.size();
  if (copied_ > kMaxValues) fail("more values than any checkpoint has");
  PickleDict dict;
  for (const PickleId id : pairs->items) {
    const auto* pair = pickle_.as<PickleList>(id);
    if (pair == nullptr || pair->items.size() != 2) fail("an OrderedDict which is not one");
    dict.items.emplace_back(pair->items[0], pair->items[1]);
  }
  return dict;
}

void PickleMachine::refuse_instruction(char instruction) const {
  throw FileError(fmt::format(
      "{} is not a pickle of tensors: instruction {:#04x} at byte {} is none they are made with; "
      "nothing was executed; download it again, or use a safetensors file",
      in_quotes(reader_.what()), static_cast<unsigned char>(instruction), reader_.position() - 1));
}

}  // namespace

Pickle read_pickle(ByteReader& reader, AllowedGlobal allowed) {
  return PickleMachine(reader, allowed).run();
}

}  // namespace whyformer
