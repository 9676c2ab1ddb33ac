#include "whyformer/answers.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "long_work.h"
#include "shared_arrays.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace whyformer::python {
namespace {

template <class Inputs>
void bind_kind(nb::module_& module) {
  module.def(
      "answers",
      [](const Model& model, const Inputs& inputs, AnswersRequest request,
         const nb::object& progress) {
        return run_long(progress, [&](const Progress& watch) {
          request.progress = watch;
          return answers(model, inputs, request);
        });
      },
      "model"_a, "inputs"_a, "request"_a, "progress"_a.none());
}

}  // namespace

void bind_answers(nb::module_& module) {
  nb::class_<AnswersRequest>(module, "AnswersRequest")
      .def(nb::init<>())
      .def_rw("similar_to", &AnswersRequest::similar_to, nb::arg().none())
      .def_rw("precision", &AnswersRequest::precision)
      .def_rw("memory_bytes", &AnswersRequest::memory_bytes);
  nb::class_<Answer>(module, "Answer")
      .def_ro("notes", &Answer::notes)
      .def_prop_ro(
          "values",
          [](nb::handle self) { return array_in(self, nb::cast<const Answer&>(self).values); })
      .def_prop_ro("probabilities", [](nb::handle self) {
        return array_in(self, nb::cast<const Answer&>(self).probabilities);
      });
  nb::class_<Answers>(module, "Answers")
      .def_ro("space", &Answers::space)
      .def_ro("labels", &Answers::labels)
      .def_ro("notes", &Answers::notes)
      .def("__len__", [](const Answers& answers) { return answers.inputs.size(); })
      .def(
          "input",
          [](const Answers& answers, size_t index) -> const Answer& {
            if (index >= answers.inputs.size()) throw nb::index_error();
            return answers.inputs[index];
          },
          nb::rv_policy::reference_internal);
  bind_kind<std::vector<TextInput>>(module);
  bind_kind<std::vector<PictureInput>>(module);
  bind_kind<NamedTable>(module);
}

}  // namespace whyformer::python
