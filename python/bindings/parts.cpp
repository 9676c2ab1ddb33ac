#include "whyformer/parts.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "array_views.h"
#include "bindings.h"
#include "long_work.h"
#include "whyformer/model.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace whyformer::python {

void bind_parts(nb::module_& module) {
  module.def(
      "load_parts",
      [](std::string name, std::map<std::string, std::string, std::less<>> documents,
         const std::vector<GivenArray>& weights) {
        const ModelParts parts{std::move(name), std::move(documents), views_of(weights)};
        return run_long(nb::none(), [&](const auto&) { return Model::load(parts); });
      },
      "name"_a, "documents"_a, "weights"_a);
}

}  // namespace whyformer::python
