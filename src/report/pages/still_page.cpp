#include "report/pages/still_page.h"

#include <fmt/format.h>

#include "report/pages/page_style.h"
#include "report/views/text.h"

namespace whyformer::report {

std::string still_page(const PageHead& head, const std::string& main) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta "
      "http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n<meta "
      "name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" "
      "content=\"light dark\">\n<meta "
      "name=\"generator\" "
      "content=\"Whyformer\">\n<title>{0}</title><style>{2}{3}</style></head><body>\n"
      "<header><h1>{0}</h1>"
      "<p class=\"faint\">{1}</p></header>\n<main>\n{4}</main>\n<footer>Made by "
      "Whyformer. This page is complete in itself: it loads nothing and sends "
      "nothing.</footer>\n</body></html>\n",
      escape_markup(head.title), escape_markup(head.facts), style_sheet(), head.style, main);
}

}  // namespace whyformer::report
