#include "whyformer/model.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "long_work.h"
#include "shared_arrays.h"
#include "whyformer/relevance.h"
#include "whyformer/tables.h"
#include "whyformer/threads.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace whyformer::python {
namespace {

// Numbers as they are handed over: [rows × columns].
using Numbers = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Table table_of(const Numbers& numbers) {
  return {static_cast<int64_t>(numbers.shape(0)),
          static_cast<int64_t>(numbers.shape(1)),
          {numbers.data(), numbers.data() + numbers.size()}};
}

RowInput row_input(std::vector<std::string> names, std::vector<double> values,
                   const std::optional<Numbers>& background, std::vector<double> weights) {
  RowInput row{std::move(names), std::move(values), {}, std::move(weights)};
  if (background) row.background = table_of(*background);
  return row;
}

template <class Input>
void bind_explain(nb::module_& module) {
  module.def(
      "explain",
      [](const Model& model, const Input& input, ExplainRequest request,
         const nb::object& progress) {
        return run_long(progress, [&](const Progress& watch) {
          request.progress = watch;
          return explain(model, input, request);
        });
      },
      "model"_a, "input"_a, "request"_a, "progress"_a.none() = nb::none());
}

template <class Input>
void bind_trace(nb::module_& module) {
  module.def("trace", [](const Model& model, const Input& input, const ExplainRequest& request) {
    return run_long(nb::none(), [&](const Progress&) { return trace(model, input, request); });
  });
}

void bind_inputs(nb::module_& module) {
  nb::class_<TextInput>(module, "TextInput")
      .def(
          "__init__",
          [](TextInput* self, std::string text, std::optional<std::string> pair) {
            new (self) TextInput{std::move(text), std::move(pair)};
          },
          "text"_a, "pair"_a = nb::none());
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
  nb::class_<RowInput>(module, "RowInput")
      .def(
          "__init__",
          [](RowInput* self, std::vector<std::string> names, std::vector<double> values,
             const std::optional<Numbers>& background, std::vector<double> weights) {
            new (self) RowInput(
                row_input(std::move(names), std::move(values), background, std::move(weights)));
          },
          "names"_a, "values"_a, "background"_a = nb::none(), "weights"_a = std::vector<double>());
  nb::class_<NamedTable>(module, "NamedTable")
      .def("__init__",
           [](NamedTable* self, std::vector<std::string> names, const Numbers& numbers) {
             new (self) NamedTable{std::move(names), table_of(numbers)};
           })
      .def_ro("names", &NamedTable::names)
      .def_prop_ro("numbers", [](nb::handle self) {
        const Table& table = nb::cast<const NamedTable&>(self).table;
        return array_in(self, table.values,
                        {static_cast<size_t>(table.rows), static_cast<size_t>(table.columns)});
      });
  module.def("read_table", &read_table, "path"_a);
  module.def("background_of", [](const NamedTable& table, int64_t most_rows) {
    return NamedTable{table.names, background_of(table.table, most_rows)};
  });
  module.def("means_picture", &means_picture);
}

void bind_request(nb::module_& module) {
  nb::enum_<Precision>(module, "Precision")
      .value("single", Precision::kSingle)
      .value("double", Precision::kDouble);
  nb::enum_<WordFold>(module, "WordFold")
      .value("sum", WordFold::kSum)
      .value("mean", WordFold::kMean)
      .value("max", WordFold::kMax);
  nb::class_<ExplainRequest>(module, "ExplainRequest")
      .def(nb::init<>())
      .def("add_method",
           [](ExplainRequest& self, std::string name, Options options) {
             self.methods.push_back({std::move(name), std::move(options)});
           })
      .def_rw("target", &ExplainRequest::target, nb::arg().none())
      .def_rw("other_targets", &ExplainRequest::other_targets)
      .def_rw("top", &ExplainRequest::top)
      .def_rw("similar_to", &ExplainRequest::similar_to, nb::arg().none())
      .def_rw("read_out", &ExplainRequest::read_out, nb::arg().none())
      .def_rw("fold", &ExplainRequest::fold)
      .def_rw("precision", &ExplainRequest::precision)
      .def_rw("seed", &ExplainRequest::seed)
      .def_rw("memory_bytes", &ExplainRequest::memory_bytes);
}

void bind_model_info(nb::module_& module) {
  nb::class_<SiteInfo>(module, "SiteInfo")
      .def_ro("name", &SiteInfo::name)
      .def_ro("heads", &SiteInfo::heads)
      .def_ro("queries", &SiteInfo::queries)
      .def_ro("keys", &SiteInfo::keys)
      .def_ro("windows", &SiteInfo::windows)
      .def_ro("query_stream", &SiteInfo::query_stream)
      .def_ro("key_stream", &SiteInfo::key_stream)
      .def_ro("causal", &SiteInfo::causal)
      .def_ro("kind", &SiteInfo::kind);
  nb::class_<StreamInfo>(module, "StreamInfo")
      .def_ro("tokens", &StreamInfo::tokens)
      .def_ro("units", &StreamInfo::units)
      .def_ro("sites", &StreamInfo::sites);
  nb::class_<InputInfo>(module, "InputInfo")
      .def_ro("name", &InputInfo::name)
      .def_ro("type", &InputInfo::type)
      .def_ro("shape", &InputInfo::shape);
  nb::class_<ModelInfo>(module, "ModelInfo")
      .def_ro("model", &ModelInfo::model)
      .def_ro("task", &ModelInfo::task)
      .def_ro("inputs", &ModelInfo::inputs)
      .def_ro("outputs", &ModelInfo::outputs)
      .def_ro("parameters", &ModelInfo::parameters)
      .def_ro("tensors", &ModelInfo::tensors)
      .def_ro("vocabulary", &ModelInfo::vocabulary)
      .def_ro("max_tokens", &ModelInfo::max_tokens)
      .def_ro("opset", &ModelInfo::opset)
      .def_ro("sites", &ModelInfo::sites)
      .def_ro("streams", &ModelInfo::streams)
      .def_ro("read_out", &ModelInfo::read_out)
      .def_ro("notes", &ModelInfo::notes);
  module.def(
      "inspect",
      [](const std::filesystem::path& path, const InputShapes& shapes) {
        return run_long(nb::none(), [&](const Progress&) { return inspect(path, shapes); });
      },
      "path"_a, "shapes"_a = InputShapes());
}

void bind_tokens(nb::module_& module) {
  nb::class_<TokenizedText>(module, "TokenizedText")
      .def_ro("ids", &TokenizedText::ids)
      .def_ro("tokens", &TokenizedText::tokens)
      .def_ro("offsets", &TokenizedText::offsets)
      .def_ro("special", &TokenizedText::special)
      .def_ro("segment", &TokenizedText::segment)
      .def("__repr__",
           [](nb::handle self) { return nb::str("<tokens {!r}>").format(self.attr("tokens")); });
}

void bind_trace_result(nb::module_& module) {
  nb::class_<Trace>(module, "Trace")
      .def_ro("attention", &Trace::attention)
      .def_ro("attention_gradient", &Trace::attention_gradient)
      .def_ro("output", &Trace::output)
      .def_ro("target", &Trace::target)
      .def_ro("units", &Trace::units)
      .def_ro("notes", &Trace::notes)
      .def("safetensors", [](const Trace& trace) {
        const std::string bytes = to_safetensors(trace);
        return nb::bytes(bytes.data(), bytes.size());
      });
}

void bind_relevance(nb::module_& module) {
  nb::class_<RelevanceStep>(module, "RelevanceStep")
      .def_ro("node", &RelevanceStep::node)
      .def_ro("op", &RelevanceStep::op)
      .def_ro("rule", &RelevanceStep::rule)
      .def_ro("entering", &RelevanceStep::entering)
      .def_ro("leaving", &RelevanceStep::leaving)
      .def_ro("entering_magnitude", &RelevanceStep::entering_magnitude)
      .def_ro("leaving_magnitude", &RelevanceStep::leaving_magnitude)
      .def_prop_ro("loss", &RelevanceStep::loss);
  nb::class_<RelevanceReport>(module, "RelevanceReport")
      .def_ro("model", &RelevanceReport::model)
      .def_ro("policy", &RelevanceReport::policy)
      .def_ro("target", &RelevanceReport::target)
      .def_ro("seed", &RelevanceReport::seed)
      .def_ro("steps", &RelevanceReport::steps)
      .def_ro("at_first_layer", &RelevanceReport::at_first_layer)
      .def_ro("at_words", &RelevanceReport::at_words)
      .def_ro("notes", &RelevanceReport::notes);
  module.def("relevance_policies", &relevance_policies);
  module.def("relevance_report", [](const Model& model, const TextInput& input,
                                    const std::string& policy, const ExplainRequest& request) {
    return run_long(nb::none(), [&](const Progress&) {
      return relevance_report(model, input, policy, request);
    });
  });
}

}  // namespace

void bind_models(nb::module_& module) {
  bind_inputs(module);
  bind_request(module);
  bind_model_info(module);
  bind_trace_result(module);
  bind_tokens(module);
  nb::class_<Model>(module, "Model")
      .def_static(
          "load",
          [](const std::filesystem::path& path, const std::string& output) {
            return run_long(nb::none(),
                            [&](const Progress&) { return Model::load(path, {output}); });
          },
          "path"_a, "output"_a = "")
      .def_static("built_in", &Model::built_in)
      .def_static("built_in_for_pictures", &Model::built_in_for_pictures)
      .def_prop_ro("name", &Model::name)
      .def_prop_ro("reads_pictures", &Model::reads_pictures)
      .def_prop_ro("reads_tables", &Model::reads_tables)
      .def("inspect", &Model::inspect)
      .def("tokenize", &Model::tokenize, "input"_a)
      .def("among", &Model::among, "texts"_a);
  bind_explain<TextInput>(module);
  bind_explain<PictureInput>(module);
  bind_explain<PictureWithText>(module);
  bind_explain<RowInput>(module);
  bind_trace<TextInput>(module);
  bind_trace<PictureInput>(module);
  bind_relevance(module);
  module.def("usual_methods", nb::overload_cast<const Model&>(&usual_methods), "model"_a);
  module.def("usual_methods", nb::overload_cast<const Model&, const RowInput&>(&usual_methods),
             "model"_a, "row"_a);
  module.def("threads", &threads);
  module.def("set_threads", &set_threads, "count"_a);
}

}  // namespace whyformer::python
