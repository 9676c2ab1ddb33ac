#include "readers/load_readers.h"

#include <algorithm>

#include "models/onnx_graph.h"
#include "models/onnx_source.h"
#include "models/onnx_text_inputs.h"
#include "models/table_files.h"
#include "readers/array_reader.h"
#include "readers/context_choice.h"
#include "readers/load_table.h"
#include "readers/pair_reader.h"
#include "readers/row_reader.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

void add_pictures(std::shared_ptr<const PictureSource> source, const FileLookup& files,
                  LoadedReaders& loaded) {
  auto processor = processor_of(files, *source);
  std::shared_ptr<const TextReader> texts;
  if (source->reads_texts()) {
    try {
      const std::shared_ptr<const Tokenizer> tokenizer = load_tokenizer(files);
      texts = std::make_shared<TextReader>(
          TextReading{source->text_source(facts_of(*tokenizer)), tokenizer});
    } catch (const Error&) {
      // Pictures are read without a tokenizer, too.
      loaded.refusal = std::current_exception();
    }
  }
  auto pictures = std::make_shared<PictureReader>(std::move(source), std::move(processor), texts,
                                                  loaded.refusal);
  loaded.readers.push_back(pictures);
  if (texts == nullptr) return;
  loaded.readers.push_back(std::make_shared<PairReader>(pictures, texts));
  loaded.readers.push_back(texts);
}

// Files of numbers alone are not told to look for a tokenizer.
void add_texts(const OnnxDocument& document, const std::string& name, const std::string& output,
               LoadedReaders& loaded) {
  const auto& inputs = document.model->file().graph.inputs;
  if (std::ranges::all_of(inputs, [](const auto& input) { return onnx::is_float(input.type); })) {
    names_of_text_inputs(document.model->file());  // says what it takes
  }
  const std::shared_ptr<const Tokenizer> tokenizer = load_tokenizer(document.files);
  loaded.readers.push_back(std::make_shared<TextReader>(
      TextReading{onnx_text_source(document, name, output, facts_of(*tokenizer)), tokenizer}));
}

// Numbers in the model's own order.
std::shared_ptr<const Reader> rows_reader(const OnnxDocument& document,
                                          const std::shared_ptr<const RowSource>& source,
                                          const LoadOptions& options) {
  if (document.files(kTableSpecFile)) return table_reader(document.files, source, options);
  if (!tells_context(options)) return std::make_shared<RowReader>(source);
  RowLayout layout(source);
  RowContexts contexts = contexts_of(document.files, options, source, layout);
  return std::make_shared<RowReader>(std::move(contexts), std::move(layout), NamedTable());
}

void add_own_reader(const OnnxDocument& document, const std::string& name,
                    const LoadOptions& options, LoadedReaders& loaded) {
  if (auto rows = onnx_row_source(document, name, options.output)) {
    loaded.readers.push_back(rows_reader(document, rows, options));
    return;
  }
  refuse_context(options, name);
  if (auto pictures = onnx_picture_source(document, name, options.output)) {
    add_pictures(std::move(pictures), document.files, loaded);
  } else {
    add_texts(document, name, options.output, loaded);
  }
}

}  // namespace

LoadedReaders readers_of_folder(const FileLookup& files, const WeightSource& weights,
                                const std::string& name) {
  LoadedReaders loaded;
  const auto config = files("config.json");
  if (config && tells_of_pictures(Config(parse_json_file(*config, "config.json")))) {
    add_pictures(checkpoint_picture_source(files, weights, name), files, loaded);
    return loaded;
  }
  std::shared_ptr<const Tokenizer> tokenizer;
  const auto source = checkpoint_text_source(files, weights, name, [&] {
    tokenizer = load_tokenizer(files);
    return facts_of(*tokenizer);
  });
  loaded.readers.push_back(std::make_shared<TextReader>(TextReading{source, tokenizer}));
  return loaded;
}

LoadedReaders readers_of_onnx(const OnnxDocument& document, const std::string& name,
                              const LoadOptions& options) {
  LoadedReaders loaded;
  check_output(document.model->file(), options.output);
  if (options.arrays) refuse_context(options, name);
  if (!options.arrays) {
    try {
      add_own_reader(document, name, options, loaded);
    } catch (const Error&) {
      // Arrays do without a tokenizer and the like. An output is named for the other readers, and
      // table.json is there for rows.
      if (!options.output.empty() || document.files(kTableSpecFile) || tells_context(options))
        throw;
      loaded.refusal = std::current_exception();
    }
  }
  loaded.readers.push_back(
      std::make_shared<ArrayReader>(document, name_of_model(document.path), options.batch_axes,
                                    loaded.readers.empty() ? loaded.refusal : nullptr));
  return loaded;
}

}  // namespace whyformer
