// The instructions are those of Lib/pickletools.py in CPython which data of numbers, text,
// containers and tensors is written with.
#include "formats/pickle_machine.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>

#include "formats/pickle_stack.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

class PickleMachine {
 public:
  PickleMachine(ByteReader& reader, AllowedGlobal allowed, ForeignGlobals foreign)
      : reader_(reader), allowed_(allowed), foreign_(foreign), stack_(reader, foreign) {}

  Pickle run() {
    while (true) {
      const char instruction = reader_.take(1).front();
      if (instruction == '.') return stack_.finish();
      const bool known =
          push_constant(instruction) || push_number(instruction) || push_text(instruction) ||
          skip_bytes(instruction) || build_container(instruction) || fill_container(instruction) ||
          use_memo(instruction) || use_stack(instruction) || name_object(instruction) ||
          (foreign_ == ForeignGlobals::kOpaque && name_foreign_object(instruction));
      if (!known) refuse_instruction(instruction);
    }
  }

 private:
  // Each takes the instructions of one family, and returns false for all others.
  bool push_constant(char instruction);
  bool push_number(char instruction);
  bool push_text(char instruction);
  bool skip_bytes(char instruction);
  bool build_container(char instruction);
  bool fill_container(char instruction);
  bool use_memo(char instruction);
  bool use_stack(char instruction);
  bool name_object(char instruction);
  bool name_foreign_object(char instruction);

  // These return true: they are the end of an instruction.
  bool push(PickleValue value);
  bool push_long(std::string_view bytes);
  bool push_decimal(std::string_view digits);
  bool push_float(std::string_view digits);
  bool push_big_endian_float(std::string_view bytes);
  bool push_line(std::string_view text);
  bool push_dict(const std::vector<PickleId>& keys_and_values);
  bool push_global(const PickleGlobal& global);

  uint32_t memo_place(std::string_view digits) const;
  [[noreturn]] void refuse_instruction(char instruction) const;

  ByteReader& reader_;
  AllowedGlobal allowed_;
  ForeignGlobals foreign_;
  PickleStack stack_;
};

bool PickleMachine::push_constant(char instruction) {
  switch (instruction) {
    case 'N':
      return push(PickleNone{});
    case '\x88':
      return push(true);
    case '\x89':
      return push(false);
    case '\x80':  // protocol
      if (reader_.number<uint8_t>() > 5) stack_.fail("an unknown protocol");
      return true;
    case '\x95':  // frame: only a hint how much to read at once
      if (reader_.number<uint64_t>() > reader_.remaining()) stack_.fail("a frame past the end");
      return true;
    default:
      return false;
  }
}

bool PickleMachine::push_number(char instruction) {
  switch (instruction) {
    case 'K':
      return push(int64_t{reader_.number<uint8_t>()});
    case 'M':
      return push(int64_t{reader_.number<uint16_t>()});
    case 'J':
      return push(int64_t{reader_.number<int32_t>()});
    case '\x8a':
      return push_long(reader_.take(reader_.number<uint8_t>()));
    case '\x8b':
      return push_long(reader_.take(reader_.number<uint32_t>()));
    case 'I':
    case 'L':
      return push_decimal(reader_.line());
    case 'F':
      return push_float(reader_.line());
    case 'G':
      return push_big_endian_float(reader_.take(8));
    default:
      return false;
  }
}

// The byte strings of Python 2, 'U' and 'T', are names there.
bool PickleMachine::push_text(char instruction) {
  switch (instruction) {
    case '\x8c':
    case 'U':
      return push(PickleText{reader_.take(reader_.number<uint8_t>())});
    case 'X':
    case 'T':
      return push(PickleText{reader_.take(reader_.number<uint32_t>())});
    case '\x8d':
      return push(PickleText{reader_.take(reader_.number<uint64_t>())});
    case 'V':
      return push_line(reader_.line());
    default:
      return false;
  }
}

bool PickleMachine::skip_bytes(char instruction) {
  switch (instruction) {
    case 'C':
      reader_.take(reader_.number<uint8_t>());
      break;
    case 'B':
      reader_.take(reader_.number<uint32_t>());
      break;
    case '\x8e':
    case '\x96':
      reader_.take(reader_.number<uint64_t>());
      break;
    default:
      return false;
  }
  return push(PickleBlob{});
}

bool PickleMachine::build_container(char instruction) {
  switch (instruction) {
    case ')':     // tuple
    case ']':     // list
    case '\x8f':  // set
      return push(PickleList{});
    case '}':
      return push(PickleDict{});
    case 't':
    case 'l':
    case '\x91':
      return push(PickleList{stack_.pop_to_mark()});
    case '\x85':
      return push(PickleList{stack_.pop_many(1)});
    case '\x86':
      return push(PickleList{stack_.pop_many(2)});
    case '\x87':
      return push(PickleList{stack_.pop_many(3)});
    case 'd':
      return push_dict(stack_.pop_to_mark());
    default:
      return false;
  }
}

bool PickleMachine::fill_container(char instruction) {
  switch (instruction) {
    case 'a':
      stack_.append(stack_.pop_many(1));
      return true;
    case 'e':
    case '\x90':
      stack_.append(stack_.pop_to_mark());
      return true;
    case 's':
      stack_.assign(stack_.pop_many(2));
      return true;
    case 'u':
      stack_.assign(stack_.pop_to_mark());
      return true;
    default:
      return false;
  }
}

bool PickleMachine::use_memo(char instruction) {
  switch (instruction) {
    case 'p':
      stack_.memorise(memo_place(reader_.line()));
      return true;
    case 'q':
      stack_.memorise(reader_.number<uint8_t>());
      return true;
    case 'r':
      stack_.memorise(reader_.number<uint32_t>());
      return true;
    case '\x94':
      stack_.memorise();
      return true;
    case 'g':
      stack_.recall(memo_place(reader_.line()));
      return true;
    case 'h':
      stack_.recall(reader_.number<uint8_t>());
      return true;
    case 'j':
      stack_.recall(reader_.number<uint32_t>());
      return true;
    default:
      return false;
  }
}

bool PickleMachine::use_stack(char instruction) {
  switch (instruction) {
    case '(':
      stack_.mark();
      return true;
    case '0':
      stack_.drop();
      return true;
    case '1':
      stack_.pop_to_mark();
      return true;
    case '2':
      stack_.duplicate();
      return true;
    default:
      return false;
  }
}

bool PickleMachine::name_object(char instruction) {
  switch (instruction) {
    case 'c': {
      const std::string_view module = reader_.line();
      return push_global({module, reader_.line()});
    }
    case '\x93':
      return push_global(stack_.pop_global());
    case 'R':
    case '\x81':
      stack_.call();
      return true;
    case 'b':  // gives attributes to the object below, none of which we use
      stack_.pop();
      stack_.top();
      return true;
    case 'Q':
      return push(PicklePersistent{stack_.pop()});
    default:
      return false;
  }
}

// Spellings which tensors are never written with.
bool PickleMachine::name_foreign_object(char instruction) {
  switch (instruction) {
    case 'S':  // a text in quotes
      return push(PickleText{reader_.line()});
    case '\x92':  // a class, its arguments, and those with names
      stack_.pop();
      stack_.call();
      return true;
    case 'i': {  // a class by name, with the arguments behind the mark
      const std::string_view module = reader_.line();
      const std::string_view name = reader_.line();
      stack_.pop_to_mark();
      return push(PickleOpaque{module, name});
    }
    case 'o':  // the same with the class first
      stack_.call_behind_mark();
      return true;
    default:
      return false;
  }
}

bool PickleMachine::push(PickleValue value) {
  stack_.push(std::move(value));
  return true;
}

bool PickleMachine::push_long(std::string_view bytes) {
  if (bytes.size() > sizeof(int64_t)) return push(PickleLong{bytes});
  const bool negative = !bytes.empty() && (bytes.back() & 0x80) != 0;
  int64_t value = negative ? -1 : 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  return push(value);
}

bool PickleMachine::push_decimal(std::string_view digits) {
  if (digits == "00" || digits == "01") return push(digits == "01");
  if (digits.ends_with('L')) digits.remove_suffix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
  if (end != digits.end() || error == std::errc::invalid_argument) {
    stack_.fail("a malformed number");
  }
  if (error == std::errc::result_out_of_range) return push(PickleLong{digits});
  return push(value);
}

bool PickleMachine::push_float(std::string_view digits) {
  double value = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
  if (end != digits.end() || error == std::errc::invalid_argument) {
    stack_.fail("a malformed number");
  }
  return push(value);
}

bool PickleMachine::push_big_endian_float(std::string_view bytes) {
  uint64_t bits = 0;
  for (const char byte : bytes) bits = bits << 8 | static_cast<unsigned char>(byte);
  return push(std::bit_cast<double>(bits));
}

bool PickleMachine::push_line(std::string_view text) {
  if (text.find('\\') != std::string_view::npos) stack_.fail("an escaped text");
  return push(PickleText{text});
}

bool PickleMachine::push_dict(const std::vector<PickleId>& keys_and_values) {
  push(PickleDict{});
  stack_.assign(keys_and_values);
  return true;
}

bool PickleMachine::push_global(const PickleGlobal& global) {
  if (allowed_(global)) return push(global);
  if (foreign_ == ForeignGlobals::kOpaque) return push(PickleOpaque{global.module, global.name});
  throw FileError(fmt::format(
      "{} refers to {}, which plain tensors have no need of; it was refused and nothing in the "
      "file was executed; use a safetensors file, or a state dict of tensors alone",
      in_quotes(reader_.what()), in_quotes(fmt::format("{}.{}", global.module, global.name))));
}

uint32_t PickleMachine::memo_place(std::string_view digits) const {
  uint32_t place = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), place);
  if (error != std::errc() || end != digits.end()) stack_.fail("a memo without a number");
  return place;
}

void PickleMachine::refuse_instruction(char instruction) const {
  throw FileError(fmt::format(
      "{} is not a pickle of tensors: instruction {:#04x} at byte {} is none they are made with; "
      "nothing was executed; download it again, or use a safetensors file",
      in_quotes(reader_.what()), static_cast<unsigned char>(instruction), reader_.position() - 1));
}

}  // namespace

Pickle read_pickle(ByteReader& reader, AllowedGlobal allowed, ForeignGlobals foreign) {
  return PickleMachine(reader, allowed, foreign).run();
}

}  // namespace whyformer
