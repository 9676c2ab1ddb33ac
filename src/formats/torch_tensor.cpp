// torch/_utils.py has the functions which rebuild tensors, torch/serialization.py the storages.
#include "formats/torch_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "formats/file_checks.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr size_t kLongestKey = 256;
constexpr std::string_view kTensorFunctions[] = {"_rebuild_tensor", "_rebuild_tensor_v2",
                                                 "_rebuild_tensor_v3"};
constexpr std::string_view kParameterFunctions[] = {"_rebuild_parameter",
                                                    "_rebuild_parameter_with_state"};
constexpr std::string_view kSubclassFunctions[] = {"_rebuild_from_type", "_rebuild_from_type_v2"};

// Types which have no WeightType are named so that they are called unsupported, not harmful.
struct TorchType {
  std::string_view dtype, storage;
  std::optional<WeightType> type;
};
constexpr TorchType kTypes[] = {
    {"float64", "DoubleStorage", WeightType::kF64},
    {"float32", "FloatStorage", WeightType::kF32},
    {"float16", "HalfStorage", WeightType::kF16},
    {"bfloat16", "BFloat16Storage", WeightType::kBF16},
    {"int64", "LongStorage", WeightType::kI64},
    {"int32", "IntStorage", WeightType::kI32},
    {"int16", "ShortStorage", WeightType::kI16},
    {"int8", "CharStorage", WeightType::kI8},
    {"uint64", "", WeightType::kU64},
    {"uint32", "", WeightType::kU32},
    {"uint16", "", WeightType::kU16},
    {"uint8", "ByteStorage", WeightType::kU8},
    {"bool", "BoolStorage", WeightType::kBool},
    {"complex32", "", std::nullopt},
    {"complex64", "ComplexFloatStorage", std::nullopt},
    {"complex128", "ComplexDoubleStorage", std::nullopt},
    {"quint8", "QUInt8Storage", std::nullopt},
    {"qint8", "QInt8Storage", std::nullopt},
    {"qint32", "QInt32Storage", std::nullopt},
    {"quint4x2", "QUInt4x2Storage", std::nullopt},
    {"quint2x4", "QUInt2x4Storage", std::nullopt},
    {"float8_e4m3fn", "", std::nullopt},
    {"float8_e4m3fnuz", "", std::nullopt},
    {"float8_e5m2", "", std::nullopt},
    {"float8_e5m2fnuz", "", std::nullopt},
    {"float8_e8m0fnu", "", std::nullopt},
};

template <typename Names>
bool contains(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

bool is_untyped(const PickleGlobal& global) {
  return global.module == "torch.storage" && global.name.ends_with("UntypedStorage");
}

const TorchType* type_named(const PickleGlobal& global) {
  const auto is_named = [&](const TorchType& type) {
    return global.name == type.dtype || (!type.storage.empty() && global.name == type.storage);
  };
  const bool ours = global.module == "torch" || global.module == "torch.cuda";
  const auto found = std::ranges::find_if(kTypes, is_named);
  return ours && found != std::end(kTypes) ? found : nullptr;
}

// The elements up to the last which the window shows, or none when that passes 2^63 - 1. No size
// is 0, and nothing is negative.
std::optional<uint64_t> reach(int64_t offset, std::span<const int64_t> shape,
                              std::span<const int64_t> strides) {
  int64_t last = offset;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t step = 0;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &step)) return std::nullopt;
    if (__builtin_add_overflow(last, step, &last)) return std::nullopt;
  }
  return static_cast<uint64_t>(last) + 1;
}

bool is_contiguous(std::span<const int64_t> shape, std::span<const int64_t> strides) {
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

// Counts through all indices in row-major order. The window lies within `elements`.
void copy_in_order(std::span<const int64_t> shape, std::span<const int64_t> strides, size_t width,
                   const std::byte* elements, std::string& out) {
  std::vector<int64_t> index(shape.size(), 0);
  int64_t place = 0;
  for (size_t written = 0; written < out.size(); written += width) {
    std::memcpy(out.data() + written, elements + static_cast<size_t>(place) * width, width);
    for (size_t axis = shape.size(); axis-- > 0;) {
      place += strides[axis];
      if (++index[axis] < shape[axis]) break;
      place -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

}  // namespace

bool is_tensor_global(const PickleGlobal& global) {
  const auto& [module, name] = global;
  if (module == "torch._utils") {
    return contains(kTensorFunctions, name) || contains(kParameterFunctions, name);
  }
  if (module == "torch._tensor") return contains(kSubclassFunctions, name);
  if (module == "torch.storage") return is_untyped(global) || name.ends_with("TypedStorage");
  if (module == "torch" && (name == "Size" || name == "Tensor" || name == "device")) return true;
  return type_named(global) != nullptr || global.is("collections", "OrderedDict") ||
         global.is("torch.nn.parameter", "Parameter");
}

TorchStorage storage_of(const Pickle& pickle, const PicklePersistent& persistent,
                        std::string_view what) {
  const auto* fields = pickle.as<PickleList>(persistent.id);
  const auto* tag = pickle.item<PickleText>(fields, 0);
  const auto* type = pickle.item<PickleGlobal>(fields, 1);
  const auto* key = pickle.item<PickleText>(fields, 2);
  const auto* count = pickle.item<int64_t>(fields, 4);
  if (!tag || tag->text != "storage" || !type || !key || key->text.size() > kLongestKey || !count ||
      *count < 0) {
    throw_damaged(what, "is malformed: a storage in it is not described as one");
  }
  TorchStorage storage{key->text, type->name, std::nullopt, is_untyped(*type), 1, 0, *count};
  if (const TorchType* known = type_named(*type)) storage.type = known->type;
  if (storage.type) storage.width = width_of(*storage.type);
  if (const auto* view = pickle.item<PickleList>(fields, 5)) {
    const auto* first = pickle.item<int64_t>(view, 1);
    const auto* view_count = pickle.item<int64_t>(view, 2);
    if (!first || !view_count || *first < 0 || *view_count < 0) {
      throw_damaged(what, "is malformed: a view of a storage in it is not described as one");
    }
    storage.first = *first;
    storage.count = *view_count;
  }
  return storage;
}

// A parameter wraps a tensor, and a subclass wraps a function and its arguments; three layers are
// more than torch.save ever writes.
std::optional<TorchTensors::Recipe> TorchTensors::recipe_of(PickleId id) const {
  const auto* call = pickle_.as<PickleCall>(id);
  if (call == nullptr) return std::nullopt;
  const auto* function = pickle_.as<PickleGlobal>(call->callable);
  const auto* arguments = pickle_.as<PickleList>(call->arguments);
  for (int layer = 0; layer < 3; ++layer) {
    if (function == nullptr || arguments == nullptr) return std::nullopt;
    if (contains(kTensorFunctions, function->name)) return Recipe{function->name, arguments};
    if (contains(kParameterFunctions, function->name)) {
      const auto* inner = pickle_.item<PickleCall>(arguments, 0);
      if (inner == nullptr) return std::nullopt;
      function = pickle_.as<PickleGlobal>(inner->callable);
      arguments = pickle_.as<PickleList>(inner->arguments);
    } else if (contains(kSubclassFunctions, function->name)) {
      function = pickle_.item<PickleGlobal>(arguments, 0);
      arguments = pickle_.item<PickleList>(arguments, 2);
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

WeightType TorchTensors::type_of(const Recipe& recipe, const TorchStorage& storage,
                                 std::string_view name) const {
  std::optional<WeightType> type = storage.type;
  std::string_view type_name = storage.type_name;
  if (recipe.function == "_rebuild_tensor_v3") {
    const auto* dtype = pickle_.item<PickleGlobal>(recipe.arguments, 6);
    const TorchType* known = dtype != nullptr ? type_named(*dtype) : nullptr;
    if (known == nullptr) fail(name, "has no type");
    type = known->type;
    type_name = known->dtype;
  }
  if (!type) {
    throw UnsupportedModel(fmt::format("{}: tensor {} is stored as {}, which Whyformer cannot read",
                                       in_quotes(what_), in_quotes(name), in_quotes(type_name)));
  }
  return *type;
}

std::vector<int64_t> TorchTensors::sizes(const PickleList* arguments, size_t i,
                                         std::string_view name) const {
  const auto* list = pickle_.item<PickleList>(arguments, i);
  if (const auto* call = pickle_.item<PickleCall>(arguments, i)) {  // torch.Size((...))
    list = pickle_.item<PickleList>(pickle_.as<PickleList>(call->arguments), 0);
  }
  if (list == nullptr || list->items.size() > kMaxDimensions) fail(name, "has no sound shape");
  std::vector<int64_t> sizes;
  for (const PickleId id : list->items) {
    const auto* size = pickle_.as<int64_t>(id);
    if (size == nullptr || *size < 0) fail(name, "has no sound shape");
    sizes.push_back(*size);
  }
  return sizes;
}

TorchTensors::Window TorchTensors::window_of(const Recipe& recipe, size_t width,
                                             std::string_view name) const {
  const auto* offset = pickle_.item<int64_t>(recipe.arguments, 1);
  if (offset == nullptr || *offset < 0) fail(name, "has no place in its storage");
  Window window{sizes(recipe.arguments, 2, name), sizes(recipe.arguments, 3, name), *offset, width};
  if (window.shape.size() != window.strides.size()) {
    fail(name, fmt::format("has {} dimensions but {} strides", window.shape.size(),
                           window.strides.size()));
  }
  for (size_t i = 0; i < window.shape.size(); ++i) {
    if (window.shape[i] == 1) window.strides[i] = 0;  // never used, and may be any number
  }
  return window;
}

Bytes TorchTensors::elements_of(const TorchStorage& storage, std::string_view name) const {
  const Bytes all = storages_(storage.key);
  const uint64_t available = all.size() / storage.width;
  const auto first = static_cast<uint64_t>(storage.first);
  const auto count = static_cast<uint64_t>(storage.count);
  if (first > available || count > available - first) {
    fail(name, fmt::format("needs {} elements from {} on of storage {}, which has {}", count, first,
                           in_quotes(storage.key), available));
  }
  return {all.view.subspan(first * storage.width, count * storage.width), all.owner};
}

Bytes TorchTensors::in_order(const Window& window, const Bytes& elements, std::string_view name) {
  uint64_t bytes = 0;
  if (!byte_count(window.shape, window.width, bytes)) fail(name, "is larger than any memory");
  if (bytes == 0) return {};
  const auto needed = reach(window.offset, window.shape, window.strides);
  if (!needed || *needed > elements.size() / window.width) {
    fail(name, "reaches beyond the end of its storage");
  }
  const auto shown = elements.view.subspan(static_cast<size_t>(window.offset) * window.width);
  if (is_contiguous(window.shape, window.strides)) return {shown.first(bytes), elements.owner};
  if (bytes > copyable_) {
    throw FileError(
        fmt::format("{}: tensor {} repeats a few numbers to {}, too much for this file; "
                    "save it again with .contiguous()",
                    in_quotes(what_), in_quotes(name), size_text(bytes)));
  }
  copyable_ -= bytes;
  std::string ordered(bytes, '\0');
  copy_in_order(window.shape, window.strides, window.width, shown.data(), ordered);
  return bytes_of(std::move(ordered));
}

StoredTensor TorchTensors::read(PickleId id, std::string_view name) {
  const std::optional<Recipe> recipe = recipe_of(id);
  const auto* persistent = recipe ? pickle_.item<PicklePersistent>(recipe->arguments, 0) : nullptr;
  if (persistent == nullptr) fail(name, "has no storage");
  const TorchStorage storage = storage_of(pickle_, *persistent, what_);
  const WeightType type = type_of(*recipe, storage, name);
  Window window = window_of(*recipe, width_of(type), name);
  Bytes data = in_order(window, elements_of(storage, name), name);
  return {type, std::move(window.shape), std::move(data)};
}

void TorchTensors::fail(std::string_view name, std::string_view problem) const {
  throw_damaged(what_, fmt::format("is malformed: its tensor {} {}", in_quotes(name), problem));
}

}  // namespace whyformer
