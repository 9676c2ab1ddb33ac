// The parts of a SentencePiece model file (a protocol buffer) that a Unigram tokenizer needs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whyformer::tokenization {

struct SentencePieceModel {
  enum class Type {
    kNormal = 1,
    kUnknown = 2,
    kControl = 3,
    kUserDefined = 4,
    kUnused = 5,
    kByte = 6
  };
  struct Piece {
    std::string text;
    float score = 0;
    Type type = Type::kNormal;
  };
  std::vector<Piece> pieces;
  std::string charsmap;  // empty if the model does not normalise
};

// Throws FileError if the file is broken, UnsupportedModel if it is not a Unigram model.
SentencePieceModel parse_sentencepiece_model(std::string_view bytes, std::string_view file);

}  // namespace whyformer::tokenization
