// Against hashlib of Python.
#include "base/sha256.h"

#include <gtest/gtest.h>

namespace whyformer {
namespace {

std::string hash_of(const std::string& text, size_t piece = 1000) {
  Sha256 hash;
  for (size_t at = 0; at < text.size(); at += piece)
    hash.add(std::as_bytes(std::span(text).subspan(at, std::min(piece, text.size() - at))));
  return hash.digest();
}

TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(hash_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash_of(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, OfEveryLengthAroundABlockDoesNotDependOnThePieces) {
  for (size_t length = 50; length < 135; ++length) {
    std::string text;
    for (size_t i = 0; i < length; ++i) text += static_cast<char>('a' + i % 26);
    for (const size_t piece : {1u, 7u, 64u}) EXPECT_EQ(hash_of(text, piece), hash_of(text));
  }
}

// hashlib.sha256(b'x' * n) for the lengths at which the padding changes.
TEST(Sha256, PadsAsTheStandardSays) {
  EXPECT_EQ(hash_of(std::string(55, 'x')),
            "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
  EXPECT_EQ(hash_of(std::string(56, 'x')),
            "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
  EXPECT_EQ(hash_of(std::string(63, 'x')),
            "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2");
  EXPECT_EQ(hash_of(std::string(64, 'x')),
            "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
  EXPECT_EQ(hash_of(std::string(119, 'x')),
            "000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c");
  EXPECT_EQ(hash_of(std::string(120, 'x')),
            "13f05a0b594787f5ecd315edc96141bd3243203d1b7d4f0836f37308b276ba98");
}

TEST(Sha256, OfTextsTellsWhereEachEnds) {
  Sha256 one, other;
  one.add_text("ab");
  one.add_text("c");
  other.add_text("a");
  other.add_text("bc");
  EXPECT_NE(one.digest(), other.digest());
}

}  // namespace
}  // namespace whyformer
