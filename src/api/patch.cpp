#include "base/pulse.h"
#include "studies/patching/patch_study.h"

namespace whyformer {
namespace {

// Every analysis hears of Ctrl-C between the steps of a graph.
template <class Study>
PatchReport patched(const Model& model, const InputValue& input, const PatchRequest& request,
                    const Study& study) {
  int64_t done = 0, total = 1;
  PatchRequest watched = request;
  if (request.progress) {
    watched.progress = [&](int64_t made, int64_t of) {
      done = made;
      total = of;
      return request.progress(done, total);
    };
  }
  // Between steps people are told again what they were told last.
  const auto ask = [&] { return request.progress(done, total); };
  const PulseScope pulses(request.progress ? std::function<bool()>(ask) : nullptr);
  const Reader& reader = model.reader_of(input);
  PatchReport report = study(reader, watched);
  report.model = model.name();
  return report;
}

}  // namespace

PatchReport patch(const Model& model, const InputValue& clean, const InputValue& corrupted,
                  const PatchRequest& request) {
  return patched(model, clean, request, [&](const Reader& reader, const PatchRequest& watched) {
    check_kind(reader, corrupted, "the corrupted input");
    return study_patches(reader, clean, corrupted, watched);
  });
}

PatchReport trace_causes(const Model& model, const InputValue& clean, const NoiseRequest& noise,
                         const PatchRequest& request) {
  return patched(model, clean, request, [&](const Reader& reader, const PatchRequest& watched) {
    return study_causes(reader, clean, noise, watched);
  });
}

PatchReport ablate_heads(const Model& model, const InputValue& input, HeadAblation ablation,
                         const PatchRequest& request) {
  return patched(model, input, request, [&](const Reader& reader, const PatchRequest& watched) {
    return study_ablations(reader, input, ablation, watched);
  });
}

PatchReport logit_lens(const Model& model, const InputValue& input, const PatchRequest& request) {
  return patched(model, input, request, [&](const Reader& reader, const PatchRequest& watched) {
    return study_lens(reader, input, watched);
  });
}

PatchReport patch_paths(const Model& model, const InputValue& clean, const InputValue& corrupted,
                        const PathReceiver& receiver, const PatchRequest& request) {
  return patched(model, clean, request, [&](const Reader& reader, const PatchRequest& watched) {
    check_kind(reader, corrupted, "the corrupted input");
    return study_paths(reader, clean, corrupted, receiver, watched);
  });
}

}  // namespace whyformer
