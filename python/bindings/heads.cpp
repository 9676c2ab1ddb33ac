#include "whyformer/heads.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
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

void bind_roles(nb::module_& module) {
  nb::class_<HeadRolesRequest>(module, "HeadRolesRequest")
      .def(nb::init<>())
      .def_rw("share", &HeadRolesRequest::share)
      .def_rw("permutations", &HeadRolesRequest::permutations)
      .def_rw("level", &HeadRolesRequest::level)
      .def_rw("seed", &HeadRolesRequest::seed)
      .def_rw("min_tokens", &HeadRolesRequest::min_tokens);
  module.def(
      "treebank",
      [](const std::filesystem::path& path) {
        std::vector<LabelledInput> corpus;
        for (ParsedSentence& one : read_treebank(path)) {
          corpus.push_back(
              {TextInput{std::move(one.text), {}}, {}, "line " + std::to_string(one.line)});
          corpus.back().tree = std::make_shared<DependencyTree>(std::move(one.words));
        }
        return corpus;
      },
      "path"_a);
}

}  // namespace

void bind_heads(nb::module_& module) {
  nb::class_<LabelledInput>(module, "LabelledInput")
      .def(
          "__init__",
          [](LabelledInput* self, InputValue input, std::optional<std::vector<std::string>> labels,
             std::string place) {
            new (self) LabelledInput{std::move(input), std::move(labels), std::move(place)};
          },
          "input"_a, "labels"_a.none(), "place"_a);
  nb::class_<PruneRequest>(module, "PruneRequest")
      .def(nb::init<>())
      .def_rw("step", &PruneRequest::step)
      .def_rw("keep_one", &PruneRequest::keep_one)
      .def_rw("seed", &PruneRequest::seed);
  bind_roles(module);
  nb::class_<HeadsRequest>(module, "HeadsRequest")
      .def(nb::init<>())
      .def_rw("measures", &HeadsRequest::measures)
      .def_prop_rw(
          "normalise",
          [](const HeadsRequest& r) { return r.michel_scale == LayerScale::kUnitLength; },
          [](HeadsRequest& r, bool layer) {
            r.michel_scale = layer ? LayerScale::kUnitLength : LayerScale::kNone;
          })
      .def_rw("all_tokens", &HeadsRequest::all_tokens)
      .def_rw("attention_constant", &HeadsRequest::attention_constant)
      .def_rw("precision", &HeadsRequest::precision)
      .def_rw("prune", &HeadsRequest::prune, nb::arg().none())
      .def_rw("roles", &HeadsRequest::roles, nb::arg().none());
  nb::class_<HeadImportance>(module, "HeadImportance")
      .def_ro("stopped_early", &HeadImportance::stopped_early)
      .def("json", [](const HeadImportance& h) { return to_json(h, 2); })
      .def("terminal",
           [](const HeadImportance& h, bool colour, int width) {
             return to_terminal(h, TerminalOptions{.colour = colour, .width = width});
           })
      .def("html", [](const HeadImportance& h) { return to_html(h); })
      .def("picture", [](const HeadImportance& h, PictureFormat format) {
        const std::string content = heads_picture(h, format);
        return nb::bytes(content.data(), content.size());
      });
  module.def(
      "head_importance",
      [](const Model& model, const std::vector<LabelledInput>& corpus, HeadsRequest request,
         const nb::object& progress) {
        return run_long(progress, [&](const Progress& watch) {
          request.progress = watch;
          return head_importance(model, corpus, request);
        });
      },
      "model"_a, "corpus"_a, "request"_a, "progress"_a.none());
}

}  // namespace whyformer::python
