#include "studies/learned/learned_study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "formats/labelled_words.h"
#include "tests/support/golden_weights.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using testing::Contains;
using testing::HasSubstr;

// Sentences of the built-in model's words; a word's label is the class it belongs to.
std::vector<LearnedExample> tagged_sentences(int64_t count) {
  const std::vector<std::string> nouns{"film", "plot", "story", "music", "actor", "scene"},
      verbs{"is", "was", "feels", "looks", "seems", "sounds"},
      adjectives{"good", "bad", "dull", "warm", "funny", "flat"};
  std::string text;
  for (int64_t i = 0; i < count; ++i) {
    text += "the\tdet\n" + nouns[i % 6] + "\tnoun\n" + verbs[(i / 2) % 6] + "\tverb\n" +
            adjectives[(i / 3) % 6] + "\tadj\n\n";
  }
  return parse_labelled_words(text);
}

// "good …" and "bad …": the label is one word of the text.
std::vector<LearnedExample> labelled_sentences(int64_t count) {
  std::vector<LearnedExample> examples;
  const std::vector<std::string> endings{"film", "plot", "story", "music", "actor"};
  for (int64_t i = 0; i < count; ++i) {
    const bool good = i % 2 == 0;
    examples.push_back({.input = TextInput{std::string(good ? "good " : "bad ") + endings[i % 5] +
                                               " number " + std::to_string(i),
                                           {}},
                        .label = good ? "good" : "bad",
                        .place = "line " + std::to_string(i)});
  }
  return examples;
}

TEST(Learned, AWordThatEmbeddingsTellIsFoundInThemAndShuffledLabelsAreNot) {
  const LearnedReport report = probe_layers(Model::built_in(), labelled_sentences(80), {});
  ASSERT_EQ(report.layers.size(), 5u);
  EXPECT_EQ(report.layers[0].layer, -1);
  for (const LayerProbe& layer : report.layers) {
    if (layer.layer < 1) {
      EXPECT_EQ(layer.accuracy.hits, layer.accuracy.rows) << layer.layer;
    }
    EXPECT_LT(layer.shuffled, 0.7);
    EXPECT_LE(layer.p, 1.0 / 21 + 1e-12);
    EXPECT_TRUE(layer.random_weights);
    EXPECT_FALSE(layer.control_task);
    EXPECT_EQ(layer.directions.weights.size(), 2u * layer.directions.width);
  }
  EXPECT_EQ(report.held_out_inputs, 20);
  EXPECT_EQ(report.majority.rows, 20);
  EXPECT_THAT(report.notes, Contains(HasSubstr("Selectivity needs a label for each word")));
}

TEST(Learned, SelectivityIsAccuracyLessThatOfTheControlTask) {
  const LearnedReport report =
      probe_layers(Model::built_in(), tagged_sentences(60), {.layers = {0}, .shuffles = 3});
  ASSERT_EQ(report.layers.size(), 2u) << "embeddings and layer 0";
  EXPECT_EQ(report.unit, "words");
  for (const LayerProbe& layer : report.layers) {
    ASSERT_TRUE(layer.control_task);
    EXPECT_GT(layer.accuracy.share(), 0.95);
    const double expected =
        static_cast<double>(layer.accuracy.hits - layer.control_task->hits) / layer.accuracy.rows;
    EXPECT_NEAR(*layer.selectivity(), expected, 1e-12);
    EXPECT_EQ(layer.control_task->rows, layer.accuracy.rows);
  }
  EXPECT_EQ(report.majority.rows, 60) << "four words of each of 15 texts";
}

TEST(Learned, DependsOnTheSeedAlone) {
  const auto hits = [](int64_t seed) {
    std::vector<double> all;
    const LearnedReport report = probe_layers(Model::built_in(), labelled_sentences(40),
                                              {.layers = {3}, .shuffles = 5, .seed = seed});
    for (const LayerProbe& layer : report.layers) {
      all.push_back(layer.shuffled);
      all.push_back(layer.random_weights->share());
    }
    return all;
  };
  EXPECT_EQ(hits(1), hits(1));
  EXPECT_NE(hits(1), hits(2));
}

TEST(Learned, KeepsTheLayersThatAreDoneWhereTheWorkIsStopped) {
  LearnedRequest request{.shuffles = 2};
  // 40 inputs twice, then the fits: 1 + 2 + 1 for each layer.
  request.progress = [](int64_t done, int64_t) { return done < 40 * 2 + 6; };
  const LearnedReport report = probe_layers(Model::built_in(), labelled_sentences(40), request);
  EXPECT_TRUE(report.stopped_early);
  EXPECT_EQ(report.layers.size(), 1u);
  EXPECT_THAT(report.notes, Contains("Stopped early: 1 of 5 layers were probed."));
}

TEST(Learned, RefusesWhatNoProbeCanLearnFrom) {
  const auto refusal_of = [](const std::vector<LearnedExample>& examples,
                             const LearnedRequest& request = {}) {
    return message_of<InvalidInput>([&] { probe_layers(Model::built_in(), examples, request); });
  };
  EXPECT_THAT(refusal_of(labelled_sentences(5)), HasSubstr("too few for a probe"));
  std::vector<LearnedExample> same = labelled_sentences(20);
  for (LearnedExample& one : same) one.label = "good";
  EXPECT_THAT(refusal_of(same), HasSubstr("nothing to learn"));
  EXPECT_THAT(refusal_of(labelled_sentences(20), {.layers = {9}}), HasSubstr("no layer 9"));
  std::vector<LearnedExample> missing = labelled_sentences(20);
  missing[3].label.clear();
  EXPECT_THAT(refusal_of(missing), HasSubstr("line 3: there is no label"));
}

TEST(LabelledWords, AreFoundByCodePointsAndBrokenLinesAreNamed) {
  const auto sentences = parse_labelled_words("Größe\tN\nzählt\tV\r\n\n\nja\tX\n");
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_EQ(std::get<TextInput>(sentences[0].input).text, "Größe zählt");
  EXPECT_EQ(sentences[0].words[1].start, 6);
  EXPECT_EQ(sentences[0].words[1].end, 11);
  EXPECT_EQ(sentences[1].place, "line 5");
  for (const char* broken : {"word\n", "a\tb\tc\n", "\tN\n", "a\t\n"}) {
    EXPECT_THAT(message_of<InvalidInput>([&] { parse_labelled_words(broken); }),
                HasSubstr("line 1: expected a word and its label"));
  }
}

}  // namespace
}  // namespace whyformer
