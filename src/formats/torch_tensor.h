// What the values in a pickle mean to PyTorch: storages, and tensors as strided windows on them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "formats/pickle_machine.h"
#include "formats/weights.h"

namespace whyformer {

// True for the names which take part in building a tensor and, as data, can do no harm.
bool is_tensor_global(const PickleGlobal& global);

// A flat run of elements which tensors share, kept outside of the pickle.
struct TorchStorage {
  std::string_view key;
  std::string_view type_name;
  std::optional<WeightType> type;  // none when untyped, or of a type we cannot read
  bool is_untyped = false;
  size_t width = 1;   // bytes of an element; 1 when untyped
  int64_t first = 0;  // other than 0 only in a legacy file with views of storages
  int64_t count = 0;
};

// Reads ("storage", type, key, location, count[, view]). Throws FileError when it is not one.
TorchStorage storage_of(const Pickle& pickle, const PicklePersistent& persistent,
                        std::string_view what);

// Gives the bytes of a storage, all of them.
using StorageLookup = std::function<Bytes(std::string_view key)>;

class TorchTensors {
 public:
  // `copyable` bounds the bytes which strided tensors may take once they are in order: one number
  // on disk can be expanded to any shape.
  TorchTensors(const Pickle& pickle, const StorageLookup& storages, std::string_view what,
               uint64_t copyable)
      : pickle_(pickle), storages_(storages), what_(what), copyable_(copyable) {}

  bool is_tensor(PickleId id) const { return recipe_of(id).has_value(); }

  // Throws FileError when the tensor reaches outside of its storage, and UnsupportedModel for a
  // type we cannot read. `name` is for messages.
  StoredTensor read(PickleId id, std::string_view name);

 private:
  struct Recipe {  // the call which builds a tensor
    std::string_view function;
    const PickleList* arguments;
  };
  struct Window {
    std::vector<int64_t> shape, strides;
    int64_t offset = 0;
    size_t width = 1;
  };

  std::optional<Recipe> recipe_of(PickleId id) const;
  WeightType type_of(const Recipe& recipe, const TorchStorage& storage,
                     std::string_view name) const;
  Window window_of(const Recipe& recipe, size_t width, std::string_view name) const;
  std::vector<int64_t> sizes(const PickleList* arguments, size_t i, std::string_view name) const;
  Bytes elements_of(const TorchStorage& storage, std::string_view name) const;
  Bytes in_order(const Window& window, const Bytes& elements, std::string_view name);
  [[noreturn]] void fail(std::string_view name, std::string_view problem) const;

  const Pickle& pickle_;
  const StorageLookup& storages_;
  std::string_view what_;
  uint64_t copyable_;
};

}  // namespace whyformer
