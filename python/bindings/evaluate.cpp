#include "whyformer/evaluate.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "shared_arrays.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace whyformer::python {
namespace {

using ScoreArray = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using RegionArray = nb::ndarray<const bool, nb::c_contig, nb::device::cpu>;
using ScoreGrid = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

SharedArray<double> enlarged(const ScoreGrid& scores, int64_t height, int64_t width) {
  const MapSize from{static_cast<int64_t>(scores.shape(0)), static_cast<int64_t>(scores.shape(1))};
  return array_of(bilinear({scores.data(), scores.size()}, from, {height, width}),
                  {static_cast<size_t>(height), static_cast<size_t>(width)});
}

}  // namespace

void bind_evaluate(nb::module_& module) {
  nb::class_<MetricInfo>(module, "MetricInfo")
      .def_ro("name", &MetricInfo::name)
      .def_ro("summary", &MetricInfo::summary)
      .def_ro("paper", &MetricInfo::paper)
      .def_ro("higher_is_better", &MetricInfo::higher_is_better)
      .def("__repr__",
           [](const MetricInfo& m) { return "<metric " + m.name + ": " + m.summary + ">"; });
  nb::class_<Localisation>(module, "Localisation")
      .def(nb::init<std::string_view>(), "metric"_a)
      .def(
          "add",
          [](Localisation& metric, const ScoreArray& scores, const RegionArray& region) {
            metric.add({scores.data(), scores.size()},
                       std::vector<bool>(region.data(), region.data() + region.size()));
          },
          "scores"_a, "region"_a)
      .def("value", &Localisation::value);
  module.def("metrics", [] { return std::vector<MetricInfo>(metrics().begin(), metrics().end()); });
  module.def("bilinear", &enlarged, "scores"_a, "height"_a, "width"_a);
}

}  // namespace whyformer::python
