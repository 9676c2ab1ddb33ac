#include "readers/tokenizers/sentencepiece_model.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "readers/tokenizers/characters.h"
#include "whyformer/error.h"

namespace whyformer::tokenization {
namespace {

// One field of a protocol buffer message. Only one of the three values is meaningful, by its wire
// type.
struct Field {
  uint64_t number = 0;
  uint64_t integer = 0;
  float real = 0;
  std::string_view bytes{};
};

class MessageReader {
 public:
  MessageReader(std::string_view bytes, std::string_view file) : rest_(bytes), file_(file) {}

  bool next(Field& field) {
    if (rest_.empty()) return false;
    const uint64_t tag = read_varint();
    field = {.number = tag >> 3};
    switch (tag & 7) {
      case 0:
        field.integer = read_varint();
        break;
      case 1:
        take(8);
        break;
      case 2:
        field.bytes = take(read_varint());
        break;
      case 5: {
        uint32_t bits;
        std::memcpy(&bits, take(4).data(), sizeof(bits));
        field.real = std::bit_cast<float>(bits);
        break;
      }
      default:
        fail();
    }
    return true;
  }

 private:
  [[noreturn]] void fail() const {
    throw FileError(fmt::format(
        "'{}' is not a SentencePiece model or is damaged; download the file again", file_));
  }

  uint64_t read_varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    fail();
  }

  std::string_view take(uint64_t size) {
    if (size > rest_.size()) fail();
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
  std::string_view file_;
};

SentencePieceModel::Piece read_piece(std::string_view bytes, std::string_view file) {
  SentencePieceModel::Piece piece;
  MessageReader reader(bytes, file);
  for (Field field; reader.next(field);) {
    if (field.number == 1) piece.text = field.bytes;
    if (field.number == 2) piece.score = field.real;
    if (field.number == 3) piece.type = static_cast<SentencePieceModel::Type>(field.integer);
  }
  if (!is_well_formed_utf8(piece.text)) {
    throw FileError(
        fmt::format("'{}' has a token that is not UTF-8; download the file again", file));
  }
  return piece;
}

void require_unigram(std::string_view trainer_spec, std::string_view file) {
  constexpr uint64_t kModelType = 3, kUnigram = 1;
  MessageReader reader(trainer_spec, file);
  for (Field field; reader.next(field);) {
    if (field.number == kModelType && field.integer != kUnigram) {
      throw UnsupportedModel(
          fmt::format("'{}' is not a Unigram SentencePiece model; "
                      "save the tokenizer as tokenizer.json",
                      file));
    }
  }
}

}  // namespace

SentencePieceModel parse_sentencepiece_model(std::string_view bytes, std::string_view file) {
  constexpr uint64_t kPieces = 1, kTrainerSpec = 2, kNormalizerSpec = 3, kPrecompiledCharsmap = 2;
  SentencePieceModel model;
  MessageReader reader(bytes, file);
  for (Field field; reader.next(field);) {
    if (field.number == kPieces) model.pieces.push_back(read_piece(field.bytes, file));
    if (field.number == kTrainerSpec) require_unigram(field.bytes, file);
    if (field.number != kNormalizerSpec) continue;
    MessageReader normalizer(field.bytes, file);
    for (Field part; normalizer.next(part);) {
      if (part.number == kPrecompiledCharsmap) model.charsmap = part.bytes;
    }
  }
  if (model.pieces.empty()) {
    throw FileError(fmt::format(
        "'{}' has no tokens, so it is not a SentencePiece model; download the file again", file));
  }
  return model;
}

}  // namespace whyformer::tokenization
