// What must hold of values that are read and changed, on models of tests/golden/models.
#include "whyformer/probe.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "tests/support/golden_model.h"
#include "whyformer/answers.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

const InputValue kProbedText = TextInput{"w11 w23 w31 w47", {}};
const InputValue kOtherText = TextInput{"w12 w23 w30 w47", {}};

Model golden_folder(const std::string& name, const ChangeWeights& change = {}) {
  ModelParts parts = parts_of(golden_files(name), name);
  if (!change) return Model::load(parts);
  std::map<std::string, std::vector<float>> weights;
  const FileLookup files = golden_files(name);
  const StoredTensors stored = read_safetensors(*files("model.safetensors"), "weights");
  for (const auto& [key, tensor] : stored) weights[key] = to_float32(tensor);
  change(weights);
  std::vector<NamedFloats> named;
  for (const auto& [key, values] : weights) named.push_back({key, stored.at(key).shape, values});
  const Bytes file = bytes_of(write_safetensors(named));
  return Model::load(parts_of(
      [&](std::string_view asked) -> std::optional<Bytes> {
        return asked == "model.safetensors" ? file : files(asked);
      },
      name));
}

Recording read_all(const Model& model, const InputValue& input, const std::string& pattern,
                   std::vector<Edit> edits = {}, Precision precision = Precision::kSingle) {
  return probe(model, input,
               {.reads = {{.value = pattern}}, .edits = std::move(edits), .precision = precision});
}

std::vector<double> recorded_numbers(const RecordedArray& array) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < array.size(); ++i) numbers.push_back(array[i]);
  return numbers;
}

// The names of numbers that are not inputs: those may be edited.
std::vector<std::string> editable(const Model& model) {
  std::vector<std::string> names;
  for (const ValueInfo& value : values_inside(model, kProbedText)) {
    if (!value.name.starts_with("inputs.")) names.push_back(value.name);
  }
  return names;
}

TEST(Probe, ThatAsksForNothingIsAPlainRun) {
  for (const std::string name : {"bert", "roberta", "distilbert", "albert-shared"}) {
    const Model model = golden_folder(name);
    const Recording recording = probe(model, kProbedText, {});
    EXPECT_EQ(recording.output.values, answers(model, {kProbedText}, {}).inputs[0].values) << name;
    EXPECT_TRUE(recording.arrays.empty());
  }
}

TEST(Probe, ReadsTheSameValuesTogetherAsAlone) {
  const Model model = golden_folder("bert");
  const Recording all = read_all(model, kProbedText, "blocks.**");
  EXPECT_GT(all.arrays.size(), 20U);
  for (const RecordedArray& one : all.arrays) {
    const Recording alone = read_all(model, kProbedText, one.name);
    EXPECT_EQ(recorded_numbers(alone.arrays[0]), recorded_numbers(one)) << one.name;
  }
}

TEST(Edit, ThatSetsWhatIsThereChangesNoBit) {
  for (const std::string name : {"bert", "distilbert", "bert-mean-pooling"}) {
    const Model model = golden_folder(name);
    const Recording own = read_all(model, kProbedText, "**");
    for (const std::string& value : editable(model)) {
      const Edit same{.op = EditOp::kSet, .value = value, .array = own.numbers(value)};
      EXPECT_EQ(probe(model, kProbedText, {.edits = {same}}).output.values, own.output.values)
          << name << ' ' << value;
      const Edit once = parse_edit("scale " + value + " 1");
      EXPECT_EQ(probe(model, kProbedText, {.edits = {once}}).output.values, own.output.values)
          << name << ' ' << value;
      const Edit frozen = parse_edit("freeze " + value);
      EXPECT_EQ(probe(model, kProbedText, {.edits = {frozen}}).output.values, own.output.values)
          << name << ' ' << value;
    }
  }
}

// Columns of the output projection that a head writes to.
TEST(Edit, ThatSetsAHeadToZeroIsThatHeadPruned) {
  const Model own = golden_folder("bert");
  const std::string projection = "bert.encoder.layer.1.attention.output.dense.weight";
  const Recording read = read_all(own, kProbedText, "blocks.1.attention.context");
  const int64_t heads = read.arrays[0].shape[1], width = read.arrays[0].shape[3];
  for (int64_t head = 0; head < heads; ++head) {
    const Model pruned = golden_folder("bert", [&](auto& weights) {
      std::vector<float>& matrix = weights.at(projection);
      for (size_t i = 0; i < matrix.size(); ++i) {
        const auto column = static_cast<int64_t>(i) % (heads * width);
        if (column / width == head) matrix[i] = 0;
      }
    });
    const Edit edit = parse_edit(fmt::format("zero blocks.1.attention.context head={}", head));
    const auto found = probe(own, kProbedText, {.edits = {edit}}).output.values;
    EXPECT_EQ(found, answers(pruned, {kProbedText}, {}).inputs[0].values) << head;
    EXPECT_NE(found, read.output.values);
    const Edit gate = parse_edit(fmt::format("scale blocks.1.attention.context 0 head={}", head));
    EXPECT_EQ(probe(own, kProbedText, {.edits = {gate}}).output.values, found);
  }
}

TEST(Reducers, GiveWhatTheyGiveOfWhatWasRead) {
  const Model model = golden_folder("bert");
  const std::string name = "blocks.1.output";
  const RecordedArray whole = read_all(model, kProbedText, name, {}, Precision::kDouble).arrays[0];
  const int64_t tokens = whole.shape[1], width = whole.shape[2];
  EditArray with{{width}, std::make_shared<const std::vector<double>>([&] {
                   std::vector<double> numbers(width);
                   std::iota(numbers.begin(), numbers.end(), -2.0);
                   return numbers;
                 }())};
  std::vector<Read> reads;
  for (const Reducer reduce : {Reducer::kMean, Reducer::kSum, Reducer::kMax, Reducer::kNorm,
                               Reducer::kDot, Reducer::kTopK, Reducer::kGram, Reducer::kHistogram})
    reads.push_back({.value = name, .reduce = reduce, .count = 3, .with = with});
  const Recording found =
      probe(model, kProbedText, {.reads = reads, .precision = Precision::kDouble});
  for (int64_t token = 0; token < tokens; ++token) {
    std::vector<double> row;
    for (int64_t f = 0; f < width; ++f) row.push_back(whole[token * width + f]);
    double sum = 0, squares = 0, dot = 0;
    for (int64_t f = 0; f < width; ++f) {
      sum += row[f];
      squares += row[f] * row[f];
      dot += row[f] * (static_cast<double>(f) - 2);
    }
    EXPECT_NEAR(found.at(name + ".mean")[token], sum / static_cast<double>(width), 1e-12);
    EXPECT_NEAR(found.at(name + ".sum")[token], sum, 1e-12);
    EXPECT_NEAR(found.at(name + ".norm")[token], std::sqrt(squares), 1e-12);
    EXPECT_NEAR(found.at(name + ".dot")[token], dot, 1e-12);
    std::vector<double> sorted = row;
    std::sort(sorted.rbegin(), sorted.rend());
    EXPECT_EQ(found.at(name + ".max")[token], sorted[0]);
    for (int64_t k = 0; k < 3; ++k) {
      EXPECT_EQ(found.at(name + ".topk")[token * 3 + k], sorted[k]);
      const auto at = static_cast<int64_t>(found.at(name + ".topk.indices")[token * 3 + k]);
      EXPECT_EQ(row[at], sorted[k]);
    }
  }
  for (int64_t i = 0; i < width; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      double sum = 0;
      for (int64_t token = 0; token < tokens; ++token)
        sum += whole[token * width + i] * whole[token * width + j];
      EXPECT_NEAR(found.at(name + ".gram")[i * width + j], sum, 1e-12);
    }
  }
  const std::vector<double> counts = recorded_numbers(found.at(name + ".histogram"));
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0.0), tokens * width);
}

TEST(Patching, AllTokensOfOneBlockGivesTheOtherAnswerBitForBit) {
  const Model model = golden_folder("bert");
  const Recording clean = read_all(model, kProbedText, "blocks.*.output");
  const Recording corrupted = probe(model, kOtherText, {});
  EXPECT_NE(corrupted.output.values, clean.output.values);
  for (const RecordedArray& block : clean.arrays) {
    EXPECT_EQ(probe(model, kOtherText, {.edits = {clean.copy(block.name)}}).output.values,
              clean.output.values)
        << block.name;
  }
}

// The classifier reads the first token alone.
TEST(Patching, TheLastBlockAtTokensThatAreNotReadChangesNoBit) {
  const Model model = golden_folder("bert");
  const Recording clean = read_all(model, kProbedText, "blocks.*.output");
  const auto corrupted = probe(model, kOtherText, {}).output.values;
  const std::string last = clean.arrays.back().name;
  for (const int64_t token : {1, 2, 3}) {
    EXPECT_EQ(
        probe(model, kOtherText, {.edits = {clean.copy(last, {{"token", {token}}})}}).output.values,
        corrupted);
  }
  EXPECT_EQ(probe(model, kOtherText, {.edits = {clean.copy(last, {{"token", {0}}})}}).output.values,
            clean.output.values);
}

std::vector<Edit> one_of_each_kind() {
  std::vector<Edit> edits;
  for (const char* text :
       {"set blocks.0.output 0.3 token=2", "add blocks.0.middle 0.2 token=1,2",
        "scale blocks.0.mlp.activation 0.5 token=1", "zero blocks.0.attention.context head=1",
        "mean blocks.0.attention.output token=0", "zero blocks.1.attention.key head=0 token=1",
        "permute blocks.1.attention.pattern axis=key head=0 seed=4",
        "scale blocks.1.attention.scores 1.7 head=1 query=0",
        "noise embeddings sd=0.1 seed=3 token=1", "freeze blocks.0.mlp.output token=0"})
    edits.push_back(parse_edit(text));
  return edits;
}

// In double; the step is an edit of its own, behind all others of the value.
TEST(Gradients, OfAnEditedModelAreItsFiniteDifferences) {
  const Model model = golden_folder("bert");
  const std::vector<Edit> edits = one_of_each_kind();
  const std::vector<std::string> values{"words",
                                        "blocks.0.output",
                                        "blocks.0.attention.value",
                                        "blocks.1.attention.pattern",
                                        "blocks.1.mlp.inner",
                                        "embeddings"};
  const Recording found = probe(
      model, kProbedText,
      {.edits = edits, .gradients = values, .target = int64_t{1}, .precision = Precision::kDouble});
  for (const std::string& value : values) {
    const RecordedArray& gradient = found.at("gradient." + value);
    double largest = 0;
    for (int64_t i = 0; i < gradient.size(); ++i)
      largest = std::max(largest, std::abs(gradient[i]));
    EXPECT_GT(largest, 1e-6) << value;
    for (int64_t i = 0; i < gradient.size(); i += 1 + gradient.size() / 23) {
      const auto moved = [&](double step) {
        std::vector<double> numbers(static_cast<size_t>(gradient.size()), 0.0);
        numbers[static_cast<size_t>(i)] = step;
        std::vector<Edit> more = edits;
        more.push_back(
            {.op = EditOp::kAdd,
             .value = value,
             .array = {gradient.shape, std::make_shared<const std::vector<double>>(numbers)}});
        return probe(model, kProbedText, {.edits = more, .precision = Precision::kDouble})
            .output.values[1];
      };
      const double slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
      EXPECT_NEAR(gradient[i], slope, 1e-6 * std::max(1.0, std::abs(slope))) << value << ' ' << i;
    }
  }
}

TEST(Edits, OfEachSampleOfABatchAreEachAlone) {
  const Model model = golden_folder("bert");
  std::vector<Edit> edits = one_of_each_kind();
  std::erase_if(edits, [](const Edit& edit) { return edit.op == EditOp::kFreeze; });
  std::vector<Edit> together;
  for (size_t i = 0; i < edits.size(); ++i) {
    together.push_back(edits[i]);
    together.back().at["batch"] = {static_cast<int64_t>(i)};
  }
  const auto count = static_cast<int64_t>(edits.size());
  const Recording batch =
      probe(model, kProbedText,
            {.reads = {{.value = "blocks.*.output"}}, .edits = together, .copies = count});
  for (int64_t i = 0; i < count; ++i) {
    const Recording alone = read_all(model, kProbedText, "blocks.*.output", {edits[i]});
    EXPECT_EQ(batch.outputs[i], alone.output.values) << to_text(edits[i]);
    for (size_t a = 0; a < alone.arrays.size(); ++a) {
      const int64_t size = alone.arrays[a].size();
      EXPECT_EQ(std::memcmp(batch.arrays[a].floats.get() + i * size, alone.arrays[a].floats.get(),
                            size * sizeof(float)),
                0)
          << to_text(edits[i]);
    }
  }
}

// Rows that sum to 1 mix equal vectors to the same vector.
TEST(Edit, OfAttentionChangesNothingWhereAllValuesAreEqual) {
  const Model model = golden_folder("bert");
  const Edit equal = parse_edit("mean blocks.1.attention.value");
  const auto own =
      probe(model, kProbedText, {.edits = {equal}, .precision = Precision::kDouble}).output.values;
  for (const char* text :
       {"permute blocks.1.attention.pattern axis=key seed=1", "mean blocks.1.attention.pattern",
        "permute blocks.1.attention.pattern axis=query seed=2"}) {
    const auto found = probe(model, kProbedText,
                             {.edits = {equal, parse_edit(text)}, .precision = Precision::kDouble})
                           .output.values;
    for (size_t i = 0; i < own.size(); ++i) EXPECT_NEAR(found[i], own[i], 1e-12) << text;
    EXPECT_NE(probe(model, kProbedText, {.edits = {parse_edit("zero blocks.1.attention.pattern")}})
                  .output.values,
              own);
  }
}

TEST(Reads, InAnotherOrderAreTheSame) {
  const Model model = golden_folder("bert");
  ProbeRequest request{.reads = {{.value = "blocks.0.output"}, {.value = "blocks.1.middle"}},
                       .gradients = {"blocks.1.output", "words"}};
  const Recording forth = probe(model, kProbedText, request);
  std::reverse(request.reads.begin(), request.reads.end());
  std::reverse(request.gradients.begin(), request.gradients.end());
  const Recording back = probe(model, kProbedText, request);
  for (const RecordedArray& one : forth.arrays)
    EXPECT_EQ(recorded_numbers(back.at(one.name)), recorded_numbers(one)) << one.name;
}

// A gate is a number that a head's context is multiplied with: its derivative at 1.
TEST(Gradients, OfGatesSumUpToContextTimesGradient) {
  const Model model = golden_folder("bert");
  const std::string name = "blocks.0.attention.context";
  const Recording found = probe(model, kProbedText,
                                {.reads = {{.value = name}},
                                 .gradients = {name},
                                 .target = int64_t{0},
                                 .precision = Precision::kDouble});
  const RecordedArray &context = found.at(name), &gradient = found.at("gradient." + name);
  double product = 0, gates = 0;
  for (int64_t i = 0; i < context.size(); ++i) product += context[i] * gradient[i];
  for (int64_t head = 0; head < context.shape[1]; ++head) {
    const auto with_gate = [&](double gate) {
      const Edit edit{
          .op = EditOp::kScale, .value = name, .at = {{"head", {head}}}, .number = gate};
      return probe(model, kProbedText, {.edits = {edit}, .precision = Precision::kDouble})
          .output.values[0];
    };
    gates += (with_gate(1 + 1e-5) - with_gate(1 - 1e-5)) / 2e-5;
  }
  EXPECT_NEAR(gates, product, 1e-8);
}

TEST(Relevance, AtAllBlocksIsConserved) {
  const Model model = golden_folder("bert");
  const Recording found = probe(
      model, kProbedText, {.relevance = {"blocks.*.output"}, .precision = Precision::kDouble});
  ASSERT_EQ(found.arrays.size(), 2U);
  for (const RecordedArray& one : found.arrays) {
    const auto numbers = recorded_numbers(one);
    EXPECT_NE(std::accumulate(numbers.begin(), numbers.end(), 0.0), 0) << one.name;
  }
}

TEST(Edits, ApplyInTheOrderOfTheGraphAndThenOfTheList) {
  const Model model = golden_folder("bert");
  const Edit set = parse_edit("set blocks.1.output 1"), add = parse_edit("add blocks.1.output 2");
  const auto read = [&](std::vector<Edit> edits) {
    return recorded_numbers(
        read_all(model, kProbedText, "blocks.1.output", std::move(edits)).arrays[0]);
  };
  for (const double number : read({set, add})) EXPECT_EQ(number, 3);
  for (const double number : read({add, set})) EXPECT_EQ(number, 1);
  const Edit below = parse_edit("zero blocks.0.output"),
             above = parse_edit("scale blocks.1.output 2");
  EXPECT_EQ(read({below, above}), read({above, below}));
}

TEST(Edits, ThatAreImpossibleAreRefused) {
  const Model model = golden_folder("bert");
  const auto refusal = [&](const std::string& text) -> std::string {
    try {
      probe(model, kProbedText, {.edits = {parse_edit(text)}});
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  };
  using testing::HasSubstr;
  EXPECT_THAT(refusal("zero blocks.9.output"), HasSubstr("no value 'blocks.9.output'"));
  EXPECT_THAT(refusal("zero blocks.0.output head=1"), HasSubstr("no axis 'head'"));
  EXPECT_THAT(refusal("zero blocks.0.output token=70"), HasSubstr("no token 70"));
  EXPECT_THAT(refusal("zero inputs.input_ids"), HasSubstr("whole numbers"));
  EXPECT_THAT(refusal("copy other.blocks.0.output"), HasSubstr("no run to copy from"));
  EXPECT_THAT(refusal("set blocks.0.output 1,2,3"), HasSubstr("the array has the shape [3]"));
  EXPECT_THAT(refusal("zero blocks.0.output batch=1"), HasSubstr("no batch 1"));
  EXPECT_THROW(explain(model, kProbedText,
                       {.methods = {{"gae", {}}}, .edits = {parse_edit("zero words batch=0")}}),
               InvalidInput);
}

TEST(Probe, RefusesWhatDoesNotFitBeforeItRuns) {
  const Model model = golden_folder("bert");
  EXPECT_THROW(probe(model, kProbedText, {.reads = {{.value = "**"}}, .most_bytes = 1000}),
               InvalidInput);
  EXPECT_THROW(probe(model, kProbedText, {.reads = {{.value = "layers.*"}}}), InvalidInput);
}

TEST(Requests, ReplayBitForBitFromTheirJson) {
  const Model model = golden_folder("bert");
  ProbeRequest request{.reads = {parse_read("blocks.*.output token=1 reduce=norm"),
                                 parse_read("logits reduce=topk:2")},
                       .edits = one_of_each_kind(),
                       .gradients = {"words"},
                       .gradient_of = parse_read("blocks.1.output token=0"),
                       .relevance = {"embeddings"},
                       .target = int64_t{1}};
  const Recording other = read_all(model, kOtherText, "blocks.1.output");
  request.edits.push_back(other.copy("blocks.1.output", {{"token", {2}}}));
  const std::string text = to_json(request);
  const ProbeRequest again = probe_request_from_json(text);
  EXPECT_EQ(to_json(again), text);
  EXPECT_EQ(to_json(probe(model, kProbedText, again)), to_json(probe(model, kProbedText, request)));
}

TEST(Values, AreListedWithTheirAxes) {
  const Model model = golden_folder("bert");
  const std::vector<ValueInfo> values = values_inside(model, kProbedText, "blocks.0.attention.*");
  ASSERT_EQ(values.size(), 7U);
  for (const ValueInfo& value : values) {
    EXPECT_EQ(value.axes.size(), value.shape.size());
    EXPECT_THAT(value.native, testing::StartsWith("module:")) << value.name;
  }
  EXPECT_FALSE(values_inside(model).empty());
}

}  // namespace
}  // namespace whyformer
