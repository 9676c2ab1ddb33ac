// The stable, documented form of a debate, and of one input of it, which is read again:
// docs/debate.md.
#include <cmath>
#include <nlohmann/json.hpp>

#include "whyformer/debate.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"

namespace whyformer {
namespace {

using Json = nlohmann::ordered_json;

// Fields are listed once for both directions: `fields(archive, x)` names each.
class DebateWriter {
 public:
  template <class T>
  void operator()(const char* name, const T& value) {
    json_[name] = of(value);
  }
  Json finish() { return std::move(json_); }

  template <class T>
  static Json of(const std::optional<T>& value) {
    return value ? of(*value) : Json(nullptr);
  }
  template <class T>
  static Json of(const std::vector<T>& values) {
    Json list = Json::array();
    for (const auto& value : values) list.push_back(of(static_cast<const T&>(value)));
    return list;
  }
  template <class T>
  static Json of(const std::map<std::string, T>& values) {
    Json object = Json::object();
    for (const auto& [name, value] : values) object[name] = of(value);
    return object;
  }
  static Json of(const std::string& value) { return value; }
  static Json of(bool value) { return value; }
  static Json of(int64_t value) { return value; }
  static Json of(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
  template <class T>
    requires std::is_class_v<T>
  static Json of(const T& value) {
    DebateWriter inner;
    fields(inner, value);
    return inner.finish();
  }

 private:
  Json json_ = Json::object();
};

class DebateReader {
 public:
  explicit DebateReader(const Json& json) : json_(json) {}

  template <class T>
  void operator()(const char* name, T& value) const {
    into(json_.at(name), value);
  }

 private:
  template <class T>
  static void into(const Json& json, std::optional<T>& value) {
    if (json.is_null()) return;
    into(json, value.emplace());
  }
  template <class T>
  static void into(const Json& json, std::vector<T>& values) {
    for (const Json& one : json.get_ref<const Json::array_t&>()) {
      T value{};
      into(one, value);
      values.push_back(std::move(value));
    }
  }
  template <class T>
  static void into(const Json& json, std::map<std::string, T>& values) {
    for (const auto& [name, one] : json.get_ref<const Json::object_t&>()) into(one, values[name]);
  }
  static void into(const Json& json, std::string& value) { value = json.get<std::string>(); }
  static void into(const Json& json, bool& value) { value = json.get<bool>(); }
  static void into(const Json& json, int64_t& value) { value = json.get<int64_t>(); }
  static void into(const Json& json, double& value) {
    value = json.is_null() ? NAN : json.get<double>();
  }
  template <class T>
    requires std::is_class_v<T>
  static void into(const Json& json, T& value) {
    const DebateReader inner(json);
    fields(inner, value);
  }

  const Json& json_;
};

// `Of<T, A>` is T, constant for a writer.
template <class T, class A>
using Of = std::conditional_t<std::is_same_v<A, DebateWriter>, const T, T>;

template <class A>
void fields(A& a, Of<Refusal, A>& x) {
  a("part", x.method);
  a("reason", x.reason);
}
template <class A>
void fields(A& a, Of<DebateCorrelation, A>& x) {
  a("attention", x.attention);
  a("importance", x.importance);
  a("with_special", x.with_special);
  a("tau", x.tau);
  a("p_value", x.p_value);
}
template <class A>
void fields(A& a, Of<DebatePermutation, A>& x) {
  a("semantics", x.semantics);
  a("layer", x.layer);
  a("head", x.head);
  a("median_tvd", x.median);
  a("max_tvd", x.max);
  a("max_attention", x.max_attention);
  a("entropy", x.entropy);
}
template <class A>
void fields(A& a, Of<DebateAdversary, A>& x) {
  a("scope", x.scope);
  a("layer", x.layer);
  a("head", x.head);
  a("jsd", x.jsd);
  a("tvd", x.tvd);
  a("last_iterate_jsd", x.last_jsd);
  a("weights", x.weights);
}
template <class A>
void fields(A& a, Of<DebateUniform, A>& x) {
  a("layers", x.layers);
  a("tvd", x.tvd);
  a("predicted", x.predicted);
}
template <class A>
void fields(A& a, Of<DebateOtherModel, A>& x) {
  a("jsd", x.jsd);
  a("tvd", x.tvd);
}
template <class A>
void fields(A& a, Of<DebateInput, A>& x) {
  a("name", x.name);
  a("problem", x.problem);
  a("units", x.units);
  a("special", x.special);
  a("label", x.label);
  a("predicted", x.predicted);
  a("probabilities", x.probabilities);
  a("attention", x.attention);
  a("max_attention", x.max_attention);
  a("entropy", x.entropy);
  a("special_share", x.special_share);
  a("correlations", x.correlations);
  a("permutations", x.permutations);
  a("adversaries", x.adversaries);
  a("uniform", x.uniform);
  a("other_models", x.others);
  a("guides", x.guides);
  a("refused", x.refused);
  a("notes", x.notes);
  a("seconds", x.seconds);
}
void fields(DebateWriter& a, const DebateMean& x) {
  a("mean", x.count > 0 ? std::optional(x.mean) : std::nullopt);
  a("deviation", x.deviation);
  a("count", x.count);
}
void fields(DebateWriter& a, const CorrelationSummary& x) {
  a("attention", x.attention);
  a("importance", x.importance);
  a("with_special", x.with_special);
  a("predicted", x.predicted.empty() ? std::nullopt : std::optional(x.predicted));
  a("tau", x.tau);
  a("significant", x.tau.count > 0 ? std::optional(x.significant) : std::nullopt);
  a("undefined", x.undefined);
}
void fields(DebateWriter& a, const PermutationSummary& x) {
  a("semantics", x.semantics);
  a("layer", x.layer);
  a("head", x.head);
  a("median_tvd", x.median);
  a("max_tvd", x.max);
  a("tau_with_max_attention", x.tau_with_max_attention);
}
void fields(DebateWriter& a, const AdversarySummary& x) {
  a("scope", x.scope);
  a("layer", x.layer);
  a("head", x.head);
  a("epsilon", x.epsilon);
  a("last_iterate", x.last_iterate);
  a("jsd", x.jsd);
  a("far", x.far);
}
void fields(DebateWriter& a, const UniformSummary& x) {
  a("layers", x.layers);
  a("tvd", x.tvd);
  a("same_answer", x.same_answer);
  a("accuracy_before", x.accuracy_before);
  a("accuracy_after", x.accuracy_after);
}
void fields(DebateWriter& a, const ModelSummary& x) {
  a("model", x.model);
  a("jsd", x.jsd);
  a("tvd", x.tvd);
}
void fields(DebateWriter& a, const GuideSummary& x) {
  a("guide", x.guide);
  a("accuracy", x.accuracy);
  a("f1", x.f1);
}
void fields(DebateWriter& a, const DiagnosticSummary& x) {
  a("train", x.train);
  a("dev", x.dev);
  a("test", x.test);
  a("of_labels", x.of_labels);
  a("majority", x.majority);
  a("guides", x.guides);
}
void fields(DebateWriter& a, const ConsistentPoint& x) {
  a("lambda", x.lambda);
  a("tvd", x.tvd);
  a("jsd", x.jsd);
  a("same_answer", x.same_answer);
}
void fields(DebateWriter& a, const ConsistentSummary& x) {
  a("train", x.train);
  a("held_out", x.held_out);
  a("points", x.points);
}
void fields(DebateWriter& a, const DebateVerdict& x) {
  a("part", x.part);
  a("says", x.says);
  a("does_not_show", x.does_not_show);
}
void fields(DebateWriter& a, const AdversarySettings& x) {
  a("scopes", x.scopes);
  a("steps", x.steps);
  a("candidates", x.candidates);
  a("restarts", x.restarts);
  a("learning_rate", x.learning_rate);
  a("search_epsilon", x.search_epsilon);
  a("epsilons", x.epsilons);
}
void fields(DebateWriter& a, const DiagnosticSettings& x) {
  a("guides", x.guides);
  a("seeds", x.seeds);
  a("width", x.width);
  a("epochs", x.epochs);
  a("batch", x.batch);
  a("learning_rate", x.learning_rate);
  a("weight_decay", x.weight_decay);
}
void fields(DebateWriter& a, const ConsistentSettings& x) {
  a("lambdas", x.lambdas);
  a("epochs", x.epochs);
  a("batch", x.batch);
  a("learning_rate", x.learning_rate);
}
void fields(DebateWriter& a, const DebateRequest& x) {
  a("parts", x.parts);
  a("special_tokens", std::string(x.special == SpecialAttention::kStays ? "stay" : "take part"));
  a("permutations", x.permutations);
  a("layer_permutations", x.layer_permutations);
  a("semantics", x.semantics);
  a("adversary", x.adversary);
  a("diagnostic", x.diagnostic);
  a("consistent", x.consistent);
  a("precision", std::string(x.precision == Precision::kDouble ? "double" : "single"));
  a("seed", x.seed);
}

std::string debate_text(const Json& json, int indent) {
  return printable_json(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

std::string to_json(const DebateInput& input) { return debate_text(DebateWriter::of(input), -1); }

DebateInput debate_input_of(const std::string& line) {
  try {
    const Json json = Json::parse(line);
    DebateInput input;
    const DebateReader reader(json);
    fields(reader, input);
    return input;
  } catch (const nlohmann::json::exception&) {
    throw InvalidInput("this line is none of a debate");
  }
}

std::string to_json(const DebateReport& report, int indent) {
  DebateWriter a;
  a("schema", std::string(DebateReport::kSchema));
  Json json = a.finish();
  json["model"] = {{"name", report.model.name}, {"architecture", report.model.architecture}};
  DebateWriter rest;
  rest("labels", report.labels);
  rest("layers", report.layers);
  rest("heads", report.heads);
  rest("verdicts", report.verdicts);
  rest("correlations", report.correlations);
  rest("permutations", report.permutations);
  rest("adversaries", report.adversaries);
  rest("uniform", report.uniform);
  rest("models", report.models);
  rest("median_jsd_of_models", report.median_jsd_of_models);
  rest("diagnostic", report.diagnostic);
  rest("consistent", report.consistent);
  rest("refused", report.refused);
  rest("settings", report.request);
  rest("inputs", report.inputs);
  rest("stopped_early", report.stopped_early);
  rest("seconds", report.seconds);
  rest("notes", report.notes);
  json.update(rest.finish());
  return debate_text(json, indent);
}

}  // namespace whyformer
