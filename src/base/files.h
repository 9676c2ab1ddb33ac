// Writing files so that a reader sees the old content or the new, never a part.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "base/bytes.h"

namespace whyformer {

// Replaces `path` by `content` in one step: a temporary file in the same folder is written, flushed
// to disk and renamed. Throws FileError with the path and the reason, and leaves no temporary file.
void write_file(const std::filesystem::path& path, std::string_view content);

struct FileContent {
  std::filesystem::path path;
  std::string_view content;
};

// Replaces several files, none of them before all could be written.
void write_files(std::span<const FileContent> files);

// Files of a model's folder by name. Throws FileError if `folder` is not one.
FileLookup files_in(const std::filesystem::path& folder);

}  // namespace whyformer
