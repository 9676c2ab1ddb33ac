// Head importance over inputs of one reader: what head_importance() does.
#pragma once

#include "readers/reader.h"
#include "whyformer/heads.h"

namespace whyformer {

// Throws as head_importance() does.
HeadImportance study_heads(const Reader& reader, const std::vector<LabelledInput>& corpus,
                           const HeadsRequest& request);

}  // namespace whyformer
