// What must hold of patching: against whole runs of the edited model, and against planted truths.
#include "whyformer/patching.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "studies/patching/sweep.h"
#include "tests/support/golden_model.h"
#include "whyformer/error.h"
#include "whyformer/interrupted.h"
#include "whyformer/probe.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

InputValue patched_text(const std::string& text) { return TextInput{text, {}}; }
const InputValue kCleanText = TextInput{"w11 w23 w31 w47", {}};
const InputValue kCorruptedText = TextInput{"w12 w23 w30 w47", {}};

Model patched_model(const std::string& name = "bert") {
  return Model::load(parts_of(golden_files(name), name));
}

PatchRequest patch_request(std::vector<std::string> kinds,
                           Precision precision = Precision::kDouble) {
  return {.kinds = std::move(kinds), .target = int64_t{1}, .precision = precision};
}

double answer_with(const Model& model, const InputValue& input, std::vector<Edit> edits) {
  return probe(model, input, {.edits = std::move(edits), .precision = Precision::kDouble})
      .output.values[1];
}

// The value that a cell of a grid is about, and where.
struct PatchedPlace {
  std::string value;
  EditPlaces at;
};

PatchedPlace place_of(const std::string& kind, size_t row, size_t column, size_t heads) {
  const auto number = [](size_t i) { return std::vector<int64_t>{static_cast<int64_t>(i)}; };
  if (kind == "residual")
    return {row == 0 ? "blocks.0.input" : fmt::format("blocks.{}.output", row - 1),
            {{"token", number(column)}}};
  if (kind == "heads")
    return {fmt::format("blocks.{}.attention.context", row), {{"head", number(column)}}};
  if (kind == "pattern")
    return {fmt::format("blocks.{}.attention.pattern", row), {{"head", number(column)}}};
  if (kind == "head-tokens")
    return {fmt::format("blocks.{}.attention.context", row / heads),
            {{"head", number(row % heads)}, {"token", number(column)}}};
  return {fmt::format("blocks.{}.{}.output", row, kind), {{"token", number(column)}}};
}

TEST(Patching, ByRestartsGivesWhatWholeRunsOfTheEditedModelGive) {
  for (const std::string name : {"bert", "distilbert", "roberta"}) {
    const Model model = patched_model(name);
    const Recording values = probe(
        model, kCleanText, {.reads = {{.value = "blocks.**"}}, .precision = Precision::kDouble});
    const size_t heads = values.at("blocks.0.attention.context").shape[1];
    for (const PatchKindInfo& kind : patch_kinds()) {
      const PatchReport found =
          patch(model, kCleanText, kCorruptedText, patch_request({kind.name}));
      const EffectGrid& grid = found.grids[0];
      for (size_t cell = 0; cell < grid.cells(); ++cell) {
        const PatchedPlace place =
            place_of(kind.name, cell / grid.columns.size(), cell % grid.columns.size(), heads);
        const double naive =
            answer_with(model, kCorruptedText, {values.copy(place.value, place.at)});
        EXPECT_NEAR(grid.changes[cell], naive - *found.corrupted_value, 1e-9)
            << name << ' ' << kind.name << ' ' << cell;
      }
    }
  }
}

TEST(Patching, RunsNothingTwiceAndNothingThatCannotDiffer) {
  const PatchReport found =
      patch(patched_model(), kCleanText, kCorruptedText, patch_request({"residual"}));
  // Tokens 1 and 3 have the same vectors in both texts: the input row runs two cells of four.
  EXPECT_EQ(found.grids[0].changes[1], 0);
  EXPECT_EQ(found.grids[0].changes[3], 0);
  EXPECT_NE(found.grids[0].changes[0], 0);
  EXPECT_NE(found.grids[0].changes[2], 0);
  EXPECT_EQ(found.cost.backwards, 1);
  EXPECT_EQ(found.cost.forwards, 2 + 2 + 4 + 4);
}

TEST(Patching, OfTheLastLayerIsExactly0WhereTheTokenIsNotRead) {
  const PatchReport found = patch(patched_model(), kCleanText, kCorruptedText,
                                  patch_request({"residual"}, Precision::kSingle));
  const EffectGrid& grid = found.grids[0];
  const size_t last = (grid.rows.size() - 1) * grid.columns.size();
  for (size_t token = 1; token < grid.columns.size(); ++token)
    EXPECT_EQ(grid.changes[last + token], 0) << token;
  EXPECT_EQ(grid.effects[last], 1);
}

TEST(Patching, OfTheSameInputChangesNothing) {
  PatchRequest request = patch_request({"residual", "heads"});
  const PatchReport found = patch(patched_model(), kCleanText, kCleanText, request);
  EXPECT_FALSE(found.effects_are_shares);
  EXPECT_EQ(found.cost.forwards, 2);
  for (const EffectGrid& grid : found.grids) {
    for (const double change : grid.changes) EXPECT_EQ(change, 0);
  }
}

TEST(Patching, DoesNotDependOnWhatRunsTogether) {
  const Model model = patched_model();
  PatchRequest request = patch_request({"residual", "head-tokens"}, Precision::kSingle);
  const PatchReport together = patch(model, kCleanText, kCorruptedText, request);
  request.memory_bytes = 1;
  const PatchReport alone = patch(model, kCleanText, kCorruptedText, request);
  for (size_t grid = 0; grid < 2; ++grid)
    EXPECT_EQ(together.grids[grid].changes, alone.grids[grid].changes);
}

TEST(Patching, PreviewsAreTheSlopeTowardsTheCleanRun) {
  const Model model = patched_model();
  const PatchReport found =
      patch(model, kCleanText, kCorruptedText, patch_request({"residual", "head-tokens"}));
  const double gap = found.clean_value - *found.corrupted_value;
  const Recording clean = probe(
      model, kCleanText, {.reads = {{.value = "blocks.**"}}, .precision = Precision::kDouble});
  const Recording own = probe(model, kCorruptedText,
                              {.reads = {{.value = "blocks.**"}}, .precision = Precision::kDouble});
  for (const EffectGrid& grid : found.grids) {
    const size_t heads = clean.at("blocks.0.attention.context").shape[1];
    for (size_t cell = 0; cell < grid.cells(); ++cell) {
      const PatchedPlace place =
          place_of(grid.kind, cell / grid.columns.size(), cell % grid.columns.size(), heads);
      // A small step from the corrupted value towards the clean one.
      const auto moved = [&](double step) {
        const EditArray to = clean.numbers(place.value, place.at),
                        from = own.numbers(place.value, place.at);
        std::vector<double> numbers;
        for (size_t i = 0; i < to.values->size(); ++i)
          numbers.push_back((*from.values)[i] + step * ((*to.values)[i] - (*from.values)[i]));
        const Edit edit{.op = EditOp::kSet,
                        .value = place.value,
                        .at = place.at,
                        .array = {to.shape, std::make_shared<const std::vector<double>>(numbers)}};
        return answer_with(model, kCorruptedText, {edit});
      };
      EXPECT_NEAR(grid.previews[cell], (moved(1e-4) - moved(-1e-4)) / 2e-4 / gap, 1e-5)
          << grid.kind << ' ' << cell;
    }
    EXPECT_TRUE(grid.preview_rank);
  }
}

TEST(Patching, RunsTheCellsWithTheLargestEstimatesWhereAShareIsAskedFor) {
  PatchRequest request = patch_request({"head-tokens"});
  const PatchReport all = patch(patched_model(), kCleanText, kCorruptedText, request);
  request.exact_share = 0.25;
  const PatchReport some = patch(patched_model(), kCleanText, kCorruptedText, request);
  const EffectGrid &whole = all.grids[0], &part = some.grids[0];
  double least_run = 1e9, most_left = 0;
  size_t runs = 0;
  for (size_t cell = 0; cell < part.cells(); ++cell) {
    EXPECT_EQ(part.previews[cell], whole.previews[cell]);
    const double estimate = std::abs(part.previews[cell]);
    if (std::isnan(part.changes[cell])) {
      most_left = std::max(most_left, estimate);
      continue;
    }
    EXPECT_EQ(part.changes[cell], whole.changes[cell]);
    least_run = std::min(least_run, estimate);
    ++runs;
  }
  EXPECT_EQ(runs, part.cells() / 4);
  EXPECT_GE(least_run, most_left);
}

TEST(Patching, OfTextsOfOtherLengthsIsDoneWhereTheirWordsAreTheSame) {
  const PatchReport found = patch(patched_model(), kCleanText, patched_text("w11 w5 w23 w30 w47"),
                                  patch_request({"residual"}));
  const EffectGrid& grid = found.grids[0];
  ASSERT_EQ(grid.columns.size(), 5U);
  for (size_t row = 0; row < grid.rows.size(); ++row) {
    for (const size_t token : {1U, 3U})
      EXPECT_TRUE(std::isnan(grid.changes[row * 5 + token])) << token;
    for (const size_t token : {0U, 2U, 4U})
      EXPECT_TRUE(std::isfinite(grid.changes[row * 5 + token])) << token;
  }
  EXPECT_THAT(found.notes, testing::Contains(HasSubstr("2 of the corrupted one")));
}

TEST(AlignedUnits, AreTheLongestSequenceOfEqualOnes) {
  const auto units = [](const std::vector<std::string>& texts) {
    std::vector<Unit> all;
    for (const std::string& text : texts) all.push_back({.text = text});
    return all;
  };
  EXPECT_EQ(align_units(units({"a", "b", "c"}), units({"x", "y", "z"})), (AlignedUnits{0, 1, 2}));
  EXPECT_EQ(align_units(units({"a", "b", "c"}), units({"a", "c"})), (AlignedUnits{0, 2}));
  EXPECT_EQ(align_units(units({"a", "c"}), units({"a", "b", "c", "d"})),
            (AlignedUnits{0, -1, 1, -1}));
}

TEST(LogitLens, OfTheLastLayerIsTheAnswerBitForBit) {
  for (const std::string name : {"bert", "distilbert", "bert-mean-pooling", "roberta"}) {
    const Model model = patched_model(name);
    const PatchReport found =
        logit_lens(model, kCleanText, patch_request({"residual"}, Precision::kSingle));
    const EffectGrid& grid = found.grids[0];
    EXPECT_EQ(grid.effects[(grid.rows.size() - 1) * grid.columns.size()], found.clean_value)
        << name;
  }
}

TEST(HeadAblation, GivesWhatTheModelGivesWithTheEdit) {
  const Model model = patched_model();
  for (const auto& [ablation, edit] :
       {std::pair{HeadAblation::kZero, "zero"}, std::pair{HeadAblation::kTokenMean, "mean"}}) {
    const PatchReport found = ablate_heads(model, kCleanText, ablation, patch_request({"heads"}));
    const EffectGrid& grid = found.grids[0];
    for (size_t cell = 0; cell < grid.cells(); ++cell) {
      const std::string text = fmt::format("{} blocks.{}.attention.context head={}", edit,
                                           cell / grid.columns.size(), cell % grid.columns.size());
      EXPECT_NEAR(grid.changes[cell],
                  answer_with(model, kCleanText, {parse_edit(text)}) - found.clean_value, 1e-12)
          << text;
    }
  }
}

TEST(CausalTracing, WithTheSameSeedIsTheSameAndWithAllLayersRestoredTheCleanAnswer) {
  const Model model = patched_model();
  PatchRequest request = patch_request({"residual"});
  request.seed = 3;
  const NoiseRequest noise{.tokens = {1}, .draws = 4};
  const PatchReport found = trace_causes(model, kCleanText, noise, request);
  const PatchReport again = trace_causes(model, kCleanText, noise, request);
  EXPECT_EQ(found.grids[0].changes, again.grids[0].changes);
  const EffectGrid& grid = found.grids[0];
  // What enters the first block at the noisy token, or leaves the last at the one that is read.
  EXPECT_NEAR(grid.effects[1], 1, 1e-9);
  EXPECT_NEAR(grid.effects[(grid.rows.size() - 1) * grid.columns.size()], 1, 1e-9);
  EXPECT_EQ(grid.effects[0], 0);
  ASSERT_EQ(grid.errors.size(), grid.cells());
  request.seed = 4;
  EXPECT_NE(trace_causes(model, kCleanText, noise, request).grids[0].changes, grid.changes);
}

// Of two draws a and b the mean m is half way, and its standard error |a - m|. Noise that moves
// nothing leaves plain changes.
TEST(CausalTracing, HasErrorsInTheUnitOfItsEffects) {
  const Model model = patched_model();
  for (const double scale : {3.0, 1e-9}) {
    const PatchRequest request = patch_request({"residual"});
    const PatchReport one =
        trace_causes(model, kCleanText, {.tokens = {1}, .scale = scale, .draws = 1}, request);
    const PatchReport two =
        trace_causes(model, kCleanText, {.tokens = {1}, .scale = scale, .draws = 2}, request);
    EXPECT_EQ(two.effects_are_shares, scale > 1);
    const double unit =
        two.effects_are_shares ? std::abs(two.clean_value - *two.corrupted_value) : 1;
    const EffectGrid &first = one.grids[0], &both = two.grids[0];
    ASSERT_EQ(both.errors.size(), both.cells());
    for (size_t cell = 0; cell < both.cells(); ++cell) {
      const double error = std::abs(first.changes[cell] - both.changes[cell]);
      EXPECT_NEAR(both.errors[cell], error / unit, 1e-12 / unit) << scale << ' ' << cell;
    }
  }
}

TEST(CausalTracing, PutsNoiseOnATokenOnce) {
  const Model model = patched_model();
  const PatchRequest request = patch_request({"residual"});
  const PatchReport once = trace_causes(model, kCleanText, {.tokens = {1, 2}, .draws = 2}, request);
  const PatchReport twice =
      trace_causes(model, kCleanText, {.tokens = {2, 1, 2}, .draws = 2}, request);
  EXPECT_EQ(twice.grids[0].changes, once.grids[0].changes);
  EXPECT_EQ(twice.notes, once.notes);
}

// Layer 1 head 1 attends to the third token, whose position is written into the stream, and copies
// its word to all others; nothing else in the model moves anything.
Model with_a_copying_head() {
  constexpr size_t kWidth = 24, kHeadWidth = 12;
  constexpr size_t kWordPart = 12;  // words are written behind it, places before
  const auto change = [](std::map<std::string, std::vector<float>>& weights) {
    const std::string embeddings = "bert.embeddings.";
    auto& words = weights.at(embeddings + "word_embeddings.weight");
    for (size_t i = 0; i < words.size(); ++i) {
      if (i % kWidth < kWordPart) words[i] = 0;
    }
    auto& places = weights.at(embeddings + "position_embeddings.weight");
    std::ranges::fill(places, 0.0F);
    for (size_t place = 0; place < kWordPart; ++place) places[place * kWidth + place] = 3;
    std::ranges::fill(weights.at(embeddings + "token_type_embeddings.weight"), 0.0F);
    for (int layer = 0; layer < 2; ++layer) {
      const std::string block = fmt::format("bert.encoder.layer.{}.", layer);
      for (const char* part : {"attention.self.query", "attention.self.key", "attention.self.value",
                               "attention.output.dense", "output.dense"}) {
        std::ranges::fill(weights.at(block + part + ".weight"), 0.0F);
        std::ranges::fill(weights.at(block + part + ".bias"), 0.0F);
      }
    }
    const std::string own = "bert.encoder.layer.1.attention.";
    weights.at(own + "self.query.bias")[kHeadWidth] = 100;
    weights.at(own + "self.key.weight")[kHeadWidth * kWidth + 2] = 100;
    for (size_t i = 0; i < kHeadWidth; ++i) {
      weights.at(own + "self.value.weight")[(kHeadWidth + i) * kWidth + kWordPart + i] = 2;
      weights.at(own + "output.dense.weight")[(kWordPart + i) * kWidth + kHeadWidth + i] = 2;
    }
  };
  const FileLookup files = golden_files("bert");
  const StoredTensors stored = read_safetensors(*files("model.safetensors"), "weights");
  std::map<std::string, std::vector<float>> weights;
  for (const auto& [key, tensor] : stored) weights[key] = to_float32(tensor);
  change(weights);
  std::vector<NamedFloats> named;
  for (const auto& [key, values] : weights) named.push_back({key, stored.at(key).shape, values});
  const Bytes file = bytes_of(write_safetensors(named));
  return Model::load(parts_of(
      [&](std::string_view asked) -> std::optional<Bytes> {
        return asked == "model.safetensors" ? file : files(asked);
      },
      "copying"));
}

TEST(PlantedHead, ThatCopiesATokenIsFoundByAblationAndByPatching) {
  const Model model = with_a_copying_head();
  const InputValue clean = patched_text("w11 w23 w31 w47"), other = patched_text("w11 w23 w12 w47");
  const PatchReport ablated =
      ablate_heads(model, clean, HeadAblation::kZero, patch_request({"heads"}));
  const PatchReport patched = patch(model, clean, other, patch_request({"heads", "residual"}));
  const PatchReport paths = patch_paths(model, clean, other, {}, patch_request({}));
  EXPECT_GT(std::abs(patched.clean_value - *patched.corrupted_value), 1e-3);
  for (size_t head = 0; head < 4; ++head) {
    const bool copies = head == 3;
    EXPECT_EQ(std::abs(ablated.grids[0].changes[head]) > 1e-3, copies) << head;
    EXPECT_NEAR(patched.grids[0].effects[head], copies ? 1 : 0, 1e-9) << head;
    EXPECT_NEAR(paths.grids[0].effects[head], copies ? 1 : 0, 1e-9) << head;
  }
  // The word sits at its own token until the head has moved it to the one that is read.
  const EffectGrid& residual = patched.grids[1];
  for (size_t row = 0; row < 3; ++row) {
    for (size_t token = 0; token < 4; ++token)
      EXPECT_NEAR(residual.effects[row * 4 + token], token == (row < 2 ? 2 : 0) ? 1 : 0, 1e-9)
          << row << ' ' << token;
  }
}

// Two sentences that differ in one word.
TEST(PlantedWord, IsTheStrongestPatchAtFirstAndTheReadOutTokenAtLast) {
  const Model model = Model::built_in();
  PatchRequest request{.precision = Precision::kDouble};
  const PatchReport found = patch(model, patched_text("a truly wonderful film"),
                                  patched_text("a truly terrible film"), request);
  const EffectGrid& grid = found.grids[0];
  const size_t columns = grid.columns.size();
  const auto strongest_of = [&](size_t row) {
    const auto begin = grid.effects.begin() + static_cast<int64_t>(row * columns);
    return grid.columns[std::max_element(begin, begin + static_cast<int64_t>(columns)) - begin];
  };
  EXPECT_EQ(strongest_of(0), "terrible");
  EXPECT_EQ(strongest_of(1), "terrible");
  EXPECT_EQ(strongest_of(grid.rows.size() - 1), "[CLS]");
  EXPECT_NEAR(grid.effects[3], 1, 1e-9);
  EXPECT_GT(*grid.preview_rank, 0.3);
}

TEST(Patching, ThatIsStoppedKeepsWhatIsThere) {
  PatchRequest request = patch_request({"residual"});
  request.memory_bytes = 1;
  request.progress = [](int64_t done, int64_t) { return done < 3; };
  const PatchReport found = patch(patched_model(), kCleanText, kCorruptedText, request);
  EXPECT_TRUE(found.stopped_early);
  EXPECT_TRUE(std::isnan(found.grids[0].changes.back()));
  EXPECT_THAT(found.notes, testing::Contains(HasSubstr("Stopped")));
}

TEST(Patching, RefusesWhatHasNoMeaning) {
  const Model model = patched_model();
  const auto refusal = [&](PatchRequest request) -> std::string {
    try {
      patch(model, kCleanText, kCorruptedText, request);
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal(patch_request({"streams"})), HasSubstr("residual, attention, mlp"));
  PatchRequest request = patch_request({"residual"});
  request.against = int64_t{1};
  EXPECT_THAT(refusal(request), HasSubstr("the same"));
  request = patch_request({"residual"});
  request.exact_share = 0;
  EXPECT_THAT(refusal(request), HasSubstr("above 0"));
  EXPECT_THROW(trace_causes(model, kCleanText, {.tokens = {9}}, patch_request({"residual"})),
               InvalidInput);
  EXPECT_THROW(patch_paths(model, kCleanText, kCorruptedText, {.what = "pattern"},
                           patch_request({"residual"})),
               InvalidInput);
}

}  // namespace
}  // namespace whyformer
