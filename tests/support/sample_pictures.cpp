#include "tests/support/sample_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tests/support/sample_explanations.h"
#include "tests/support/sample_sequence.h"

namespace whyformer::report {
namespace {

const std::vector<std::string>& labels() {
  static const std::vector<std::string> names{"beach ball", "wooden box", "sky", "kite", "balloon"};
  return names;
}

// Places are shares of the width and the height.
bool on_ball(double x, double y) { return std::hypot(x - 0.3, y - 0.55) < 0.2; }
bool on_box(double x, double y) { return x > 0.6 && x < 0.9 && y > 0.5 && y < 0.85; }

std::shared_ptr<const uint8_t[]> draw(int64_t width, int64_t height) {
  auto rgb = std::make_shared<uint8_t[]>(static_cast<size_t>(3 * width * height));
  uint8_t* pixel = rgb.get();
  Sequence grain(4);
  for (int64_t v = 0; v < height; ++v) {
    for (int64_t u = 0; u < width; ++u, pixel += 3) {
      const double x = (static_cast<double>(u) + 0.5) / static_cast<double>(width);
      const double y = (static_cast<double>(v) + 0.5) / static_cast<double>(height);
      std::array<double, 3> colour{120 + 80 * y, 170 + 50 * y, 235 - 20 * y};
      if (y > 0.75) colour = {214, 190, 140};
      if (on_box(x, y)) colour = {140 + 30 * std::sin(60 * x), 90, 50};
      if (on_ball(x, y)) {
        const bool stripe = std::sin(6 * std::atan2(y - 0.55, x - 0.3)) > 0;
        colour = stripe ? std::array{225.0, 50.0, 50.0} : std::array{245.0, 245.0, 240.0};
      }
      const double noise = 12 * (grain.next() - 0.5);
      for (size_t c = 0; c < 3; ++c) {
        pixel[c] = static_cast<uint8_t>(std::clamp(colour[c] + noise, 0.0, 255.0));
      }
    }
  }
  return rgb;
}

// How much a place belongs to the class: 1 on its thing, less around it.
double belongs(int64_t target, double x, double y) {
  if (target == 0) return std::exp(-std::pow(std::hypot(x - 0.3, y - 0.55) / 0.2, 4));
  if (target == 1) return std::exp(-std::pow(std::hypot(x - 0.75, y - 0.67) / 0.2, 4));
  return 0.5 * std::exp(-y * 3);
}

struct PatchMiddle {
  double x, y;
};
PatchMiddle middle_of(const PictureView& picture, int64_t patch) {
  return {
      (static_cast<double>(patch % picture.columns) + 0.5) / static_cast<double>(picture.columns),
      (static_cast<double>(patch / picture.columns) + 0.5) / static_cast<double>(picture.rows)};
}

void add_units(Explanation& explanation, bool class_token) {
  const PictureView& picture = *explanation.picture;
  if (class_token) explanation.units.push_back({"[CLS]", 0, 0, true, 0, -1});
  for (int64_t patch = 0; patch < picture.rows * picture.columns; ++patch) {
    explanation.units.push_back(
        {fmt::format("row {}, column {}", patch / picture.columns, patch % picture.columns), 0, 0,
         false, 0, -1});
  }
}

Attribution make_attribution(const Explanation& explanation, const std::string& method,
                             bool is_signed, uint64_t seed) {
  const PictureView& picture = *explanation.picture;
  const int64_t target = explanation.target.index;
  Sequence random(seed + static_cast<uint64_t>(target));
  Attribution attribution;
  attribution.method = method;
  attribution.is_signed = is_signed;
  attribution.cost = {1, 1, 0.0312};
  attribution.scores.assign(explanation.units.size(), 0.0);
  for (int64_t patch = 0; patch < picture.rows * picture.columns; ++patch) {
    const PatchMiddle at = middle_of(picture, patch);
    double score = belongs(target, at.x, at.y) * (0.7 + 0.3 * random.next()) + 0.1 * random.next();
    if (is_signed) score -= 0.05 + 0.6 * belongs(target == 0 ? 1 : 0, at.x, at.y);
    attribution.scores[static_cast<size_t>(picture.first_patch + patch)] = 0.02 * score;
  }
  return attribution;
}

void add_pixels(const PictureView& picture, int64_t target, Attribution& attribution) {
  Sequence random(17);
  for (int64_t v = 0; v < picture.height; ++v) {
    for (int64_t u = 0; u < picture.width; ++u) {
      const double x = (static_cast<double>(u) + 0.5) / static_cast<double>(picture.width);
      const double y = (static_cast<double>(v) + 0.5) / static_cast<double>(picture.height);
      const double strength = belongs(target, x, y) - 0.5 * belongs(target == 0 ? 1 : 0, x, y);
      attribution.pixels.push_back(static_cast<float>(strength * 1e-4 * (2 * random.next() - 0.4)));
    }
  }
}

// The class token looks at the target, patches at their neighbours; heads differ in how far.
AttentionMap make_map(const Explanation& explanation, int layer, int64_t heads) {
  const PictureView& picture = *explanation.picture;
  const auto units = static_cast<int64_t>(explanation.units.size());
  auto values = std::make_shared<float[]>(static_cast<size_t>(heads * units * units));
  Sequence random(static_cast<uint64_t>(layer) + 7);
  float* row = values.get();
  for (int64_t head = 0; head < heads; ++head) {
    const double reach = 0.05 + 0.06 * static_cast<double>(head % 5);
    for (int64_t query = 0; query < units; ++query, row += units) {
      double sum = 0;
      for (int64_t key = 0; key < units; ++key) {
        double weight = 0.05 * random.next();
        const bool patches = query >= picture.first_patch && key >= picture.first_patch;
        if (patches) {
          const PatchMiddle from = middle_of(picture, query - picture.first_patch);
          const PatchMiddle to = middle_of(picture, key - picture.first_patch);
          weight += std::exp(-std::pow(std::hypot(from.x - to.x, from.y - to.y) / reach, 2));
        } else if (key >= picture.first_patch) {
          const PatchMiddle to = middle_of(picture, key - picture.first_patch);
          weight += belongs(head % 3, to.x, to.y);
        }
        row[key] = static_cast<float>(weight);
        sum += weight;
      }
      for (int64_t key = 0; key < units; ++key) row[key] /= static_cast<float>(sum);
    }
  }
  return {fmt::format("vit.encoder.layer.{}", layer), heads, units, units, values};
}

void set_output(Explanation& explanation, int64_t target) {
  explanation.output = {"logit", {4.1, 3.2, 0.4, -0.3, 1.1}, labels()};
  double sum = 0;
  for (const double value : explanation.output.values) sum += std::exp(value);
  const double value = explanation.output.values[static_cast<size_t>(target)];
  explanation.target = {target, labels()[static_cast<size_t>(target)], value,
                        std::exp(value) / sum};
  add_probabilities(explanation);
}

}  // namespace

Explanation picture_sample(const PictureSampleOptions& options) {
  Explanation explanation;
  explanation.model = {"vit-base-patch16-224", "vit"};
  explanation.text = "ball and box.png";
  PictureView picture;
  picture.width = options.width;
  picture.height = options.height;
  picture.rgb = draw(options.width, options.height);
  picture.first_patch = options.class_token ? 1 : 0;
  picture.rows = options.height / options.patch;
  picture.columns = options.width / options.patch;
  picture.file_width = 2 * options.width + 100;
  picture.file_height = 2 * options.height;
  picture.left = 50;
  picture.right = static_cast<double>(2 * options.width + 50);
  picture.bottom = static_cast<double>(2 * options.height);
  explanation.picture = picture;
  add_units(explanation, options.class_token);
  set_output(explanation, options.target);
  explanation.attributions.push_back(make_attribution(explanation, "gae", false, 1));
  explanation.attributions.push_back(
      make_attribution(explanation, "integrated-gradients", true, 2));
  add_pixels(picture, options.target, explanation.attributions.back());
  explanation.attributions.push_back(make_attribution(explanation, "leave-one-out", true, 3));
  for (int layer = 0; layer < options.layers; ++layer) {
    explanation.attention.push_back(make_map(explanation, layer, options.heads));
  }
  return explanation;
}

Explanation picture_pair_sample() {
  Explanation explanation = picture_sample();
  const std::vector<Unit> tokens{
      {.text = "<|startoftext|>", .special = true, .segment = 1},
      {.text = "a</w>", .start = 0, .end = 1, .segment = 1, .word = 0},
      {.text = "red</w>", .start = 2, .end = 5, .segment = 1, .word = 1},
      {.text = "ball</w>", .start = 6, .end = 10, .segment = 1, .word = 2},
      {.text = "<|endoftext|>", .special = true, .segment = 1}};
  const auto count = static_cast<int64_t>(tokens.size());
  explanation.pair = "a red ball";
  explanation.units.insert(explanation.units.begin(), tokens.begin(), tokens.end());
  explanation.picture->first_patch += count;
  explanation.output = {"logit", {23.5}, {"a red ball"}};
  explanation.target = {0, "a red ball", 23.5, {}};
  for (Attribution& attribution : explanation.attributions) {
    const std::vector<double> scores{0.9, attribution.is_signed ? -0.1 : 0.1, 0.25, 0.5, 0};
    attribution.scores.insert(attribution.scores.begin(), scores.begin(), scores.end());
    for (size_t i = 1; i <= 3; ++i) {
      const Unit& token = tokens[i];
      attribution.words.push_back(
          {token.text.substr(0, token.text.size() - 4), token.start, token.end, scores[i], 1});
    }
  }
  for (AttentionMap& map : explanation.attention) map.first_unit = count;
  const std::shared_ptr<float[]> even(new float[count * count]);
  std::fill_n(even.get(), count * count, 1 / static_cast<float>(count));
  explanation.attention.insert(explanation.attention.begin(),
                               {"text layer 0", 1, count, count, even, 0});
  return explanation;
}

std::vector<Explanation> picture_classes_sample(const PictureSampleOptions& options) {
  std::vector<Explanation> explanations;
  for (const int64_t target : {0, 1, 2}) {
    PictureSampleOptions own = options;
    own.target = target;
    if (target > 0) own.layers = 0;  // the maps are the same for all classes
    explanations.push_back(picture_sample(own));
    explanations.back().picture->rgb = explanations.front().picture->rgb;
  }
  return explanations;
}

Explanation documented_picture_sample() {
  Explanation explanation;
  explanation.model = {"vit-tiny", "vit"};
  explanation.text = "kite.png";
  PictureView picture;
  picture.width = 4;
  picture.height = 2;
  picture.rgb = draw(4, 2);
  picture.first_patch = 1;
  picture.rows = 1;
  picture.columns = 2;
  picture.file_width = 640;
  picture.file_height = 400;
  picture.left = 20;
  picture.right = 620;
  picture.bottom = 300;
  explanation.picture = picture;
  explanation.units = {{"[CLS]", 0, 0, true, 0, -1},
                       {"row 0, column 0", 0, 0, false, 0, -1},
                       {"row 0, column 1", 0, 0, false, 0, -1}};
  explanation.output = {"logit", {1.5, -0.5}, {"kite", "balloon"}};
  explanation.target = {0, "kite", 1.5, 0.8808};
  add_probabilities(explanation);
  Attribution& attribution = explanation.attributions.emplace_back();
  attribution.method = "saliency";
  attribution.options = {{"norm", std::string("l2")}};
  attribution.scores = {0.0, 0.75, 0.25};
  attribution.pixels = {0.5f, 0.125f, 0.25f, 0.0f, 0.0625f, 0.0625f, 0.0f, 0.0f};
  attribution.cost = {1, 1, 0.02};
  Attribution& pairs = explanation.attributions.emplace_back();
  pairs.method = "shapley-taylor";
  pairs.scores = {0.0, 1.0, 0.25};
  pairs.is_signed = true;
  pairs.completeness_gap = 0.0;
  pairs.estimate =
      Estimate{.space = "logit",
               .base = 0.25,
               .value = 1.5,
               .evaluations = 4,
               .interactions = {0.0, 0.0, 0.0, 0.0, 1.125, -0.125, 0.0, -0.125, 0.375}};
  pairs.cost = {5, 0, 0.04};
  return explanation;
}

Explanation window_picture_sample() {
  Explanation explanation = picture_sample({.layers = 2, .class_token = false});
  auto values = std::make_shared<float[]>(3 * 49 * 49);
  std::fill_n(values.get(), 3 * 49 * 49, 1.0f / 49);
  explanation.attention.insert(explanation.attention.begin() + 1,
                               AttentionMap{"windows", 3, 49, 49, values});
  return explanation;
}

Explanation hostile_picture_sample() {
  const std::string attack = "</script><img src=x onerror=\"document.title='owned'\">&amp;'\"<b>";
  const std::string escape =
      "\x1b[2J\x1b]0;owned\x07\xc2\x9b"
      "31m\u202etxt\r\n\xff\xfe";
  Explanation explanation = picture_sample({.width = 48, .height = 32, .patch = 8});
  explanation.text = attack + escape;
  explanation.model = {attack, escape};
  for (Unit& unit : explanation.units) unit.text = attack + escape;
  explanation.output.labels = {escape, attack, attack + escape, "", escape};
  explanation.target.label = escape;
  for (Attribution& attribution : explanation.attributions) {
    attribution.method += attack + escape;
    attribution.options.push_back({attack, escape});
    attribution.notes = {attack, escape};
  }
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  explanation.attributions[0].scores.assign(explanation.units.size(), kNaN);
  explanation.attributions[1].pixels[5] = std::numeric_limits<float>::infinity();
  explanation.attributions[2].scores[3] = -std::numeric_limits<double>::infinity();
  for (AttentionMap& map : explanation.attention) map.name = attack;
  explanation.notes = {attack + escape};
  return explanation;
}

}  // namespace whyformer::report
