// The parts of the native module. Each file binds one public header or two, and uses nothing but
// public headers.
#pragma once

#include <nanobind/nanobind.h>

namespace whyformer::python {

void bind_errors(nanobind::module_& module);
void bind_methods(nanobind::module_& module);
void bind_explanations(nanobind::module_& module);
void bind_inputs(nanobind::module_& module);
void bind_models(nanobind::module_& module);
void bind_answers(nanobind::module_& module);
void bind_reports(nanobind::module_& module);
void bind_games(nanobind::module_& module);
void bind_concepts(nanobind::module_& module);
void bind_heads(nanobind::module_& module);
void bind_learned(nanobind::module_& module);
void bind_importance(nanobind::module_& module);
void bind_sanity(nanobind::module_& module);
void bind_debate(nanobind::module_& module);
void bind_probe(nanobind::module_& module);
void bind_patching(nanobind::module_& module);
void bind_relevance(nanobind::module_& module);
void bind_evaluate(nanobind::module_& module);
void bind_evaluation(nanobind::module_& module);
void bind_table_specs(nanobind::module_& module);
void bind_command_line(nanobind::module_& module);

}  // namespace whyformer::python
