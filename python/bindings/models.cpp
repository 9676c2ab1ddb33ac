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
#include "whyformer/error.h"
#include "whyformer/interrupted.h"
#include "whyformer/parts.h"
#include "whyformer/sanity.h"
#include "whyformer/threads.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace whyformer::python {
namespace {

void bind_request(nb::module_& module) {
  nb::enum_<Precision>(module, "Precision")
      .value("single", Precision::kSingle)
      .value("double", Precision::kDouble);
  nb::enum_<WordFold>(module, "WordFold")
      .value("sum", WordFold::kSum)
      .value("mean", WordFold::kMean)
      .value("max", WordFold::kMax);
  nb::class_<OutputElement>(module, "OutputElement")
      .def(
          "__init__",
          [](OutputElement* self, std::string output, std::vector<int64_t> indices) {
            new (self) OutputElement{std::move(output), std::move(indices)};
          },
          "output"_a, "indices"_a)
      .def_ro("output", &OutputElement::output)
      .def_ro("indices", &OutputElement::indices);
  nb::class_<TrustRequest>(module, "TrustRequest")
      .def(nb::init<>())
      .def_rw("orders", &TrustRequest::orders)
      .def_rw("hiding", &TrustRequest::hiding)
      .def_rw("noisy_inputs", &TrustRequest::noisy_inputs)
      .def_rw("radius", &TrustRequest::radius)
      .def("read_sanity_card",
           [](TrustRequest& self, const Model& model) { self.sanity = sanity_findings(model); });
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
      .def_rw("hiding_id", &ExplainRequest::hiding_id, nb::arg().none())
      .def_rw("edits", &ExplainRequest::edits)
      .def_rw("fold", &ExplainRequest::fold)
      .def_rw("precision", &ExplainRequest::precision)
      .def_rw("by_rows", &ExplainRequest::by_rows)
      .def_rw("trust", &ExplainRequest::trust, nb::arg().none())
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
  nb::class_<ColumnInfo>(module, "ColumnInfo")
      .def_ro("name", &ColumnInfo::name)
      .def_ro("kind", &ColumnInfo::kind)
      .def_ro("unit", &ColumnInfo::unit)
      .def_ro("encoding", &ColumnInfo::encoding)
      .def_ro("missing", &ColumnInfo::missing)
      .def_ro("input", &ColumnInfo::input)
      .def_ro("at", &ColumnInfo::at);
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
      .def_ro("notes", &ModelInfo::notes)
      .def_ro("family", &ModelInfo::family)
      .def_ro("columns", &ModelInfo::columns)
      .def_ro("context", &ModelInfo::context)
      .def_ro("not_told", &ModelInfo::not_told);
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

nb::dict traced_arrays(const Trace& trace) {
  nb::dict arrays;
  for (const TracedArray& one : trace.arrays)
    arrays[one.name.c_str()] = shared_array(one.values, array_shape(one.shape));
  return arrays;
}

void bind_trace(nb::module_& module) {
  nb::class_<Trace>(module, "Trace")
      .def_ro("attention", &Trace::attention)
      .def_ro("attention_gradient", &Trace::attention_gradient)
      .def_prop_ro("arrays", &traced_arrays)
      .def_ro("streams", &Trace::streams)
      .def_ro("output", &Trace::output)
      .def_ro("target", &Trace::target)
      .def_ro("units", &Trace::units)
      .def_ro("notes", &Trace::notes)
      .def("safetensors", [](const Trace& trace) {
        const std::string bytes = to_safetensors(trace);
        return nb::bytes(bytes.data(), bytes.size());
      });
  module.def(
      "trace",
      [](const Model& model, const InputValue& input, ExplainRequest request) {
        return run_long(nb::none(), [&](const Progress& watch) {
          request.progress = watch;
          return trace(model, input, request);
        });
      },
      "model"_a, "input"_a, "request"_a);
  module.def("default_methods_by_rows", &default_methods_by_rows);
  module.def(
      "attention",
      [](const Model& model, const InputValue& input) {
        return run_long(nb::none(), [&](const Progress&) { return attention(model, input); });
      },
      "model"_a, "input"_a);
}

Model load_path(const std::filesystem::path& path, const std::string& output, bool arrays,
                const BatchAxes& batch_axes, const std::string& table_spec,
                const std::string& context, const std::string& context_rows,
                const std::string& context_mode) {
  return run_long(nb::none(), [&](const Progress&) {
    return Model::load(
        path, {output, arrays, batch_axes, table_spec, context, context_rows, context_mode});
  });
}

Model load_parts(std::string name, std::map<std::string, std::string, std::less<>> documents,
                 ArrayViews weights) {
  const ModelParts parts{std::move(name), std::move(documents), std::move(weights)};
  return run_long(nb::none(), [&](const Progress&) { return Model::load(parts); });
}

nb::dict run_arrays(const Model& model, const ArrayViews& arrays) {
  auto found = run_long(nb::none(), [&](const Progress&) { return model.run(arrays); });
  nb::dict outputs;
  for (auto& [name, output] : found)
    outputs[name.c_str()] = array_of(std::move(output.values), array_shape(output.shape));
  return outputs;
}

void bind_model(nb::module_& module) {
  nb::class_<Model>(module, "Model")
      .def_static("load", &load_path, "path"_a, "output"_a = "", "arrays"_a = false,
                  "batch_axes"_a = BatchAxes(), "table_spec"_a = "", "context"_a = "",
                  "context_rows"_a = "", "context_mode"_a = "")
      .def_static("load_parts", &load_parts, "name"_a, "documents"_a, "weights"_a)
      .def_static("built_in", &Model::built_in)
      .def_static("built_in_for_pictures", &Model::built_in_for_pictures)
      .def_static("built_in_for_tables", &Model::built_in_for_tables)
      .def_prop_ro("name", &Model::name)
      .def_prop_ro("reads_texts", &Model::reads_texts)
      .def_prop_ro("reads_pictures", &Model::reads_pictures)
      .def_prop_ro("reads_tables", &Model::reads_tables)
      .def_prop_ro("rows_attend", &Model::rows_attend)
      .def_prop_ro("reads_words", &Model::reads_words)
      .def_prop_ro("outputs", &Model::outputs)
      .def("inspect",
           [](const Model& model) {
             return run_long(nb::none(), [&](const Progress&) { return model.inspect(); });
           })
      .def(
          "inspect",
          [](const Model& model, const ArrayViews& arrays) {
            return run_long(nb::none(), [&](const Progress&) { return model.inspect(arrays); });
          },
          "arrays"_a)
      .def("run", &run_arrays, "arrays"_a)
      .def("tokenize", &Model::tokenize, "input"_a)
      .def(
          "among",
          [](const Model& model, const std::vector<std::string>& texts) {
            return run_long(nb::none(), [&](const Progress&) { return model.among(texts); });
          },
          "texts"_a);
}

}  // namespace

void bind_models(nb::module_& module) {
  bind_request(module);
  bind_model_info(module);
  bind_tokens(module);
  bind_model(module);
  bind_trace(module);
  module.def(
      "explain",
      [](const Model& model, const InputValue& input, ExplainRequest request,
         const nb::object& progress) {
        return run_long(progress, [&](const Progress& watch) {
          request.progress = watch;
          return explain(model, input, request);
        });
      },
      "model"_a, "input"_a, "request"_a, "progress"_a.none() = nb::none());
  // Explanations of the inputs up to the first that is refused, or where the user stops.
  module.def(
      "explain_each",
      [](const Model& model, const std::vector<InputValue>& inputs, ExplainRequest request,
         const nb::object& progress) {
        return run_long(progress, [&](const Progress& watch) {
          const auto total = static_cast<int64_t>(inputs.size());
          std::vector<std::vector<Explanation>> all;
          request.progress = [&](int64_t, int64_t) {
            return watch(static_cast<int64_t>(all.size()), total);
          };
          try {
            explain_each(model, inputs, request, [&](size_t, std::vector<Explanation> one) {
              all.push_back(std::move(one));
              if (progress.is_none()) return request.progress(0, 0);
              const nb::gil_scoped_acquire lock;  // of every input, however soon it comes
              return progress(all.size(), total).ptr() != Py_False;
            });
          } catch (const InvalidInput&) {
          } catch (const Interrupted&) {
          }
          return all;
        });
      },
      "model"_a, "inputs"_a, "request"_a, "progress"_a.none() = nb::none());
  module.def(
      "default_methods",
      [](const Model& model, const InputValue& input, const TargetChoice& target) {
        return run_long(nb::none(),
                        [&](const Progress&) { return default_methods(model, input, target); });
      },
      "model"_a, "input"_a, "target"_a.none() = nb::none());
  module.def("threads", &threads);
  module.def("set_threads", &set_threads, "count"_a);
}

}  // namespace whyformer::python
