#include "formats/other_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "onnx/onnx_file.h"
#include "tests/support/temporary_folder.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::HasSubstr;

std::string about(std::string bytes) { return about_other_format(bytes_of(std::move(bytes))); }

std::string in_two_bytes(size_t number) {
  return {static_cast<char>(number & 255), static_cast<char>(number >> 8)};
}
std::string in_four_bytes(size_t number) {
  return in_two_bytes(number & 65535) + in_two_bytes(number >> 16);
}

// A zip archive (APPNOTE 4.3) of empty stored files.
std::string zip_of(const std::vector<std::string>& names) {
  std::string files, directory;
  for (const std::string& name : names) {
    const std::string facts = in_two_bytes(20) + std::string(8, '\0') + std::string(12, '\0') +
                              in_two_bytes(name.size()) + in_two_bytes(0);
    directory += "PK\x01\x02" + in_two_bytes(20) + facts + in_two_bytes(0) + std::string(8, '\0') +
                 in_four_bytes(files.size()) + name;
    files += "PK\x03\x04" + facts + name;
  }
  return files + directory + "PK\x05\x06" + std::string(4, '\0') + in_two_bytes(names.size()) +
         in_two_bytes(names.size()) + in_four_bytes(directory.size()) +
         in_four_bytes(files.size()) + in_two_bytes(0);
}

TEST(OtherFormats, AreKnownByTheirFirstBytesAndSaidWithWhatToGiveInstead) {
  EXPECT_THAT(about("GGUF\x03\0\0\0"s), AllOf(HasSubstr("GGUF"), HasSubstr("HuggingFace folder")));
  EXPECT_THAT(about("\x89HDF\r\n\x1a\n"s),
              AllOf(HasSubstr("Keras"), HasSubstr("tf2onnx.convert --keras")));
  EXPECT_THAT(about("\x1c\0\0\0TFL3"s),
              AllOf(HasSubstr("TensorFlow Lite"), HasSubstr("tf2onnx.convert --tflite")));
  EXPECT_THAT(about("\x1c\0\0\0ORTM"s), HasSubstr("ONNX Runtime's own format"));
  EXPECT_THAT(about("\x02\0\0\0\0\0\0\0{}"s),
              AllOf(HasSubstr("safetensors"), HasSubstr("config.json")));
  EXPECT_THAT(about("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19."s),
              AllOf(HasSubstr("torch.save"), HasSubstr("state_dict")));
  EXPECT_THAT(about("\x80\x04\x95\x10\0\0"s), AllOf(HasSubstr("pickle"), HasSubstr("skl2onnx")));
  EXPECT_THAT(about("\x78\x9c\x01"s), HasSubstr("pickle"));
  EXPECT_THAT(about("\x1f\x8b\x08"s), HasSubstr("archive"));
  EXPECT_THAT(about(std::string(257, 'a') + "ustar\0"s), HasSubstr("archive"));
  EXPECT_THAT(about("{\"model_type\": \"bert\"}"), HasSubstr("JSON"));
}

TEST(OtherFormats, ZipArchivesAreKnownByTheNamesInThem) {
  EXPECT_THAT(
      about(zip_of({"net/data.pkl", "net/data/0", "net/version"})),
      AllOf(HasSubstr("torch.save"), HasSubstr("state_dict"), HasSubstr("torch.onnx.export")));
  EXPECT_THAT(about(zip_of({"net/data.pkl", "net/code/__torch__/net.py", "net/constants.pkl"})),
              AllOf(HasSubstr("TorchScript"), HasSubstr("torch.onnx.export")));
  EXPECT_THAT(about(zip_of({"net/models/model.json", "net/archive_format"})),
              HasSubstr("torch.export"));
  EXPECT_THAT(about(zip_of({"metadata.json", "config.json", "model.weights.h5"})),
              HasSubstr(".keras"));
  EXPECT_THAT(about(zip_of({"x.npy"})), HasSubstr("NumPy"));
  EXPECT_THAT(about(zip_of({"model/model.onnx"})), HasSubstr("unpack it"));
  EXPECT_THAT(about("PK\x03\x04 cut off"), HasSubstr("cut off or damaged"));
}

TEST(OtherFormats, AnythingElseMayBeOnnx) {
  for (const std::string& bytes : {""s, "\x08\x08\x12\x07pytorch"s, "hello"s, "\x02\0\0"s,
                                   "\xff\xff\xff\xff\xff\xff\xff\xff{"s})
    EXPECT_EQ(about(bytes), "");
}

TEST(OtherFormats, AreRefusedWhereAnOnnxFileIsRead) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "other_formats_test.bin";
  std::ofstream(path, std::ios::binary) << zip_of({"net/data.pkl"});
  EXPECT_THAT([&] { onnx::read_onnx(path); },
              testing::ThrowsMessage<UnsupportedModel>(
                  AllOf(HasSubstr("other_formats_test.bin' is a file of torch.save"))));
}

}  // namespace
}  // namespace whyformer
