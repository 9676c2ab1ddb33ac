// A page without a script.
#pragma once

#include <string>

namespace whyformer::report {

struct PageHead {
  std::string title;
  std::string facts;  // below it, faintly
  std::string style;  // added to the style of all pages
};

// Title and facts are escaped here; `main` is markup.
std::string still_page(const PageHead& head, const std::string& main);

}  // namespace whyformer::report
