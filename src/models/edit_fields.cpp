#include "models/edit_fields.h"

#include <fmt/format.h>

#include <cmath>

namespace whyformer {
namespace {

EditFields fields_of(EditOp op) {
  switch (op) {
    case EditOp::kSet:
    case EditOp::kAdd:
      return {.number = true, .array = true};
    case EditOp::kScale:
      return {.number = true};
    case EditOp::kCopy:
      return {.array = true, .source = true};
    case EditOp::kPermute:
      return {.axis = true, .seed = true};
    case EditOp::kNoise:
      return {.number = true, .seed = true};
    default:
      return {};
  }
}

}  // namespace

std::string fault_of(const Edit& edit, const EditFields& given) {
  const EditFields known = fields_of(edit.op);
  const auto too_much = [](const char* field) {
    return fmt::format("has a field that this operation has not: '{}'", field);
  };
  if (given.number && !known.number) return too_much("number");
  if (given.array && !known.array) return too_much("array");
  if (given.source && !known.source) return too_much("source");
  if (given.axis && !known.axis) return too_much("axis");
  if (given.seed && !known.seed) return too_much("seed");
  if (given.number && given.array) return "has a number and an array: give one of them";
  if (edit.op == EditOp::kNoise) {
    const bool spreads = given.number && edit.number > 0 && std::isfinite(edit.number);
    return spreads ? "" : "needs the deviation of the noise, above 0";
  }
  if (known.number && !given.number && !given.array) return "needs a number";
  if (edit.op == EditOp::kPermute && edit.axis.empty())
    return "needs the axis along which places change";
  return "";
}

}  // namespace whyformer
