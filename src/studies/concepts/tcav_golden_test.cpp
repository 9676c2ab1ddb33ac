// Directions and tests against scikit-learn, SciPy and Captum (scripts/golden/tcav_golden.py).
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "readers/sample_concept_inputs.h"
#include "studies/concepts/activations.h"
#include "studies/concepts/sensitivity.h"
#include "studies/concepts/statistics.h"
#include "tests/support/concepts_test_helpers.h"
#include "tests/support/golden_model.h"
#include "tests/support/source_folder.h"
#include "tests/support/token_reader.h"

namespace whyformer {
namespace {

using Json = nlohmann::json;
using Numbers = std::vector<double>;

const Json& expected() {
  static const Json json =
      Json::parse(std::ifstream(source_folder() / "tests/golden/tcav/expected.json"));
  return json;
}

TestRows rows_from(const Json& numbers, int64_t rows, int64_t width) {
  return {rows, width, numbers.get<std::vector<float>>()};
}

double cosine(const Numbers& a, const Numbers& b) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return ab / std::sqrt(aa * bb);
}

TEST(TcavGolden, DirectionsAreThoseOfScikitLearn) {
  for (const Json& data : expected()["regressions"]) {
    const int64_t rows = data["rows"], width = data["width"], inside = data["inside"];
    SCOPED_TRACE(testing::Message() << rows << " × " << width);
    const TestRows x = rows_from(data["activations"], rows, width);
    const TestRows g = rows_from(data["gradients"], 10, width);
    const InnerProducts products = inner_products(x.view(), g.view());
    const Cav cav = fit_cav(products.gram, numbered(0, inside), numbered(inside, rows - inside),
                            {.strength = data["strength"]});
    const Numbers w = weights_of(cav, x), exact = data["exact"];
    for (int64_t i = 0; i < width; ++i) EXPECT_NEAR(w[i], exact[i], 1e-5);
    EXPECT_GT(cosine(w, data["usual"].get<Numbers>()), 0.999);
    const Sensitivity found = sensitivity_to(products, cav, {0, 10});
    EXPECT_DOUBLE_EQ(found.score, data["score"]);
    EXPECT_NEAR(found.score, data["usual_score"].get<double>(), 0.1 + 1e-12);  // one example of ten
    EXPECT_NEAR(found.magnitude, data["magnitude"].get<double>(), 1e-5);
    EXPECT_NEAR(found.unit_magnitude, data["unit_magnitude"].get<double>(), 1e-5);
  }
}

TEST(TcavGolden, TTestsAreThoseOfSciPy) {
  for (const Json& data : expected()["t_tests"]) {
    const auto test = t_test(data["a"].get<Numbers>(), data["b"].get<Numbers>());
    ASSERT_TRUE(test);
    EXPECT_NEAR(test->t, data["t"].get<double>(), 1e-10);
    const double p = data["p"];
    EXPECT_NEAR(test->p, p, 1e-10 * p);
  }
}

TEST(TcavGolden, CorrectionsAndCoinsAreThoseOfSciPy) {
  const Json& family = expected()["false_discovery"];
  const Numbers adjusted = benjamini_hochberg(family["p"].get<Numbers>());
  for (size_t i = 0; i < adjusted.size(); ++i) {
    EXPECT_NEAR(adjusted[i], family["adjusted"][i].get<double>(), 1e-14);
  }
  for (const Json& coin : expected()["coins"]) {
    const double p = coin["p"];
    EXPECT_NEAR(coin_tail(coin["hits"], coin["tries"]), p, 1e-10 * p);
  }
}

// Texts of the file as encodings, and which rows are whose.
struct CaptumTexts {
  std::vector<Encoding> texts;
  std::map<std::string, ExampleRows> sets;
  ExampleRows targets;

  explicit CaptumTexts(const Json& data) {
    for (const auto& [name, texts_of_set] : data["sets"].items()) sets[name] = add(texts_of_set);
    targets = add(data["targets"]);
  }

 private:
  ExampleRows add(const Json& some) {
    const ExampleRows rows =
        numbered(static_cast<int64_t>(texts.size()), static_cast<int64_t>(some.size()));
    for (const Json& ids : some) {
      Encoding encoding;
      encoding.ids = ids.get<std::vector<int64_t>>();
      encoding.type_ids.assign(encoding.ids.size(), 0);
      texts.push_back(std::move(encoding));
    }
    return rows;
  }
};

TEST(TcavGolden, ScoresAndMagnitudesAreThoseOfCaptum) {
  const Json& data = expected()["captum"];
  const GoldenModel golden(data["model"]);
  const CaptumTexts texts(data);
  const TokenReader reader(golden, texts.texts);
  const SampleConceptInputs inputs(reader, reader.inputs(), DType::kFloat64);
  const auto examples = static_cast<int64_t>(texts.texts.size());
  for (const Json& expected_run : data["runs"]) {
    const int layer = expected_run["layer"];
    const int64_t width = row_width(inputs, inputs.length(0), layer, TokenRows::kAll);
    TestRows activations{examples, width, std::vector<float>(examples * width)};
    TestRows gradients{static_cast<int64_t>(texts.targets.size()), width, {}};
    gradients.numbers.resize(gradients.rows * width);
    RowRequest request{.layers = {layer}, .rows = TokenRows::kAll};
    request.take = [&](int64_t example, size_t, std::span<const float> row) {
      std::copy(row.begin(), row.end(), activations.numbers.begin() + example * width);
    };
    take_activations(inputs, numbered(0, examples), request);
    request.take = [&](int64_t example, size_t, std::span<const float> row) {
      std::copy(row.begin(), row.end(),
                gradients.numbers.begin() + (example - texts.targets[0]) * width);
    };
    take_gradients(inputs, texts.targets, expected_run["target"], request);
    const InnerProducts products = inner_products(activations.view(), gradients.view());
    const Cav cav = fit_cav(products.gram, texts.sets.at(expected_run["concept"]),
                            texts.sets.at(expected_run["against"]));
    const Sensitivity found = sensitivity_to(products, cav, {0, gradients.rows});
    SCOPED_TRACE(expected_run.dump());
    EXPECT_NEAR(found.score, expected_run["score"].get<double>(), 1e-7);  // Captum's is a float
    EXPECT_NEAR(found.magnitude, expected_run["magnitude"].get<double>(), 1e-6);
  }
}

}  // namespace
}  // namespace whyformer
