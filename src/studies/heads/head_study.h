// Head importance of encoded texts: what head_importance() does after tokenizing.
#pragma once

#include <vector>

#include "models/text_model.h"
#include "readers/tokenizers/tokenizer.h"
#include "whyformer/heads.h"

namespace whyformer {

struct EncodedText {
  Encoding encoding;
  std::optional<std::vector<std::string>> labels;
  std::string place;
};

// Throws as head_importance() does.
HeadImportance study_heads(const TextModel& model, const std::vector<EncodedText>& corpus,
                           const HeadsRequest& request);

}  // namespace whyformer
