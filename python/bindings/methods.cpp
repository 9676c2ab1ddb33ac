#include "whyformer/methods.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace nb = nanobind;

namespace whyformer::python {

void bind_methods(nb::module_& module) {
  nb::class_<OptionInfo>(module, "OptionInfo")
      .def_ro("name", &OptionInfo::name)
      .def_ro("summary", &OptionInfo::summary)
      .def_ro("default", &OptionInfo::default_value)
      .def_ro("choices", &OptionInfo::choices)
      .def("__repr__",
           [](const OptionInfo& o) { return "<option " + o.name + ": " + o.summary + ">"; });
  nb::class_<PresetInfo>(module, "PresetInfo")
      .def_ro("name", &PresetInfo::name)
      .def_ro("summary", &PresetInfo::summary)
      .def_ro("values", &PresetInfo::values);
  nb::class_<MethodInfo>(module, "MethodInfo")
      .def_ro("name", &MethodInfo::name)
      .def_ro("summary", &MethodInfo::summary)
      .def_ro("paper", &MethodInfo::paper)
      .def_ro("cost", &MethodInfo::cost)
      .def_ro("class_specific", &MethodInfo::class_specific)
      .def_ro("is_signed", &MethodInfo::is_signed)
      .def_ro("model_agnostic", &MethodInfo::model_agnostic)
      .def_prop_ro(
          "scope",
          [](const MethodInfo& m) { return m.scope == Scope::kLocal ? "local" : "global"; })
      .def_ro("options", &MethodInfo::options)
      .def_ro("presets", &MethodInfo::presets)
      .def("__repr__",
           [](const MethodInfo& m) { return "<method " + m.name + ": " + m.summary + ">"; });

  module.def("methods", [] { return std::vector<MethodInfo>(methods().begin(), methods().end()); });
  module.def("studies", [] { return std::vector<MethodInfo>(studies().begin(), studies().end()); });
  module.def("parse_option", [](const std::string& method, const std::string& assignment) {
    return parse_option(method_named(method), assignment);
  });
}

}  // namespace whyformer::python
