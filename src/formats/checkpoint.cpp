// Which files of a model folder hold the weights.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "formats/file_checks.h"
#include "formats/weights.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using ReadWeights = StoredTensors (*)(const Bytes& file, std::string_view what);

struct CheckpointLayout {
  std::string_view file_name;
  ReadWeights reader;
  bool is_index;
};

// In the order in which they are looked for: safetensors need no copies.
constexpr CheckpointLayout kLayouts[] = {
    {"model.safetensors", read_safetensors, false},
    {"model.safetensors.index.json", read_safetensors, true},
    {"pytorch_model.bin", read_torch_pickle, false},
    {"pytorch_model.bin.index.json", read_torch_pickle, true},
};

nlohmann::json parse_index(const Bytes& file, std::string_view what) {
  constexpr int kDeepest = 8;
  constexpr size_t kLargest = 100'000'000;
  if (file.size() > kLargest) throw_damaged(what, "is too large for an index");
  const auto check_depth = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > kDeepest) throw_damaged(what, "is malformed: it nests too deeply");
    return true;
  };
  nlohmann::json index = nlohmann::json::parse(file.text(), check_depth, false);
  if (index.is_discarded()) throw_damaged(what, "is malformed: it is not JSON");
  const auto map = index.find("weight_map");
  if (map == index.end() || !map->is_object()) {
    throw_damaged(what, "is malformed: it has no weight_map");
  }
  return *map;
}

// A shard is a file of the same folder: an index must not make us read anything else.
const std::string& shard_name(const nlohmann::json& value, std::string_view index) {
  if (!value.is_string()) throw_damaged(index, "is malformed: a shard in it has no name");
  const auto& name = value.get_ref<const std::string&>();
  const bool plain = !name.empty() && name != "." && name != ".." &&
                     name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
  if (!plain) {
    throw FileError(
        fmt::format("{} refers to {}, which is not a file of its folder; nothing outside "
                    "the folder is read",
                    in_quotes(index), in_quotes(name)));
  }
  return name;
}

StoredTensors read_shards(const CheckpointLayout& layout, const Bytes& index,
                          const FileLookup& files) {
  const nlohmann::json map = parse_index(index, layout.file_name);
  std::map<std::string, StoredTensors> shards;
  StoredTensors tensors;
  for (const auto& [name, value] : map.items()) {
    const std::string& shard = shard_name(value, layout.file_name);
    if (!shards.contains(shard)) {
      const std::optional<Bytes> file = files(shard);
      if (!file) {
        throw FileError(fmt::format("{} refers to {}, which is missing; download it as well",
                                    in_quotes(layout.file_name), in_quotes(shard)));
      }
      shards.emplace(shard, layout.reader(*file, shard));
    }
    auto tensor = shards.at(shard).extract(name);
    if (tensor.empty()) {
      throw FileError(
          fmt::format("{} says that {} holds tensor {}, but it does not; download both "
                      "again",
                      in_quotes(layout.file_name), in_quotes(shard), in_quotes(name)));
    }
    tensors.insert(std::move(tensor));
  }
  return tensors;
}

}  // namespace

StoredTensors read_checkpoint(const FileLookup& files) {
  std::vector<std::string_view> looked_for;
  for (const CheckpointLayout& layout : kLayouts) {
    if (const std::optional<Bytes> file = files(layout.file_name)) {
      return layout.is_index ? read_shards(layout, *file, files)
                             : layout.reader(*file, layout.file_name);
    }
    looked_for.push_back(layout.file_name);
  }
  throw FileError(fmt::format("found no weights: looked for {}; download one of them",
                              fmt::join(looked_for, ", ")));
}

WeightSource weights_in(const FileLookup& files) {
  return [files] { return read_checkpoint(files); };
}

}  // namespace whyformer
