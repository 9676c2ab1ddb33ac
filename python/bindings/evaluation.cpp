#include "whyformer/evaluation.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "long_work.h"
#include "whyformer/error.h"
#include "whyformer/method_agreement.h"
#include "whyformer/report.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace whyformer::python {
namespace {

// A region as a list of true and false, one for each unit; or none.
using GivenRegion = std::optional<std::vector<bool>>;

KnownRegion region_of(const GivenRegion& given) {
  if (!given) return {};
  return [region = *given](const Explanation& explanation) {
    if (region.size() != explanation.units.size()) {
      throw InvalidInput(std::to_string(region.size()) + " values of a region for " +
                         std::to_string(explanation.units.size()) + " units");
    }
    return region;
  };
}

// One input after the other; where the caller stops it, what there is by then stays.
template <class One, class Measure>
std::vector<One> each_input(size_t count, const Progress& watch, const Measure& measure) {
  std::vector<One> done;
  const auto total = static_cast<int64_t>(count);
  for (int64_t i = 0; i < total; ++i) {
    try {
      done.push_back(measure(i, [&](int64_t, int64_t) { return watch(i, total); }));
    } catch (const Interrupted&) {
      if (done.empty()) throw;
      break;
    }
    if (!watch(i + 1, total)) break;
  }
  return done;
}

Evaluation evaluated(const Model& model, const std::vector<InputValue>& inputs,
                     const std::vector<TargetChoice>& targets,
                     const std::vector<GivenRegion>& regions, EvaluationRequest request,
                     const nb::object& progress) {
  return run_long(progress, [&](const Progress& watch) {
    const auto measure = [&](int64_t i, const Progress& goes_on) {
      request.explain.progress = goes_on;
      return evaluate(model,
                      {.name = "input " + std::to_string(i),
                       .input = inputs[i],
                       .target = targets[i],
                       .region = region_of(regions[i])},
                      request);
    };
    return summarise(model.name(), each_input<EvaluatedInput>(inputs.size(), watch, measure),
                     request);
  });
}

AgreementReport agreed(const Model& model, const std::vector<InputValue>& inputs,
                       AgreementRequest request, const nb::object& progress) {
  return run_long(progress, [&](const Progress& watch) {
    const auto compare = [&](int64_t i, const Progress& goes_on) {
      request.explain.progress = goes_on;
      return agreement_input(model, "input " + std::to_string(i), inputs[i], request);
    };
    return summarise(model.name(), each_input<AgreementInput>(inputs.size(), watch, compare),
                     request);
  });
}

template <class Report>
void bind_report(nb::class_<Report>& report) {
  report.def("json", [](const Report& found) { return to_json(found); })
      .def("html", [](const Report& found) { return to_html(found); })
      .def("terminal", [](const Report& found, bool colour, int width) {
        return to_terminal(found, TerminalOptions{.colour = colour, .width = width});
      });
}

}  // namespace

void bind_evaluation(nb::module_& module) {
  nb::class_<EvaluationRequest>(module, "EvaluationRequest")
      .def(nb::init<>())
      .def_rw("explain", &EvaluationRequest::explain)
      .def_rw("metrics", &EvaluationRequest::metrics)
      .def_rw("hidings", &EvaluationRequest::hidings)
      .def_rw("random_rankings", &EvaluationRequest::random_rankings)
      .def_rw("reversed_rankings", &EvaluationRequest::reversed_rankings)
      .def_rw("noisy_inputs", &EvaluationRequest::noisy_inputs)
      .def_rw("radius", &EvaluationRequest::radius);
  nb::class_<Evaluation> evaluation(module, "Evaluation");
  bind_report(evaluation);
  evaluation.def("csv", [](const Evaluation& found) { return to_csv(found); })
      .def("picture", [](const Evaluation& found, PictureFormat format) {
        const std::string bytes = evaluation_picture(found, format);
        return nb::bytes(bytes.data(), bytes.size());
      });
  nb::class_<AgreementRequest>(module, "AgreementRequest")
      .def(nb::init<>())
      .def_rw("explain", &AgreementRequest::explain)
      .def_rw("top_k", &AgreementRequest::top_k)
      .def_rw("persistence", &AgreementRequest::persistence)
      .def_rw("magnitudes", &AgreementRequest::magnitudes);
  nb::class_<AgreementReport> agreement(module, "AgreementReport");
  bind_report(agreement);
  agreement.def("picture", [](const AgreementReport& found, PictureFormat format) {
    const std::string bytes = agreement_picture(found, format);
    return nb::bytes(bytes.data(), bytes.size());
  });
  module.def("evaluate", &evaluated, "model"_a, "inputs"_a, "targets"_a, "regions"_a, "request"_a,
             "progress"_a.none());
  module.def("agree", &agreed, "model"_a, "inputs"_a, "request"_a, "progress"_a.none());
}

}  // namespace whyformer::python
