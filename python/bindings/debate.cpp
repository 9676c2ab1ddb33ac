#include "whyformer/debate.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "long_work.h"
#include "whyformer/interrupted.h"
#include "whyformer/report.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace whyformer::python {
namespace {

// Stopped by the progress function, it tells what is done by then.
DebateReport debate(const Model& model, const std::vector<Model>& others,
                    const std::vector<DebateExample>& examples, DebateRequest request,
                    const Progress& watch) {
  const auto count = static_cast<int64_t>(examples.size());
  int64_t done = 0;
  bool stopped = false;
  request.progress = [&](int64_t, int64_t) {
    if (!stopped && !watch(done, count)) stopped = true;
    return !stopped;
  };
  std::vector<DebateInput> inputs;
  try {
    while (done < count && !stopped) {
      inputs.push_back(debate_input(model, others, examples[done], done, request));
      ++done;
      request.progress(done, count);  // short inputs end before they ask
    }
  } catch (const Interrupted&) {
    if (inputs.empty()) throw;
  }
  DebateReport report = summarise(model, others, examples, inputs, request);
  if (static_cast<int64_t>(inputs.size()) < count) report.stopped_early = true;
  watch(count, count);
  return report;
}

}  // namespace

void bind_debate(nb::module_& module) {
  nb::class_<DebateExample>(module, "DebateExample")
      .def(
          "__init__",
          [](DebateExample* example, std::string name, InputValue input,
             std::optional<std::string> label) {
            new (example) DebateExample{std::move(name), std::move(input), std::move(label)};
          },
          "name"_a, "input"_a, "label"_a.none());
  nb::class_<DebateRequest>(module, "DebateRequest")
      .def(nb::init<>())
      .def_rw("parts", &DebateRequest::parts)
      .def_rw("permutations", &DebateRequest::permutations)
      .def_rw("layer_permutations", &DebateRequest::layer_permutations)
      .def_rw("semantics", &DebateRequest::semantics)
      .def_rw("seed", &DebateRequest::seed)
      .def("set_special_take_part",
           [](DebateRequest& r) { r.special = SpecialAttention::kTakesPart; })
      .def("set_double", [](DebateRequest& r) { r.precision = Precision::kDouble; })
      .def("set_search",
           [](DebateRequest& r, std::vector<std::string> scopes, int64_t steps, int64_t restarts) {
             r.adversary.scopes = std::move(scopes);
             r.adversary.steps = steps;
             r.adversary.restarts = restarts;
           })
      .def("set_guides",
           [](DebateRequest& r, std::vector<std::string> guides) {
             r.diagnostic.guides = std::move(guides);
           })
      .def("set_lambdas", [](DebateRequest& r, std::vector<double> lambdas) {
        r.consistent.lambdas = std::move(lambdas);
      });
  nb::class_<DebateReport>(module, "DebateReport")
      .def_ro("stopped_early", &DebateReport::stopped_early)
      .def("json", [](const DebateReport& r) { return to_json(r, 2); })
      .def("html", [](const DebateReport& r) { return to_html(r); })
      .def("picture",
           [](const DebateReport& r, PictureFormat format) {
             const std::string picture = debate_picture(r, format);
             return nb::bytes(picture.data(), picture.size());
           })
      .def("terminal", [](const DebateReport& r, bool colour, int width) {
        return to_terminal(r, TerminalOptions{.colour = colour, .width = width});
      });
  module.def(
      "debate",
      [](const Model& model, const std::vector<Model>& others,
         const std::vector<DebateExample>& examples, const DebateRequest& request,
         const nb::object& progress) {
        return run_long(progress, [&](const Progress& watch) {
          return debate(model, others, examples, request, watch);
        });
      },
      "model"_a, "others"_a, "examples"_a, "request"_a, "progress"_a.none());
}

}  // namespace whyformer::python
