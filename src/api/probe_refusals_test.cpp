// What a probe cannot mean is refused, and what is kept is not rounded where that makes it another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/weights.h"
#include "tests/support/golden_model.h"
#include "tests/support/temporary_folder.h"
#include "whyformer/error.h"
#include "whyformer/probe.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

const InputValue kRefusedText = TextInput{"w11 w23 w31 w47", {}};

std::string probe_refusal(const ProbeRequest& request) {
  try {
    probe(Model::load(parts_of(golden_files("bert"), "bert")), kRefusedText, request);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

TEST(Probe, TakesTheGradientOfASumAlone) {
  const auto refusal = [](const Read& of) {
    return probe_refusal({.gradients = {"words"}, .gradient_of = of});
  };
  EXPECT_EQ(refusal({.value = "blocks.1.output", .at = {{"token", {0}}}}), "");
  EXPECT_THAT(refusal(parse_read("blocks.1.output reduce=norm")), HasSubstr("no reducer"));
  EXPECT_THAT(refusal({.value = "blocks.1.output", .over = {"token"}}), HasSubstr("no reducer"));
  EXPECT_THAT(refusal({.value = "inputs.input_ids"}), HasSubstr("whole numbers"));
}

TEST(Reducers, RefuseWhatTheyWouldIgnoreAndCannotCount) {
  const auto refusal = [](Read read) {
    read.value = "blocks.1.output";
    return probe_refusal({.reads = {read}});
  };
  EXPECT_THAT(refusal({.reduce = Reducer::kGram, .over = {"token"}}), HasSubstr("all axes"));
  EXPECT_THAT(refusal({.reduce = Reducer::kHistogram, .over = {"token"}, .count = 3}),
              HasSubstr("all axes"));
  for (const Reducer reduce : {Reducer::kTopK, Reducer::kHistogram}) {
    for (const int64_t count : {int64_t{0}, INT64_MAX})
      EXPECT_THAT(refusal({.reduce = reduce, .count = count}), HasSubstr("give from 1 to"));
  }
  for (const char* number : {"\"NaN\"", "\"Infinity\""}) {
    const auto edits = edits_from_json(
        std::string(R"([{"op": "set", "value": "blocks.1.output", "number": )") + number + "}]");
    EXPECT_THAT(
        probe_refusal(
            {.reads = {{.value = "blocks.1.output", .reduce = Reducer::kHistogram, .count = 3}},
             .edits = edits}),
        HasSubstr("no bin"));
  }
}

TEST(Probe, RefusesMoreCopiesThanAreMade) {
  EXPECT_THAT(probe_refusal({.copies = 40'000'000}), HasSubstr("4096"));
}

TEST(Recording, GivesNumbersOfWhatWasReadWholeAlone) {
  const Model model = Model::load(parts_of(golden_files("bert"), "bert"));
  const Recording part = probe(model, kRefusedText,
                               {.reads = {parse_read("blocks.0.output token=2,3"),
                                          parse_read("blocks.1.output reduce=norm")},
                                .gradients = {"words"}});
  EXPECT_THROW(part.copy("blocks.0.output", {{"token", {1}}}), InvalidInput);
  EXPECT_THROW(part.numbers("blocks.1.output.norm"), InvalidInput);
  EXPECT_EQ(part.numbers("gradient.words").values->size(),
            static_cast<size_t>(part.at("gradient.words").size()));
}

// 16-bit floats have every second whole number above 2048, and every 16th above 16384.
TEST(Recording, KeepsWholeNumbersWhereOthersAreHalved) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "values.safetensors";
  const Recording recording = probe(Model::built_in(), TextInput{"a truly wonderful film", {}},
                                    {.reads = {parse_read("inputs.input_ids"),
                                               {.value = "embeddings",
                                                .reduce = Reducer::kTopK,
                                                .over = {"token", "feature"},
                                                .count = 1 << 20}}});
  save(path, recording, SavedAs::kF16);
  const StoredTensors stored = read_safetensors(map_file(path), "values");
  for (const char* name : {"inputs.input_ids", "embeddings.topk.indices"}) {
    const RecordedArray& own = recording.at(name);
    const std::vector<float> kept = to_float32(stored.at(name));
    ASSERT_EQ(static_cast<int64_t>(kept.size()), own.size());
    for (int64_t i = 0; i < own.size(); ++i)
      EXPECT_EQ(kept[static_cast<size_t>(i)], own[i]) << name;
    EXPECT_NE(stored.at(name).type, WeightType::kF16) << name;
  }
  EXPECT_EQ(stored.at("embeddings.topk").type, WeightType::kF16);
}

}  // namespace
}  // namespace whyformer
