// How far an explanation can be trusted, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "whyformer/trust.h"

namespace whyformer::report {

nlohmann::ordered_json trust_json(const Trust& trust);
nlohmann::ordered_json trust_setting_json(const TrustSetting& setting);

}  // namespace whyformer::report
