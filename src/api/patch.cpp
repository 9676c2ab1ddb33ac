#include "run/pulse_question.h"
#include "studies/patching/patch_study.h"

namespace whyformer {
namespace {

// Every analysis hears of Ctrl-C between the steps of a graph.
template <class Study>
PatchReport patched(const Model& model, const InputValue& input, const PatchRequest& request,
                    const Study& study) {
  const PulseScope pulses(pulse_question(request.progress));
  const Reader& reader = model.reader_of(input);
  PatchReport report = study(reader);
  report.model = model.name();
  return report;
}

}  // namespace

PatchReport patch(const Model& model, const InputValue& clean, const InputValue& corrupted,
                  const PatchRequest& request) {
  return patched(model, clean, request, [&](const Reader& reader) {
    check_kind(reader, corrupted, "the corrupted input");
    return study_patches(reader, clean, corrupted, request);
  });
}

PatchReport trace_causes(const Model& model, const InputValue& clean, const NoiseRequest& noise,
                         const PatchRequest& request) {
  return patched(model, clean, request,
                 [&](const Reader& reader) { return study_causes(reader, clean, noise, request); });
}

PatchReport ablate_heads(const Model& model, const InputValue& input, HeadAblation ablation,
                         const PatchRequest& request) {
  return patched(model, input, request, [&](const Reader& reader) {
    return study_ablations(reader, input, ablation, request);
  });
}

PatchReport logit_lens(const Model& model, const InputValue& input, const PatchRequest& request) {
  return patched(model, input, request,
                 [&](const Reader& reader) { return study_lens(reader, input, request); });
}

PatchReport patch_paths(const Model& model, const InputValue& clean, const InputValue& corrupted,
                        const PathReceiver& receiver, const PatchRequest& request) {
  return patched(model, clean, request, [&](const Reader& reader) {
    check_kind(reader, corrupted, "the corrupted input");
    return study_paths(reader, clean, corrupted, receiver, request);
  });
}

}  // namespace whyformer
