// https://github.com/huggingface/safetensors#format: eight bytes of header length, a JSON header
// {"name": {"dtype", "shape", "data_offsets": [begin, end]}, "__metadata__": {...}}, then the data,
// which the tensors must tile without holes or overlaps.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "formats/file_checks.h"
#include "formats/weights.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr uint64_t kMaxHeader = 100'000'000;  // the limit of the reference implementation
constexpr std::string_view kMetadata = "__metadata__";

struct HeaderEntry {
  std::string type;
  std::optional<std::vector<int64_t>> shape;
  std::optional<std::vector<uint64_t>>
      offsets;  // begin and end, counted from the end of the header
};

// Reads the header as it streams by, so that a hostile one can neither nest deeply nor grow a tree
// many times its size.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(std::string_view what) : what_(what) {}

  std::map<std::string, HeaderEntry> take() { return std::move(entries_); }

  bool start_object(size_t) override {
    if (level_ == Level::kStart) return move_to(Level::kFile);
    if (level_ != Level::kFile) fail("nests objects too deeply");
    return move_to(name_ == kMetadata ? Level::kMetadata : Level::kTensor);
  }
  bool key(string_t& key) override {
    if (level_ == Level::kFile) start_entry(key);
    if (level_ == Level::kTensor) field_ = key;
    return true;
  }
  bool end_object() override { return move_to(Level::kFile); }

  bool start_array(size_t) override {
    if (level_ == Level::kTensor && field_ == "shape" && !entry_->shape) {
      entry_->shape.emplace();
      return move_to(Level::kShape);
    }
    if (level_ == Level::kTensor && field_ == "data_offsets" && !entry_->offsets) {
      entry_->offsets.emplace();
      return move_to(Level::kOffsets);
    }
    fail("has a list where none belongs");
  }
  bool end_array() override { return move_to(Level::kTensor); }

  bool number_unsigned(number_unsigned_t number) override {
    if (level_ == Level::kShape) {
      if (number > INT64_MAX) fail("has a size which is too large");
      if (entry_->shape->size() == kMaxDimensions) fail("has too many dimensions");
      entry_->shape->push_back(static_cast<int64_t>(number));
    } else if (level_ == Level::kOffsets && entry_->offsets->size() < 2) {
      entry_->offsets->push_back(number);
    } else {
      fail("has a number where none belongs");
    }
    return true;
  }
  bool string(string_t& text) override {
    if (level_ == Level::kMetadata) return true;
    const bool is_type = level_ == Level::kTensor && field_ == "dtype" && entry_->type.empty();
    if (!is_type) fail("has a text where none belongs");
    entry_->type = std::move(text);
    return true;
  }

  bool null() override { fail("has a null"); }
  bool boolean(bool) override { fail("has a boolean"); }
  bool number_integer(number_integer_t) override { fail("has a negative number"); }
  bool number_float(number_float_t, const string_t&) override { fail("has a fraction"); }
  bool binary(binary_t&) override { fail("has binary data"); }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) override {
    throw_damaged(what_, fmt::format("has a header which is not JSON at byte {}", position));
  }

 private:
  enum class Level { kStart, kFile, kMetadata, kTensor, kShape, kOffsets };

  bool move_to(Level level) {
    level_ = level;
    return true;
  }

  void start_entry(const std::string& name) {
    name_ = name;
    field_.clear();
    if (name == kMetadata) return;
    const auto [position, is_new] = entries_.try_emplace(name);
    if (!is_new) fail("appears twice");
    entry_ = &position->second;
  }

  [[noreturn]] void fail(std::string_view problem) const {
    throw_damaged(what_,
                  fmt::format("is malformed: in its header, {} {}", in_quotes(name_), problem));
  }

  std::string_view what_;
  Level level_ = Level::kStart;
  std::string name_, field_;
  HeaderEntry* entry_ = nullptr;
  std::map<std::string, HeaderEntry> entries_;
};

// Where the data of the tensors ends. Like the reference implementation, refuses holes as well as
// overlaps: bytes which no tensor uses have no business in a weight file.
uint64_t end_of_tiles(const std::map<std::string, HeaderEntry>& entries, std::string_view what) {
  std::vector<std::pair<uint64_t, uint64_t>> tiles;
  for (const auto& [name, entry] : entries) {
    if (!entry.shape || !entry.offsets || entry.offsets->size() != 2 || entry.type.empty()) {
      throw_damaged(what, fmt::format("is malformed: its header gives no dtype, shape or offsets "
                                      "for {}",
                                      in_quotes(name)));
    }
    tiles.emplace_back(entry.offsets->front(), entry.offsets->back());
  }
  std::ranges::sort(tiles);
  uint64_t reached = 0;
  for (const auto& [begin, end] : tiles) {
    if (begin != reached || end < begin) {
      throw_damaged(what, fmt::format("is malformed: byte {} of its data belongs to no tensor or "
                                      "to several",
                                      std::min(begin, reached)));
    }
    reached = end;
  }
  return reached;
}

StoredTensor tensor_at(const Bytes& data, const std::string& name, const HeaderEntry& entry,
                       std::string_view what) {
  const std::optional<WeightType> type = weight_type_named(entry.type);
  if (!type) {
    throw UnsupportedModel(fmt::format("{}: tensor {} is stored as {}, which Whyformer cannot read",
                                       in_quotes(what), in_quotes(name), in_quotes(entry.type)));
  }
  const uint64_t begin = entry.offsets->front(), size = entry.offsets->back() - begin;
  uint64_t needed = 0;
  if (!byte_count(*entry.shape, width_of(*type), needed) || needed != size) {
    throw_damaged(what,
                  fmt::format("is malformed: tensor {} has {} bytes, which is not its shape "
                              "[{}] of {}",
                              in_quotes(name), size, fmt::join(*entry.shape, ", "), entry.type));
  }
  return {*type, *entry.shape, {data.view.subspan(begin, size), data.owner}};
}

uint64_t header_length(const Bytes& file, std::string_view what) {
  uint64_t length = 0;
  if (file.size() < sizeof(length)) throw_truncated(what, sizeof(length), file.size());
  std::memcpy(&length, file.view.data(), sizeof(length));
  if (length > kMaxHeader) {
    throw_damaged(what, fmt::format("is not a safetensors file: its header would have {}",
                                    size_text(length)));
  }
  if (length > file.size() - sizeof(length)) {
    throw_truncated(what, sizeof(length) + length, file.size());
  }
  return length;
}

// The elements each tensor must have, or InvalidInput.
void check_writable(std::span<const NamedFloats> tensors) {
  std::set<std::string_view> names;
  for (const NamedFloats& tensor : tensors) {
    uint64_t bytes = 0;
    if (!byte_count(tensor.shape, sizeof(float), bytes) || bytes != tensor.values.size_bytes()) {
      throw InvalidInput(
          fmt::format("cannot save tensor {}: it has {} values but its shape is [{}]",
                      in_quotes(tensor.name), tensor.values.size(), fmt::join(tensor.shape, ", ")));
    }
    if (tensor.name == kMetadata || !names.insert(tensor.name).second) {
      throw InvalidInput(fmt::format("cannot save two tensors named {}", in_quotes(tensor.name)));
    }
  }
}

std::string json_text(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw InvalidInput(
        fmt::format("cannot save tensor {}: its name is not UTF-8", in_quotes(text)));
  }
}

std::string header_of(std::span<const NamedFloats> tensors) {
  std::string text = "{";
  uint64_t begin = 0;
  for (const NamedFloats& tensor : tensors) {
    const uint64_t end = begin + tensor.values.size_bytes();
    text += fmt::format(R"({}{}:{{"dtype":"F32","shape":[{}],"data_offsets":[{},{}]}})",
                        text.size() > 1 ? "," : "", json_text(tensor.name),
                        fmt::join(tensor.shape, ","), begin, end);
    begin = end;
  }
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');  // keeps the data aligned
  return text;
}

}  // namespace

StoredTensors read_safetensors(const Bytes& file, std::string_view what) {
  check_not_a_pointer(file.text(), what);
  const uint64_t data_begin = sizeof(uint64_t) + header_length(file, what);
  HeaderReader reader(what);
  nlohmann::json::sax_parse(file.text().substr(sizeof(uint64_t), data_begin - sizeof(uint64_t)),
                            &reader);
  const std::map<std::string, HeaderEntry> entries = reader.take();

  const Bytes data{file.view.subspan(data_begin), file.owner};
  const uint64_t end = end_of_tiles(entries, what);
  if (end > data.size()) {
    throw_truncated(what, std::max(end, end + data_begin), file.size());
  }
  if (end < data.size()) {
    throw_damaged(what,
                  fmt::format("is malformed: no tensor uses its last {} bytes", data.size() - end));
  }
  StoredTensors tensors;
  for (const auto& [name, entry] : entries) {
    tensors.emplace(name, tensor_at(data, name, entry, what));
  }
  return tensors;
}

std::string write_safetensors(std::span<const NamedFloats> tensors) {
  check_writable(tensors);
  const std::string header = header_of(tensors);
  const uint64_t length = header.size();
  std::string file(reinterpret_cast<const char*>(&length), sizeof(length));
  file += header;
  for (const NamedFloats& tensor : tensors) {
    file.append(reinterpret_cast<const char*>(tensor.values.data()), tensor.values.size_bytes());
  }
  return file;
}

}  // namespace whyformer
