// Sources of graphs in an ONNX file, one for each kind of input.
#pragma once

#include <memory>
#include <string>

#include "models/onnx_document.h"
#include "models/picture_source.h"
#include "models/row_source.h"
#include "models/text_source.h"

namespace whyformer {

// Texts: inputs by name, outputs by shape, layers by discovery. `output` names the one to explain;
// the source chooses it where that is empty.
std::shared_ptr<const TextSource> onnx_text_source(const OnnxDocument& document, std::string name,
                                                   const std::string& output,
                                                   const TokenizerFacts& tokenizer);

// Pictures: one input of pixels; null for files with other inputs.
std::shared_ptr<const PictureSource> onnx_picture_source(const OnnxDocument& document,
                                                         std::string name,
                                                         const std::string& output);

// Rows of tables; null for a file whose inputs are not all rows of numbers.
std::shared_ptr<const RowSource> onnx_row_source(const OnnxDocument& document, std::string name,
                                                 const std::string& output);

}  // namespace whyformer
