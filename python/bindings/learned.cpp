#include "whyformer/learned.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "long_work.h"
#include "whyformer/report.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace whyformer::python {
namespace {

void bind_learned_request(nb::module_& module) {
  nb::class_<LearnedRequest>(module, "LearnedRequest")
      .def(nb::init<>())
      .def_rw("layers", &LearnedRequest::layers)
      .def_rw("rows", &LearnedRequest::rows)
      .def_rw("probe", &LearnedRequest::probe)
      .def_rw("strength", &LearnedRequest::strength)
      .def_rw("held_out", &LearnedRequest::held_out)
      .def_rw("shuffles", &LearnedRequest::shuffles)
      .def_rw("random_weights", &LearnedRequest::random_weights)
      .def_rw("max_rows", &LearnedRequest::max_rows)
      .def_rw("seed", &LearnedRequest::seed)
      .def_rw("precision", &LearnedRequest::precision);
}

}  // namespace

void bind_learned(nb::module_& module) {
  nb::enum_<ProbeKind>(module, "ProbeKind")
      .value("ridge", ProbeKind::kRidge)
      .value("logistic", ProbeKind::kLogistic);
  nb::class_<LearnedExample>(module, "LearnedExample")
      .def("__init__",
           [](LearnedExample* self, InputValue input, std::string label, std::string place) {
             new (self) LearnedExample{
                 .input = std::move(input), .label = std::move(label), .place = std::move(place)};
           });
  module.def("labelled_words",
             [](const std::filesystem::path& path) { return read_labelled_words(path); });
  bind_learned_request(module);
  nb::class_<LearnedReport>(module, "LearnedReport")
      .def_ro("stopped_early", &LearnedReport::stopped_early)
      .def("json", [](const LearnedReport& r) { return to_json(r, 2); })
      .def("terminal",
           [](const LearnedReport& r, bool colour, int width) {
             return to_terminal(r, TerminalOptions{.colour = colour, .width = width});
           })
      .def("html", [](const LearnedReport& r) { return to_html(r); })
      .def("safetensors",
           [](const LearnedReport& r) {
             const std::string bytes = directions_in_safetensors(r);
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("directions",
           [](const LearnedReport& r, int layer) {
             for (const LayerProbe& one : r.layers) {
               if (one.layer != layer) continue;
               return std::tuple(one.directions.labels, one.directions.weights,
                                 one.directions.intercepts);
             }
             throw nb::key_error("no such layer was probed");
           })
      .def("picture", [](const LearnedReport& r, PictureFormat format) {
        const std::string content = learned_picture(r, format);
        return nb::bytes(content.data(), content.size());
      });
  module.def(
      "probe_layers",
      [](const Model& model, const std::vector<LearnedExample>& examples, LearnedRequest request,
         const nb::object& progress) {
        return run_long(progress, [&](const Progress& watch) {
          request.progress = watch;
          return probe_layers(model, examples, request);
        });
      },
      "model"_a, "examples"_a, "request"_a, "progress"_a.none());
}

}  // namespace whyformer::python
