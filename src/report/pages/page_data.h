// What the page's script draws, as one JSON object (not the public format of docs/json.md).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "report/views/attention_pack.h"
#include "report/views/view.h"
#include "whyformer/report.h"

namespace whyformer::report {

std::string page_data(const Explanation& explanation, const PackedAttention& attention,
                      const ReportOptions& options);

// Parts that all pages of explanations have in common. The keys of page_json: model, architecture,
// space, label_count, special, pair, pieces, palettes and notes.
nlohmann::ordered_json page_json(const Explanation& explanation, const ReportOptions& options);
nlohmann::ordered_json label_json(const LabelValue& answer);
nlohmann::ordered_json page_attention_json(const PackedAttention& attention);
// A method's scores, whatever their shape. `counted` tells which special tokens the scale counts
// where all tokens are shown.
nlohmann::ordered_json method_json(const Explanation& explanation, const Attribution& attribution,
                                   SpecialTokens counted);
// With what tokens in a row have besides: the force bar and pairs of units.
nlohmann::ordered_json token_method_json(const Explanation& explanation,
                                         const Attribution& attribution, SpecialTokens counted);

}  // namespace whyformer::report
