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

// Writes all files, or none where one of them cannot be written. Throws FileError that names it.
void save_all(const std::vector<NamedBytes>& files);

}  // namespace whyformer
