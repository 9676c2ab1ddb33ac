#include <gmock/gmock.h>

#include "tests/support/golden_weights.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

std::string file_of(const std::string& header, size_t data_size) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + header +
         std::string(data_size, '\0');
}

std::string error_for(const std::string& file) {
  return message_of<FileError>([&] { read_safetensors(bytes_of(file), "model.safetensors"); });
}

std::string error_for(const std::string& header, size_t data_size) {
  return error_for(file_of(header, data_size));
}

TEST(Safetensors, HoldsWhatTheReferenceImplementationPutIn) {
  expect_golden(read_safetensors(map_file(golden_weights("types.safetensors")), "types"),
                "types.safetensors");
}

TEST(Safetensors, TensorsAreViewsOfTheFileAndKeepItAlive) {
  Bytes file = bytes_of(golden_bytes("types.safetensors"));
  const std::byte* begin = file.view.data();
  const std::byte* end = begin + file.size();
  const StoredTensors tensors = read_safetensors(file, "types");
  file = {};
  for (const auto& [name, tensor] : tensors) {
    EXPECT_GE(tensor.data.view.data(), begin);
    EXPECT_LE(tensor.data.view.data() + tensor.data.size(), end);
  }
  EXPECT_EQ(to_float32(tensors.at("scalar")), std::vector<float>{2.25f});
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const std::string whole = golden_bytes("types.safetensors");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(error_for(whole.substr(0, size)), HasSubstr("truncated")) << size;
  }
}

TEST(Safetensors, TruncationTellsBothSizes) {
  const std::string header =
      R"({"a":{"dtype":"F32","shape":[100000000],"data_offsets":[0,400000000]}})";
  EXPECT_EQ(error_for(header, 2'000'000),
            "'model.safetensors' is truncated: it should have 400.0 MB and has 2.0 MB; "
            "download it again");
}

TEST(Safetensors, RefusesAHeaderLongerThanAnyReal) {
  EXPECT_THAT(error_for("<!DOCTYPE html><html></html>"), HasSubstr("is not a safetensors file"));
}

TEST(Safetensors, RecognisesAGitLfsPointer) {
  EXPECT_THAT(error_for("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"),
              HasSubstr("git lfs pull"));
}

TEST(Safetensors, RefusesASizeWhichIsNotTheShapes) {
  EXPECT_THAT(error_for(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,16]}})", 16),
              HasSubstr("'a' has 16 bytes, which is not its shape [3] of F32"));
}

TEST(Safetensors, RefusesShapesWhoseProductOverflows) {
  // 2^32 * 2^32 is 0 in 64 bits.
  EXPECT_THAT(
      error_for(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0),
      HasSubstr("not its shape"));
}

TEST(Safetensors, RefusesOverlapsHolesAndBytesLeftOver) {
  const auto two = [](const std::string& first, const std::string& second) {
    return R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + first +
           R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + second + "}}";
  };
  EXPECT_EQ(read_safetensors(bytes_of(file_of(two("[4,8]", "[0,4]"), 8)), "x").size(), 2u);
  EXPECT_THAT(error_for(two("[0,4]", "[2,6]"), 6), HasSubstr("byte 2 of its data"));
  EXPECT_THAT(error_for(two("[0,4]", "[5,9]"), 9), HasSubstr("byte 4 of its data"));
  EXPECT_THAT(error_for(two("[0,4]", "[4,8]"), 9), HasSubstr("its last 1 bytes"));
  EXPECT_THAT(error_for(two("[4,0]", "[4,8]"), 8), HasSubstr("malformed"));
}

TEST(Safetensors, RefusesANameWhichComesTwice) {
  const std::string tensor = R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_THAT(error_for("{" + tensor + "," + tensor + "}", 0), HasSubstr("'a' appears twice"));
}

TEST(Safetensors, RefusesHeadersOfAnotherForm) {
  for (
      const std::string header :
      {"[]", "3", "", "{", "{} {}", R"({"a":1})", R"({"a":[]})", R"({"a":{}})", R"({"a":{"b":{}}})",
       R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,0]}})",
       R"({"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,0]}})",
       R"({"a":{"dtype":"U8","shape":[99999999999999999999],"data_offsets":[0,0]}})",
       R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0]}})",
       R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0,0]}})",
       R"({"a":{"dtype":"U8","shape":[0],"shape":[0],"data_offsets":[0,0]}})",
       R"({"a":{"dtype":"U8","shape":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"data_offsets":[0,0]}})"}) {
    EXPECT_THAT(error_for(header, 0), HasSubstr("download it again")) << header;
  }
}

TEST(Safetensors, DeepNestingIsRefusedAtOnce) {
  EXPECT_THAT(error_for(R"({"a":)" + std::string(1'000'000, '['), 0), HasSubstr("list"));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += R"({"a":)";
  EXPECT_THAT(error_for(objects, 0), HasSubstr("nests objects too deeply"));
}

TEST(Safetensors, ATypeWeCannotReadIsUnsupportedNotDamaged) {
  const std::string file =
      file_of(R"({"a":{"dtype":"F8_E5M2","shape":[1],"data_offsets":[0,1]}})", 1);
  EXPECT_THAT(message_of<UnsupportedModel>([&] { read_safetensors(bytes_of(file), "x"); }),
              HasSubstr("'a' is stored as 'F8_E5M2'"));
}

TEST(Safetensors, NamesInMessagesAreEscapedAndShort) {
  EXPECT_THAT(error_for(R"({"a\u001b[31m\n":1})", 0), HasSubstr(R"('a\x1b[31m\n')"));
  EXPECT_THAT(error_for(R"({")" + std::string(1000, 'n') + R"(":1})", 0),
              HasSubstr("'" + std::string(80, 'n') + "...' has"));
}

TEST(WriteSafetensors, GivesTheBytesOfTheFormatByHand) {
  const std::vector<float> values = {1.0f, -2.0f};
  const std::vector<NamedFloats> tensors = {{"b", {2}, values},
                                            {"a\"", {1, 1}, {values.data(), 1}}};
  std::string header = R"({"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                       R"("a\"":{"dtype":"F32","shape":[1,1],"data_offsets":[8,12]}})";
  while (header.size() % 8 != 0) header += ' ';
  const std::string data("\0\0\x80\x3f\0\0\0\xc0\0\0\x80\x3f", 12);
  EXPECT_EQ(write_safetensors(tensors), file_of(header, 0) + data);
}

TEST(WriteSafetensors, ReadsBackAndMayBeEmpty) {
  const std::vector<float> values = {0.5f, 1.5f, 2.5f};
  const std::vector<NamedFloats> tensors = {
      {"x", {3, 1}, values}, {"none", {0}, {}}, {"one", {}, {values.data(), 1}}};
  const StoredTensors read = read_safetensors(bytes_of(write_safetensors(tensors)), "x");
  EXPECT_EQ(to_float32(read.at("x")), values);
  EXPECT_EQ(read.at("x").shape, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(read.at("none").count(), 0);
  EXPECT_EQ(read.at("one").count(), 1);
  EXPECT_TRUE(read_safetensors(bytes_of(write_safetensors({})), "x").empty());
}

TEST(WriteSafetensors, RefusesWhatNoReaderWouldAccept) {
  const std::vector<float> values = {1.0f};
  const auto error = [](const std::vector<NamedFloats>& tensors) {
    return message_of<InvalidInput>([&] { write_safetensors(tensors); });
  };
  EXPECT_THAT(error({{"x", {2}, values}}), HasSubstr("1 values but its shape is [2]"));
  EXPECT_THAT(error({{"x", {1}, values}, {"x", {1}, values}}), HasSubstr("two tensors named 'x'"));
  EXPECT_THAT(error({{"__metadata__", {1}, values}}), HasSubstr("__metadata__"));
  EXPECT_THAT(error({{"\xff", {1}, values}}), HasSubstr("not UTF-8"));
}

}  // namespace
}  // namespace whyformer
