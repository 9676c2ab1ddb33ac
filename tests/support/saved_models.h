// Small ONNX files on disk with what belongs beside them, for tests that load whole models.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_model.h"
#include "whyformer/model.h"

namespace whyformer {

// Eight words and pieces, each a token; texts stand between [CLS] and [SEP].
inline constexpr const char* kWordTokenizer = R"({
  "version": "1.0", "truncation": null, "padding": null,
  "added_tokens": [
    {"id": 0, "content": "[PAD]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
    {"id": 1, "content": "[CLS]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
    {"id": 2, "content": "[SEP]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
    {"id": 3, "content": "[MASK]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}],
  "normalizer": null,
  "pre_tokenizer": {"type": "Whitespace"},
  "post_processor": {"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
               {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
    "pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
             {"SpecialToken": {"id": "[SEP]", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}},
             {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
    "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]},
                       "[SEP]": {"id": "[SEP]", "ids": [2], "tokens": ["[SEP]"]}}},
  "decoder": null,
  "model": {"type": "WordLevel", "unk_token": "[PAD]",
            "vocab": {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "[MASK]": 3, "a": 4, "good": 5, "bad": 6, "film": 7}}})";

inline constexpr const char* kWordTokenizerConfig =
    R"({"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]", "mask_token": "[MASK]", "cls_token": "[CLS]",
        "sep_token": "[SEP]"})";

// model.onnx in a folder of its own, which goes with the test.
class SavedFolder {
 public:
  explicit SavedFolder(const onnx::TinyModel& model, const std::string& tokenizer = "") {
    save(file(), model.text());
    if (tokenizer.empty()) return;
    save(folder_.path() / "tokenizer.json", tokenizer);
    save(folder_.path() / "tokenizer_config.json", kWordTokenizerConfig);
  }

  std::filesystem::path file() const { return folder_.path() / "model.onnx"; }

 private:
  const TemporaryFolder folder_;
};

// So many pixels each way, of changing colours.
inline PicturePixels coloured_picture(int64_t side) {
  std::shared_ptr<uint8_t[]> pixels(new uint8_t[side * side * 3]);
  for (int64_t i = 0; i < side * side * 3; ++i) pixels[i] = static_cast<uint8_t>(i * 37 % 251);
  return {"coloured", side, side, 3, pixels};
}

}  // namespace whyformer
