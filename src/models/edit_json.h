// Arrays of edits and of reads in JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "whyformer/edits.h"

namespace whyformer {

// {"shape": …, "numbers": …}; what JSON has no number for is "NaN", "Infinity" or "-Infinity".
nlohmann::ordered_json json_of(const EditArray& array);
// Throws InvalidInput where the numbers do not fill the shape, and what nlohmann throws.
EditArray edit_array_in(const nlohmann::ordered_json& json);
// Throw InvalidInput for other numbers: 2.7 is no place.
int64_t integer_in(const nlohmann::ordered_json& json);
std::vector<int64_t> integers_in(const nlohmann::ordered_json& json);
EditPlaces places_in(const nlohmann::ordered_json& json);
std::vector<Edit> edits_in(const nlohmann::ordered_json& json);

}  // namespace whyformer
