#pragma once

#include <string>

#include "whyformer/report.h"

namespace whyformer::report {

// attention_picture for explanations of pictures.
std::string attention_overlay(const Explanation& explanation, PictureFormat format,
                              const AttentionPicture& which);

}  // namespace whyformer::report
