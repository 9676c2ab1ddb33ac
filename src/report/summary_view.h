// What all forms of a summary have in common.
#pragma once

#include <string>

#include "report/canvas.h"
#include "report/palette.h"
#include "whyformer/summary.h"

namespace whyformer::report {

// Of a row's bar: its mean or total, as the summary is ordered.
double bar_value(const Summary& summary, const SummaryRow& row);
// Of single features, so that a long sum of many others does not flatten them: its bar is cut.
double largest_bar(const Summary& summary);
bool has_cut_bar(const Summary& summary);

std::string summary_title(const Summary& summary);     // "shap: what counts for positive"
std::string summary_facts(const Summary& summary);     // "mean |score| in logit · 200 instances · model"
std::string format_bar(double value, double largest);  // "+0.12"

bool has_levels(const Summary& summary);  // of a table's columns, which colour the points

std::string draw_summary(const Summary& summary, SummaryPlot plot, PictureFormat format, const Palette& palette);

}  // namespace whyformer::report
