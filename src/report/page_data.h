// What the page's script draws, as one JSON object (not the public format of docs/json.md).
#pragma once

#include <string>

#include "report/attention_pack.h"
#include "whyformer/report.h"

namespace whyformer::report {

std::string page_data(const Explanation& explanation, const PackedAttention& attention,
                      const ReportOptions& options);

}  // namespace whyformer::report
