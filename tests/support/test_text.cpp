#include "tests/support/test_text.h"

#include "base/files.h"
#include "models/model_files.h"

namespace whyformer {
namespace {

std::shared_ptr<const TestText> first_of(const LoadedReaders& loaded) {
  if (loaded.refusal) std::rethrow_exception(loaded.refusal);
  return std::make_shared<TestText>(
      std::dynamic_pointer_cast<const TextReader>(loaded.readers.at(0)));
}

}  // namespace

std::shared_ptr<const TestText> TestText::load(const FileLookup& files, const std::string& name) {
  return first_of(readers_of_folder(files, weights_in(files), name));
}

std::shared_ptr<const TestText> TestText::load(const std::filesystem::path& path,
                                               const std::string& output) {
  const std::string name = name_of_model(path);
  if (onnx_file_of(path).empty()) return load(files_in(path), name);
  return first_of(readers_of_onnx(open_onnx(path), name, {.output = output}));
}

std::shared_ptr<const TestText> TestText::load(const OnnxDocument& document,
                                               const std::string& name) {
  return first_of(readers_of_onnx(document, name, {}));
}

std::shared_ptr<const ModelGraph> TestText::graph(const TextShape& shape) const {
  ShapeKey key{
      .batch = shape.batch, .head = shape.head, .dtype = shape.dtype, .all_rows = shape.all_rows};
  return source().graph(shape.masked ? masked_text_key(shape.tokens, key)
                                     : text_key(shape.tokens, key));
}

Run run_of(const TestText& model, Encoding encoding, const TestRun& asked, TextInput text) {
  return Run(model.reader().input_of({std::move(encoding), std::move(text)}, asked.kind()),
             asked.settings());
}

}  // namespace whyformer
