// What the tests of head importance share.
#pragma once

#include <string>
#include <vector>

#include "studies/heads/head_study.h"
#include "tests/support/golden_model.h"

namespace whyformer {

// The inputs of a case that are single samples without padding, their targets as labels; or of
// these the named ones.
std::vector<LabelledInput> corpus_of(const GoldenModel& golden,
                                     const std::vector<std::string>& names = {});

HeadImportance heads_of(const GoldenModel& golden, const std::vector<LabelledInput>& corpus,
                        const HeadsRequest& request);

// Scores of one measure in double; `request` says the options.
HeadGrid scores_of(const GoldenModel& golden, const std::string& measure,
                   const std::vector<LabelledInput>& corpus, HeadsRequest request = {});

// BERT's weights that belong to one head: columns of the output projection, and for duplicates the
// rows of query, key and value too.
void forget_head(std::map<std::string, std::vector<float>>& weights, int layer, int head,
                 int64_t width, int64_t head_width);
void copy_head(std::map<std::string, std::vector<float>>& weights, int layer, int from, int to,
               int64_t width, int64_t head_width);

}  // namespace whyformer
