#include "models/config.h"

#include <gmock/gmock.h>

#include "base/bytes.h"
#include "tests/support/golden_weights.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

Config config(const char* text) { return Config(nlohmann::json::parse(text)); }

TEST(Config, ANumberThatNoDoubleHoldsIsAFileError) {
  const std::string text = R"({"layer_norm_eps": 1e999})";
  EXPECT_THROW(parse_json_file({std::as_bytes(std::span(text)), {}}, "config.json"), FileError);
}

TEST(Config, AKeyThatIsNotThereGivesTheFallback) {
  const Config empty = config("{}");
  EXPECT_EQ(empty.text_or("hidden_act", "gelu"), "gelu");
  EXPECT_EQ(empty.number_or("mlp_ratio", 4), 4);
  EXPECT_EQ(empty.layer_norm_epsilon(1e-12), 1e-12);
  EXPECT_TRUE(empty.flag_or("qkv_bias", true));
  EXPECT_EQ(empty.id_or("pad_token_id", 1), 1);
}

TEST(Config, AValueOfAnotherKindIsRefusedAndNotReplacedByTheFallback) {
  const Config wrong =
      config(R"({"hidden_act": 3, "activation": null, "layer_norm_eps": "x", "mlp_ratio": null,
                                  "qkv_bias": 1, "pad_token_id": [0]})");
  EXPECT_THAT(message_of<FileError>([&] { wrong.text_or("hidden_act", "gelu"); }),
              HasSubstr("config.json: 'hidden_act' must be a text but is 3;"));
  EXPECT_THAT(message_of<FileError>([&] { wrong.text_or("activation", "gelu"); }),
              HasSubstr("a text but is null;"));
  EXPECT_THAT(message_of<FileError>([&] { wrong.layer_norm_epsilon(1e-12); }),
              HasSubstr("a number but is \"x\";"));
  EXPECT_THAT(message_of<FileError>([&] { wrong.number_or("mlp_ratio", 4); }),
              HasSubstr("a number but is null;"));
  EXPECT_THAT(message_of<FileError>([&] { wrong.flag_or("qkv_bias", true); }),
              HasSubstr("true or false but is 1;"));
  EXPECT_THAT(message_of<FileError>([&] { wrong.id_or("pad_token_id", 1); }),
              HasSubstr("a whole number but is [0];"));
}

TEST(Config, TheEpsilonOfNormsIsFiniteAndNotNegative) {
  EXPECT_EQ(config(R"({"layer_norm_eps": 0})").layer_norm_epsilon(1e-12), 0);
  EXPECT_THAT(
      message_of<FileError>([] { config(R"({"layer_norm_eps": -1})").layer_norm_epsilon(1e-12); }),
      HasSubstr("'layer_norm_eps' must be a small number from 0 on but is -1;"));
  const Config infinite(nlohmann::json{{"layer_norm_eps", HUGE_VAL}});
  EXPECT_THROW(infinite.layer_norm_epsilon(1e-12), FileError);
}

TEST(Config, NullIsAbsentWhereTransformersWritesIt) {
  const Config plain = config(R"({"problem_type": null, "pad_token_id": null, "id2label": null})");
  EXPECT_EQ(plain.problem(2), Problem::kSingleLabel);
  EXPECT_EQ(plain.id_or("pad_token_id", 1), 1);
  EXPECT_THAT(plain.labels(2), testing::ElementsAre("LABEL_0", "LABEL_1"));
}

TEST(Config, BrokenJsonIsToldWithItsPlaceAndNotInTheParsersWords) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      parse_json_file(bytes_of(text), "config.json");
    } catch (const FileError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("{\n \"a\": 1,\n \"b\" 2}"),
            "'config.json' is not valid JSON (line 3, column 6); correct it or download it again");
  EXPECT_EQ(message("nul"),
            "'config.json' is not valid JSON (it ends too early); correct it or download it again");
  EXPECT_EQ(message("{\"a\": \xff}"),
            "'config.json' is not valid JSON (line 1, column 7); correct it or download it again");
}

}  // namespace
}  // namespace whyformer
