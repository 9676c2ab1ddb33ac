// The container: what is read, and what is refused with which words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/tiny_model.h"
#include "whyformer/error.h"

namespace whyformer::onnx {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const FileLookup kNoFiles = [](std::string_view) { return std::nullopt; };

std::string refusal_of_bytes(const std::string& text) {
  return refusal<FileError>([&] { read_onnx(bytes_of(text), kNoFiles); });
}

std::string refusal_of_file(const TinyModel& model) {
  return refusal<FileError>([&] { model.read(); });
}

// y = (x + b) · w
TinyModel sum_and_product() {
  TinyModel model;
  model.input("x", {2});
  add_floats(model.graph(), "b", {2}, {1, 2});
  add_floats(model.graph(), "w", {1}, {3});
  add_node(model.graph(), "Mul", {"sum", "w"}, {"y"});
  add_node(model.graph(), "Add", {"x", "b"}, {"sum"});
  model.output("y");
  return model;
}

TEST(ReadOnnx, NodesMayStandInAnyOrder) {
  const TinyModel model = sum_and_product();
  EXPECT_THAT(model.compute("y", {{"x", Tensor::of<float>({2}, {10, 20})}}), ElementsAre(33, 66));
  EXPECT_EQ(model.read().graph.nodes[0].kind, "Add");
}

TEST(ReadOnnx, ACycleIsRefused) {
  TinyModel model;
  add_node(model.graph(), "Neg", {"b"}, {"a"});
  add_node(model.graph(), "Neg", {"a"}, {"b"});
  EXPECT_THAT(refusal_of_file(model), HasSubstr("cycle"));
}

TEST(ReadOnnx, TwoNodesThatMakeOneNameAreRefused) {
  TinyModel model = sum_and_product();
  add_node(model.graph(), "Neg", {"x"}, {"sum"});
  EXPECT_THAT(refusal_of_file(model), HasSubstr("two nodes make 'sum'"));
}

TEST(ReadOnnx, ANameBothStoredAndComputedIsRefused) {
  TinyModel model = sum_and_product();
  add_node(model.graph(), "Neg", {"x"}, {"w"});
  EXPECT_THAT(refusal_of_file(model), HasSubstr("'w' is both stored and computed"));
}

TEST(ReadOnnx, WhatIsNoOnnxFileIsRefusedInOneLine) {
  for (const std::string& text :
       {std::string(), std::string("hello, this is a text\n"), std::string(1000, '\0'),
        std::string("PK\x03\x04 a zip"), std::string("\x80\x02}q")}) {
    const std::string message = refusal_of_bytes(text);
    EXPECT_THAT(message, HasSubstr("not a whole ONNX file")) << text;
    EXPECT_EQ(message.find('\n'), message.npos);
  }
  EXPECT_THAT(refusal_of_bytes("version https://git-lfs.github.com/spec/v1\n"),
              HasSubstr("git lfs pull"));
}

TEST(ReadOnnx, EveryBeginningOfAFileIsRefusedOrAModel) {
  const std::string whole = sum_and_product().text();
  for (size_t length = 0; length < whole.size(); ++length) {
    try {
      const OnnxModel model(read_onnx(bytes_of(whole.substr(0, length)), kNoFiles));
    } catch (const FileError&) {
    } catch (const UnsupportedModel&) {
      // The opset stands at the end: without it the file says nothing about its operators.
    }
  }
}

TEST(ReadOnnx, TensorsOfTheWrongSizeAreRefused) {
  TinyModel model;
  add_floats(model.graph(), "w", {2, 2}, {1, 2, 3});
  EXPECT_THAT(refusal_of_file(model),
              AllOf(HasSubstr("'w'"), HasSubstr("[2, 2]"), HasSubstr("16 bytes but has 12")));
}

TEST(ReadOnnx, ImpossibleShapesAreRefused) {
  for (const Shape& shape : {Shape{int64_t{1} << 62, 4}, Shape{-1}, Shape{int64_t{1} << 41},
                             Shape{int64_t{1} << 62, 4, 0}}) {
    TinyModel model;
    add_floats(model.graph(), "w", shape, {});
    EXPECT_THAT(refusal_of_file(model), HasSubstr("impossible shape")) << to_string(shape);
  }
  TinyModel model;
  add_floats(model.graph(), "w", Shape(1000, 1), {1});
  EXPECT_THAT(refusal_of_file(model), HasSubstr("1000 axes"));
}

TEST(ReadOnnx, OpsetsThatAreNotKnownAreRefusedWithAdvice) {
  for (const int64_t opset : {1, 6, 29, 1000000}) {
    const std::string message = refusal<UnsupportedModel>([&] { TinyModel(opset).read(); });
    EXPECT_THAT(message, AllOf(HasSubstr("opset " + std::to_string(opset)), HasSubstr("export")));
  }
  TinyModel model;
  pb::OperatorSetIdProto& old = *model.function("f", {}, {}).add_opset_import();
  old.set_version(3);
  EXPECT_THAT(refusal<UnsupportedModel>([&] { model.read(); }), HasSubstr("opset 3"));
}

TEST(ReadOnnx, TextsAndSparseTensorsAreRefused) {
  TinyModel texts;
  add_floats(texts.graph(), "w", {0}, {}).set_data_type(pb::TensorProto::STRING);
  EXPECT_THAT(refusal<UnsupportedModel>([&] { texts.read(); }), HasSubstr("'w'"));
  TinyModel sparse;
  sparse.graph().add_sparse_initializer();
  EXPECT_THAT(refusal<UnsupportedModel>([&] { sparse.read(); }), HasSubstr("sparse"));
}

TEST(ReadOnnx, InputsThatAreNoTensorsAreRefused) {
  TinyModel model;
  pb::ValueInfoProto& input = *model.graph().add_input();
  input.set_name("list");
  input.mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type();
  EXPECT_THAT(refusal<UnsupportedModel>([&] { model.read(); }), HasSubstr("'list'"));
}

class ExternalData : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "onnx-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    base_ = pattern;
    folder_ = base_ / "model";
    fs::create_directories(folder_ / "deeper");
    for (const fs::path& path :
         {folder_ / "weights", folder_ / "deeper/weights", base_ / "outside"}) {
      const float numbers[] = {0, 1, 2, 3};
      std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(numbers), 16);
    }
  }
  void TearDown() override { fs::remove_all(base_); }

  // Two floats at a place of a file.
  OnnxFile read(const std::string& location, const std::string& offset = "4",
                const std::string& length = "8") const {
    TinyModel model;
    pb::TensorProto& tensor = add_floats(model.graph(), "w", {2}, {});
    tensor.set_data_location(pb::TensorProto::EXTERNAL);
    for (const auto& [key, value] :
         {std::pair("location", location), {"offset", offset}, {"length", length}}) {
      auto& entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    std::ofstream(folder_ / "model.onnx", std::ios::binary) << model.text();
    return read_onnx(folder_ / "model.onnx");
  }

  std::string refusal_of(const std::string& location, const std::string& offset = "4",
                         const std::string& length = "8") const {
    return refusal<FileError>([&] { read(location, offset, length); });
  }

  fs::path base_, folder_;
};

TEST_F(ExternalData, IsReadFromTheFolderOfTheModel) {
  for (const char* location : {"weights", "./weights", "deeper/weights"}) {
    const FileTensor tensor = read(location).graph.initialisers.at("w");
    EXPECT_THAT(tensor.tensor(DType::kFloat32).to_doubles(), ElementsAre(1, 2)) << location;
  }
}

TEST_F(ExternalData, OutsideTheFolderIsRefused) {
  const std::string absolute = (base_ / "outside").string();
  for (const std::string& location :
       {std::string("../outside"), std::string("deeper/../../outside"), absolute, std::string()}) {
    EXPECT_THAT(refusal_of(location), HasSubstr("outside its folder")) << location;
  }
  EXPECT_THAT(refusal_of("."), HasSubstr("'.'"));
  EXPECT_THAT(refusal_of(std::string("weights\0", 8)), HasSubstr("outside its folder"));
}

TEST_F(ExternalData, ALinkThatLeadsOutIsRefused) {
  fs::create_symlink(base_ / "outside", folder_ / "link");
  fs::create_directory_symlink(base_, folder_ / "up");
  EXPECT_THAT(refusal_of("link"), HasSubstr("leads out of the model's folder"));
  EXPECT_THAT(refusal_of("up/outside"), HasSubstr("leads out of the model's folder"));
}

// Download caches keep files under other names and link to them from the model's folder.
TEST_F(ExternalData, ALinkToWhereTheModelItselfLiesIsFollowed) {
  read("weights");
  const fs::path snapshot = base_ / "snapshot";
  fs::create_directory(snapshot);
  fs::create_symlink(folder_ / "model.onnx", snapshot / "model.onnx");
  fs::create_symlink(folder_ / "weights", snapshot / "weights");
  const OnnxFile file = read_onnx(snapshot / "model.onnx");
  EXPECT_THAT(file.graph.initialisers.at("w").tensor(DType::kFloat32).to_doubles(),
              ElementsAre(1, 2));
}

TEST_F(ExternalData, AMissingFileIsNamed) {
  EXPECT_THAT(refusal_of("absent"),
              AllOf(HasSubstr("'absent'"), HasSubstr("not there"), HasSubstr("model.onnx")));
}

TEST_F(ExternalData, PlacesBehindTheEndAreRefused) {
  EXPECT_THAT(refusal_of("weights", "12", "8"), HasSubstr("truncated"));
  EXPECT_THAT(refusal_of("weights", "17", "0"), HasSubstr("truncated"));
  EXPECT_THAT(refusal_of("weights", "0", "999999999999999"), HasSubstr("truncated"));
  EXPECT_THAT(refusal_of("weights", "0", "12"), HasSubstr("needs 8 bytes but has 12"));
  for (const char* number : {"-4", "4x", "", "99999999999999999999"}) {
    EXPECT_THAT(refusal_of("weights", number), HasSubstr("lies at the place")) << number;
  }
}

}  // namespace
}  // namespace whyformer::onnx
