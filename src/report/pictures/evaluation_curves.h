// Curves of an evaluation: a panel per curve with a line per method, and the legend.
#pragma once

#include <string>
#include <vector>

#include "report/pictures/canvas.h"
#include "report/views/evaluation_view.h"

namespace whyformer::report {

constexpr double kCurveWidth = 380, kCurveHeight = 250;  // of a panel with its title and axes
constexpr double kLegendRow = 18;

void draw_curve(Canvas& canvas, const Box& box, const Evaluation& evaluation,
                const EvaluationCurve& curve);

// Names of methods in columns, within a width.
double legend_height(const Evaluation& evaluation, double width);
void draw_legend(Canvas& canvas, double x, double y, double width, const Evaluation& evaluation);

// Each curve with its legend as a picture of its own.
std::vector<std::string> curve_pictures(const Evaluation& evaluation);

// Values at round distances from the first one at or above `low` to `high`.
std::vector<double> round_values(double low, double high);

}  // namespace whyformer::report
