#include "whyformer/evaluate.h"

#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
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

using HiddenArray = nb::ndarray<nb::numpy, const bool, nb::ndim<2>>;

// The user's function gets all questions as an array [questions, units] and gives a number for
// each.
std::optional<double> measured(std::string_view metric, const ScoreArray& scores,
                               const nb::object& answers, int64_t seed) {
  AskHidden ask;
  if (!answers.is_none()) {
    ask = [&](const std::vector<std::vector<bool>>& hidden) {
      auto* flat = new bool[hidden.size() * scores.size()];
      const nb::capsule owner(flat, [](void* data) noexcept { delete[] static_cast<bool*>(data); });
      for (size_t i = 0; i < hidden.size(); ++i) {
        std::copy(hidden[i].begin(), hidden[i].end(), flat + i * scores.size());
      }
      const HiddenArray questions(flat, {hidden.size(), scores.size()}, owner);
      return nb::cast<std::vector<double>>(answers(questions));
    };
  }
  return measure(metric, {scores.data(), scores.size()}, ask, seed);
}

std::optional<double> measured_under_noise(std::string_view metric, const ScoreArray& scores,
                                           const std::vector<ScoreArray>& noisy,
                                           const std::vector<double>& distances) {
  std::vector<NoisyScores> all;
  for (size_t i = 0; i < noisy.size(); ++i) {
    const double* own = noisy[i].data();
    all.push_back({{own, own + noisy[i].size()}, distances.at(i)});
  }
  return measure_under_noise(metric, {scores.data(), scores.size()}, all);
}

}  // namespace

void bind_evaluate(nb::module_& module) {
  nb::class_<MetricInfo>(module, "MetricInfo")
      .def_ro("name", &MetricInfo::name)
      .def_ro("summary", &MetricInfo::summary)
      .def_ro("paper", &MetricInfo::paper)
      .def_ro("higher_is_better", &MetricInfo::higher_is_better)
      .def_ro("misleads", &MetricInfo::misleads)
      .def_prop_ro("family",
                   [](const MetricInfo& info) {
                     switch (info.family) {
                       case MetricFamily::kFaithfulness:
                         return "faithfulness";
                       case MetricFamily::kRobustness:
                         return "robustness";
                       case MetricFamily::kComplexity:
                         return "complexity";
                       case MetricFamily::kLocalisation:
                         break;
                     }
                     return "localisation";
                   })
      .def_prop_ro("needs",
                   [](const MetricInfo& info) {
                     switch (info.needs) {
                       case MetricNeeds::kScores:
                         return "scores";
                       case MetricNeeds::kAnswers:
                         return "answers";
                       case MetricNeeds::kNoisyInputs:
                         return "noisy inputs";
                       case MetricNeeds::kRegion:
                         break;
                     }
                     return "region";
                   })
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
  module.def("measure", &measured, "metric"_a, "scores"_a, "answers"_a.none(), "seed"_a = 0);
  module.def("measure_under_noise", &measured_under_noise, "metric"_a, "scores"_a, "noisy"_a,
             "distances"_a);
  module.def("metrics", [] { return std::vector<MetricInfo>(metrics().begin(), metrics().end()); });
  module.def("bilinear", &enlarged, "scores"_a, "height"_a, "width"_a);
}

}  // namespace whyformer::python
