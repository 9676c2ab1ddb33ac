#include <algorithm>

#include "whyformer/model.h"

namespace whyformer {

std::vector<std::string> usual_methods(const Model& model) {
  if (!model.reads_pictures()) return {"gae", "integrated-gradients"};
  // Methods that read attention maps have no meaning where windows attend each by itself.
  const std::vector<SiteInfo> sites = model.inspect().sites;
  const bool windows = std::any_of(sites.begin(), sites.end(), [](const SiteInfo& site) { return site.windows > 1; });
  if (windows) return {"gradient-x-input", "saliency", "leave-one-out"};
  return {"gae", "transformer-attribution", "grad-cam"};
}

}  // namespace whyformer
