#include "whyformer/patching.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "long_work.h"
#include "whyformer/report.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace whyformer::python {
namespace {

void bind_patch_requests(nb::module_& module) {
  nb::enum_<PatchMetric>(module, "PatchMetric")
      .value("logit", PatchMetric::kLogit)
      .value("probability", PatchMetric::kProbability)
      .value("log_odds", PatchMetric::kLogOdds)
      .value("loss", PatchMetric::kLoss);
  nb::enum_<HeadAblation>(module, "HeadAblation")
      .value("zero", HeadAblation::kZero)
      .value("mean", HeadAblation::kTokenMean);
  nb::class_<PatchRequest>(module, "PatchRequest")
      .def(nb::init<>())
      .def_rw("kinds", &PatchRequest::kinds)
      .def_rw("target", &PatchRequest::target, nb::arg().none())
      .def_rw("against", &PatchRequest::against, nb::arg().none())
      .def_rw("metric", &PatchRequest::metric)
      .def_rw("preview", &PatchRequest::preview)
      .def_rw("exact_share", &PatchRequest::exact_share)
      .def_rw("precision", &PatchRequest::precision)
      .def_rw("seed", &PatchRequest::seed)
      .def_rw("memory_bytes", &PatchRequest::memory_bytes);
  nb::class_<NoiseRequest>(module, "NoiseRequest")
      .def(nb::init<>())
      .def_rw("tokens", &NoiseRequest::tokens)
      .def_rw("scale", &NoiseRequest::scale)
      .def_rw("draws", &NoiseRequest::draws)
      .def_rw("window", &NoiseRequest::window);
}

void bind_patch_report(nb::module_& module) {
  nb::class_<PatchReport>(module, "PatchReport")
      .def("json", [](const PatchReport& r) { return to_json(r, 2); })
      .def("html", [](const PatchReport& r) { return to_html(r); })
      .def("terminal",
           [](const PatchReport& r, bool colour, int width) {
             return to_terminal(r, TerminalOptions{.colour = colour, .width = width});
           })
      .def("picture", [](const PatchReport& r, PictureFormat format) {
        const std::string content = patch_picture(r, format);
        return nb::bytes(content.data(), content.size());
      });
}

// Runs an analysis, a function of the request, with the progress put in.
template <class Analysis>
PatchReport run_patching(PatchRequest request, const nb::object& progress,
                         const Analysis& analysis) {
  return run_long(progress, [&](const Progress& watch) {
    request.progress = watch;
    return analysis(request);
  });
}

void bind_analyses_of_pairs(nb::module_& module) {
  module.def(
      "patch",
      [](const Model& model, const InputValue& clean, const InputValue& corrupted,
         const PatchRequest& request, const nb::object& progress) {
        return run_patching(request, progress, [&](const PatchRequest& watched) {
          return patch(model, clean, corrupted, watched);
        });
      },
      "model"_a, "clean"_a, "corrupted"_a, "request"_a, "progress"_a.none());
  module.def(
      "patch_paths",
      [](const Model& model, const InputValue& clean, const InputValue& corrupted,
         const std::string& what, int layer, int head, const PatchRequest& request,
         const nb::object& progress) {
        const PathReceiver receiver{.what = what, .layer = layer, .head = head};
        return run_patching(request, progress, [&](const PatchRequest& watched) {
          return patch_paths(model, clean, corrupted, receiver, watched);
        });
      },
      "model"_a, "clean"_a, "corrupted"_a, "what"_a, "layer"_a, "head"_a, "request"_a,
      "progress"_a.none());
}

void bind_analyses_of_one_input(nb::module_& module) {
  module.def(
      "trace_causes",
      [](const Model& model, const InputValue& clean, const NoiseRequest& noise,
         const PatchRequest& request, const nb::object& progress) {
        return run_patching(request, progress, [&](const PatchRequest& watched) {
          return trace_causes(model, clean, noise, watched);
        });
      },
      "model"_a, "clean"_a, "noise"_a, "request"_a, "progress"_a.none());
  module.def(
      "ablate_heads",
      [](const Model& model, const InputValue& input, HeadAblation ablation,
         const PatchRequest& request, const nb::object& progress) {
        return run_patching(request, progress, [&](const PatchRequest& watched) {
          return ablate_heads(model, input, ablation, watched);
        });
      },
      "model"_a, "input"_a, "ablation"_a, "request"_a, "progress"_a.none());
  module.def(
      "logit_lens",
      [](const Model& model, const InputValue& input, const PatchRequest& request,
         const nb::object& progress) {
        return run_patching(request, progress, [&](const PatchRequest& watched) {
          return logit_lens(model, input, watched);
        });
      },
      "model"_a, "input"_a, "request"_a, "progress"_a.none());
}

}  // namespace

void bind_patching(nb::module_& module) {
  bind_patch_requests(module);
  bind_patch_report(module);
  bind_analyses_of_pairs(module);
  bind_analyses_of_one_input(module);
}

}  // namespace whyformer::python
