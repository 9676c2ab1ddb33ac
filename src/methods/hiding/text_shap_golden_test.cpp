#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>

#include "tests/support/source_folder.h"
#include "whyformer/model.h"

namespace whyformer {
namespace {

// Made by scripts/golden/text_shap_golden.py: the shap package on the built-in model, in double.
TEST(TextShapGolden, GivesTheValuesOfTheShapPackage) {
  std::ifstream file(source_folder() / "tests/golden/games/text_shap.json");
  const auto golden = nlohmann::json::parse(file);
  const Model model = Model::built_in();
  ASSERT_EQ(golden.at("cases").size(), 36u);
  for (const auto& one : golden.at("cases")) {
    const MethodInfo& method = method_named(one.at("method").get<std::string>());
    Options options = parse_option(method, "preset=shap");
    if (method.name == "partition-shap") {
      options.emplace_back("context", one.at("context").get<std::string>());
      options.emplace_back("max-evals", one.at("max_evals").get<int64_t>());
    } else {
      options.emplace_back("samples", one.at("samples").get<int64_t>());
    }
    ExplainRequest request;
    request.methods = {{method.name, options}};
    request.target = golden.at("target").get<int64_t>();
    request.seed = golden.at("seed");
    // In double no decision which group to split next hangs on rounding; where all are split,
    // single will do.
    const bool slow = one.at("values").size() > 20 && one.value("max_evals", 500) == 500;
    const double tolerance = slow ? 1e-5 : 1e-6;
    request.precision = slow ? Precision::kSingle : Precision::kDouble;
    const Explanation found = explain(model, TextInput{one.at("text"), {}}, request)[0];
    const auto expected = one.at("values").get<std::vector<double>>();
    const Attribution& got = found.attributions[0];
    ASSERT_EQ(got.scores.size(), expected.size());
    EXPECT_NEAR(got.estimate->base, one.at("base").get<double>(), tolerance);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(got.scores[i], expected[i], tolerance)
          << one.at("text") << ' ' << method.name << ' ' << one.value("context", "") << ' '
          << one.value("max_evals", 0) << " token " << i;
    }
  }
}

}  // namespace
}  // namespace whyformer
