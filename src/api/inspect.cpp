// What a model holds, as its file and its readers tell it.
#include <fmt/format.h>

#include "models/model_files.h"
#include "models/table_files.h"
#include "readers/describe.h"
#include "readers/load_readers.h"
#include "whyformer/error.h"
#include "whyformer/table_spec.h"

namespace whyformer {

ModelInfo inspect(const std::filesystem::path& path, const InputShapes& shapes,
                  const BatchAxes& batch_axes) {
  const bool bare_table = table_package_in(path).has_value();
  const std::filesystem::path onnx = bare_table ? std::filesystem::path() : onnx_file_of(path);
  if (onnx.empty() && (!shapes.empty() || !batch_axes.empty())) {
    throw InvalidInput(fmt::format(
        "input shapes and batch axes apply to ONNX files only; '{}' is not one", path.string()));
  }
  if (bare_table) return *draft_table(path).info;
  if (onnx.empty()) return Model::load(path).inspect();
  const OnnxDocument document = open_onnx(path);
  ModelInfo info = describe(probe_onnx(document, shapes, batch_axes), onnx);
  try {
    const LoadedReaders loaded = readers_of_onnx(document, name_of_model(path), {});
    if (loaded.readers.size() == 1) return info;
    const Reader& own = *loaded.readers[0];
    const ModelInfo model = own.info();
    info.task = model.task;
    info.vocabulary = model.vocabulary;
    info.max_tokens = model.max_tokens;
    info.columns = model.columns;
    info.not_told = model.not_told;
    for (const std::string& note : own.source().facts().notes) info.notes.push_back(note);
  } catch (const Error&) {
    // Neither a text nor a picture model, or no tokenizer beside it: what the graph tells is
    // enough.
  }
  return info;
}

}  // namespace whyformer
