// What every report of the roles of heads shows.
#pragma once

#include <string>

#include "report/views/report_table.h"
#include "whyformer/head_roles.h"

namespace whyformer::report {

// "prev", or "·" where no role holds; and the share of tokens for which it does, 0 then.
std::string role_mark(const HeadRoles& roles, const HeadRole& head);
double role_share(const HeadRole& head);

std::string roles_sentence(const HeadRoles& roles);  // what has to be so for a role to hold
ReportTable roles_table(const HeadRoles& roles);     // a row per role
ReportTable arcs_table(const HeadSyntax& syntax, const HeadRolesRequest& settings);
std::string direction_name(ArcDirection direction);  // "dependent-to-head"

}  // namespace whyformer::report
