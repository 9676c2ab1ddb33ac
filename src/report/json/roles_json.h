// The roles of heads as they stand in whyformer.heads/1.
#pragma once

#include <nlohmann/json.hpp>

#include "whyformer/head_roles.h"

namespace whyformer::report {

nlohmann::ordered_json roles_json(const HeadRoles& roles);

}  // namespace whyformer::report
