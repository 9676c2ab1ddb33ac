// What SciPy computes: tests/golden/agreement.json, by scripts/golden/agreement_golden.py.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/source_folder.h"

namespace whyformer {

inline const nlohmann::json& golden_agreement() {
  static const nlohmann::json json =
      nlohmann::json::parse(std::ifstream(source_folder() / "tests/golden/agreement.json"));
  return json;
}

}  // namespace whyformer
