#include "readers/context_choice.h"

#include <fmt/format.h>

#include "formats/file_checks.h"
#include "readers/table_file.h"
#include "whyformer/error.h"
#include "whyformer/tables.h"

namespace whyformer {
namespace {

ContextRows rows_told(const LoadOptions& options, const ContextSpec& spec) {
  if (!options.context_rows.empty()) {
    const auto rows = context_rows_named(options.context_rows);
    if (!rows) {
      throw InvalidInput(fmt::format("a context is rows of a file, block or alone, not {}",
                                     in_quotes(options.context_rows)));
    }
    if (*rows != ContextRows::kGiven && !options.context.empty()) {
      throw InvalidInput(
          fmt::format("rows of a file are given as the context, and '{}' as well: give one of them",
                      options.context_rows));
    }
    return *rows;
  }
  if (!options.context.empty()) return ContextRows::kGiven;
  if (spec.rows) return *spec.rows;
  return spec.file.empty() ? ContextRows::kBlock : ContextRows::kGiven;
}

ContextMode mode_told(const LoadOptions& options, const ContextSpec& spec,
                      const RowSource& source) {
  if (options.context_mode.empty()) return source.can_freeze() ? spec.mode : ContextMode::kLive;
  const auto mode = context_mode_named(options.context_mode);
  if (!mode) {
    throw InvalidInput(
        fmt::format("a context is frozen or live, not {}", in_quotes(options.context_mode)));
  }
  if (*mode == ContextMode::kFrozen && !source.can_freeze()) {
    throw InvalidInput(
        "the rows of an ONNX file always see each other: its contexts are live, not frozen");
  }
  return *mode;
}

NamedTable context_rows(const FileLookup& files, const LoadOptions& options,
                        const ContextSpec& spec, const RowLayout& layout) {
  if (!options.context.empty()) {
    return layout.reads_words() ? read_cells(options.context) : read_table(options.context);
  }
  if (spec.file.empty()) throw InvalidInput("the context has no rows: name a file that has them");
  const std::optional<Bytes> file = files(spec.file);
  if (!file)
    throw FileError(fmt::format("table.json names '{}', which is not beside it", spec.file));
  return cells_in(*file, spec.file);
}

}  // namespace

bool tells_context(const LoadOptions& options) {
  return !options.context.empty() || !options.context_rows.empty() || !options.context_mode.empty();
}

void refuse_context(const LoadOptions& options, const std::string& name) {
  if (!tells_context(options)) return;
  throw InvalidInput(fmt::format(
      "a context has no meaning for {}: only rows of a table attend to each other, in models like "
      "SAINT",
      in_quotes(name)));
}

RowContexts contexts_of(const FileLookup& files, const LoadOptions& options,
                        const std::shared_ptr<const RowSource>& source, const RowLayout& layout) {
  if (!source->rows_attend()) {
    refuse_context(options, source->name());
    return RowContexts(source);
  }
  const TableSpec* table = layout.spec();
  const ContextSpec spec = table && table->context ? *table->context : ContextSpec();
  const ContextRows rows = rows_told(options, spec);
  const ContextMode mode = mode_told(options, spec, *source);
  const std::shared_ptr<const RowSource> alone = source->in_context({}, mode);
  if (rows == ContextRows::kAlone) return RowContexts(alone);
  if (rows == ContextRows::kBlock) return {alone, spec.block, mode};
  const NamedTable given = context_rows(files, options, spec, layout);
  if (given.table.rows == 0) throw InvalidInput("the context has no rows");
  return {alone, layout, given,
          options.context.empty() ? spec.file : options.context.filename().string(), mode};
}

}  // namespace whyformer
