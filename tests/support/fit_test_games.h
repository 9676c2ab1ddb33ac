// Games for tests of the fits.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/support/source_folder.h"
#include "whyformer/games.h"

namespace whyformer {

// The worth of every coalition of those who vary; bit i of the row number for the i-th of them.
class TableOfWorth final : public Game {
 public:
  TableOfWorth(std::vector<double> table, int64_t players, int64_t outputs = 1,
               std::vector<int64_t> still = {})
      : table_(std::move(table)), outputs_(outputs), varying_(players, true) {
    for (const int64_t player : still) varying_[player] = false;
  }

  int64_t players() const override { return static_cast<int64_t>(varying_.size()); }
  int64_t outputs() const override { return outputs_; }
  std::vector<bool> varying() const override { return varying_; }
  int64_t max_at_once() const override { return most; }

  std::vector<double> values(const std::vector<Coalition>& coalitions) override {
    EXPECT_LE(static_cast<int64_t>(coalitions.size()), most);
    std::vector<double> values;
    for (const Coalition& coalition : coalitions) {
      int64_t row = 0, bit = 0;
      for (size_t player = 0; player < varying_.size(); ++player) {
        if (varying_[player]) row |= static_cast<int64_t>(coalition[player]) << bit++;
      }
      values.insert(values.end(), table_.begin() + row * outputs_,
                    table_.begin() + (row + 1) * outputs_);
    }
    asked.insert(asked.end(), coalitions.begin(), coalitions.end());
    return values;
  }

  int64_t most = 256;
  std::vector<Coalition> asked;

 private:
  std::vector<double> table_;
  int64_t outputs_;
  std::vector<bool> varying_;
};

// A game of any number of players, by a function.
class FunctionGame final : public Game {
 public:
  FunctionGame(int64_t players, std::function<double(const Coalition&)> worth)
      : players_(players), worth_(std::move(worth)) {}

  int64_t players() const override { return players_; }
  int64_t max_at_once() const override { return at_once; }
  std::vector<double> values(const std::vector<Coalition>& coalitions) override {
    std::vector<double> values;
    for (const Coalition& coalition : coalitions) values.push_back(worth_(coalition));
    asked += static_cast<int64_t>(coalitions.size());
    return values;
  }

  int64_t asked = 0;
  int64_t at_once = 256;

 private:
  int64_t players_;
  std::function<double(const Coalition&)> worth_;
};

inline std::vector<double> random_numbers(size_t count, uint32_t seed) {
  std::mt19937 words(seed);
  std::vector<double> numbers(count);
  for (double& number : numbers) number = std::ldexp(static_cast<double>(words()), -31) - 1;
  return numbers;
}

inline FunctionGame additive_game(const std::vector<double>& worth) {
  return FunctionGame(static_cast<int64_t>(worth.size()), [worth](const Coalition& coalition) {
    double sum = 0.25;
    for (size_t i = 0; i < worth.size(); ++i) sum += coalition[i] ? worth[i] : 0;
    return sum;
  });
}

inline nlohmann::json fit_golden(const std::string& name) {
  return nlohmann::json::parse(
      std::ifstream(source_folder() / "tests/golden/games" / (name + "_fit.json")));
}

inline void expect_near(const std::vector<double>& got, const std::vector<double>& wanted,
                        double tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], tolerance) << what << " [" << i << "]";
}

}  // namespace whyformer
