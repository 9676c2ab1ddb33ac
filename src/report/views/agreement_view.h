// Tables of agreement that terminals and pages share.
#pragma once

#include <string>
#include <vector>

#include "report/views/report_table.h"
#include "whyformer/method_agreement.h"

namespace whyformer::report {

// How many inputs lie behind a mean: "sd 0.21", and those that were left out.
std::string agreement_extent(const AgreementCell& cell);
// Between mean |scores| of columns, and column by column; none where inputs have no columns.
std::vector<ReportTable> column_tables(const AgreementReport& report);
// A row for each model and pair of methods, and the spread over the models.
std::vector<ReportTable> model_tables(const AgreementOverModels& found);

}  // namespace whyformer::report
