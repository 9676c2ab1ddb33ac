#include "whyformer/importance.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "long_work.h"
#include "whyformer/compared_importances.h"
#include "whyformer/report.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace whyformer::python {

void bind_importance(nb::module_& module) {
  nb::enum_<ImportanceMethod>(module, "ImportanceMethod")
      .value("permutation", ImportanceMethod::kPermutation)
      .value("sage", ImportanceMethod::kSage);
  nb::enum_<ImportanceScore>(module, "ImportanceScore")
      .value("auto", ImportanceScore::kAuto)
      .value("accuracy", ImportanceScore::kAccuracy)
      .value("cross_entropy", ImportanceScore::kCrossEntropy)
      .value("r2", ImportanceScore::kR2)
      .value("squared_error", ImportanceScore::kSquaredError);
  nb::class_<ImportanceRequest>(module, "ImportanceRequest")
      .def(nb::init<>())
      .def_rw("method", &ImportanceRequest::method)
      .def_rw("score", &ImportanceRequest::score)
      .def_rw("repeats", &ImportanceRequest::repeats)
      .def_rw("precision", &ImportanceRequest::precision)
      .def_rw("draws", &ImportanceRequest::draws)
      .def_rw("background_rows", &ImportanceRequest::background_rows)
      .def_rw("groups", &ImportanceRequest::groups)
      .def_rw("seed", &ImportanceRequest::seed);
  module.def(
      "importance",
      [](const Model& model, const NamedTable& rows, const std::vector<double>& answers,
         ImportanceRequest request, const nb::object& progress) {
        return run_long(progress, [&](const Progress& watch) {
          request.progress = watch;
          return to_json(importance(model, rows, answers, request));
        });
      },
      "model"_a, "rows"_a, "answers"_a, "request"_a, "progress"_a.none());
  nb::class_<ComparedImportances>(module, "ComparedImportances")
      .def("json", [](const ComparedImportances& found) { return to_json(found, 2); })
      .def("terminal",
           [](const ComparedImportances& found, bool colour, int width) {
             return to_terminal(found, TerminalOptions{.colour = colour, .width = width});
           })
      .def("html", [](const ComparedImportances& found) { return to_html(found); });
  module.def(
      "compare_importances",
      [](const Model& model, const NamedTable& rows, const std::vector<double>& answers,
         const ExplainRequest& explain, const ImportanceRequest& importance,
         const nb::object& progress) {
        return run_long(progress, [&](const Progress& watch) {
          return compare_importances(
              model, rows, answers,
              {.explain = explain, .importance = importance, .progress = watch});
        });
      },
      "model"_a, "rows"_a, "answers"_a, "explain"_a, "request"_a, "progress"_a.none());
}

}  // namespace whyformer::python
