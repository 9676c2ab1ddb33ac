// Arrays that someone else holds in memory, as weights.
#include <fmt/format.h>

#include "formats/file_checks.h"
#include "formats/weights.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

StoredTensor tensor_of(const std::string& name, const ArrayView& array, const char* what) {
  const std::optional<WeightType> type = weight_type_named(array.type);
  if (!type) {
    throw UnsupportedModel(
        fmt::format("{} {} is of type {}, which Whyformer cannot read: hand it over as F32, F16, "
                    "BF16 or F64",
                    what, in_quotes(name), in_quotes(array.type)));
  }
  if (array.shape.size() > kMaxDimensions) {
    throw InvalidInput(fmt::format("{} {} has {} dimensions: at most {}", what, in_quotes(name),
                                   array.shape.size(), kMaxDimensions));
  }
  uint64_t needed = 0;
  if (!byte_count(array.shape, width_of(*type), needed) || needed != array.bytes) {
    throw InvalidInput(
        fmt::format("{} {} has {} bytes, which is not its shape [{}] of {}: hand over all of it, "
                    "without gaps",
                    what, in_quotes(name), array.bytes, fmt::join(array.shape, ", "), array.type));
  }
  if (array.data == nullptr && needed > 0) {
    throw InvalidInput(fmt::format("{} {} has no data", what, in_quotes(name)));
  }
  const auto* data = static_cast<const std::byte*>(array.data.get());
  return {*type, array.shape, {{data, array.bytes}, array.data}};
}

}  // namespace

StoredTensors stored_tensors(const std::map<std::string, ArrayView, std::less<>>& arrays,
                             const char* what) {
  StoredTensors tensors;
  for (const auto& [name, array] : arrays) tensors.emplace(name, tensor_of(name, array, what));
  return tensors;
}

}  // namespace whyformer
