// Python pickles as plain data. A pickle is a program for a stack machine which may call any Python
// function; this machine only notes down which calls the program asks for, and refuses at once
// those which are not on the caller's list. Nothing is ever called.
//
// Values refer to each other by number, so shared, deep and circular structures cost neither
// recursion nor copies.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "formats/byte_reader.h"

namespace whyformer {

using PickleId = uint32_t;  // a place in Pickle::values

struct PickleNone {};
struct PickleText {
  std::string_view text;  // a view of the pickle, like all others
};
struct PickleBlob {};  // bytes, which no tensor is made from
struct PickleLong {    // an integer of more than 64 bits: little-endian bytes, or decimal digits
  std::string_view digits;
};
struct PickleList {  // a list, tuple or set
  std::vector<PickleId> items;
};
struct PickleDict {  // in the order of assignment; a key may come again
  std::vector<std::pair<PickleId, PickleId>> items;
};
struct PickleGlobal {
  std::string_view module, name;

  bool is(std::string_view a_module, std::string_view a_name) const {
    return module == a_module && name == a_name;
  }
};
struct PickleCall {  // of a PickleGlobal with a PickleList
  PickleId callable, arguments;
};
struct PickleOpaque {  // something of another package, named and never made
  std::string_view module, name;
};
struct PicklePersistent {  // what torch.save puts in the place of a storage
  PickleId id;
};
using PickleValue =
    std::variant<PickleNone, bool, int64_t, double, PickleText, PickleBlob, PickleLong, PickleList,
                 PickleDict, PickleGlobal, PickleCall, PickleOpaque, PicklePersistent>;

struct Pickle {
  std::vector<PickleValue> values;
  PickleId root = 0;

  // The value as a `Kind`, or null when it is another.
  template <typename Kind>
  const Kind* as(PickleId id) const {
    return std::get_if<Kind>(&values[id]);
  }

  // Item `i` of a list as a `Kind`, or null when there is no such list or item, or it is another.
  template <typename Kind>
  const Kind* item(const PickleList* list, size_t i) const {
    return list != nullptr && i < list->items.size() ? as<Kind>(list->items[i]) : nullptr;
  }
};

using AllowedGlobal = bool (*)(const PickleGlobal& global);

// What becomes of a global which is not allowed.
enum class ForeignGlobals {
  kRefused,  // a FileError which names it
  kOpaque    // a PickleOpaque, as is all that would be made with it
};

// Reads one pickle, to behind its STOP. collections.OrderedDict, if allowed, becomes a PickleDict.
// Throws FileError for a malformed pickle.
Pickle read_pickle(ByteReader& reader, AllowedGlobal allowed,
                   ForeignGlobals foreign = ForeignGlobals::kRefused);

}  // namespace whyformer
