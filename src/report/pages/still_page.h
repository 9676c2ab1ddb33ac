// A page without a script.
#pragma once

#include <string>

namespace whyformer::report {

struct PageHead {
  std::string title;
  std::string facts;  // below it, faintly
  std::string style;  // added to the style of all pages
};

// The style of pages with a picture and tables of numbers under it. On a phone a picture's panels
// side by side would be too small to read: it scrolls.
inline constexpr const char* kPlotAndTablesStyle = R"(
header { margin-bottom: 18px; }
.plot { background: #fff; padding: 4px; max-width: 100%; overflow-x: auto; }
.plot svg { display: block; max-width: 100%; height: auto; }
@media (max-width: 700px) { .plot svg { max-width: none; } }
.table-frame { margin-top: 8px; max-width: 100%; overflow-x: auto; }
td, th { text-align: right; white-space: nowrap; padding: 3px 8px; }
td.name, th.name { text-align: left; }
)";

// Title and facts are escaped here; `main` is markup.
std::string still_page(const PageHead& head, const std::string& main);

}  // namespace whyformer::report
