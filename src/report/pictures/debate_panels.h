// Panels of a debate: points over the largest weight, and two distributions on the words of a text.
#pragma once

#include <string>
#include <vector>

#include "report/pictures/canvas.h"
#include "report/views/debate_view.h"

namespace whyformer::report {

struct ScatterPanel {
  std::string title, across, up;  // titles of the panel and of its axes
  double top = 1;                 // of the vertical axis
  std::string top_name;           // of the line there; empty: none
  std::vector<DebatePoint> points;
  std::vector<std::string> labels;  // of the predicted classes
};
// Those that have points.
std::vector<ScatterPanel> scatter_panels(const DebateReport& report);

constexpr double kScatterWidth = 372, kScatterHeight = 300;
void draw_scatter(Canvas& canvas, double x, double y, const ScatterPanel& panel);

constexpr double kExampleWidth = 372;
double example_height(const DebateExampleView& example);
// Each word twice: by the observed and by the adversarial weight, both as bars and as colour.
void draw_example(Canvas& canvas, double x, double y, const DebateExampleView& example);

// Each panel as an SVG of its own.
std::vector<std::string> debate_pictures(const DebateReport& report);

}  // namespace whyformer::report
