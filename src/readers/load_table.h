// A table model with its table.json as a reader of rows.
#pragma once

#include <memory>
#include <string>

#include "base/bytes.h"
#include "readers/row_reader.h"

namespace whyformer {

// The weights of a table package. `weights` is the file that holds them, where table.json does not
// tell. Throws FileError where the model does not answer as table.json's probe says.
std::shared_ptr<const Reader> table_reader(const FileLookup& files, const std::string& weights,
                                           const std::string& name, const LoadOptions& options);

// An ONNX file with a table.json beside it.
std::shared_ptr<const Reader> table_reader(const FileLookup& files,
                                           std::shared_ptr<const RowSource> source,
                                           const LoadOptions& options);

}  // namespace whyformer
