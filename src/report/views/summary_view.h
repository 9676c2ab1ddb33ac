// What all forms of a summary have in common.
#pragma once

#include <string>

#include "report/pictures/canvas.h"
#include "report/views/palette.h"
#include "whyformer/summary.h"

namespace whyformer::report {

// Of a row's bar: its mean or total, as the summary is ordered.
double bar_value(const Summary& summary, const SummaryRow& row);
// Of single features: a long sum of many others would flatten them, so its bar is cut. One that is
// not much longer is drawn whole.
double largest_bar(const Summary& summary);
bool has_cut_bar(const Summary& summary);

std::string summary_title(const Summary& summary);  // "shap: feature importance for positive"
std::string summary_facts(
    const Summary& summary);  // "mean |score| in logit · 200 instances · model"
std::string format_bar(double value, double largest);  // "+0.12"

// Whether its features are columns of a table, whose values colour the points.
bool is_of_table(const Summary& summary);

struct SummaryStyle {
  PictureFormat format = PictureFormat::kSvg;
  const Palette& palette = kLightPalette;
  bool titled = true;  // a page has the title already
};
std::string draw_summary(const Summary& summary, SummaryPlot plot, const SummaryStyle& style);
std::string draw_heat_map(const Summary& summary, const SummaryStyle& style);
std::string draw_dependence(const Summary& summary, const std::string& column,
                            const SummaryStyle& style);

// On the ramp of values, from low (0) to high (1): what lies below its start is too near to the
// paper.
Colour level_colour(const Palette& palette, double level);

}  // namespace whyformer::report
