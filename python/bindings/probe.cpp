#include "whyformer/probe.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
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

using DoubleArray = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

EditArray edit_array_of(const DoubleArray& numbers) {
  std::vector<int64_t> shape;
  for (size_t axis = 0; axis < numbers.ndim(); ++axis)
    shape.push_back(static_cast<int64_t>(numbers.shape(axis)));
  return {shape, std::make_shared<const std::vector<double>>(numbers.data(),
                                                             numbers.data() + numbers.size())};
}

nb::object numpy_of(const RecordedArray& array) {
  const ArrayShape shape = array_shape(array.shape);
  return array.floats ? nb::cast(shared_array(array.floats, shape))
                      : nb::cast(shared_array(array.doubles, shape));
}

void bind_edits(nb::module_& module) {
  nb::class_<Edit>(module, "Edit")
      .def_static("parse", &parse_edit, "text"_a)
      .def_prop_ro("value", [](const Edit& edit) { return edit.value; })
      .def_ro("at", &Edit::at)
      .def("with_array",
           [](const Edit& edit, const DoubleArray& numbers) {
             Edit other = edit;
             other.array = edit_array_of(numbers);
             return other;
           })
      .def("__eq__", [](const Edit& edit, const Edit& other) { return edit == other; })
      .def("__str__", [](const Edit& edit) { return to_text(edit); })
      .def("__repr__", [](const Edit& edit) { return "<edit '" + to_text(edit) + "'>"; })
      .def("__getstate__", [](const Edit& edit) { return edits_to_json({edit}); })
      .def("__setstate__",
           [](Edit& edit, const std::string& json) { new (&edit) Edit(edits_from_json(json)[0]); });
  module.def("edits_to_json", &edits_to_json, "edits"_a, "indent"_a = -1);
  module.def("edits_from_json", &edits_from_json, "json"_a);
}

void bind_values(nb::module_& module) {
  nb::class_<ValueInfo>(module, "ValueInfo")
      .def_ro("name", &ValueInfo::name)
      .def_ro("axes", &ValueInfo::axes)
      .def_ro("shape", &ValueInfo::shape)
      .def_ro("native", &ValueInfo::native)
      .def_ro("producer", &ValueInfo::producer)
      .def("__repr__", [](nb::handle self) {
        return nb::str("<value {!r} {!r} {!r}>")
            .format(self.attr("name"), self.attr("axes"), self.attr("shape"));
      });
  module.def(
      "values_inside",
      [](const Model& model, const std::optional<InputValue>& input, const std::string& pattern) {
        return run_long(nb::none(), [&](const Progress&) {
          return input ? values_inside(model, *input, pattern) : values_inside(model, pattern);
        });
      },
      "model"_a, "input"_a.none(), "pattern"_a);
}

void bind_recording(nb::module_& module) {
  nb::class_<RecordedArray>(module, "RecordedArray")
      .def_ro("name", &RecordedArray::name)
      .def_ro("axes", &RecordedArray::axes)
      .def_prop_ro("values", &numpy_of);
  nb::class_<Recording>(module, "Recording")
      .def_ro("model", &Recording::model)
      .def_ro("arrays", &Recording::arrays)
      .def_ro("units", &Recording::units)
      .def_ro("output", &Recording::output)
      .def_ro("outputs", &Recording::outputs)
      .def_ro("target", &Recording::target)
      .def_ro("edits", &Recording::edits)
      .def_ro("notes", &Recording::notes)
      .def("at", &Recording::at, "name"_a, nb::rv_policy::reference_internal)
      .def("copy", &Recording::copy, "name"_a, "at"_a, "run"_a)
      .def(
          "json", [](const Recording& self, int indent) { return to_json(self, indent); },
          "indent"_a)
      .def(
          "save",
          [](const Recording& self, const std::filesystem::path& path, bool half) {
            save(path, self, half ? SavedAs::kF16 : SavedAs::kRecorded);
          },
          "path"_a, "half"_a);
}

}  // namespace

void bind_probe(nb::module_& module) {
  bind_edits(module);
  bind_values(module);
  bind_recording(module);
  nb::class_<Read>(module, "Read")
      .def_static("parse", &parse_read, "text"_a)
      .def("dot_with", [](const Read& read, const DoubleArray& numbers) {
        Read other = read;
        other.reduce = Reducer::kDot;
        other.with = edit_array_of(numbers);
        return other;
      });
  nb::class_<ProbeRequest>(module, "ProbeRequest")
      .def(nb::init<>())
      .def_static("from_json", &probe_request_from_json, "json"_a)
      .def("json", [](const ProbeRequest& self) { return to_json(self); })
      .def_rw("reads", &ProbeRequest::reads)
      .def_rw("edits", &ProbeRequest::edits)
      .def_rw("gradients", &ProbeRequest::gradients)
      .def_rw("gradient_of", &ProbeRequest::gradient_of, nb::arg().none())
      .def_rw("relevance", &ProbeRequest::relevance)
      .def_rw("policy", &ProbeRequest::policy)
      .def_rw("copies", &ProbeRequest::copies)
      .def_rw("target", &ProbeRequest::target, nb::arg().none())
      .def_rw("similar_to", &ProbeRequest::similar_to, nb::arg().none())
      .def_rw("precision", &ProbeRequest::precision)
      .def_rw("most_bytes", &ProbeRequest::most_bytes);
  module.def(
      "probe",
      [](const Model& model, const InputValue& input, ProbeRequest request,
         const nb::object& progress) {
        return run_long(progress, [&](const Progress& watch) {
          request.progress = watch;
          return probe(model, input, request);
        });
      },
      "model"_a, "input"_a, "request"_a, "progress"_a.none());
}

}  // namespace whyformer::python
