// The games of tests/golden/metrics.json, with what reference implementations say of them.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/source_folder.h"
#include "tests/support/table_answers.h"

namespace whyformer {

inline const nlohmann::json& golden_metrics() {
  static const nlohmann::json json =
      nlohmann::json::parse(std::ifstream(source_folder() / "tests/golden/metrics.json"));
  return json;
}

inline AnswerTable table_of_game(const nlohmann::json& game) {
  AnswerTable table{.players = game["players"]};
  for (size_t row = 0; row < game["value"].size(); ++row) {
    table.rows.push_back({.value = game["value"][row],
                          .output = game["output"][row],
                          .keeps_label = game["keeps"][row] == 1});
  }
  return table;
}

}  // namespace whyformer
