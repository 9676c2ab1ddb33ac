#include "formats/tables/column_steps_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#include "formats/file_checks.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using Json = nlohmann::json;

// Refuses limits between which nothing lies.
void check_limits(const SpecFields& fields, double least, double most) {
  if (least > most) fields.fail(fmt::format("'least' ({}) is above 'most' ({})", least, most));
}

void check_rising(const SpecFields& fields, std::string_view key,
                  const std::vector<double>& numbers) {
  if (!std::ranges::is_sorted(numbers)) fields.fail(fmt::format("'{}' must not decrease", key));
}

// "a" or "b"; whether it is the second one.
bool second_of(const SpecFields& fields, std::string_view key, std::string_view first,
               std::string_view second) {
  const std::string given = fields.text_or(key, std::string(first));
  if (given != first && given != second) {
    fields.fail(
        fmt::format("'{}' must be '{}' or '{}' but is {}", key, first, second, in_quotes(given)));
  }
  return given == second;
}

StandardStep read(const SpecFields& fields, StandardStep) {
  return {fields.number_or("mean", 0), fields.divisor_or("scale", 1)};
}
AffineStep read(const SpecFields& fields, AffineStep) {
  return {fields.number_or("times", 1), fields.number_or("plus", 0)};
}
MinMaxStep read(const SpecFields& fields, MinMaxStep) {
  const MinMaxStep step{fields.number_or("min", 0), fields.number_or("scale", 1),
                        fields.flag_or("clip", false), fields.number_or("least", 0),
                        fields.number_or("most", 1)};
  check_limits(fields, step.least, step.most);
  return step;
}
RobustStep read(const SpecFields& fields, RobustStep) {
  return {fields.number_or("center", 0), fields.divisor_or("scale", 1)};
}

QuantileStep read(const SpecFields& fields, QuantileStep) {
  QuantileStep step{second_of(fields, "to", "uniform", "normal"), fields.numbers("quantiles"),
                    fields.numbers("references")};
  if (step.quantiles.empty() || step.quantiles.size() != step.references.size()) {
    fields.fail(fmt::format(
        "'quantiles' and 'references' must have the same number of entries, at least one, "
        "not {} and {}",
        step.quantiles.size(), step.references.size()));
  }
  check_rising(fields, "quantiles", step.quantiles);
  check_rising(fields, "references", step.references);
  if (step.references.front() < 0 || step.references.back() > 1)
    fields.fail("'references' must lie between 0 and 1");
  return step;
}

PowerStep read(const SpecFields& fields, PowerStep) {
  return {second_of(fields, "kind", "yeo-johnson", "box-cox"), fields.number("lambda"),
          fields.number_or("mean", 0), fields.divisor_or("scale", 1)};
}
Log1pStep read(const SpecFields&, Log1pStep) { return {}; }
ClipStep read(const SpecFields& fields, ClipStep defaults) {
  const ClipStep step{fields.number_or("least", defaults.least),
                      fields.number_or("most", defaults.most)};
  check_limits(fields, step.least, step.most);
  return step;
}
BinsStep read(const SpecFields& fields, BinsStep) {
  BinsStep step{fields.numbers("edges")};
  if (step.edges.size() < 2) fields.fail("'edges' needs at least two numbers");
  check_rising(fields, "edges", step.edges);
  return step;
}

BatchNormStep read(const SpecFields& fields, BatchNormStep) {
  const BatchNormStep step{fields.number("mean"), fields.number("variance"),
                           fields.number_or("epsilon", 1e-5), fields.number_or("weight", 1),
                           fields.number_or("bias", 0)};
  if (step.variance < 0 || !(step.variance + step.epsilon > 0))
    fields.fail("'variance' plus 'epsilon' must be above 0");
  return step;
}

FillStep read(const SpecFields& fields, FillStep) { return {fields.number("value")}; }

OneHotStep read(const SpecFields& fields, OneHotStep) {
  OneHotStep step{fields.numbers("off"), fields.numbers("on")};
  if (step.off.size() != step.on.size())
    fields.fail("'off' and 'on' must have a number for each place");
  return step;
}
IndicatorStep read(const SpecFields& fields, IndicatorStep) {
  return {fields.number_or("off", 0), fields.number_or("on", 1)};
}

template <size_t... kIndex>
ColumnStep step_named(const SpecFields& fields, std::string_view op,
                      std::index_sequence<kIndex...>) {
  ColumnStep step;
  const auto is = [&]<typename Step>(std::in_place_type_t<Step>) {
    if (op != Step::kOp) return false;
    step = read(fields, Step{});
    return true;
  };
  if ((is(std::in_place_type<std::variant_alternative_t<kIndex, ColumnStep>>) || ...)) return step;
  std::string known;
  ((known += fmt::format("{}{}", known.empty() ? "" : ", ",
                         std::variant_alternative_t<kIndex, ColumnStep>::kOp)),
   ...);
  throw UnsupportedModel(
      fmt::format("{}: there is no step {}; known are {}", fields.place(), in_quotes(op), known));
}

Json written(const StandardStep& step) { return {{"mean", step.mean}, {"scale", step.scale}}; }
Json written(const AffineStep& step) { return {{"times", step.times}, {"plus", step.plus}}; }
Json written(const MinMaxStep& step) {
  Json json = {{"min", step.min}, {"scale", step.scale}};
  if (step.clip) json.update({{"clip", true}, {"least", step.least}, {"most", step.most}});
  return json;
}
Json written(const RobustStep& step) { return {{"center", step.center}, {"scale", step.scale}}; }
Json written(const QuantileStep& step) {
  return {{"to", step.to_normal ? "normal" : "uniform"},
          {"quantiles", step.quantiles},
          {"references", step.references}};
}
Json written(const PowerStep& step) {
  return {{"kind", step.box_cox ? "box-cox" : "yeo-johnson"},
          {"lambda", step.lambda},
          {"mean", step.mean},
          {"scale", step.scale}};
}
Json written(const Log1pStep&) { return Json::object(); }
Json written(const ClipStep& step) {
  Json json = Json::object();
  if (std::isfinite(step.least)) json["least"] = step.least;
  if (std::isfinite(step.most)) json["most"] = step.most;
  return json;
}
Json written(const BinsStep& step) { return {{"edges", step.edges}}; }
Json written(const BatchNormStep& step) {
  return {{"mean", step.mean},
          {"variance", step.variance},
          {"epsilon", step.epsilon},
          {"weight", step.weight},
          {"bias", step.bias}};
}
Json written(const FillStep& step) { return {{"value", step.value}}; }
Json written(const OneHotStep& step) {
  return step.on.empty() ? Json::object() : Json{{"off", step.off}, {"on", step.on}};
}
Json written(const IndicatorStep& step) { return {{"off", step.off}, {"on", step.on}}; }

}  // namespace

ColumnStep step_of(const SpecFields& fields) {
  return step_named(fields, fields.text("op"),
                    std::make_index_sequence<std::variant_size_v<ColumnStep>>());
}

Json json_of(const ColumnStep& step) {
  Json json = std::visit([](const auto& kind) { return written(kind); }, step);
  json["op"] = op_of(step);
  return json;
}

}  // namespace whyformer
