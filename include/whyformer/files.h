// Writing several files together.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace whyformer {

struct NamedBytes {
  std::filesystem::path path;
  std::string bytes;
};

// The file a symbolic link stands for, also where nothing is there yet; a path that is no link as
// it is.
std::filesystem::path behind_links(std::filesystem::path path);

// Writes all files, or none where one of them cannot be written. Throws FileError that names it.
void save_all(const std::vector<NamedBytes>& files);

}  // namespace whyformer
