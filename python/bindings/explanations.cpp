#include "whyformer/explanation.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "shared_arrays.h"

namespace nb = nanobind;

namespace whyformer::python {
namespace {

void bind_units(nb::module_& module) {
  nb::class_<ModelName>(module, "ModelName")
      .def_ro("name", &ModelName::name)
      .def_ro("architecture", &ModelName::architecture)
      .def("__repr__",
           [](const ModelName& m) { return "<model " + m.name + " (" + m.architecture + ")>"; });
  nb::class_<Unit>(module, "Unit")
      .def_ro("text", &Unit::text)
      .def_ro("start", &Unit::start)
      .def_ro("end", &Unit::end)
      .def_ro("special", &Unit::special)
      .def_ro("segment", &Unit::segment)
      .def_ro("word", &Unit::word)
      .def_ro("column", &Unit::column)
      .def_ro("value", &Unit::value)
      .def_ro("cell", &Unit::cell)
      .def_ro("row", &Unit::row)
      .def_ro("category", &Unit::category)
      .def_ro("missing", &Unit::missing)
      .def("__repr__",
           [](nb::handle self) { return nb::str("<unit {!r}>").format(self.attr("text")); });
  nb::class_<WordScore>(module, "WordScore")
      .def_ro("text", &WordScore::text)
      .def_ro("start", &WordScore::start)
      .def_ro("end", &WordScore::end)
      .def_ro("score", &WordScore::score)
      .def_ro("segment", &WordScore::segment)
      .def("__repr__", [](nb::handle self) {
        return nb::str("<word {!r}: {:.4g}>").format(self.attr("text"), self.attr("score"));
      });
}

void bind_estimates(nb::module_& module) {
  nb::class_<Cost>(module, "Cost")
      .def_ro("forwards", &Cost::forwards)
      .def_ro("backwards", &Cost::backwards)
      .def_ro("seconds", &Cost::seconds);
  nb::class_<Estimate>(module, "Estimate")
      .def_ro("space", &Estimate::space)
      .def_ro("base", &Estimate::base)
      .def_ro("value", &Estimate::value)
      .def_ro("evaluations", &Estimate::evaluations)
      .def_ro("finished", &Estimate::finished)
      .def_ro("r_squared", &Estimate::r_squared)
      .def_prop_ro(
          "errors",
          [](nb::handle self) { return array_in(self, nb::cast<const Estimate&>(self).errors); })
      .def_prop_ro("interactions", [](nb::handle self) -> nb::object {
        const auto& estimate = nb::cast<const Estimate&>(self);
        if (estimate.interactions.empty()) return nb::none();
        size_t units = 1;
        while (units * units < estimate.interactions.size()) ++units;
        return nb::cast(array_in(self, estimate.interactions, {units, units}));
      });
}

void bind_answers_and_maps(nb::module_& module) {
  nb::class_<Output>(module, "Output")
      .def_ro("space", &Output::space)
      .def_ro("labels", &Output::labels)
      .def_prop_ro("values", [](nb::handle self) {
        return array_in(self, nb::cast<const Output&>(self).values);
      });
  nb::class_<Target>(module, "Target")
      .def_ro("index", &Target::index)
      .def_ro("label", &Target::label)
      .def_ro("value", &Target::value)
      .def_ro("probability", &Target::probability)
      .def("__repr__", [](nb::handle self) {
        return nb::str("<target {!r}: {:.4g}>").format(self.attr("label"), self.attr("value"));
      });
  nb::class_<AttentionMap>(module, "AttentionMap")
      .def_ro("name", &AttentionMap::name)
      .def_prop_ro(
          "values",
          [](const AttentionMap& map) {
            std::vector<int64_t> shape{map.heads, map.queries, map.keys};
            if (map.stack > 1) shape.insert(shape.begin(), map.stack);
            return shared_array(map.values, array_shape(shape));
          },
          nb::rv_policy::reference);
  nb::class_<PictureView>(module, "PictureView")
      .def_ro("width", &PictureView::width)
      .def_ro("height", &PictureView::height)
      .def_ro("first_patch", &PictureView::first_patch)
      .def_ro("rows", &PictureView::rows)
      .def_ro("columns", &PictureView::columns)
      .def_prop_ro(
          "rgb",
          [](const PictureView& view) {
            return shared_array(view.rgb, array_shape({view.height, view.width, 3}));
          },
          nb::rv_policy::reference);
}

}  // namespace

void bind_explanations(nb::module_& module) {
  bind_units(module);
  bind_estimates(module);
  bind_answers_and_maps(module);
  nb::class_<Attribution>(module, "Attribution")
      .def_ro("method", &Attribution::method)
      .def_ro("options", &Attribution::options)
      .def_ro("words", &Attribution::words)
      .def_ro("is_signed", &Attribution::is_signed)
      .def_ro("completeness_gap", &Attribution::completeness_gap)
      .def_ro("seed", &Attribution::seed)
      .def_ro("estimate", &Attribution::estimate)
      .def_ro("cost", &Attribution::cost)
      .def_prop_ro("has_trust",
                   [](const Attribution& attribution) { return attribution.trust.has_value(); })
      .def_ro("notes", &Attribution::notes)
      .def_prop_ro(
          "scores",
          [](nb::handle self) { return array_in(self, nb::cast<const Attribution&>(self).scores); })
      .def("pixels", [](nb::handle self, size_t height, size_t width) -> nb::object {
        const auto& pixels = nb::cast<const Attribution&>(self).pixels;
        if (pixels.empty() || pixels.size() != height * width) return nb::none();
        return nb::cast(array_in(self, pixels, {height, width}));
      });
  nb::class_<Refusal>(module, "Refusal")
      .def_ro("method", &Refusal::method)
      .def_ro("reason", &Refusal::reason)
      .def("__repr__", [](const Refusal& refusal) {
        return "<" + refusal.method + ": " + refusal.reason + ">";
      });
  nb::class_<UnitStream>(module, "UnitStream")
      .def_ro("units", &UnitStream::units)
      .def_ro("first", &UnitStream::first)
      .def_ro("count", &UnitStream::count)
      .def("__repr__", [](nb::handle self) {
        return nb::str("<stream of {} {}>").format(self.attr("count"), self.attr("units"));
      });
  nb::class_<Explanation>(module, "Explanation")
      .def_ro("model", &Explanation::model)
      .def_ro("text", &Explanation::text)
      .def_ro("pair", &Explanation::pair)
      .def_ro("picture", &Explanation::picture)
      .def_ro("units", &Explanation::units)
      .def_ro("streams", &Explanation::streams)
      .def_ro("read_out", &Explanation::read_out)
      .def_ro("output", &Explanation::output)
      .def_ro("target", &Explanation::target)
      .def_ro("attention", &Explanation::attention)
      .def_ro("refused", &Explanation::refused)
      .def_ro("notes", &Explanation::notes)
      .def("__len__", [](const Explanation& e) { return e.attributions.size(); })
      .def(
          "attribution",
          [](const Explanation& e, size_t index) -> const Attribution& {
            if (index >= e.attributions.size()) throw nb::index_error();
            return e.attributions[index];
          },
          nb::rv_policy::reference_internal);
}

}  // namespace whyformer::python
