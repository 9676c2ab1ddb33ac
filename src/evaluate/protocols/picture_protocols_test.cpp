// Protocols over pixels, against their formulas in plain loops on the built-in picture model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "api/explained_input.h"
#include "evaluate/protocols/average_precision.h"
#include "evaluate/protocols/protocol.h"
#include "readers/pictures/blurred.h"
#include "tests/support/source_folder.h"
#include "whyformer/answers.h"
#include "whyformer/error.h"
#include "whyformer/protocols.h"

namespace whyformer {
namespace {

using testing::Contains;
using testing::HasSubstr;

const std::filesystem::path kObjects = source_folder() / "tests/data/pictures/objects";

PictureInput object_picture(int number) {
  return PictureFile{kObjects / ("object-00" + std::to_string(number) + ".png")};
}

const Model& painter() {
  static const Model model = Model::built_in_for_pictures();
  return model;
}

EvaluationRequest protocol_request(const std::string& protocol) {
  EvaluationRequest request{.protocol = protocol, .random_rankings = 1};
  request.explain.methods = {{"gae"}};
  return request;
}

Explanation explained_by_gae(const PictureInput& picture, const TargetChoice& target = {}) {
  ExplainRequest request{.methods = {{"gae"}}, .target = target};
  return explain(painter(), picture, request)[0];
}

// The picture as the model saw it, with some pixels black: bytes, so before any normalisation.
PictureInput with_black(const PictureView& view, const std::vector<bool>& black) {
  const int64_t pixels = view.width * view.height;
  std::shared_ptr<uint8_t[]> rgb(new uint8_t[3 * pixels]);
  for (int64_t i = 0; i < 3 * pixels; ++i) rgb[i] = black[i / 3] ? 0 : view.rgb[i];
  return PicturePixels{"painted", view.width, view.height, 3, rgb};
}

std::vector<double> enlarged(const Explanation& explanation) {
  const PictureView& view = *explanation.picture;
  const std::vector<double>& scores = explanation.attributions[0].scores;
  return bilinear(std::span(scores).subspan(view.first_patch, view.rows * view.columns),
                  {view.rows, view.columns}, {view.height, view.width});
}

// From the highest value; of equal ones the first comes first.
std::vector<int64_t> order_of(const std::vector<double>& map) {
  std::vector<int64_t> order(map.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return map[a] > map[b]; });
  return order;
}

// Accuracies in per cent at 0, 10, …, 90 % black pixels.
std::vector<double> plain_accuracies(const PictureView& view, const std::vector<int64_t>& order,
                                     int64_t label) {
  std::vector<InputValue> pictures;
  for (int tenth = 0; tenth < 10; ++tenth) {
    std::vector<bool> black(order.size(), false);
    const auto count = static_cast<int64_t>(static_cast<double>(order.size()) * (tenth / 10.0));
    for (int64_t i = 0; i < count; ++i) black[order[i]] = true;
    pictures.push_back(with_black(view, black));
  }
  std::vector<double> right;
  for (const Answer& answer : answers(painter(), pictures).inputs) {
    const auto best = std::ranges::max_element(answer.values) - answer.values.begin();
    right.push_back(best == label ? 100 : 0);
  }
  return right;
}

double plain_area(const std::vector<double>& accuracies) {
  double area = 0;
  for (size_t i = 1; i < accuracies.size(); ++i) {
    area += 0.1 * (accuracies[i] + accuracies[i - 1]) / 2;
  }
  return area;
}

TEST(Cvpr21Perturbation, EqualsItsFormulaOnPicturesWithBlackPixels) {
  const PictureInput picture = object_picture(0);
  const Explanation predicted = explained_by_gae(picture);
  // A label that the model does not give, so that predicted and target differ.
  const std::vector<std::string>& labels = predicted.output.labels;
  for (const int64_t label : {predicted.target.index, (predicted.target.index + 1) % 2}) {
    const EvaluatedInput found =
        evaluate(painter(), EvaluationInput{.name = "x", .input = picture, .label = labels[label]},
                 protocol_request("cvpr21-perturbation"));
    ASSERT_EQ(found.problem, "");
    const Explanation target = explained_by_gae(picture, label);
    size_t column = 0;
    for (const Explanation* explanation : {&predicted, &target}) {
      std::vector<double> map = enlarged(*explanation);
      const auto positive = plain_accuracies(*predicted.picture, order_of(map), label);
      for (double& value : map) value = -value;
      const auto negative = plain_accuracies(*predicted.picture, order_of(map), label);
      const std::vector<MetricValue>& values = found.methods[0].values;
      EXPECT_NEAR(*values[column], plain_area(positive), 1e-9);
      EXPECT_NEAR(*values[column + 1], plain_area(negative), 1e-9);
      for (size_t i = 0; i < 10; ++i) {
        EXPECT_EQ(values[column + 2 + i], positive[i]);
        EXPECT_EQ(values[column + 12 + i], negative[i]);
      }
      // The reversed ranking swaps the two.
      EXPECT_EQ(found.methods[0].reversed[column], values[column + 1]);
      column += 22;
    }
    ASSERT_EQ(found.methods[0].values.size(), column);
  }
}

TEST(Cvpr21Perturbation, ConstantAccuracyHasAnAreaOfNinety) {
  // Black pixels change nothing in a black picture; x = 0 is included and x = 1 is not.
  const PictureView view = *explained_by_gae(object_picture(0)).picture;
  const PictureInput black =
      with_black(view, std::vector<bool>(static_cast<size_t>(view.width * view.height), true));
  const int64_t label = explained_by_gae(black).target.index;
  const EvaluatedInput found =
      evaluate(painter(), EvaluationInput{.name = "black", .input = black, .label = label},
               protocol_request("cvpr21-perturbation"));
  ASSERT_EQ(found.problem, "");
  for (const MeasuredMethod& method : found.methods) {
    for (const size_t area : {0, 1, 22, 23}) EXPECT_NEAR(*method.values[area], 90, 1e-9);
  }
}

TEST(Cvpr21Perturbation, NeedsALabelAndPixels) {
  const auto request = protocol_request("cvpr21-perturbation");
  EXPECT_THAT(evaluate(painter(), EvaluationInput{.name = "x", .input = object_picture(0)}, request)
                  .problem,
              HasSubstr("needs the right label of each input"));
  const EvaluationInput text{
      .name = "x", .input = TextInput{"a fine film", {}}, .label = int64_t{0}};
  EXPECT_THAT(evaluate(Model::built_in(), text, request).problem,
              HasSubstr("paints single pixels of a picture"));
  const EvaluationInput unknown{
      .name = "x", .input = object_picture(0), .label = std::string("no such thing")};
  EXPECT_NE(evaluate(painter(), unknown, request).problem, "");
}

// A protocol's part with maps that come from anywhere.
struct OpenPicture {
  explicit OpenPicture(const PictureInput& picture)
      : request{.methods = {{"gae"}}},
        explained(painter(), picture, request, WholeRun::kYes),
        explanation(explained.explain(explained.targets()[0])) {}

  MeasuredRow measure(const Protocol& protocol, EvaluationInput input, const ScoredInput& scored) {
    std::vector<std::string> notes;
    const ProtocolCase one{input, explanation, std::nullopt, explained.whole(), 0, notes};
    return protocol.parts[0].measure(one, std::span(&scored, 1))[0];
  }
  int64_t pixels() const { return explanation.picture->width * explanation.picture->height; }

  ExplainRequest request;
  ExplainedInput explained;
  Explanation explanation;
};

// The first `count` pixels belong to the object.
std::vector<bool> first_pixels(int64_t pixels, int64_t count) {
  std::vector<bool> mask(pixels, false);
  std::fill(mask.begin(), mask.begin() + count, true);
  return mask;
}

TEST(Cvpr21Segmentation, PerfectMapsHaveEverythingAndInvertedOnesNothing) {
  OpenPicture open(object_picture(0));
  const std::vector<bool> mask = first_pixels(open.pixels(), open.pixels() / 3);
  const EvaluationInput input{.pixels = [&](const Explanation&) { return mask; }};
  ScoredInput scored{open.explanation.attributions[0].scores, {}};
  for (const bool inside : mask) scored.pixels.push_back(inside ? 5 : 2);
  for (const MeasuredValue& value : open.measure(kCvpr21Segmentation, input, scored)) {
    EXPECT_NEAR(*value.value, 100, 1e-9);
  }
  for (double& score : scored.pixels) score = -score;
  const auto inverted = open.measure(kCvpr21Segmentation, input, scored);
  EXPECT_EQ(inverted[0].value, 0);
  EXPECT_EQ(inverted[1].value, 0);
}

TEST(Cvpr21Segmentation, AConstantMapIsAllBackgroundWithoutARanking) {
  OpenPicture open(object_picture(0));
  const int64_t object = open.pixels() / 4;
  const std::vector<bool> mask = first_pixels(open.pixels(), object);
  const EvaluationInput input{.pixels = [&](const Explanation&) { return mask; }};
  const ScoredInput scored{{}, std::vector<double>(open.pixels(), 0.7)};
  const auto found = open.measure(kCvpr21Segmentation, input, scored);
  const double background =
      static_cast<double>(open.pixels() - object) / static_cast<double>(open.pixels());
  EXPECT_NEAR(*found[0].value, 100 * background, 1e-9);
  EXPECT_NEAR(*found[1].value, 50 * background, 1e-9);  // IoU of the object is 0
  EXPECT_NEAR(*found[2].value, 50, 1e-9);               // 0 in both channels: half of them is true
}

TEST(Cvpr21Segmentation, EqualsItsFormulaInPlainLoops) {
  OpenPicture open(object_picture(1));
  const PictureInput file = PictureFile{kObjects / "masks" / "object-001.png"};
  const EvaluationInput input{.pixels = pixels_of_mask(file)};
  const std::vector<bool> object = input.pixels(open.explanation);
  std::vector<double> map = enlarged(open.explanation);
  double mean = 0, right = 0;
  for (const double value : map) mean += value / static_cast<double>(map.size());
  double both[2] = {0, 0}, either[2] = {0, 0};
  for (size_t i = 0; i < map.size(); ++i) {
    const bool above = map[i] > mean;
    right += above == object[i] ? 1 : 0;
    both[1] += above && object[i];
    either[1] += above || object[i];
    both[0] += !above && !object[i];
    either[0] += !above || !object[i];
  }
  const auto found =
      open.measure(kCvpr21Segmentation, input, {open.explanation.attributions[0].scores, {}});
  EXPECT_NEAR(*found[0].value, 100 * right / static_cast<double>(map.size()), 1e-9);
  EXPECT_NEAR(*found[1].value, 50 * (both[0] / either[0] + both[1] / either[1]), 1e-9);
}

TEST(Cvpr21Segmentation, MissingMasksAndMasksOfAnotherSizeAreTold) {
  EvaluationInput input{.name = "x", .input = object_picture(0)};
  const auto request = protocol_request("cvpr21-segmentation");
  EXPECT_THAT(evaluate(painter(), input, request).problem, HasSubstr("needs the mask"));
  std::shared_ptr<uint8_t[]> small(new uint8_t[4]{1, 0, 0, 1});
  input.pixels = pixels_of_mask(PicturePixels{"mask", 2, 2, 1, small});
  EXPECT_THAT(evaluate(painter(), input, request).problem,
              HasSubstr("the mask has 2 x 2 pixels, the picture"));
}

TEST(SummariseEvaluation, ColumnsThatSumRatiosDivideAfterTheSum) {
  std::vector<EvaluatedInput> inputs(2);
  const auto value = [](double part, double whole) {
    return std::vector<std::vector<Ratio>>{{{part, whole}}, {{part, whole}, {1, 1}}, {}};
  };
  inputs[0].methods.push_back({.method = "a",
                               .values = {0.5, 0.75, 1.0},
                               .reversed = {0.5, 0.75, 1.0},
                               .ratios = value(1, 2),
                               .reversed_ratios = value(1, 2)});
  inputs[1].methods.push_back({.method = "a",
                               .values = {0.0, 0.5, 0.0},
                               .reversed = {0.0, 0.5, 0.0},
                               .ratios = value(0, 8),
                               .reversed_ratios = value(4, 8)});
  const Evaluation found = summarise({}, inputs, {.protocol = "cvpr21-segmentation"});
  EXPECT_EQ(found.protocol, "cvpr21-segmentation");
  EXPECT_DOUBLE_EQ(*found.cells[0][0].mean, 0.1);  // 1 of 10, not the mean of 1/2 and 0
  EXPECT_DOUBLE_EQ(*found.cells[0][0].reversed, 0.5);
  EXPECT_DOUBLE_EQ(*found.cells[0][1].mean, (0.1 + 1) / 2);
  EXPECT_DOUBLE_EQ(*found.cells[0][2].mean, 0.5);
  EXPECT_EQ(found.cells[0][0].inputs, 2);
}

TEST(AveragePrecision, EqualsScikitLearnsExampleAndCountsTiesTogether) {
  EXPECT_NEAR(average_precision(std::vector{0.1, 0.4, 0.35, 0.8}, {false, false, true, true}),
              0.8333333333333333, 1e-12);
  EXPECT_NEAR(average_precision(std::vector{1.0, 1.0, 1.0, 1.0}, {true, false, false, false}), 0.25,
              1e-12);
  EXPECT_EQ(average_precision(std::vector{1.0, 2.0}, {false, false}), 0);
}

TEST(Rise, EqualsItsFormulaStepByStep) {
  OpenPicture open(object_picture(2));
  const PictureView& view = *open.explanation.picture;
  const std::vector<int64_t> order = order_of(enlarged(open.explanation));
  auto& run = open.explained.whole();
  const auto probability = [&](const std::vector<bool>& hidden, const char* how) {
    const auto outputs = run.answers({run.input().hiding_cells(hidden, how)})[0];
    const double largest = *std::ranges::max_element(outputs);
    double sum = 0;
    for (const double output : outputs) sum += std::exp(output - largest);
    return std::exp(outputs[run.target()] - largest) / sum;
  };
  std::vector<double> deletion, insertion;
  std::vector<bool> deleted(order.size(), false), missing(order.size(), true);
  for (size_t done = 0; done <= order.size(); ++done) {
    if (done % view.width == 0) {
      deletion.push_back(probability(deleted, "zero"));
      insertion.push_back(probability(missing, "blur-11"));
    }
    if (done == order.size()) break;
    deleted[order[done]] = true;
    missing[order[done]] = false;
  }
  ASSERT_EQ(static_cast<int64_t>(deletion.size()), view.height + 1);
  const auto area = [](const std::vector<double>& y) {
    const double sum = std::accumulate(y.begin(), y.end(), 0.0);
    return (sum - y.front() / 2 - y.back() / 2) / static_cast<double>(y.size() - 1);
  };
  const auto found = open.measure(kRise, {}, {open.explanation.attributions[0].scores, {}});
  EXPECT_NEAR(*found[0].value, area(deletion), 1e-6);
  EXPECT_NEAR(*found[1].value, area(insertion), 1e-6);
  // Everything deleted is 0 after normalisation, which this model's grey is, too.
  EXPECT_NEAR(deletion.back(), probability(std::vector<bool>(order.size(), true), "grey"), 1e-9);
}

TEST(RiseBlur, HasTheWeightsOfTheAuthorsKernelAndZerosAround) {
  // scipy.ndimage.gaussian_filter of a unit impulse in 11 x 11 numbers, sigma 5 (SciPy 1.17.1);
  // the kernel is the outer product of these.
  const std::vector<double> weights{0.08795814577727815, 0.08889611977709483, 0.09047419654910865,
                                    0.09219111781938807, 0.09348938844291409, 0.09398206326843248,
                                    0.09348938844291409, 0.09219111781938807, 0.09047419654910865,
                                    0.08889611977709483, 0.08795814577727815};
  std::vector<double> impulse(21 * 21, 0.0);
  impulse[10 * 21 + 10] = 1;
  const std::vector<double> found =
      blurred_with_zeros_around(Tensor::of<double>({1, 21, 21}, std::span<const double>(impulse)))
          .to_doubles();
  for (int64_t y = 0; y < 21; ++y) {
    for (int64_t x = 0; x < 21; ++x) {
      const bool inside = std::abs(y - 10) <= 5 && std::abs(x - 10) <= 5;
      const double expected = inside ? weights[y - 5] * weights[x - 5] : 0;
      EXPECT_NEAR(found[y * 21 + x], expected, 1e-12);
    }
  }
  // Constant pictures become darker at their edges: what lies around is 0.
  const std::vector<double> ones(12 * 12, 1.0);
  const std::vector<double> edges =
      blurred_with_zeros_around(Tensor::of<double>({1, 12, 12}, std::span<const double>(ones)))
          .to_doubles();
  double seen = 0;
  for (size_t i = 5; i < 11; ++i) seen += weights[i];
  EXPECT_NEAR(edges[0], seen * seen, 1e-12);
}

TEST(Protocols, AreListedAndUnknownNamesListThem) {
  for (const ProtocolInfo& protocol : protocols()) {
    EXPECT_FALSE(protocol.columns.empty()) << protocol.name;
    EXPECT_FALSE(protocol.summary.empty()) << protocol.name;
    EXPECT_EQ(protocol_named(protocol.name).columns.size(), protocol.columns.size());
  }
  try {
    protocol_named("cvpr21");
    FAIL() << "there is no such protocol";
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("cvpr21-perturbation, cvpr21-segmentation, eraser, rise, "
                                        "vqa-perturbation, roar"));
  }
}

TEST(Protocols, AreNotMixedWithMetricsAndRoarNeedsATrainingProcedure) {
  const EvaluationInput input{.name = "x", .input = object_picture(0)};
  EvaluationRequest request = protocol_request("rise");
  request.metrics = {"deletion"};
  EXPECT_THROW(evaluate(painter(), input, request), InvalidInput);
  EXPECT_THROW(evaluate(painter(), input, protocol_request("roar")), InvalidInput);
  EXPECT_THROW(evaluate(painter(), input, protocol_request("none")), InvalidInput);
}

}  // namespace
}  // namespace whyformer
