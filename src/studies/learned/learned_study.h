// Linear probes of the layers of one reader's model: what probe_layers() does.
#pragma once

#include "readers/reader.h"
#include "whyformer/learned.h"

namespace whyformer {

// Throws as probe_layers() does.
LearnedReport study_learned(const Reader& reader, const std::vector<LearnedExample>& examples,
                            const LearnedRequest& request);

}  // namespace whyformer
