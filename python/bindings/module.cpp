#include "bindings.h"

NB_MODULE(_native, module) {
  using namespace whyformer::python;
  module.doc() = "The engine. Use the package whyformer, which is built on it.";
  bind_errors(module);
  bind_methods(module);
  bind_explanations(module);
  bind_inputs(module);
  bind_models(module);
  bind_answers(module);
  bind_reports(module);
  bind_games(module);
  bind_concepts(module);
  bind_heads(module);
  bind_learned(module);
  bind_importance(module);
  bind_sanity(module);
  bind_debate(module);
  bind_probe(module);
  bind_patching(module);
  bind_relevance(module);
  bind_evaluate(module);
  bind_evaluation(module);
  bind_table_specs(module);
  bind_command_line(module);
}
