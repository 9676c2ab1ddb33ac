// Made-up explanations of pictures, for the tests of reports.
#pragma once

#include <vector>

#include "whyformer/explanation.h"

namespace whyformer::report {

struct PictureSampleOptions {
  int64_t width = 224;
  int64_t height = 224;
  int64_t patch = 16;
  int64_t target = 0;  // 0: the ball, 1: the box
  int layers = 3;
  int heads = 4;
  bool class_token = true;
};

// A ball on the left and a box on the right of a sky. Three methods: gae (unsigned),
// integrated-gradients (signed, with pixels) and leave-one-out (signed), all on the target's thing.
Explanation picture_sample(const PictureSampleOptions& options = {});

// The same picture beside the text "a red ball": five tokens before the class token.
Explanation picture_pair_sample();

std::vector<Explanation> picture_classes_sample(const PictureSampleOptions& options = {});  // three

Explanation documented_picture_sample();  // two patches, with every key that pictures add
Explanation window_picture_sample();      // layer 1 attends within windows, layers 0 and 2 do not
Explanation hostile_picture_sample();     // markup and escapes in every string, broken scores

}  // namespace whyformer::report
