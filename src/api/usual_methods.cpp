#include "models/array_model.h"
#include "readers/array_file.h"
#include "readers/array_units.h"
#include "readers/picture_subject.h"
#include "readers/table_subject.h"
#include "readers/text_subject.h"
#include "whyformer/arrays.h"
#include "whyformer/error.h"
#include "whyformer/model.h"
#include "whyformer/tables.h"

namespace whyformer {
namespace {

std::vector<std::string> usual_for_pictures(const PictureModel& model) {
  const Head head = model.has_classifier() ? Head::kLogits : Head::kEmbedding;
  const auto graph = model.graph({.height = model.height(), .width = model.width(), .head = head});
  if (!patch_maps_problem(*graph).empty()) return {"gradient-x-input", "saliency", "leave-one-out"};
  return {"gae", "transformer-attribution", "grad-cam"};
}

std::vector<std::string> usual_for_texts(const TextModel& model) {
  const Head head = model.has_classifier() ? Head::kLogits : Head::kEmbedding;
  const auto graph = model.graph({.tokens = model.probe_tokens(), .head = head});
  if (!token_maps_problem(graph->found, model.probe_tokens()).empty())
    return {"integrated-gradients", "leave-one-out"};
  return {"gae", "integrated-gradients"};
}

}  // namespace

std::vector<std::string> usual_methods(const Model& model) {
  if (model.reads_pictures()) return usual_for_pictures(model.picture_model());
  if (model.reads_tables())
    throw InvalidInput("which methods fit a model of tables depends on the row and its background");
  return usual_for_texts(model.text_model());
}

std::vector<std::string> usual_methods(const Model& model, const RowInput& row) {
  const TableModel& tables = model.table_model();
  const TableSubject subject(tables, row, {});
  if (subject.attends_by_unit()) return {"gae", "integrated-gradients"};
  // Baselines and hidden columns come from a background; whole numbers that pick nothing have no
  // gradient.
  const auto graph = tables.graph(1, static_cast<int64_t>(row.values.size()), DType::kFloat32);
  const bool has_gradient = !graph->places.empty();
  if (row.background.rows == 0 && has_gradient) return {"gradient-x-input", "saliency"};
  if (!has_gradient) return {"leave-one-out"};
  return {"integrated-gradients", "leave-one-out"};
}

std::vector<std::string> ArrayModel::usual_methods(const ArrayViews& inputs,
                                                   const ArrayTarget& target) const {
  const auto probe = model_->probe(tensors_of(inputs), {{model_->output_named(target.output)}});
  if (array_units(*probe).why_no_maps.empty()) return {"gae"};
  return {"gradient-x-input", "leave-one-out"};
}

}  // namespace whyformer
