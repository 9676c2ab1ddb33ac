#include "whyformer/arrays.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "array_views.h"
#include "bindings.h"
#include "long_work.h"
#include "whyformer/report.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace whyformer::python {
namespace {

nb::dict outputs_of(const ArrayModel& model, const std::vector<GivenArray>& inputs) {
  auto found = run_long(nb::none(), [&](const auto&) { return model.run(views_of(inputs)); });
  nb::dict outputs;
  for (auto& [name, answer] : found) {
    auto* values = new std::vector<double>(std::move(answer.values));
    const nb::capsule owner(values,
                            [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    const std::vector<size_t> shape(answer.shape.begin(), answer.shape.end());
    outputs[name.c_str()] =
        nb::ndarray<nb::numpy, const double>(values->data(), shape.size(), shape.data(), owner);
  }
  return outputs;
}

}  // namespace

void bind_arrays(nb::module_& module) {
  nb::class_<ArrayTarget>(module, "ArrayTarget")
      .def("__init__",
           [](ArrayTarget* self, std::string output, std::vector<int64_t> indices) {
             new (self) ArrayTarget{std::move(output), std::move(indices)};
           })
      .def_ro("output", &ArrayTarget::output)
      .def_ro("indices", &ArrayTarget::indices);
  nb::class_<ArrayRequest>(module, "ArrayRequest")
      .def(nb::init<>())
      .def("add_method",
           [](ArrayRequest& self, std::string name, Options options) {
             self.methods.push_back({std::move(name), std::move(options)});
           })
      .def_rw("target", &ArrayRequest::target)
      .def_rw("hiding_id", &ArrayRequest::hiding_id, nb::arg().none())
      .def_rw("precision", &ArrayRequest::precision)
      .def_rw("seed", &ArrayRequest::seed)
      .def_rw("memory_bytes", &ArrayRequest::memory_bytes);
  nb::class_<ArrayExplanation::Stream>(module, "Stream")
      .def_ro("units", &ArrayExplanation::Stream::units)
      .def_ro("first", &ArrayExplanation::Stream::first)
      .def_ro("count", &ArrayExplanation::Stream::count)
      .def("__repr__", [](nb::handle self) {
        return nb::str("<stream of {} {}>").format(self.attr("count"), self.attr("units"));
      });
  nb::class_<ArrayExplanation>(module, "ArrayExplanation")
      .def_ro("info", &ArrayExplanation::info)
      .def_ro("target", &ArrayExplanation::target)
      .def_ro("explanation", &ArrayExplanation::explanation)
      .def_ro("streams", &ArrayExplanation::streams)
      .def("json", [](const ArrayExplanation& e, int indent) { return to_json(e, indent); });
  nb::class_<ArrayModel>(module, "ArrayModel")
      .def_static(
          "load",
          [](const std::filesystem::path& path, const BatchAxes& batch_axes) {
            return run_long(nb::none(),
                            [&](const auto&) { return ArrayModel::load(path, batch_axes); });
          },
          "path"_a, "batch_axes"_a = BatchAxes())
      .def_prop_ro("name", &ArrayModel::name)
      .def_prop_ro("outputs", &ArrayModel::outputs)
      .def("run", &outputs_of)
      .def("inspect",
           [](const ArrayModel& model, const std::vector<GivenArray>& inputs) {
             return run_long(nb::none(),
                             [&](const auto&) { return model.inspect(views_of(inputs)); });
           })
      .def("usual_methods",
           [](const ArrayModel& model, const std::vector<GivenArray>& inputs,
              const ArrayTarget& target) {
             return run_long(nb::none(), [&](const auto&) {
               return model.usual_methods(views_of(inputs), target);
             });
           })
      .def("trace",
           [](const ArrayModel& model, const std::vector<GivenArray>& inputs,
              const ArrayTarget& target) {
             const std::string bytes = run_long(nb::none(), [&](const auto&) {
               return model.trace(views_of(inputs), target).safetensors;
             });
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def(
          "explain",
          [](const ArrayModel& model, const std::vector<GivenArray>& inputs, ArrayRequest request,
             const nb::object& progress) {
            return run_long(progress, [&](const Progress& watch) {
              request.progress = watch;
              return model.explain(views_of(inputs), request);
            });
          },
          "inputs"_a, "request"_a, "progress"_a.none());
}

}  // namespace whyformer::python
