#pragma once

#include <string>
#include <vector>

#include "whyformer/report.h"

namespace whyformer::report {

// attention_picture for explanations of pictures.
std::string attention_overlay(const Explanation& explanation, PictureFormat format,
                              const AttentionPicture& which);

// The heads of a map that are asked for. Throws InvalidInput where it does not have them.
std::vector<int64_t> heads_shown(const AttentionMap& map, const AttentionPicture& which);

}  // namespace whyformer::report
