// tokenizer.json, the format of the `tokenizers` package.
#pragma once

#include <memory>
#include <string_view>

#include "readers/tokenizers/tokenizer_parts.h"

namespace whyformer::tokenization {

// The file's truncation and padding are left out: whoever runs the model decides on them.
// Throws FileError or UnsupportedModel naming `file`.
std::unique_ptr<Tokenizer::Parts> parse_tokenizer_json(std::string_view text,
                                                       std::string_view file);

}  // namespace whyformer::tokenization
