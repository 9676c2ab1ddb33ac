// Games for tests: every coalition's value stands in a table.
#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/numpy_random.h"
#include "tests/support/source_folder.h"
#include "whyformer/games.h"

namespace whyformer {

struct TableShape {
  int64_t players = 0;
  int64_t outputs = 1;
  uint32_t table_seed = 0;
  int64_t levels = 0;  // whole numbers below this; 0: anything from 0 to 1
  std::vector<int64_t> still = {};
  int64_t backgrounds = 1;
};

class TableGame : public Game {
 public:
  // The tables of scripts/golden/games_golden.py.
  explicit TableGame(const TableShape& shape) : shape_(shape), varying_(shape.players, true) {
    for (const int64_t player : shape.still) varying_[player] = false;
    NumpyRandom random(shape.table_seed);
    const size_t numbers = shape.backgrounds * background_size();
    for (size_t i = 0; i < numbers; ++i) {
      const double drawn = random.uniform();
      table_.push_back(shape.levels > 0 ? std::floor(drawn * static_cast<double>(shape.levels))
                                        : drawn);
    }
    for (int64_t background = 1; background < shape.backgrounds; ++background) {
      for (int64_t output = 0; output < shape.outputs; ++output) {
        table_[(background + 1) * background_size() - shape.outputs + output] =
            table_[background_size() - shape.outputs + output];
      }
    }
  }
  // One output, one background: [coalitions].
  TableGame(int64_t players, std::vector<double> table)
      : shape_{.players = players}, varying_(players, true), table_(std::move(table)) {}

  int64_t players() const override { return shape_.players; }
  int64_t outputs() const override { return shape_.outputs; }
  std::vector<bool> varying() const override { return varying_; }
  int64_t max_at_once() const override { return at_once; }
  int64_t backgrounds() const override { return shape_.backgrounds; }

  std::vector<double> values(const std::vector<Coalition>& coalitions) override {
    std::vector<double> values;
    for (const Coalition& coalition : coalitions) {
      for (int64_t output = 0; output < shape_.outputs; ++output)
        values.push_back(mean(index(coalition), output));
    }
    count(coalitions);
    return values;
  }

  std::vector<double> values(const std::vector<Coalition>& coalitions,
                             const std::vector<int64_t>& background) override {
    std::vector<double> values;
    for (size_t i = 0; i < coalitions.size(); ++i) {
      const double* row = &at(background.at(i), index(coalitions[i]));
      values.insert(values.end(), row, row + shape_.outputs);
    }
    count(coalitions);
    return values;
  }

  double mean(int64_t members, int64_t output) const {
    double sum = 0;
    for (int64_t background = 0; background < shape_.backgrounds; ++background) {
      sum += (&at(background, members))[output];
    }
    return sum / static_cast<double>(shape_.backgrounds);
  }
  std::vector<double>& table() { return table_; }

  int64_t at_once = 256;
  int64_t asked = 0, largest_batch = 0;

 private:
  int64_t varying_count() const {
    return shape_.players - static_cast<int64_t>(shape_.still.size());
  }
  int64_t background_size() const { return (int64_t{1} << varying_count()) * shape_.outputs; }
  const double& at(int64_t background, int64_t members) const {
    return table_.at(background * background_size() + members * shape_.outputs);
  }
  int64_t index(const Coalition& coalition) const {
    int64_t members = 0, bit = 0;
    for (int64_t player = 0; player < shape_.players; ++player) {
      if (varying_[player]) members |= int64_t{coalition.at(player)} << bit++;
    }
    return members;
  }
  void count(const std::vector<Coalition>& coalitions) {
    asked += static_cast<int64_t>(coalitions.size());
    largest_batch = std::max(largest_batch, static_cast<int64_t>(coalitions.size()));
  }

  TableShape shape_;
  std::vector<bool> varying_;
  std::vector<double> table_;  // [backgrounds × coalitions × outputs]
};

inline nlohmann::json golden_games(const std::string& name) {
  return nlohmann::json::parse(
      std::ifstream(source_folder() / "tests/golden/games" / (name + ".json")));
}

inline TableGame golden_table(const nlohmann::json& game) {
  return TableGame({.players = game["players"],
                    .outputs = game["outputs"],
                    .table_seed = game["table_seed"],
                    .levels = game["levels"],
                    .still = game["still"],
                    .backgrounds = game["backgrounds"]});
}

inline PlayerTree golden_tree(const nlohmann::json& merges) {
  PlayerTree tree;
  for (const auto& merge : merges) tree.merges.push_back({merge[0], merge[1]});
  return tree;
}

// Joins random nodes until one is left.
inline PlayerTree random_tree(int64_t players, uint32_t seed) {
  NumpyRandom random(seed);
  std::vector<int64_t> loose = random.permutation(players);
  PlayerTree tree;
  while (loose.size() > 1) {
    random.shuffle(loose);
    const int64_t left = loose.back();
    loose.pop_back();
    tree.merges.push_back({left, loose.back()});
    loose.back() = players + static_cast<int64_t>(tree.merges.size()) - 1;
  }
  return tree;
}

// A watch that ends after so many calls.
inline Watch ends_after(int64_t calls) {
  return [calls](int64_t, int64_t) mutable { return --calls > 0; };
}

}  // namespace whyformer
