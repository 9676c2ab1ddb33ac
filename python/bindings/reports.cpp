#include "whyformer/report.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "whyformer/concepts.h"
#include "whyformer/error.h"
#include "whyformer/heads.h"
#include "whyformer/model.h"
#include "whyformer/summary.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace whyformer::python {
namespace {

nb::bytes bytes_of(const std::string& content) { return nb::bytes(content.data(), content.size()); }

void bind_options(nb::module_& module) {
  nb::enum_<SpecialTokens>(module, "SpecialTokens")
      .value("show", SpecialTokens::kShow)
      .value("hide", SpecialTokens::kHide)
      .value("exclude", SpecialTokens::kExclude);
  nb::enum_<PictureFormat>(module, "PictureFormat")
      .value("svg", PictureFormat::kSvg)
      .value("png", PictureFormat::kPng);
  nb::enum_<Grain>(module, "Grain").value("smooth", Grain::kSmooth).value("blocks", Grain::kBlocks);
  nb::enum_<Segment>(module, "Segment")
      .value("none", Segment::kNone)
      .value("outline", Segment::kOutline)
      .value("mask", Segment::kMask);
  nb::enum_<SummaryPlot>(module, "SummaryPlot")
      .value("bar", SummaryPlot::kBar)
      .value("beeswarm", SummaryPlot::kBeeswarm);
}

// One to a few explanations: the classes of a picture, or one text.
using Explanations = std::vector<const Explanation*>;

std::vector<Explanation> copies_of(const Explanations& explanations) {
  std::vector<Explanation> copies;
  for (const Explanation* explanation : explanations) copies.push_back(*explanation);
  return copies;
}

void bind_explanation_reports(nb::module_& module) {
  module.def(
      "to_json", [](const Explanation& e, int indent) { return to_json(e, indent); },
      "explanation"_a, "indent"_a = 2);
  module.def(
      "to_terminal", [](const Explanations& e, bool colour, int width, SpecialTokens special) {
        const TerminalOptions options{.colour = colour, .width = width, .special = special};
        return e.size() == 1 ? to_terminal(*e[0], options) : to_terminal(copies_of(e), options);
      });
  module.def("to_html", [](const Explanations& e, SpecialTokens special) {
    return e.size() == 1 ? to_html(*e[0], {special}) : to_html(copies_of(e), {special});
  });
  module.def("bars_picture", [](const Explanation& e, PictureFormat format, SpecialTokens special) {
    return bytes_of(bars_picture(e, format, {special}));
  });
  module.def("interactions_picture", [](const Explanation& e, PictureFormat format) {
    return bytes_of(interactions_picture(e, format));
  });
  module.def("overlay_picture", [](const Explanations& e, PictureFormat format, Grain grain,
                                   Segment segment) {
    return bytes_of(overlay_picture(copies_of(e), format, {.grain = grain, .segment = segment}));
  });
  module.def("attention_picture", [](const Explanation& e, PictureFormat format, int layer,
                                     int head, SpecialTokens special) {
    return bytes_of(attention_picture(e, format, {layer, head}, {special}));
  });
  module.def("waterfall_picture",
             [](const Explanation& e, PictureFormat format, const std::string& method) {
               return bytes_of(waterfall_picture(e, format, method));
             });
}

}  // namespace

void bind_reports(nb::module_& module) {
  bind_options(module);
  bind_explanation_reports(module);
  nb::class_<Summary>(module, "Summary")
      .def("json", [](const Summary& s) { return to_json(s, 2); })
      .def("terminal",
           [](const Summary& s, bool colour, int width) {
             return to_terminal(s, TerminalOptions{.colour = colour, .width = width});
           })
      .def("html", [](const Summary& s) { return to_html(s); })
      .def("picture", [](const Summary& s, SummaryPlot plot, PictureFormat format) {
        return bytes_of(summary_picture(s, plot, format));
      });
  module.def("summarise", [](const Explanations& explanations, const std::string& method,
                             int64_t rows, bool by_total) {
    return summarise(
        copies_of(explanations), method,
        {.order = by_total ? SummaryOrder::kTotal : SummaryOrder::kMean, .rows = rows});
  });
  module.def("model_picture", [](const ModelInfo& info, PictureFormat format) {
    return bytes_of(model_picture(info, format));
  });
  module.def("model_html", [](const ModelInfo& info) { return to_html(info); });
  module.def("save", [](const std::filesystem::path& path, const nb::bytes& content) {
    save(path, std::string_view(static_cast<const char*>(content.data()), content.size()));
  });
}

}  // namespace whyformer::python
