// A text model as tests use it: graphs by lengths, tokens as numbers, runs of tokens without a
// text.
#pragma once

#include <memory>
#include <string>

#include "readers/load_readers.h"
#include "readers/text_reader.h"
#include "run/run.h"

namespace whyformer {

// What a graph of texts is built for.
struct TextShape {
  int64_t batch = 1;
  int64_t tokens = 0;
  bool masked = false;  // takes an attention mask
  Head head = Head::kLogits;
  DType dtype = DType::kFloat32;
  bool all_rows = false;
};

class TestText {
 public:
  explicit TestText(std::shared_ptr<const TextReader> reader) : reader_(std::move(reader)) {}
  static std::shared_ptr<const TestText> load(const FileLookup& files, const std::string& name);
  static std::shared_ptr<const TestText> load(const std::filesystem::path& path,
                                              const std::string& output = {});
  static std::shared_ptr<const TestText> load(const OnnxDocument& document,
                                              const std::string& name);

  const TextReader& reader() const { return *reader_; }
  const TextSource& source() const { return reader_->source(); }
  const Tokenizer& tokenizer() const { return *reader_->reading().tokenizer; }
  bool has_classifier() const { return source().has_classifier(); }
  int64_t max_tokens() const { return source().max_tokens(); }
  std::optional<int64_t> mask_id() const { return tokenizer().mask_id(); }
  std::optional<int64_t> pad_id() const { return source().pad_id(); }
  std::optional<Problem> problem() const { return source().facts().problem; }
  const std::vector<std::string>& output_names() const { return source().facts().output_names; }
  const std::vector<std::string>& notes() const { return source().facts().notes; }

  std::shared_ptr<const ModelGraph> graph(const TextShape& shape) const;
  Feeds feeds(const ModelGraph& graph, const TokenBatch& batch,
              const std::vector<double>& reference = {}) const {
    return source().feeds(graph, samples_of(batch), reference);
  }
  Encoding encode(const std::string& text, std::optional<std::string> pair = {}) const {
    return reader_->reading().encode({text, std::move(pair)});
  }

 private:
  std::shared_ptr<const TextReader> reader_;
};

// What a run of tokens asks for, in one place.
struct TestRun {
  Head head = Head::kLogits;
  std::vector<double> reference = {};
  std::optional<Problem> problem = {};
  Needs needs = {};
  DType dtype = DType::kFloat32;
  std::optional<ReadOut> read_out = {};
  int64_t seed = 0;
  int64_t memory_bytes = 0;
  Progress progress = {};

  RunKind kind() const { return {head, reference, dtype}; }
  Run::Settings settings() const {
    return {problem, needs, read_out, seed, memory_bytes, progress};
  }
};

Run run_of(const TestText& model, Encoding encoding, const TestRun& asked, TextInput text = {});
inline std::unique_ptr<Run> new_run(const TestText& model, Encoding encoding, const TestRun& asked,
                                    TextInput text = {}) {
  return std::make_unique<Run>(run_of(model, std::move(encoding), asked, std::move(text)));
}

}  // namespace whyformer
