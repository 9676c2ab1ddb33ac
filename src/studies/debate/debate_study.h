// The debate over inputs of one reader: what debate_input() and summarise() do.
#pragma once

#include "studies/debate/debate_part.h"

namespace whyformer {

DebateInput study_debate_input(const DebateModels& models, const DebateExample& example,
                               int64_t number, const DebateRequest& request);

DebateReport conclude_debate(const DebateModels& models, const std::vector<DebateExample>& examples,
                             const std::vector<DebateInput>& inputs, const DebateRequest& request);

}  // namespace whyformer
