#include "whyformer/relevance.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "long_work.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace whyformer::python {

void bind_relevance(nb::module_& module) {
  nb::class_<RelevanceStep>(module, "RelevanceStep")
      .def_ro("node", &RelevanceStep::node)
      .def_ro("op", &RelevanceStep::op)
      .def_ro("rule", &RelevanceStep::rule)
      .def_ro("entering", &RelevanceStep::entering)
      .def_ro("leaving", &RelevanceStep::leaving)
      .def_ro("entering_magnitude", &RelevanceStep::entering_magnitude)
      .def_ro("leaving_magnitude", &RelevanceStep::leaving_magnitude)
      .def_prop_ro("loss", &RelevanceStep::loss);
  nb::class_<RelevanceReport>(module, "RelevanceReport")
      .def_ro("model", &RelevanceReport::model)
      .def_ro("policy", &RelevanceReport::policy)
      .def_ro("target", &RelevanceReport::target)
      .def_ro("seed", &RelevanceReport::seed)
      .def_ro("steps", &RelevanceReport::steps)
      .def_ro("at_first_layer", &RelevanceReport::at_first_layer)
      .def_ro("at_words", &RelevanceReport::at_words)
      .def_ro("notes", &RelevanceReport::notes);
  module.def("relevance_policies", &relevance_policies);
  module.def(
      "relevance_report",
      [](const Model& model, const InputValue& input, const std::string& policy,
         ExplainRequest request) {
        return run_long(nb::none(), [&](const Progress& watch) {
          request.progress = watch;
          return relevance_report(model, input, policy, request);
        });
      },
      "model"_a, "input"_a, "policy"_a, "request"_a);
}

}  // namespace whyformer::python
