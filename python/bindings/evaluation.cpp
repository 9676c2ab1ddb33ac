#include "whyformer/evaluation.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <thread>

#include "bindings.h"
#include "long_work.h"
#include "whyformer/error.h"
#include "whyformer/kept_inputs.h"
#include "whyformer/method_agreement.h"
#include "whyformer/protocols.h"
#include "whyformer/report.h"
#include "whyformer/threads.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace whyformer::python {
namespace {

// A region as a list of true and false, one for each unit; or none.
using GivenRegion = std::optional<std::vector<bool>>;

// In place of the region that a mask or a rationale gives.
void add_region(EvaluationInput& input, const std::vector<bool>& region) {
  input.region = [region](const Explanation&) { return region; };
  input.known_from = [region, before = input.known_from] {
    std::string units;
    for (const bool unit : region) units += unit ? '1' : '0';
    return units + (before ? before() : "");
  };
}

// Where the caller stops it, what there is by then stays. Python is asked on its own thread only.
template <class One, class Measure, class Finish>
std::vector<One> each_input(size_t count, const Progress& watch, const Measure& measure,
                            const Finish& finish) {
  std::vector<One> done, measured(count);
  const auto total = static_cast<int64_t>(count);
  const std::thread::id own_thread = std::this_thread::get_id();
  std::atomic<int64_t> finished = 0;
  std::atomic<bool> goes_on = true;
  const Progress ask = [&](int64_t, int64_t) {
    if (std::this_thread::get_id() == own_thread && !watch(finished, total)) goes_on = false;
    return goes_on.load();
  };
  const auto keep = [&](int64_t i) {
    done.push_back(std::move(measured[i]));
    finish(i, done.back());
    finished = i + 1;
    return ask(i + 1, total);
  };
  try {
    work_in_order(
        total, [&](const PieceOfWork& piece) { measured[piece.number] = measure(piece, ask); },
        keep);
  } catch (const Interrupted&) {
    if (done.empty()) throw;
  }
  return done;
}

// What is known of an input beside itself, all of it optional.
struct KnownOfInput {
  TargetChoice target, label;
  GivenRegion region;
  std::optional<PictureInput> mask;
  std::optional<std::vector<std::pair<int64_t, int64_t>>> rationales;  // code points of the text
};

// What cannot be read is the problem of its input.
EvaluationEntry entry_of(const std::string& name, const InputValue& value,
                         const KnownOfInput& known) {
  EvaluationEntry entry{
      {.name = name, .input = value, .target = known.target, .label = known.label}};
  if (known.rationales) {
    std::vector<TextSpan> spans;
    for (const auto& [start, end] : *known.rationales) spans.push_back({start, end, 0});
    add_known_spans(entry.input, spans);
  }
  if (known.mask) add_known_mask(entry.input, *known.mask);
  if (known.region) add_region(entry.input, *known.region);
  return entry;
}

Evaluation evaluated(const Model& model, const std::vector<EvaluationEntry>& entries,
                     EvaluationRequest request, const std::optional<std::filesystem::path>& keep,
                     const nb::object& progress) {
  return run_long(progress, [&](const Progress& watch) {
    std::optional<KeptInputs> kept;
    if (keep) kept.emplace(*keep, model, request);
    const auto measure = [&](const PieceOfWork& piece, const Progress& goes_on) {
      if (auto known = kept ? kept->find(entries[piece.number]) : std::nullopt) {
        return *std::move(known);
      }
      EvaluationRequest own = request;
      own.explain.progress = goes_on;
      own.explain.memory_bytes /= piece.at_once;
      return evaluate(model, entries[piece.number], own);
    };
    const auto finish = [&](int64_t i, const EvaluatedInput& input) {
      if (kept) kept->add(entries[i], input);
    };
    const auto inputs = each_input<EvaluatedInput>(entries.size(), watch, measure, finish);
    if (kept) kept->finish();
    return summarise(model.name(), inputs, request);
  });
}

// Of inputs that were measured elsewhere, each as a line of JSON.
Evaluation summarised(const Model& model, const std::vector<std::string>& lines,
                      const EvaluationRequest& request) {
  std::vector<EvaluatedInput> inputs;
  for (const std::string& line : lines) inputs.push_back(evaluated_input_of(line));
  return summarise(model.name(), inputs, request);
}

std::vector<nb::dict> protocol_list() {
  std::vector<nb::dict> list;
  for (const ProtocolInfo& protocol : protocols()) {
    nb::dict one;
    one["name"] = protocol.name;
    one["summary"] = protocol.summary;
    one["paper"] = protocol.paper;
    one["data"] = protocol.data;
    list.push_back(one);
  }
  return list;
}

AgreementReport agreed(const Model& model, const std::vector<InputValue>& inputs,
                       const AgreementRequest& request, const nb::object& progress) {
  std::vector<EvaluationEntry> corpus;
  for (const InputValue& input : inputs)
    corpus.push_back({{.name = "input " + std::to_string(corpus.size()), .input = input}});
  return run_long(progress, [&](const Progress& watch) {
    const std::thread::id own_thread = std::this_thread::get_id();
    std::atomic<bool> goes_on = true;
    const Progress ask = [&](int64_t done, int64_t total) {
      if (std::this_thread::get_id() == own_thread && !watch(done, total)) goes_on = false;
      return goes_on.load();
    };
    return summarise(model.name(), agreement_inputs(model, corpus, request, ask), request);
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
      .def_rw("protocol", &EvaluationRequest::protocol)
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
  nb::class_<EvaluationEntry>(module, "EvaluationEntry");
  module.def(
      "evaluation_entry",
      [](const std::string& name, const InputValue& value, const TargetChoice& target,
         const GivenRegion& region, const TargetChoice& label,
         const std::optional<PictureInput>& mask,
         const std::optional<std::vector<std::pair<int64_t, int64_t>>>& rationales) {
        return entry_of(name, value, {target, label, region, mask, rationales});
      },
      "name"_a, "input"_a, "target"_a.none(), "region"_a.none(), "label"_a.none(), "mask"_a.none(),
      "rationales"_a.none());
  module.def("read_eraser", &read_eraser, "folder"_a, "split"_a, "limit"_a);
  module.def("protocols", &protocol_list);
  module.def("protocol_columns", [](const std::string& name) {
    std::vector<std::string> names;
    for (const EvaluationColumn& column : protocol_named(name).columns) {
      names.push_back(column.metric);
    }
    return names;
  });
  module.def("evaluate", &evaluated, "model"_a, "entries"_a, "request"_a, "keep"_a.none(),
             "progress"_a.none());
  module.def("summarise_evaluation", &summarised, "model"_a, "lines"_a, "request"_a);
  module.def("agree", &agreed, "model"_a, "inputs"_a, "request"_a, "progress"_a.none());
}

}  // namespace whyformer::python
