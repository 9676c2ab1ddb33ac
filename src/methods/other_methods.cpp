#include "methods/other_methods.h"

#include <fmt/format.h>

namespace whyformer {
namespace {

template <class Fits>
std::string names_of(const std::string& what, const Fits& fits) {
  std::string text;
  for (const Method* method : catalogue()) {
    if (!fits(*method)) continue;
    text += (text.empty() ? what + ": " : ", ") + method->info.name;
  }
  return text;
}

}  // namespace

std::string other_methods(Missing missing, const Input& input) {
  switch (missing) {
    case Missing::kMaps:
      return names_of("methods that read no attention maps",
                      [](const Method& method) { return !method.needs.attention; });
    case Missing::kEntrance:
      return names_of("methods that need outputs only",
                      [](const Method& method) { return method.info.model_agnostic; });
    case Missing::kHidden:
      return names_of("methods that hide nothing",
                      [](const Method& method) { return !method.info.model_agnostic; });
    case Missing::kDepth:
      break;
  }
  const std::string& name = input.parts()[0]->traits().input_name;
  return fmt::format("take scores at the input: at={}", name.empty() ? "input" : name);
}

}  // namespace whyformer
