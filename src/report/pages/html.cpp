// The page: assets/page.html with the style, the script and the data put in. The script draws all
// user strings as text; the policy forbids the network and every script but ours.
#include <fmt/format.h>

#include <functional>

#include "report/pages/assets.h"
#include "report/pages/base64.h"
#include "report/pages/page_data.h"
#include "report/pages/page_style.h"
#include "report/pages/picture_page_data.h"
#include "report/views/panel_layout.h"
#include "report/views/picture_view.h"
#include "report/views/row_view.h"
#include "report/views/text.h"
#include "report/views/view.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

// Bytes of attention codes; base64 makes 11.2 MB of them.
constexpr size_t kMapBudget = 8'400'000;
// Of pictures, whose pixels and scores need room too: a page of a picture stays below 3 MB.
constexpr size_t kPictureMapBudget = 1'450'000;
constexpr int kLongestTitle = 70;

// A script block ends at "</script" whatever its type, and "<!--" changes how it is read; JSON can
// spell the bracket otherwise.
std::string harmless_in_script(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

std::string content_security_policy(std::string_view script_sha256) {
  return fmt::format(
      "default-src 'none'; script-src 'sha256-{}'; style-src 'unsafe-inline'; base-uri 'none'; "
      "form-action 'none'",
      base64(bytes_of_hex(script_sha256)));
}

std::string title(const Explanation& explanation) {
  return shortened(printable(target_label(explanation).label + ": " + explanation.text),
                   kLongestTitle);
}

std::string block(const std::string& id, const std::vector<uint8_t>& bytes) {
  return fmt::format("<script type=\"application/octet-stream\" id=\"{}\">{}</script>\n", id,
                     base64(bytes));
}

std::string map_blocks(const PackedAttention& attention) {
  std::string out;
  for (size_t i = 0; i < attention.maps.size(); ++i) {
    out += block(fmt::format("map-{}", i), attention.maps[i].codes);
  }
  return out;
}

// Replaces every {{NAME}} of the template in one pass, so that no inserted text is read again.
std::string filled(std::string_view page,
                   const std::function<std::string(std::string_view name)>& content) {
  std::string out;
  for (size_t open = page.find("{{"); open != std::string_view::npos; open = page.find("{{")) {
    const size_t close = page.find("}}", open);
    out += page.substr(0, open);
    out += content(page.substr(open + 2, close - open - 2));
    page.remove_prefix(close + 2);
  }
  return out.append(page);
}

// The maps are the same for all classes, so one explanation may hold them for all.
const Explanation& holder_of_maps(std::span<const Explanation> explanations) {
  for (const Explanation& explanation : explanations) {
    if (!explanation.attention.empty()) return explanation;
  }
  return explanations.front();
}

std::string html_of_picture(const PanelLayout& layout, const ReportOptions& options) {
  const PooledAttention attention = pool_queries(holder_of_maps(layout.grids), kPictureMapBudget);
  const PicturePage page = picture_page(layout, attention, options);
  return filled(kPageTemplate, [&](std::string_view name) -> std::string {
    if (name == "POLICY") return content_security_policy(kPicturePageScriptSha256);
    if (name == "TITLE") return escape_markup(title(layout.whole.front()));
    if (name == "STYLE") return style_sheet();
    if (name == "DATA") return harmless_in_script(page.data);
    if (name == "MAPS") {
      std::string blocks = map_blocks(attention.packed);
      for (const PageBlock& own : page.blocks) blocks += block(own.id, own.bytes);
      return blocks;
    }
    return std::string(kPicturePageScript);  // SCRIPT
  });
}

}  // namespace
}  // namespace report

std::string to_html(const Explanation& explanation, const ReportOptions& options) {
  using namespace report;
  check_explanation(explanation);
  if (has_grid(explanation)) return html_of_picture(layout_of({&explanation, 1}), options);
  const PackedAttention attention = pack_attention(explanation.attention, kMapBudget);
  const bool row = is_row(explanation);
  return filled(kPageTemplate, [&](std::string_view name) -> std::string {
    if (name == "POLICY")
      return content_security_policy(row ? kRowPageScriptSha256 : kPageScriptSha256);
    if (name == "TITLE") return escape_markup(title(explanation));
    if (name == "STYLE") return style_sheet();
    if (name == "DATA") return harmless_in_script(page_data(explanation, attention, options));
    if (name == "MAPS") return map_blocks(attention);
    return std::string(row ? kRowPageScript : kPageScript);  // SCRIPT
  });
}

std::string to_html(std::span<const Explanation> explanations, const ReportOptions& options) {
  if (explanations.size() == 1) return to_html(explanations.front(), options);
  report::check_pictures(explanations);
  return report::html_of_picture(report::layout_of(explanations), options);
}

}  // namespace whyformer
