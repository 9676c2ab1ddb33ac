// Values have the names of what they are, in every architecture and in files as in folders.
#include "discovery/named_values.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden_model.h"
#include "tests/support/golden_vit.h"
#include "tests/support/plain_encoder.h"
#include "tests/support/small_attention.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kNamedTokens = 5;

std::shared_ptr<const ModelGraph> whole_graph(const GoldenModel& golden) {
  return golden.model->graph(
      {.tokens = kNamedTokens, .head = golden.head(), .dtype = DType::kFloat64, .all_rows = true});
}

std::vector<std::string> names_of(const NamedValues& values) {
  std::vector<std::string> names;
  for (const NamedValue& one : values.all()) names.push_back(one.name);
  return names;
}

TEST(NamedValues, OfABlockAreAllItsParts) {
  const GoldenModel golden("bert");
  const auto graph = whole_graph(golden);
  const auto names = names_of(names_in(*graph, {}));
  for (const std::string part :
       {"input", "middle", "output", "attention.query", "attention.key", "attention.value",
        "attention.scores", "attention.pattern", "attention.context", "attention.output",
        "mlp.inner", "mlp.activation", "mlp.output"}) {
    for (size_t block = 0; block < graph->found.sites.size(); ++block)
      EXPECT_THAT(names, testing::Contains(fmt::format("blocks.{}.{}", block, part)));
  }
  for (const std::string name : {"words", "embeddings", "readout", "logits"})
    EXPECT_THAT(names, testing::Contains(name));
}

TEST(NamedValues, AreTheSameNumbersInAFolderAndInAFileOfTheSameWeights) {
  for (const std::string name : {"bert", "bert-gelu-new", "bert-mean-pooling", "distilbert",
                                 "electra", "roberta", "albert-shared"}) {
    const GoldenModel folder(name), file = GoldenModel::from_onnx(name);
    const auto own = whole_graph(folder), other = whole_graph(file);
    const NamedValues names = names_in(*own, {}),
                      in_file = names_in(*other, file.model->source().facts().native);
    TokenBatch batch{{{2, 11, 23, 31, 3}}, {{0, 0, 0, 0, 0}}, {}};
    RunOptions all{.keep = Keep::kEverything, .outputs = {own->output}};
    const Pass pass = run(own->graph, folder.model->feeds(*own, batch), all);
    all.outputs = {other->output};
    const Pass in_file_pass = run(other->graph, file.model->feeds(*other, batch), all);
    int compared = 0;
    for (const NamedValue& one : names.all()) {
      if (one.name.starts_with("inputs.")) continue;  // files have inputs of their own
      const NamedValue* same = in_file.find(one.name);
      ASSERT_NE(same, nullptr) << name << " " << one.name;
      EXPECT_EQ(same->axes, one.axes);
      EXPECT_EQ(same->shape(other->graph), one.shape(own->graph)) << name << " " << one.name;
      const auto expected = one.told(pass[one.value]).to_doubles();
      const auto found = same->told(in_file_pass[same->value]).to_doubles();
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i)
        ASSERT_NEAR(found[i], expected[i], 1e-5) << name << " " << one.name;
      ++compared;
    }
    EXPECT_GT(compared, 20) << name;
  }
}

TEST(NamedValues, AreTheStatesOfAnEncoderInPlainLoops) {
  for (const bool norms_before : {false, true}) {
    const PlainEncoder plain = random_encoder({.norms_before = norms_before}, 7);
    const PlainRows input = random_rows(kNamedTokens, 8, 11);
    const EncoderGraph graph = graph_of(plain, {.tokens = kNamedTokens, .restrict_rows = false});
    const NamedValues names(graph.graph, graph.found,
                            {.embeddings = graph.input, .output = graph.output});
    const Pass pass = run_graph(graph, {input});
    const std::vector<PlainStates> states = run_plain(plain, input);
    const auto compare = [&](const std::string& name, const PlainRows& rows) {
      const NamedValue& one = names.at(name);
      const auto found = one.told(pass[one.value]).to_doubles();
      size_t i = 0;
      for (const PlainVector& row : rows) {
        for (const double number : row) ASSERT_NEAR(found[i++], number, 1e-9) << name;
      }
      EXPECT_EQ(found.size(), i) << name;
    };
    for (size_t block = 0; block < states.size(); ++block) {
      const std::string place = fmt::format("blocks.{}.", block);
      compare(place + "input", states[block].input);
      compare(place + "middle", states[block].middle);
      compare(place + "output", states[block].output);
      compare(place + "attention.output", states[block].attended);
      compare(place + "mlp.inner", states[block].before_activation);
      PlainRows maps;
      for (const PlainRows& head : states[block].maps)
        maps.insert(maps.end(), head.begin(), head.end());
      compare(place + "attention.pattern", maps);
    }
  }
}

// q·kᵀ by the names is the product, and its context the map's mean of the values.
TEST(NamedValues, OfAttentionFitTogether) {
  const GoldenModel golden("bert");
  const auto graph = whole_graph(golden);
  const NamedValues names = names_in(*graph, {});
  const TokenBatch batch{{{2, 11, 23, 31, 3}}, {{0, 0, 0, 0, 0}}, {}};
  const Pass pass = run(graph->graph, golden.model->feeds(*graph, batch),
                        {.keep = Keep::kEverything, .outputs = {graph->output}});
  const auto value = [&](const std::string& name) {
    const NamedValue& one = names.at("blocks.1.attention." + name);
    return one.told(pass[one.value]).select(0, 0).contiguous();
  };
  const Tensor q = value("query"), k = value("key"), scores = value("scores");
  const Tensor map = value("pattern"), v = value("value"), context = value("context");
  for (int64_t head = 0; head < q.dim(0); ++head) {
    for (int64_t i = 0; i < kNamedTokens; ++i) {
      for (int64_t j = 0; j < kNamedTokens; ++j) {
        double sum = 0;
        for (int64_t f = 0; f < q.dim(2); ++f)
          sum += q.data<double>()[(head * kNamedTokens + i) * q.dim(2) + f] *
                 k.data<double>()[(head * kNamedTokens + j) * q.dim(2) + f];
        EXPECT_NEAR(scores.data<double>()[(head * kNamedTokens + i) * kNamedTokens + j], sum, 1e-9);
      }
      for (int64_t f = 0; f < v.dim(2); ++f) {
        double sum = 0;
        for (int64_t j = 0; j < kNamedTokens; ++j)
          sum += map.data<double>()[(head * kNamedTokens + i) * kNamedTokens + j] *
                 v.data<double>()[(head * kNamedTokens + j) * v.dim(2) + f];
        EXPECT_NEAR(context.data<double>()[(head * kNamedTokens + i) * v.dim(2) + f], sum, 1e-9);
      }
    }
  }
}

TEST(NamedValues, OfCrossAttentionStandOutsideBlocks) {
  SmallAttention small;
  const Value text = small.stream("text", 4), picture = small.stream("picture", 6);
  const Value own = small.layer(text, text, "self");
  const Value crossed = small.layer(own, picture, "cross");
  const Graph graph = small.graph.finish();
  const NamedValues names(graph, discover(graph, crossed), {.output = crossed});
  EXPECT_NE(names.find("sites.1.pattern"), nullptr);
  EXPECT_NE(names.find("sites.1.context"), nullptr);
  EXPECT_NE(names.find("streams.0.blocks.0.attention.pattern"), nullptr);
  EXPECT_EQ(names.find("blocks.0.attention.pattern"), nullptr);
}

TEST(NamedValues, AreFoundByStarsThatStopAtDots) {
  EXPECT_TRUE(matches_glob("blocks.*.output", "blocks.12.output"));
  EXPECT_FALSE(matches_glob("blocks.*.output", "blocks.1.attention.output"));
  EXPECT_TRUE(matches_glob("blocks.**.output", "blocks.1.attention.output"));
  EXPECT_TRUE(matches_glob("**", "blocks.1.attention.output"));
  EXPECT_TRUE(matches_glob("blocks.?.input", "blocks.1.input"));
  EXPECT_FALSE(matches_glob("blocks.?.input", "blocks.12.input"));
  EXPECT_FALSE(matches_glob("blocks.*", "blocks"));
  EXPECT_TRUE(matches_glob("", ""));
}

TEST(NamedValues, ThatAreMistypedAreCorrected) {
  const GoldenModel golden("bert");
  const NamedValues names = names_in(*whole_graph(golden), {});
  try {
    names.at("blocks.0.atention.context");
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("'blocks.0.attention.context'"));
  }
  try {
    names.matching("blocks.*.atention.contxt");
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("'blocks.*.attention.context'"));
  }
  EXPECT_THROW(names.matching("layers.*"), InvalidInput);
  EXPECT_EQ(names.matching("blocks.*.output").size(), 2);
}

TEST(NamedValues, HaveTheNamesOfTheModelsFilesToo) {
  const GoldenModel golden("bert");
  const auto graph = whole_graph(golden);
  const NamedValues names = names_in(*graph, {});
  const NamedValue& own = names.at("blocks.1.mlp.output");
  EXPECT_EQ(own.native, "module:bert.encoder.layer.1.output.dense");
  EXPECT_EQ(names.at(own.native).value, own.value);
  for (const NamedValue& one : names.native()) EXPECT_EQ(names.at(one.name).value, one.value);
}

// What the rewrites of a file merge is told, and never taken for something else.
TEST(NamedValues, OfAFileThatWereMergedSayIntoWhat) {
  const GoldenModel golden = GoldenModel::from_onnx("bert");
  const NativeNames& native = golden.model->source().facts().native;
  const NamedValues names = names_in(*whole_graph(golden), native);
  int present = 0, merged = 0;
  for (const FileNode& node : *native.nodes) {
    if (node.outputs.empty()) continue;
    const std::string name = "onnx:" + node.outputs[0];
    try {
      const NamedValue& found = names.at(name);
      EXPECT_EQ(found.name, "onnx:" + node.title);
      ++present;
    } catch (const InvalidInput& error) {
      merged += std::string(error.what()).find("is inside '") != std::string::npos ? 1 : 0;
    }
  }
  EXPECT_GT(present, 20);
  EXPECT_GT(merged, 10);
}

}  // namespace
}  // namespace whyformer
