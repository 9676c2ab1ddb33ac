#include "report/views/learned_view.h"

#include <fmt/format.h>

#include "report/views/concepts_view.h"
#include "report/views/model_title.h"
#include "report/views/text.h"

namespace whyformer::report {
namespace {

std::string share_cell(const ProbeAccuracy& accuracy) {
  return fmt::format("{:.1f} %", 100 * accuracy.share());
}

std::string interval_cell(const ProbeAccuracy& accuracy) {
  return fmt::format("{:.0f}–{:.0f} %", 100 * accuracy.low, 100 * accuracy.high);
}

}  // namespace

std::string title_of(const LearnedReport& report) {
  return "What layers know: " + printable(model_title(report.model));
}

std::string settings_of(const LearnedReport& report) {
  return fmt::format(
      "{} probe · {} labels of {} · fitted to {}, tested on {} of {} held-out inputs · seed {}",
      probe_name(report.probe), report.labels.size(), report.unit, report.fitted_rows,
      report.majority.rows, report.held_out_inputs, report.seed);
}

std::string probed_layer_name(const LayerProbe& layer) {
  return layer.layer < 0 ? "embeddings" : fmt::format("layer {}", layer.layer);
}

std::string probe_name(ProbeKind probe) {
  return probe == ProbeKind::kRidge ? "ridge" : "logistic";
}

ReportTable probes_table(const LearnedReport& report) {
  ReportTable table{.title = "Accuracy on held-out inputs",
                    .head = {"layer", "accuracy", "95 %", "majority", "shuffled", "p", "random",
                             "control", "selectivity"}};
  table.explained = fmt::format(
      "Majority: the most common label. Shuffled: the mean of {} fits to shuffled labels, p that "
      "they do as well. Random: the same architecture with random weights. Control: a random label "
      "for each word type; selectivity is accuracy less that of the control (Hewitt & Liang 2019).",
      report.shuffles);
  for (const LayerProbe& layer : report.layers) {
    const auto selectivity = layer.selectivity();
    table.rows.push_back({probed_layer_name(layer), share_cell(layer.accuracy),
                          interval_cell(layer.accuracy), share_cell(report.majority),
                          fmt::format("{:.1f} %", 100 * layer.shuffled), format_p(layer.p),
                          layer.random_weights ? share_cell(*layer.random_weights) : "–",
                          layer.control_task ? share_cell(*layer.control_task) : "–",
                          selectivity ? fmt::format("{:+.1f}", 100 * *selectivity) : "–"});
  }
  return table;
}

}  // namespace whyformer::report
