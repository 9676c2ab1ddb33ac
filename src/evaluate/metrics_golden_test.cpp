// Metrics against ERASER's formula, RISE's, Chefer's, ferret, Quantus, captum and shap:
// tests/golden/metrics.json, by scripts/golden/metrics_golden.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "evaluate/random_subsets.h"
#include "tests/support/golden_metrics.h"

namespace whyformer {
namespace {

using Json = nlohmann::json;
using Numbers = std::vector<double>;

// Everything is in float64 on both sides.
constexpr double kRounding = 1e-12;

// Calls `check(table, case, scores)` for every game and all scores.
template <class Check>
void for_each_case(const Check& check) {
  for (const Json& game : golden_metrics()["games"]) {
    const AnswerTable table = table_of_game(game);
    for (const Json& one : game["cases"]) {
      SCOPED_TRACE(std::to_string(table.players) + " players, " + one["name"].get<std::string>());
      check(table, one, one["scores"].get<Numbers>());
    }
  }
}

void expect_value(const std::string& metric, const std::optional<double>& found,
                  const Json& expected) {
  ASSERT_TRUE(found) << metric;
  EXPECT_NEAR(*found, expected.get<double>(), kRounding) << metric;
}

// What the drop of the answer is read from.
const std::vector<std::pair<std::string, bool>> kAnswers{{"output", false}, {"value", true}};

// Whether the curve is about scores of a sign that none has: shap gives 0 there, here it is not
// defined.
bool is_about_nothing(const std::string& metric, const Numbers& scores) {
  if (metric.ends_with("-negative"))
    return std::ranges::none_of(scores, [](double score) { return score < 0; });
  return metric.ends_with("-positive") &&
         std::ranges::none_of(scores, [](double score) { return score > 0; });
}

TEST(MetricsGolden, PathsAreThoseOfEraserRiseCheferAndShap) {
  for_each_case([](const AnswerTable& table, const Json& one, const Numbers& scores) {
    for (const char* source : {"eraser", "rise", "chefer", "shap"}) {
      for (const auto& [metric, expected] : one[source].items()) {
        const std::optional<double> found = measured(find_metric(metric), scores, table);
        if (!is_about_nothing(metric, scores)) {
          expect_value(metric, found, expected);
          continue;
        }
        EXPECT_EQ(found, std::nullopt) << metric;
        EXPECT_EQ(expected.get<double>(), 0) << metric;
      }
    }
  });
}

TEST(MetricsGolden, GroupsThatDifferGiveTheAopcOfFerret) {
  int64_t compared = 0;
  for_each_case([&](const AnswerTable& table, const Json& one, const Numbers& scores) {
    if (!one.contains("ferret")) return;
    const auto sizes = one["ferret"]["sizes"].get<std::vector<int64_t>>();
    const Ranking ranking = descending_order(scores);
    HiddenAnswers answers = table.answers();
    const double without =
        answers.complete([&] { return mean_drop_without(ranking, sizes, answers); });
    const double with_only =
        answers.complete([&] { return mean_drop_with_only(ranking, sizes, answers); });
    expect_value("ferret", without, one["ferret"]["of_sizes"]["comprehensiveness"]);
    expect_value("ferret", with_only, one["ferret"]["of_sizes"]["sufficiency"]);
    ++compared;
  });
  EXPECT_GE(compared, 10);
}

// ERASER counts a group as often as it stands in the list of shares, ferret once.
TEST(MetricsGolden, GroupsThatRepeatCountOnceForFerretOnly) {
  for_each_case([&](const AnswerTable& table, const Json& one, const Numbers& scores) {
    if (!one.contains("ferret")) return;
    std::vector<int64_t> sizes = eraser_sizes(table.players);
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    ASSERT_LT(sizes.size(), 5u);
    HiddenAnswers answers = table.answers();
    const double once = answers.complete(
        [&] { return mean_drop_without(descending_order(scores), sizes, answers); });
    const Json& ferret = one["ferret"]["of_eraser_sizes"]["comprehensiveness"];
    expect_value("ferret", once, ferret);
    EXPECT_NE(*measured(kComprehensiveness, scores, table), once);
  });
}

TEST(MetricsGolden, CorrelationsWithSingleUnitsAreThoseOfQuantus) {
  for_each_case([](const AnswerTable& table, const Json& one, const Numbers& scores) {
    for (const auto& [answer, of_probability] : kAnswers) {
      for (const char* metric : {"faithfulness-estimate", "monotonicity-correlation"}) {
        const auto found =
            measured(find_metric(metric), scores, table, {.of_probability = of_probability});
        expect_value(metric, found, one[answer]["quantus"][metric]);
      }
    }
  });
}

// Quantus calls a drop below 1e-5 none, whatever the unit of the answers; here it is 1e-5 of the
// largest. They agree where answers are about 1.
TEST(MetricsGolden, NonSensitivityIsThatOfQuantusUnlessAnswersAreSmall) {
  int64_t different = 0;
  for_each_case([&](const AnswerTable& table, const Json& one, const Numbers& scores) {
    for (const auto& [answer, of_probability] : kAnswers) {
      const double quantus = one[answer]["quantus"]["non-sensitivity"];
      const double found =
          *measured(kNonSensitivity, scores, table, {.of_probability = of_probability});
      if (std::abs(table.rows.back().output) > 1e-3) {
        EXPECT_EQ(found, quantus);
        continue;
      }
      AnswerTable larger = table;
      for (HiddenAnswer& row : larger.rows) row.value *= 1024, row.output *= 1024;
      EXPECT_EQ(*measured(kNonSensitivity, scores, larger, {.of_probability = of_probability}),
                found);
      different += found != quantus ? 1 : 0;
    }
  });
  EXPECT_GT(different, 0);
}

// Quantus adds 1e-12 to the shares of the entropy, and 1e-7 to the sizes of the Gini coefficient.
TEST(MetricsGolden, ComplexityIsThatOfTheDefinitionAndOfQuantus) {
  for_each_case([](const AnswerTable& table, const Json& one, const Numbers& scores) {
    const auto players = static_cast<double>(scores.size());
    const Json &definition = one["value"]["definition"], &quantus = one["quantus_of_scores"];
    const double complexity = *measured(kComplexity, scores, table),
                 sparseness = *measured(kSparseness, scores, table);
    expect_value("complexity", complexity, definition["complexity"]);
    EXPECT_NEAR(complexity, quantus["complexity"].get<double>(), players * 1e-12 + kRounding);
    expect_value("sparseness", sparseness, definition["sparseness"]);
    double largest = 0, sum = 0;
    for (const double score : scores) largest = std::max(largest, std::abs(score));
    for (const double score : scores) sum += std::abs(score) / largest;
    expect_value("sparseness", sparseness * sum / (sum + players * 1e-7), quantus["sparseness"]);
    EXPECT_EQ(*measured(kEffectiveComplexity, scores, table),
              quantus["effective-complexity"].get<double>());
  });
}

// Quantus fills units with the baseline that they already have, so that its answers never change.
TEST(MetricsGolden, MonotonicityFollowsTheDefinitionWhereQuantusIsAlwaysTrue) {
  int64_t falls = 0, rises = 0;
  for_each_case([&](const AnswerTable& table, const Json& one, const Numbers& scores) {
    const double found = *measured(kMonotonicity, scores, table);
    EXPECT_EQ(found, one["value"]["definition"]["monotonicity"].get<double>());
    EXPECT_EQ(one["value"]["quantus"]["monotonicity"].get<double>(), 1);
    found == 1 ? ++rises : ++falls;
  });
  EXPECT_GT(falls, 0);
  EXPECT_GT(rises, 0);
}

TEST(MetricsGolden, CompletenessIsTheDistanceOfTheDefinition) {
  for_each_case([](const AnswerTable& table, const Json& one, const Numbers& scores) {
    for (const auto& [answer, of_probability] : kAnswers) {
      expect_value("completeness",
                   measured(kCompleteness, scores, table, {.of_probability = of_probability}),
                   one[answer]["definition"]["completeness"]);
      EXPECT_EQ(one[answer]["quantus"]["completeness"].get<double>(), 0);
    }
  });
}

std::vector<SubsetDrop> drops_by_hand(const AnswerTable& table, const Numbers& scores,
                                      bool of_probability,
                                      const std::vector<HiddenAnswers::Hidden>& subsets) {
  std::vector<SubsetDrop> drops;
  for (const HiddenAnswers::Hidden& hidden : subsets) {
    const HiddenAnswer &whole = table.rows.back(), &without = table(hidden);
    SubsetDrop one;
    one.drop = of_probability ? whole.value - without.value : whole.output - without.output;
    for (size_t i = 0; i < scores.size(); ++i) one.promised += hidden[i] ? scores[i] : 0;
    drops.push_back(one);
  }
  return drops;
}

double error_by_hand(const std::vector<SubsetDrop>& drops, double scale) {
  double sum = 0;
  for (const SubsetDrop& one : drops) sum += std::pow(scale * one.promised - one.drop, 2);
  return sum / static_cast<double>(drops.size());
}

double scale_by_hand(const std::vector<SubsetDrop>& drops) {
  double products = 0, squares = 0;
  for (const SubsetDrop& one : drops) products += one.promised * one.drop;
  for (const SubsetDrop& one : drops) squares += one.promised * one.promised;
  return products / squares;
}

double correlation_by_hand(const std::vector<SubsetDrop>& drops) {
  const auto count = static_cast<double>(drops.size());
  double mean_promised = 0, mean_drop = 0, products = 0, promised = 0, dropped = 0;
  for (const SubsetDrop& one : drops) {
    mean_promised += one.promised / count;
    mean_drop += one.drop / count;
  }
  for (const SubsetDrop& one : drops) {
    products += (one.promised - mean_promised) * (one.drop - mean_drop);
    promised += std::pow(one.promised - mean_promised, 2);
    dropped += std::pow(one.drop - mean_drop, 2);
  }
  return products / std::sqrt(promised * dropped);
}

std::vector<HiddenAnswers::Hidden> subsets_of(const Json& lists, int64_t players) {
  std::vector<HiddenAnswers::Hidden> subsets;
  for (const Json& list : lists) {
    HiddenAnswers::Hidden hidden(players, false);
    for (const int64_t player : list) hidden[player] = true;
    subsets.push_back(hidden);
  }
  return subsets;
}

// The formulas above on the subsets that captum and Quantus were given; below they are those that
// the metrics draw.
TEST(MetricsGolden, SubsetsGiveTheInfidelityOfCaptumAndTheCorrelationOfQuantus) {
  for (const Json& one : golden_metrics()["subsets"]) {
    const AnswerTable table = table_of_game(golden_metrics()["games"][one["game"].get<size_t>()]);
    const auto scores = one["scores"].get<Numbers>();
    const bool of_probability = one["answer"] == "value";
    const auto drops =
        drops_by_hand(table, scores, of_probability, subsets_of(one["subsets"], table.players));
    expect_value("infidelity", error_by_hand(drops, 1), one["infidelity"]);
    expect_value("infidelity", mean_squared_error(drops, 1), one["infidelity"]);
    expect_value("infidelity-scaled", error_by_hand(drops, scale_by_hand(drops)),
                 one["infidelity-scaled"]);
    expect_value("infidelity-scaled", mean_squared_error(drops, *best_scale(drops)),
                 one["infidelity-scaled"]);
    const auto of_pairs =
        drops_by_hand(table, scores, of_probability, subsets_of(one["pairs"], table.players));
    expect_value("correlation", correlation_by_hand(of_pairs), one["correlation"]);
  }
}

std::vector<HiddenAnswers::Hidden> drawn(int64_t players, int64_t size, int64_t count,
                                         int64_t seed) {
  std::vector<HiddenAnswers::Hidden> subsets;
  for (int64_t number = 0; number < count; ++number) {
    subsets.push_back(random_subset(players, size, seed, number));
  }
  return subsets;
}

TEST(MetricsGolden, DrawnSubsetsGiveTheSameFormulas) {
  for_each_case([](const AnswerTable& table, const Json&, const Numbers& scores) {
    for (const auto& [answer, of_probability] : kAnswers) {
      const MeasureOptions options{.of_probability = of_probability, .seed = 17};
      const auto by_hand = [&](int64_t size, int64_t count) {
        return correlation_by_hand(drops_by_hand(table, scores, options.of_probability,
                                                 drawn(table.players, size, count, 17)));
      };
      expect_value("faithfulness-correlation",
                   measured(kFaithfulnessCorrelation, scores, table, options), by_hand(2, 100));
      double sum = 0;
      for (const int64_t tenths : {1, 3, 5, 7, 9}) {
        sum += by_hand(std::max<int64_t>(1, tenths * table.players / 10), 20);
      }
      expect_value("sensitivity-n", measured(kSensitivityN, scores, table, options), sum / 5);
    }
  });
}

TEST(MetricsGolden, InfidelityIsTheMeanOverSubsetsOfAllSizes) {
  for_each_case([](const AnswerTable& table, const Json&, const Numbers& scores) {
    HiddenAnswers answers = table.answers();
    const Evidence evidence{.scores = scores, .answers = answers, .seed = 5};
    const auto drops = answers.complete([&] { return drops_over_all_sizes(evidence, 100); });
    ASSERT_EQ(drops.size(), 100u);
    const MeasureOptions options{.seed = 5};
    expect_value("infidelity", measured(kInfidelity, scores, table, options),
                 error_by_hand(drops, 1));
    expect_value("infidelity-scaled", measured(kScaledInfidelity, scores, table, options),
                 error_by_hand(drops, scale_by_hand(drops)));
  });
}

TEST(MetricsGolden, NoiseGivesTheSensitivityOfCaptumAndTheLipschitzConstantOfQuantus) {
  for (const Json& one : golden_metrics()["noise"]) {
    const auto scores = one["scores"].get<Numbers>();
    MeasureOptions options;
    double lipschitz = 0;
    for (size_t i = 0; i < one["noisy"].size(); ++i) {
      const double distance = one["distances"][i];
      options.noisy.push_back({one["noisy"][i].get<Numbers>(), distance});
      // Quantus adds 1e-10 to the distance.
      const double quantus = one["lipschitz"][i];
      lipschitz = std::max(lipschitz, quantus * (distance + 1e-10) / distance);
    }
    const AnswerTable table{.players = static_cast<int64_t>(scores.size())};
    expect_value("max-sensitivity", measured(kMaxSensitivity, scores, table, options),
                 one["max-sensitivity"]);
    expect_value("local-lipschitz", measured(kLocalLipschitz, scores, table, options), lipschitz);
  }
}

// The model is a sum, and the attributions its terms. Quantus compares the drop of all units so far
// with the attribution of the last one.
TEST(MetricsGolden, SensitivityNOfExactTermsIsOneWhereThatOfQuantusIsNot) {
  const Json& one = golden_metrics()["sensitivity_n"];
  for (const Json& terms : one["attributions"]) {
    const auto scores = terms.get<Numbers>();
    const AnswerTable sum = AnswerTable::of(6, [&](const std::vector<bool>& visible) {
      double answer = 0;
      for (size_t i = 0; i < scores.size(); ++i) answer += visible[i] ? scores[i] : 0;
      return answer;
    });
    EXPECT_NEAR(*measured(kSensitivityN, scores, sum), 1, kRounding);
  }
  const auto quantus = one["quantus"].get<Numbers>();
  ASSERT_EQ(quantus.size(), 6u);
  EXPECT_GT(quantus[0], 0.999);  // one unit: nothing came before it
  for (size_t n = 1; n < quantus.size(); ++n) EXPECT_LT(quantus[n], 0.99) << n;
}

}  // namespace
}  // namespace whyformer
