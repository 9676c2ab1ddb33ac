// What is found in exported models of many kinds, and what a run of one gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/source_folder.h"
#include "whyformer/error.h"
#include "whyformer/model.h"
#include "whyformer/report.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

std::filesystem::path golden(const std::string& name) {
  return source_folder() / "tests/golden/onnx/models" / (name + ".onnx");
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
    testing::Values(Finding{"vit.eager.legacy.17",
                            "self self",
                            {"1 learned + 4 × 4 patches of pixel_values"},
                            "token 0"},
                    Finding{"beit.eager.new.18",
                            "self self",
                            {"1 learned + 4 × 4 patches of pixel_values"},
                            "mean over tokens 1 to 16"},
                    Finding{"clip-text.sdpa.legacy.14",
                            "self-causal self-causal",
                            {"tokens of input_ids"},
                            "a token that depends on the input"},
                    Finding{"t5.eager.new.18",
                            "self self self-causal cross self-causal cross",
                            {"tokens of input_ids", "tokens of decoder_input_ids"},
                            "one answer per token of stream 1"},
                    Finding{"detr.sdpa.new.23",
                            "self self self cross self cross",
                            {"4 × 4 patches of pixel_values", "6 learned"},
                            "one answer per token of stream 1"},
                    Finding{"ft-transformer-flat.eager.legacy.14",
                            "self self",
                            {"1 learned + positions of numbers + tokens of categories"},
                            "token 0"},
                    Finding{"lxmert.eager.new.20",
                            "self self self co co self self co self",
                            {"tokens of input_ids", "positions of visual_feats"},
                            "token 0 of stream 0"}));

TEST(InspectOnnxTables, TellWhatTheFileHolds) {
  const std::filesystem::path file = golden("ft-transformer.sdpa.legacy.14");
  EXPECT_EQ(inspect(file).sites.size(), 2u);
  EXPECT_THROW(Model::load(file).inspect(), InvalidInput);
}

TEST(InspectOnnxPictures, NameStreamsAndEscapeWhatTheyName) {
  ModelInfo info = inspect(golden("lxmert.eager.new.20"));
  info.model.name = "<b>name</b>";
  const std::string page = to_html(info);
  for (const InputInfo& input : info.inputs)
    EXPECT_NE(page.find("<td>" + input.name + "</td>"), std::string::npos);
  for (const std::string& output : info.outputs)
    EXPECT_NE(page.find("<td>" + output + "</td>"), std::string::npos);
  EXPECT_NE(page.find("windows</th>"), std::string::npos);
  EXPECT_THAT(page, HasSubstr("positions of visual_feats"));
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;name"));
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_THAT(model_picture(info, PictureFormat::kSvg), HasSubstr("<svg"));
}

}  // namespace
}  // namespace whyformer
