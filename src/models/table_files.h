// Where the files of a table model are.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "formats/tables/table_spec.h"
#include "formats/weights.h"

namespace whyformer {

inline constexpr const char* kTableSpecFile = "table.json";

// Whether a folder holds the weights of a table model, with its table.json.
bool is_table_folder(const std::filesystem::path& path);

// The files of such a folder; or of a bare checkpoint and of the folder of the table.json that is
// given with it.
struct TableFiles {
  FileLookup files;
  std::string weights = {};  // the checkpoint; empty: what table.json names
};
TableFiles files_of_table(const std::filesystem::path& path, const std::filesystem::path& spec);

// A checkpoint as it lies in memory: safetensors, or what torch.save wrote.
StoredTensors table_weights_in(const Bytes& file, const std::string& name);
// The package of the weights in a file that has no table.json; nothing for other files.
std::optional<std::string> table_package_in(const std::filesystem::path& path);

// The weights that table.json names, unless `weights` does. Throws FileError.
StoredTensors table_weights(const FileLookup& files, const TableSpec& spec,
                            const std::string& weights);

}  // namespace whyformer
