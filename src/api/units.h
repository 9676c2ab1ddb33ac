// Named input units of a tokenized text, and their scores folded to words; and those of a picture.
#pragma once

#include <vector>

#include "readers/picture_subject.h"
#include "readers/tokenizers/tokenizer.h"
#include "whyformer/model.h"

namespace whyformer {

// One unit per token; word indices run on from the text to its pair.
std::vector<Unit> units_of(const Encoding& encoding);

// Class tokens, and patches by row and column.
std::vector<Unit> units_of(const PictureSubject& picture);

// The picture as the model saw it; `file` as it was read.
PictureView view_of(const PictureSubject& subject, const Picture& file);

std::vector<WordScore> fold_words(const std::vector<Unit>& units, const std::vector<double>& scores,
                                  const TextInput& input, WordFold fold);

// Code points `start` to `end` of UTF-8 text.
std::string code_points(std::string_view text, int64_t start, int64_t end);

}  // namespace whyformer
