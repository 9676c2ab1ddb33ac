#include "whyformer/input.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "shared_arrays.h"
#include "whyformer/tables.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace whyformer::python {
namespace {

// Numbers as they are handed over: [rows × columns].
using Numbers = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using AnyNumbers = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

Table table_of(const Numbers& numbers) {
  return {static_cast<int64_t>(numbers.shape(0)),
          static_cast<int64_t>(numbers.shape(1)),
          {numbers.data(), numbers.data() + numbers.size()}};
}

// Each row of a table, with the background that they share and, of a model that explains rows in
// blocks, the others of its own.
std::vector<RowInput> row_inputs(const NamedTable& table, const NamedTable* background,
                                 const std::vector<double>& weights, const Model* model) {
  check_table(table);
  const int64_t block = model == nullptr ? 0 : block_rows(*model);
  std::vector<RowInput> rows;
  for (int64_t row = 0; row < table.table.rows; ++row) {
    rows.push_back(row_of(table, row));
    if (table.table.rows == 1) rows.back().number.reset();  // given by itself
    rows.back().weights = weights;
    if (row > 0) rows.back().block = rows[row - 1].block;
    if (block > 0) add_block(rows.back(), table, row, block);
    if (background == nullptr) continue;
    rows.back().background = background->table;
    rows.back().background_cells = background->cells;
  }
  return rows;
}

// As safetensors calls it; empty where it has no name.
std::string type_name(const nb::dlpack::dtype& type) {
  using Code = nb::dlpack::dtype_code;
  const std::string bits = std::to_string(type.bits);
  if (type.lanes != 1) return "";
  switch (static_cast<Code>(type.code)) {
    case Code::Bool:
      return "BOOL";
    case Code::Int:
      return "I" + bits;
    case Code::UInt:
      return type.bits < 64 ? "U" + bits : "";
    case Code::Float:
      return type.bits >= 16 ? "F" + bits : "";
    case Code::Bfloat:
      return "BF16";
    default:
      return "";
  }
}

// The array lives as long as somebody reads it. Whoever is last may not hold the interpreter's
// lock.
std::shared_ptr<const void> kept(const AnyNumbers& numbers) {
  auto* owner = new AnyNumbers(numbers);
  return {numbers.data(), [owner](const void*) {
            if (!Py_IsInitialized()) return;
            const nb::gil_scoped_acquire lock;
            delete owner;
          }};
}

ArrayView view_of(const AnyNumbers& numbers) {
  std::string type = type_name(numbers.dtype());
  if (type.empty()) throw nb::type_error("no model takes numbers of this type");
  std::vector<int64_t> shape(numbers.ndim());
  for (size_t axis = 0; axis < shape.size(); ++axis)
    shape[axis] = static_cast<int64_t>(numbers.shape(axis));
  return {std::move(type), std::move(shape), kept(numbers), numbers.nbytes()};
}

void bind_pictures(nb::module_& module) {
  nb::class_<PictureFile>(module, "PictureFile")
      .def("__init__", [](PictureFile* self, std::filesystem::path path) {
        new (self) PictureFile{std::move(path)};
      });
  nb::class_<PicturePixels>(module, "PicturePixels")
      .def(
          "__init__",
          [](PicturePixels* self, std::string name,
             nb::ndarray<const uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu> pixels) {
            auto kept = std::make_shared<decltype(pixels)>(pixels);
            new (self) PicturePixels{std::move(name), static_cast<int64_t>(pixels.shape(1)),
                                     static_cast<int64_t>(pixels.shape(0)),
                                     static_cast<int64_t>(pixels.shape(2)),
                                     std::shared_ptr<const uint8_t[]>(kept, pixels.data())};
          },
          "name"_a, "pixels"_a);
  nb::class_<PictureWithText>(module, "PictureWithText")
      .def("__init__", [](PictureWithText* self, PictureInput picture, std::string text) {
        new (self) PictureWithText{std::move(picture), std::move(text)};
      });
  module.def("means_picture", &means_picture);
}

void bind_tables(nb::module_& module) {
  nb::class_<RowInput>(module, "RowInput");
  nb::class_<NamedTable>(module, "NamedTable")
      .def(
          "__init__",
          [](NamedTable* self, std::vector<std::string> names, const Numbers& numbers,
             std::vector<std::string> cells) {
            new (self) NamedTable{std::move(names), table_of(numbers), std::move(cells)};
          },
          "names"_a, "numbers"_a, "cells"_a = std::vector<std::string>())
      .def_ro("names", &NamedTable::names)
      .def_ro("cells", &NamedTable::cells)
      .def_prop_ro("numbers", [](nb::handle self) {
        const Table& table = nb::cast<const NamedTable&>(self).table;
        return array_in(self, table.values,
                        {static_cast<size_t>(table.rows), static_cast<size_t>(table.columns)});
      });
  module.def("row_inputs", &row_inputs, "table"_a, "background"_a.none() = nb::none(),
             "weights"_a = std::vector<double>(), "model"_a.none() = nb::none());
  module.def("read_table", &read_table, "path"_a);
  module.def("read_table_for", &read_table_for, "model"_a, "path"_a);
  module.def("rows_with", &rows_with, "model"_a, nb::rv_policy::copy);
  module.def("column_names", &column_names, "model"_a);
  module.def("answer_names", &answer_names, "model"_a);
  module.def("has_background", &has_background, "model"_a);
  module.def("in_order_of", &in_order_of, "names"_a, "table"_a);
  module.def("background_of", nb::overload_cast<const NamedTable&, int64_t>(&background_of));
}

}  // namespace

void bind_inputs(nb::module_& module) {
  nb::class_<TextInput>(module, "TextInput")
      .def(
          "__init__",
          [](TextInput* self, std::string text, std::optional<std::string> pair) {
            new (self) TextInput{std::move(text), std::move(pair)};
          },
          "text"_a, "pair"_a = nb::none());
  bind_pictures(module);
  bind_tables(module);
  nb::class_<ArrayView>(module, "ArrayView")
      .def(
          "__init__",
          [](ArrayView* self, const AnyNumbers& numbers) {
            new (self) ArrayView(view_of(numbers));
          },
          "numbers"_a)
      .def_ro("type", &ArrayView::type)
      .def_ro("shape", &ArrayView::shape);
}

}  // namespace whyformer::python
