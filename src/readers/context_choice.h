// Which rows an explained one attends to, as the caller or table.json says.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "formats/tables/table_spec.h"
#include "models/row_source.h"
#include "readers/row_contexts.h"
#include "whyformer/model.h"

namespace whyformer {

// Whether the caller says anything of it.
bool tells_context(const LoadOptions& options);
// Throws InvalidInput where the caller does, of a model that has no use for it.
void refuse_context(const LoadOptions& options, const std::string& name);

// `spec`: table.json's, if any. Throws InvalidInput for words that are not known, and where the
// model's rows stay apart but the caller asks for a context.
RowContexts contexts_of(const FileLookup& files, const LoadOptions& options,
                        const std::shared_ptr<const RowSource>& source, const RowLayout& layout);

}  // namespace whyformer
