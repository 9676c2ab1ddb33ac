#include "layer_list.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "whyformer/error.h"

namespace whyformer::cli {

std::vector<int> layers_of(const std::string& text) {
  std::vector<int> layers;
  if (text == "all") return layers;
  for (const std::string& part : CLI::detail::split(text, ',')) {
    if (part.empty() || part.size() > 4 ||
        part.find_first_not_of("0123456789") != std::string::npos) {
      throw InvalidInput(
          fmt::format("--layer '{}': expected block numbers such as 3 or 1,3, or all", text));
    }
    layers.push_back(std::stoi(part));
  }
  return layers;
}

}  // namespace whyformer::cli
