#pragma once

#include <string>
#include <vector>

#include "report/views/panel_layout.h"
#include "whyformer/report.h"

namespace whyformer::report {

// attention_picture for an explanation with a grid of patches.
std::string attention_overlay(const PanelLayout& layout, PictureFormat format,
                              const AttentionPicture& which);

// The heads of a map that are asked for. Throws InvalidInput where it does not have them.
std::vector<int64_t> heads_shown(const AttentionMap& map, const AttentionPicture& which);

}  // namespace whyformer::report
