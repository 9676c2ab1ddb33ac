#include "whyformer/concepts.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "long_work.h"
#include "whyformer/report.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace whyformer::python {
void bind_concepts(nb::module_& module) {
  nb::enum_<TokenRows>(module, "TokenRows")
      .value("first", TokenRows::kFirst)
      .value("last", TokenRows::kLast)
      .value("mean", TokenRows::kMean)
      .value("all", TokenRows::kAll);
  nb::class_<ConceptsRequest>(module, "ConceptsRequest")
      .def(nb::init<>())
      .def_rw("layers", &ConceptsRequest::layers)
      .def_rw("rows", &ConceptsRequest::rows)
      .def_rw("counterparts", &ConceptsRequest::counterparts)
      .def_rw("permutations", &ConceptsRequest::permutations)
      .def_rw("strength", &ConceptsRequest::strength)
      .def_rw("level", &ConceptsRequest::level)
      .def_rw("seed", &ConceptsRequest::seed)
      .def_rw("precision", &ConceptsRequest::precision)
      .def_rw("memory_bytes", &ConceptsRequest::memory_bytes);
  nb::class_<ConceptReport>(module, "ConceptReport")
      .def("json", [](const ConceptReport& r) { return to_json(r, 2); })
      .def("terminal",
           [](const ConceptReport& r, bool colour, int width) {
             return to_terminal(r, TerminalOptions{.colour = colour, .width = width});
           })
      .def("html", [](const ConceptReport& r) { return to_html(r); })
      .def("picture", [](const ConceptReport& r, PictureFormat format) {
        const std::string content = concepts_picture(r, format);
        return nb::bytes(content.data(), content.size());
      });
  nb::class_<ExampleSet>(module, "ExampleSet")
      .def("__init__", [](ExampleSet* self, std::string name, std::vector<InputValue> inputs) {
        new (self) ExampleSet{std::move(name), std::move(inputs)};
      });
  nb::class_<TargetSet>(module, "TargetSet")
      .def("__init__", [](TargetSet* self, std::string label, std::vector<InputValue> inputs) {
        new (self) TargetSet{std::move(label), std::move(inputs)};
      });
  module.def(
      "test_concepts",
      [](const Model& model, const std::vector<ExampleSet>& concepts,
         const std::vector<ExampleSet>& random, const std::vector<TargetSet>& targets,
         ConceptsRequest request, const nb::object& progress) {
        return run_long(progress, [&](const Progress& watch) {
          request.progress = watch;
          return test_concepts(model, concepts, random, targets, request);
        });
      },
      "model"_a, "concepts"_a, "random"_a, "targets"_a, "request"_a, "progress"_a.none());
}

}  // namespace whyformer::python
