#include <fmt/format.h>

#include <cstring>

#include "base/files.h"
#include "base/sha256.h"
#include "whyformer/evaluation.h"

namespace whyformer {
namespace {

class ContentHash {
 public:
  template <class Kind>
    requires requires(const Kind& kind) { kind.holds(); }
  void operator()(const Kind& input) {
    std::apply([this](const auto&... part) { (add(part), ...); }, input.holds());
  }
  void operator()(const PictureInput& picture) { add(picture); }
  void operator()(const PictureFile& file) {
    hash_.add_text("file");
    hash_.add(map_file(file.path).view);
  }
  void operator()(const PicturePixels& picture) {
    add(fmt::format("pixels {} {} {}", picture.width, picture.height, picture.channels));
    const auto* pixels = reinterpret_cast<const std::byte*>(picture.pixels.get());
    hash_.add({pixels, static_cast<size_t>(picture.width * picture.height * picture.channels)});
  }
  void operator()(const ArrayViews& arrays) {
    for (const auto& [name, array] : arrays) {
      add(name);
      add(array.type);
      for (const int64_t size : array.shape) add(fmt::format("{}", size));
      add(fmt::format("{} bytes", array.bytes));
      hash_.add({static_cast<const std::byte*>(array.data.get()), array.bytes});
    }
  }
  void operator()(std::monostate) {}
  void operator()(int64_t index) { add(fmt::format("{}", index)); }
  void operator()(const std::string& name) { add(name); }
  void operator()(const OutputElement& element) {
    add(element.output);
    for (const int64_t index : element.indices) add(fmt::format("{}", index));
  }

  // The kind and what it holds.
  template <class... Kinds>
  void add_one_of(const std::variant<Kinds...>& value) {
    add(fmt::format("kind {}", value.index()));
    std::visit(*this, value);
  }
  void add(const std::string& text) { hash_.add_text(text); }
  std::string digest() { return hash_.digest(); }

 private:
  void add(const PictureInput& picture) { std::visit(*this, picture); }
  void add(const Table& table) {
    add(fmt::format("{} {}", table.rows, table.columns));
    add(table.values);
  }
  void add(const std::shared_ptr<const TableBlock>& block) {
    add(fmt::format("block {}", block ? block->first : -1));
    if (!block) return;
    add(block->table);
    add(block->cells);
  }
  void add(int64_t number) { add(fmt::format("{}", number)); }
  void add(const std::optional<std::string>& text) { add(text ? "text " + *text : "none"); }
  void add(const std::vector<std::string>& texts) {
    add(fmt::format("{} texts", texts.size()));
    for (const std::string& text : texts) add(text);
  }
  void add(const std::vector<double>& numbers) {
    add(fmt::format("{} numbers", numbers.size()));
    hash_.add(std::as_bytes(std::span(numbers)));
  }

  Sha256 hash_;
};

}  // namespace

std::string content_hash(const InputValue& input) {
  ContentHash hash;
  hash.add_one_of(input);
  return hash.digest();
}

std::string content_hash(const EvaluationInput& input) {
  ContentHash hash;
  hash.add_one_of(input.input);
  hash.add_one_of(input.target);
  hash.add_one_of(input.label);
  hash.add(input.known_from ? input.known_from() : "nothing");
  return hash.digest();
}

}  // namespace whyformer
