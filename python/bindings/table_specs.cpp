#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "shared_arrays.h"
#include "whyformer/table_spec.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace whyformer::python {

void bind_table_specs(nb::module_& module) {
  nb::class_<EncodedInput>(module, "EncodedInput")
      .def_ro("name", &EncodedInput::name)
      .def_prop_ro("numbers", [](nb::handle self) {
        const auto& input = nb::cast<const EncodedInput&>(self);
        const auto columns = static_cast<size_t>(input.columns);
        return array_in(self, input.numbers, {input.numbers.size() / columns, columns});
      });
  module.def("encode_rows", &encode_rows, "table_json"_a, "names"_a, "rows"_a);
}

}  // namespace whyformer::python
