#pragma once

#include <filesystem>

namespace whyformer {

// The folder of the project's sources, for tests that read golden files.
std::filesystem::path source_folder();

}  // namespace whyformer
