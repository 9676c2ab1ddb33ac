#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/support/fit_test_games.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

TEST(KmeansBackground, EqualsShap) {
  for (const nlohmann::json& entry : fit_golden("kmeans")) {
    Table table{.rows = entry["rows"], .columns = entry["columns"]};
    for (const nlohmann::json& value : entry["x"]) {
      table.values.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                             : value.get<double>());
    }
    const Background found = kmeans_background(table, entry["clusters"]);
    const std::string name = entry["clusters"].dump() + " clusters of " + entry["rows"].dump();
    expect_near(found.rows.values, entry["centres"], 1e-12, name);
    expect_near(found.weights, entry["weights"], 1e-12, name);
  }
}

TEST(KmeansBackground, TakesValuesThatOccur) {
  const Table table{.rows = 50, .columns = 3, .values = random_numbers(150, 3)};
  const Background found = kmeans_background(table, 5);
  double sum = 0;
  for (const double weight : found.weights) sum += weight;
  EXPECT_NEAR(sum, 1, 1e-14);
  for (size_t i = 0; i < found.rows.values.size(); ++i) {
    bool occurs = false;
    for (size_t j = i % 3; j < table.values.size(); j += 3)
      occurs = occurs || table.values[j] == found.rows.values[i];
    EXPECT_TRUE(occurs) << i;
  }
}

TEST(KmeansBackground, TakesTablesOfEqualRows) {
  const Background found =
      kmeans_background({.rows = 6, .columns = 1, .values = std::vector<double>(6, 2.5)}, 3);
  EXPECT_THAT(found.rows.values, ::testing::ElementsAre(2.5, 2.5, 2.5));
}

TEST(KmeansBackground, RefusesWhatItCannotCluster) {
  const Table table{.rows = 2, .columns = 1, .values = {1, 2}};
  EXPECT_THROW(kmeans_background(table, 3), InvalidInput);
  EXPECT_THROW(kmeans_background(table, 0), InvalidInput);
  EXPECT_THROW(kmeans_background({.rows = 2, .columns = 1, .values = {NAN, NAN}}, 1), InvalidInput);
  EXPECT_THROW(kmeans_background({.rows = 2, .columns = 1, .values = {INFINITY, 1}}, 1),
               InvalidInput);
}

}  // namespace
}  // namespace whyformer
