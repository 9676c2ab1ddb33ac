#include "whyformer/sanity.h"

#include <nanobind/stl/map.h>
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

void bind_sanity(nb::module_& module) {
  nb::class_<SanityReport>(module, "SanityReport")
      .def_ro("stopped_early", &SanityReport::stopped_early)
      .def("keep", [](const SanityReport& r) { keep_sanity_card(r); })
      .def("json", [](const SanityReport& r) { return to_json(r, 2); })
      .def("terminal", [](const SanityReport& r, bool colour, int width) {
        return to_terminal(r, TerminalOptions{.colour = colour, .width = width});
      });
  module.def(
      "test_sanity",
      [](const Model& model, const std::vector<InputValue>& inputs, const ExplainRequest& asked,
         bool independent, bool highest, const nb::object& progress) {
        return run_long(progress, [&](const Progress& watch) {
          return test_sanity(
              model, inputs,
              {.methods = asked.methods,
               .target = asked.target,
               .similar_to = asked.similar_to,
               .independent = independent,
               .randomised_target = highest ? SanityTarget::kHighest : SanityTarget::kSame,
               .precision = asked.precision,
               .seed = asked.seed,
               .memory_bytes = asked.memory_bytes,
               .progress = watch});
        });
      },
      "model"_a, "inputs"_a, "request"_a, "independent"_a, "highest"_a, "progress"_a.none());
  module.def("find_sanity_card", &find_sanity_card, "model"_a);
}

}  // namespace whyformer::python
