// The table of compared importances that terminals and pages share.
#pragma once

#include "report/views/report_table.h"
#include "whyformer/compared_importances.h"

namespace whyformer::report {

ReportTable importance_table(const ComparedImportances& found);
std::string importance_facts(const ComparedImportances& found);

}  // namespace whyformer::report
