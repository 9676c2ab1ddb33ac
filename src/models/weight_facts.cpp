#include "models/weight_facts.h"

#include "models/architectures/tables/table_family.h"

namespace whyformer {

std::optional<std::string> table_package_of(const StoredTensors& tensors) {
  const Checkpoint checkpoint(without_wrapper(tensors));
  const TableFamily* family = recognised_family(checkpoint);
  return family == nullptr ? std::nullopt : std::optional(std::string(family->package));
}

WeightFacts weight_facts(const TableSpec& spec, const StoredTensors& tensors) {
  const Checkpoint checkpoint(without_wrapper(tensors), "its family");
  const TableWeights weights{checkpoint, spec};
  const TableFamily& family = table_family_of(weights);
  TableFacts table = family.facts(weights);
  check_sizes(family, table);
  // Heads change no shape.
  const int64_t heads =
      table.heads.value_or(table.possible_heads.empty() ? 1 : table.possible_heads[0]);
  GraphBuilder graph;
  const auto input = [&](const char* name, int64_t width, DType type) {
    return width == 0 ? Value{} : graph.input(name, {1, width}, type);
  };
  const TableInputs inputs{.numbers = input("x_cont", table.numbers, DType::kFloat32),
                           .categories = input("x_cat", table.categories(), DType::kInt64)};
  const RowsAttended alone;
  TableEncoder encoder(graph, weights, table, heads, DType::kFloat32, 1, alone);
  const int64_t outputs = graph.shape(family.answer(encoder, inputs)).back();
  return {.family = std::string(family.name),
          .package = std::string(family.package),
          .numbers = table.numbers,
          .category_counts = table.category_counts,
          .width = table.width,
          .blocks = table.blocks,
          .outputs = outputs,
          .possible_heads = table.possible_heads,
          .heads = table.possible_heads.size() == 1 ? table.possible_heads[0] : table.heads,
          .rows_attend = table.rows_attend,
          .parameters = checkpoint.parameter_count(),
          .tensors = checkpoint.tensor_count(),
          .notes = table.notes};
}

}  // namespace whyformer
