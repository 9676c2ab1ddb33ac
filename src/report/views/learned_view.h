// What every report of linear probes shows.
#pragma once

#include <string>

#include "report/views/report_table.h"
#include "whyformer/learned.h"

namespace whyformer::report {

std::string title_of(const LearnedReport& report);
std::string settings_of(const LearnedReport& report);
std::string probed_layer_name(const LayerProbe& layer);  // "embeddings", "layer 3"
std::string probe_name(ProbeKind probe);                 // "ridge"
// A row per layer with all controls.
ReportTable probes_table(const LearnedReport& report);

}  // namespace whyformer::report
