// A BERT of base size with random weights, through the same loader as a folder.
#pragma once

#include <memory>

#include "readers/text_reader.h"

namespace whyformer {

constexpr int64_t kBertLayers = 12, kBertWidth = 768, kBertHeads = 12, kBertInner = 3072;

std::shared_ptr<const TextReader> random_bert();
// A text of so many tokens, the first and the last of which are special.
Encoding some_tokens(int64_t count);

}  // namespace whyformer
