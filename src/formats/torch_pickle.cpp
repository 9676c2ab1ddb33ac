// Which of the things in a PyTorch file are the weights.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "formats/file_checks.h"
#include "formats/torch_archive.h"
#include "formats/weights.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"

namespace whyformer {
namespace {

constexpr size_t kLongestName = 4096;

// Under these names training scripts put the weights beside the optimizer and the epoch.
constexpr std::string_view kWrappers[] = {"state_dict", "model_state_dict", "model", "params"};

constexpr std::string_view kTwoWaysOut =
    "save model.state_dict() with torch.save, or load the module in Python and give it as it is";

// Strided tensors in order take at most their storages' size, unless they overlap.
uint64_t copy_limit(uint64_t file_size) { return 4 * file_size + (uint64_t{16} << 20); }

std::string name_of_object(const PickleOpaque& opaque) {
  return fmt::format("{}.{}", opaque.module, opaque.name);
}

class StateDictReader {
 public:
  StateDictReader(const TorchArchive& archive, std::string_view what, uint64_t file_size)
      : pickle_(archive.pickle),
        tensors_(archive.pickle, archive.storages, what, copy_limit(file_size)),
        what_(what) {}

  StoredTensors read() {
    if (const auto* whole = pickle_.as<PickleOpaque>(pickle_.root)) {
      throw UnsupportedModel(
          fmt::format("{} holds no weights but a whole {}, which is a program; it was not run: {}",
                      in_quotes(what_), in_quotes(name_of_object(*whole)), kTwoWaysOut));
    }
    const auto* root = pickle_.as<PickleDict>(pickle_.root);
    const PickleDict* weights = root != nullptr ? find_weights(*root) : nullptr;
    if (weights == nullptr) {
      throw FileError(
          fmt::format("{} holds no named tensors; save the model's state_dict with "
                      "torch.save",
                      in_quotes(what_)));
    }
    StoredTensors found;
    for (const auto& [key, value] : weights->items) {
      const auto* name = pickle_.as<PickleText>(key);
      if (const auto* opaque = pickle_.as<PickleOpaque>(value)) {
        throw UnsupportedModel(
            fmt::format("{}: {} among its weights is a {}, not a tensor; it was not made: {}",
                        in_quotes(what_), name == nullptr ? "something" : in_quotes(name->text),
                        in_quotes(name_of_object(*opaque)), kTwoWaysOut));
      }
      if (name == nullptr || !tensors_.is_tensor(value)) continue;
      if (name->text.size() > kLongestName) {
        throw_damaged(what_, fmt::format("is malformed: the name of a tensor has {} bytes",
                                         name->text.size()));
      }
      // As in Python, what is assigned last counts.
      found.insert_or_assign(std::string(name->text), tensors_.read(value, name->text));
    }
    return found;
  }

 private:
  bool has_tensors(const PickleDict& dict) const {
    return std::ranges::any_of(dict.items, [&](const auto& item) {
      return pickle_.as<PickleText>(item.first) != nullptr && tensors_.is_tensor(item.second);
    });
  }

  const PickleDict* find_weights(const PickleDict& root) const {
    std::set<const PickleDict*> inner;  // once each, however often the file refers to it
    for (const auto& [key, value] : root.items) {
      const auto* name = pickle_.as<PickleText>(key);
      const auto* dict = pickle_.as<PickleDict>(value);
      if (name == nullptr || dict == nullptr || !inner.insert(dict).second) continue;
      const bool wraps = std::ranges::find(kWrappers, name->text) != std::end(kWrappers);
      if (wraps && has_tensors(*dict)) return dict;
    }
    if (has_tensors(root)) return &root;
    std::erase_if(inner, [&](const PickleDict* dict) { return !has_tensors(*dict); });
    return inner.size() == 1 ? *inner.begin() : nullptr;
  }

  const Pickle& pickle_;
  TorchTensors tensors_;
  std::string_view what_;
};

}  // namespace

StoredTensors read_torch_pickle(const Bytes& file, std::string_view what) {
  check_not_a_pointer(file.text(), what);
  const TorchArchive archive = open_torch_archive(file, what);
  return StateDictReader(archive, what, file.size()).read();
}

TrainingPickle read_training_pickle(const Bytes& file, std::string_view what) {
  check_not_a_pointer(file.text(), what);
  const TorchArchive archive = open_torch_archive(file, what, ForeignGlobals::kOpaque);
  TrainingPickle result{StateDictReader(archive, what, file.size()).read(), {}};
  constexpr size_t kMostNames = 100;
  std::set<std::string> names;
  for (const PickleValue& value : archive.pickle.values) {
    const auto* opaque = std::get_if<PickleOpaque>(&value);
    if (opaque == nullptr || names.size() == kMostNames) continue;
    if (opaque->module.size() + opaque->name.size() < kLongestName)
      names.insert(printable(name_of_object(*opaque)));
  }
  result.foreign.assign(names.begin(), names.end());
  return result;
}

}  // namespace whyformer
