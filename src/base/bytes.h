// Read-only bytes and whoever keeps them alive: a mapped file, a buffer, or the program itself.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace whyformer {

struct Bytes {
  std::span<const std::byte> view;
  std::shared_ptr<const void> owner;  // empty for bytes that live as long as the program

  size_t size() const { return view.size(); }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(view.data()), view.size()};
  }
};

// Maps a file into memory without reading it. Throws FileError with the path and the reason.
Bytes map_file(const std::filesystem::path& path);

// Bytes that own a copy of `text`.
Bytes bytes_of(std::string text);

// Finds a file of a model by its plain name ("tokenizer.json"); nothing if the model has no such
// file.
using FileLookup = std::function<std::optional<Bytes>(std::string_view file_name)>;

}  // namespace whyformer
