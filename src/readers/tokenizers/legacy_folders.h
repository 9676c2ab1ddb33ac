// Tokenizers of models from before tokenizer.json, built as transformers builds them.
#pragma once

#include <memory>

#include "base/bytes.h"
#include "readers/tokenizers/tokenizer_parts.h"
#include "readers/tokenizers/tokenizer_settings.h"

namespace whyformer::tokenization {

// Nothing if the folder has none of the files that are known. Throws FileError or UnsupportedModel.
// Special tokens the settings do not name are filled in with the model's own.
std::unique_ptr<Tokenizer::Parts> read_legacy_folder(const FileLookup& files,
                                                     TokenizerSettings& settings);

}  // namespace whyformer::tokenization
