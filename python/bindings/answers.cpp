#include "whyformer/answers.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "long_work.h"
#include "shared_arrays.h"
#include "whyformer/tables.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace whyformer::python {
namespace {

Answers answers_of(const Model& model, const std::vector<InputValue>& inputs,
                   AnswersRequest request, const nb::object& progress) {
  return run_long(progress, [&](const Progress& watch) {
    request.progress = watch;
    return answers(model, inputs, request);
  });
}

// A table may have many rows: they do not become objects of Python first.
Answers answers_of_table(const Model& model, const NamedTable& table, const AnswersRequest& request,
                         const nb::object& progress) {
  return answers_of(model, rows_of(table), request, progress);
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
  module.def("answers", &answers_of, "model"_a, "inputs"_a, "request"_a, "progress"_a.none());
  module.def("answers", &answers_of_table, "model"_a, "table"_a, "request"_a, "progress"_a.none());
}

}  // namespace whyformer::python
