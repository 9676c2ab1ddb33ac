#include "whyformer/concepts.h"

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

template <class Set, class Target, class Examples>
void bind_kind(nb::module_& module, const char* set, const char* target) {
  nb::class_<Set>(module, set).def("__init__", [](Set* self, std::string name, Examples examples) {
    new (self) Set{std::move(name), std::move(examples)};
  });
  nb::class_<Target>(module, target)
      .def("__init__", [](Target* self, std::string label, Examples examples) {
        new (self) Target{std::move(label), std::move(examples)};
      });
  module.def(
      "test_concepts",
      [](const Model& model, const std::vector<Set>& concepts, const std::vector<Set>& random,
         const std::vector<Target>& targets, ConceptsRequest request, const nb::object& progress) {
        return run_long(progress, [&](const Progress& watch) {
          request.progress = watch;
          return test_concepts(model, concepts, random, targets, request);
        });
      },
      "model"_a, "concepts"_a, "random"_a, "targets"_a, "request"_a, "progress"_a.none());
}

}  // namespace

void bind_concepts(nb::module_& module) {
  nb::enum_<TokenRows>(module, "TokenRows")
      .value("first", TokenRows::kFirst)
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
  bind_kind<TextSet, TargetTexts, std::vector<TextInput>>(module, "TextSet", "TargetTexts");
  bind_kind<PictureSet, TargetPictures, std::vector<PictureInput>>(module, "PictureSet",
                                                                   "TargetPictures");
}

}  // namespace whyformer::python
