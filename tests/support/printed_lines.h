// For tests of what is printed in a terminal.
#pragma once

#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace whyformer::report {

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline std::string without_colours(const std::string& text) {
  return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
}

}  // namespace whyformer::report
