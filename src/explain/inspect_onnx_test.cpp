// What is found in exported models of many kinds, and what a run of one gives.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "formats/weights.h"
#include "whyformer/arrays.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

std::filesystem::path golden(const std::string& name) {
  return std::filesystem::path(WHYFORMER_SOURCE_DIR) / "tests/golden/onnx/models" / (name + ".onnx");
}

std::string kinds_of(const ModelInfo& info) {
  std::string text;
  for (const SiteInfo& site : info.sites) {
    text += (text.empty() ? "" : " ") + site.kind + (site.causal ? "-causal" : "");
  }
  return text;
}

struct Finding {
  const char* model;
  const char* kinds;
  std::vector<std::string> streams;
  const char* read_out;
};

class InspectOnnx : public testing::TestWithParam<Finding> {};

TEST_P(InspectOnnx, FindsSitesStreamsAndReadOut) {
  const ModelInfo info = inspect(golden(GetParam().model));
  EXPECT_EQ(kinds_of(info), GetParam().kinds);
  std::vector<std::string> streams;
  for (const StreamInfo& stream : info.streams) streams.push_back(stream.units);
  EXPECT_EQ(streams, GetParam().streams);
  EXPECT_EQ(info.read_out, GetParam().read_out);
}

INSTANTIATE_TEST_SUITE_P(
    Models, InspectOnnx,
    testing::Values(
        Finding{"vit.eager.legacy.17", "self self", {"1 learned + 4 × 4 patches of pixel_values"}, "token 0"},
        Finding{"beit.eager.new.18", "self self", {"1 learned + 4 × 4 patches of pixel_values"},
                "mean over tokens 1 to 16"},
        Finding{"clip-text.sdpa.legacy.14", "self-causal self-causal", {"tokens of input_ids"},
                "a token that depends on the input"},
        Finding{"t5.eager.new.18", "self self self-causal cross self-causal cross",
                {"tokens of input_ids", "tokens of decoder_input_ids"},
                "one answer per token of stream 1"},
        Finding{"detr.sdpa.new.23", "self self self cross self cross",
                {"4 × 4 patches of pixel_values", "6 learned"}, "one answer per token of stream 1"},
        Finding{"lxmert.eager.new.20", "self self self co co self self co self",
                {"tokens of input_ids", "positions of visual_feats"}, "token 0 of stream 0"}));

// Random numbers as the model's input, in a file.
std::filesystem::path pictures(float change) {
  std::vector<float> pixels(3 * 32 * 32);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(std::sin(0.37 * i));
  pixels[1234] += change;
  const std::vector<NamedFloats> tensors{{"pixel_values", {1, 3, 32, 32}, pixels}};
  // Tests run side by side.
  const std::string own = testing::UnitTest::GetInstance()->current_test_info()->name();
  const auto path = std::filesystem::temp_directory_path() / ("whyformer_" + own + ".safetensors");
  save(path, write_safetensors(tensors));
  return path;
}

std::vector<float> tensor(const ArrayTrace& trace, const std::string& name) {
  return to_float32(read_safetensors(bytes_of(trace.safetensors), "trace").at(name));
}

TEST(TraceArrays, GivesMapsAndTheGradientOfTheChosenElement) {
  const auto model = golden("vit.eager.legacy.17");
  const ArrayTarget target{"", {0, 1}};
  const ArrayTrace trace = trace_arrays(model, pictures(0), target);
  EXPECT_EQ(trace.info.sites.size(), 2u);
  const std::vector<float> map = tensor(trace, "attention.0");
  const auto keys = static_cast<size_t>(trace.info.sites[0].keys);
  double row = 0;
  for (size_t i = 0; i < keys; ++i) row += map[i];
  EXPECT_NEAR(row, 1, 1e-5);
  const double step = 0.05;
  const double up = trace_arrays(model, pictures(step), target).value;
  const double down = trace_arrays(model, pictures(-step), target).value;
  const double slope = tensor(trace, "input_gradient.pixel_values")[1234];
  EXPECT_NEAR((up - down) / (2 * step), slope, 1e-3 * std::max(1.0, std::abs(slope)));
  std::filesystem::remove(pictures(0));
}

TEST(TraceArrays, RefusesWrongNamesAndElements) {
  const auto path = pictures(0);
  EXPECT_THROW(trace_arrays(golden("vit.eager.legacy.17"), path, {"nothing", {}}), InvalidInput);
  EXPECT_THROW(trace_arrays(golden("vit.eager.legacy.17"), path, {"", {0, 99}}), InvalidInput);
  EXPECT_THROW(trace_arrays(golden("t5.eager.new.18"), path, {}), InvalidInput);
  std::filesystem::remove(path);
}

TEST(InspectOnnxPictures, NameStreamsAndEscapeWhatTheyName) {
  ModelInfo info = inspect(golden("lxmert.eager.new.20"));
  info.model.name = "<b>name</b>";
  const std::string page = to_html(info);
  EXPECT_THAT(page, HasSubstr("positions of visual_feats"));
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;name"));
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_THAT(model_picture(info, PictureFormat::kSvg), HasSubstr("<svg"));
}

}  // namespace
}  // namespace whyformer
