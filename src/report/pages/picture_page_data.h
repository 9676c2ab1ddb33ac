// What the script of a picture's page draws.
#pragma once

#include <string>
#include <vector>

#include "report/views/panel_layout.h"
#include "report/views/pooled_queries.h"
#include "whyformer/report.h"

namespace whyformer::report {

// Bytes that stand beside the data, each in a block of its own.
struct PageBlock {
  std::string id;
  std::vector<uint8_t> bytes;
};

struct PicturePage {
  std::string data;  // one JSON object
  std::vector<PageBlock> blocks;
};

PicturePage picture_page(const PanelLayout& layout, const PooledAttention& attention,
                         const ReportOptions& options);

}  // namespace whyformer::report
