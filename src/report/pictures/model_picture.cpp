// What was found in a model: streams as lines, attention sites on them, from the input to the
// output.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/pictures/canvas.h"
#include "report/views/text.h"
#include "whyformer/model.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr double kMargin = 24;
constexpr double kHeader = 64;
constexpr double kLabels = 330;  // left of the lines: what a stream stands for
constexpr double kLane = 92;
constexpr double kLegend = 40;
constexpr double kBoxHeight = 30;
constexpr double kReadOut = 260;  // right of the lines: what the output reads
constexpr double kWidestLane = 1100;

const TextStyle kFaint{.size = 11, .colour = kLightPalette.faint_ink};

Colour colour_of(const SiteInfo& site) {
  return site.self_attention() ? kLightPalette.positive : kLightPalette.negative;
}

class ModelPicture {
 public:
  explicit ModelPicture(const ModelInfo& info) : info_(info) {
    const auto sites = static_cast<double>(std::max<size_t>(info.sites.size(), 1));
    step_ = std::clamp(kWidestLane / sites, 30.0, 64.0);
    lane_width_ = std::max(sites * step_ + 20, 240.0);
    width_ = 2 * kMargin + kLabels + lane_width_ + kReadOut;
    const auto lanes = static_cast<double>(std::max<size_t>(info.streams.size(), 1));
    height_ = 2 * kMargin + kHeader + lanes * kLane + kLegend;
  }

  std::string draw(PictureFormat format) {
    canvas_ = make_canvas(format, width_, height_);
    canvas_->rectangle({0, 0, width_, height_}, kLightPalette.paper);
    header();
    for (size_t stream = 0; stream < info_.streams.size(); ++stream) lane(stream);
    for (size_t site = 0; site < info_.sites.size(); ++site) links(site);
    for (size_t site = 0; site < info_.sites.size(); ++site) box(site);
    legend();
    return canvas_->finish();
  }

 private:
  void header() {
    canvas_->text(kMargin, kMargin + 8,
                  fitted(printable(info_.model.name), width_ - 2 * kMargin, 18),
                  {.size = 18, .bold = true});
    std::string line = printable(info_.model.architecture);
    if (info_.opset > 0)
      line += fmt::format("{}ONNX, opset {}", line.empty() ? "" : " · ", info_.opset);
    line += fmt::format("{}attention sites: {}, streams: {}", line.empty() ? "" : " · ",
                        info_.sites.size(), info_.streams.size());
    canvas_->text(kMargin, kMargin + 32, fitted(line, width_ - 2 * kMargin, 12), {.size = 12});
  }

  double lane_y(int stream) const { return kMargin + kHeader + kLane * stream + kLane / 2; }
  double site_x(size_t site) const {
    return kMargin + kLabels + 10 + step_ * (static_cast<double>(site) + 0.5);
  }

  void lane(size_t stream) {
    const StreamInfo& info = info_.streams[stream];
    const double y = lane_y(static_cast<int>(stream));
    canvas_->text(kMargin, y - 9, fmt::format("stream {}", stream), {.size = 12, .bold = true});
    canvas_->text(kMargin, y + 7, fitted(printable(info.units), kLabels - 16, 11), kFaint);
    canvas_->text(kMargin, y + 22, fmt::format("{} tokens here", info.tokens), kFaint);
    const double start = kMargin + kLabels, end = start + lane_width_;
    canvas_->rectangle({start, y - 1, lane_width_, 2}, kLightPalette.faint_ink);
    const bool is_read =
        info_.streams.size() == 1 || info_.read_out.ends_with(fmt::format("stream {}", stream));
    if (!is_read) return;
    canvas_->rectangle({end, y - 7, 3, 14}, kLightPalette.ink);
    canvas_->text(end + 12, y - 8, "output reads", kFaint);
    canvas_->text(end + 12, y + 8, fitted(read_out_words(), kReadOut - 16, 12), {.size = 12});
  }

  std::string read_out_words() const {
    return info_.read_out.substr(0, info_.read_out.find(" of stream"));
  }

  // From the stream whose keys are read to the site.
  void links(size_t index) {
    const SiteInfo& site = info_.sites[index];
    if (site.self_attention()) return;
    const double x = site_x(index), from = lane_y(site.key_stream), to = lane_y(site.query_stream);
    const double edge = to > from ? to - kBoxHeight / 2 : to + kBoxHeight / 2;
    canvas_->rectangle({x - 1, std::min(from, edge), 2, std::abs(edge - from)}, colour_of(site));
    canvas_->rectangle({x - 4, from - 4, 8, 8}, colour_of(site));
  }

  void box(size_t index) {
    const SiteInfo& site = info_.sites[index];
    const double width = step_ - 6, x = site_x(index) - width / 2;
    const double y = lane_y(site.query_stream) - kBoxHeight / 2;
    const Colour colour = colour_of(site);
    canvas_->rectangle({x, y, width, kBoxHeight}, colour);
    const Colour ink = readable_on(kLightPalette, colour);
    canvas_->text(site_x(index), y + kBoxHeight / 2, fmt::format("{}", index),
                  {.size = 12, .colour = ink, .anchor = Anchor::kMiddle, .bold = true});
    TextStyle below = kFaint;
    below.anchor = Anchor::kMiddle;
    // Where a link leaves downwards, the number of heads stands above.
    const bool above = site.key_stream > site.query_stream;
    canvas_->text(site_x(index), above ? y - 10 : y + kBoxHeight + 10,
                  fmt::format("{}h", site.heads), below);
    std::string more = site.causal ? "causal" : "";
    if (site.windows > 1) more = fmt::format("{} win", site.windows);
    if (!more.empty()) {
      canvas_->text(site_x(index), y + kBoxHeight + 23, fitted(more, step_, 10),
                    {.size = 10, .colour = kLightPalette.faint_ink, .anchor = Anchor::kMiddle});
    }
  }

  void legend() {
    const double y = height_ - kMargin - 6;
    double x = kMargin + kLabels;
    const auto entry = [&](Colour colour, std::string_view words) {
      canvas_->rectangle({x, y - 6, 12, 12}, colour);
      canvas_->text(x + 18, y, words, kFaint);
      x += 40 + text_width(words, 11);
    };
    entry(kLightPalette.positive, "self-attention");
    const bool mixed = std::any_of(info_.sites.begin(), info_.sites.end(),
                                   [](const SiteInfo& site) { return !site.self_attention(); });
    if (mixed) entry(kLightPalette.negative, "attention to another stream (line from its keys)");
    canvas_->text(x, y, "h: heads", kFaint);
  }

  const ModelInfo& info_;
  double step_ = 0, lane_width_ = 0, width_ = 0, height_ = 0;
  std::unique_ptr<Canvas> canvas_;
};

std::string row(const std::vector<std::string>& cells, std::string_view tag) {
  std::string html = "<tr>";
  for (const std::string& cell : cells) {
    html += fmt::format("<{0}>{1}</{0}>", tag, escape_markup(cell));
  }
  return html + "</tr>\n";
}

std::string streams_of(const SiteInfo& site) {
  if (site.self_attention()) return fmt::format("stream {}", site.query_stream);
  return fmt::format("stream {} reads stream {}", site.query_stream, site.key_stream);
}

constexpr std::string_view kModelPageStyle =
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:1200px;padding:0 1rem;"
    "color:#1b1b1b;background:#fff}h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}"
    ".picture{overflow-x:auto;border:1px solid #ddd;border-radius:6px}.picture svg{display:block}"
    "table{border-collapse:collapse;width:100%;font-size:14px}th,td{text-align:left;padding:.3rem "
    ".6rem;border-bottom:1px solid #e3e3e3;overflow-wrap:anywhere}th{font-weight:600}"
    ".note{border-left:4px solid #d55e00;padding:.3rem .8rem;background:#fff6ee}"
    "@media print{body{margin:0}.picture{border:0}}";

}  // namespace
}  // namespace report

std::string model_picture(const ModelInfo& info, PictureFormat format) {
  return report::ModelPicture(info).draw(format);
}

std::string to_html(const ModelInfo& info) {
  using report::row;
  const std::string title = report::escape_markup(info.model.name);
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\">\n<meta "
      "http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>{0}: what Whyformer "
      "found</title><style>{1}</style></head><body>\n<h1>{0}</h1>\n",
      title, report::kModelPageStyle);
  for (const std::string& note : info.notes) {
    html += fmt::format("<p class=\"note\">{}</p>\n", report::escape_markup(note));
  }
  html += "<div class=\"picture\">" + model_picture(info, PictureFormat::kSvg) + "</div>\n";
  html += "<h2>Streams</h2>\n<table>" + row({"", "tokens", "sites", "stands for"}, "th");
  for (size_t i = 0; i < info.streams.size(); ++i) {
    const StreamInfo& stream = info.streams[i];
    html += row({fmt::format("{}", i), fmt::format("{}", stream.tokens),
                 fmt::format("{}", stream.sites.size()), stream.units},
                "td");
  }
  html += "</table>\n<h2>Attention sites</h2>\n<table>" +
          row({"", "kind", "heads", "queries × keys", "windows", "streams", "node"}, "th");
  for (size_t i = 0; i < info.sites.size(); ++i) {
    const SiteInfo& site = info.sites[i];
    html += row({fmt::format("{}", i), site.kind + (site.causal ? ", causal" : ""),
                 fmt::format("{}", site.heads), fmt::format("{} × {}", site.queries, site.keys),
                 fmt::format("{}", site.windows), report::streams_of(site), site.name},
                "td");
  }
  html += "</table>\n";
  if (!info.inputs.empty()) {
    html += "<h2>Inputs</h2>\n<table>" + row({"name", "type", "shape looked at"}, "th");
    for (const InputInfo& input : info.inputs) {
      html += row({input.name, input.type, fmt::format("{}", fmt::join(input.shape, " × "))}, "td");
    }
    html += "</table>\n";
  }
  html += "<h2>Outputs</h2>\n<table>";
  for (const std::string& output : info.outputs) html += row({output}, "td");
  html += "</table>\n<h2>Model</h2>\n<table>";
  const auto fact = [&](std::string_view what, const std::string& value) {
    if (!value.empty()) html += row({std::string(what), value}, "td");
  };
  fact("architecture", info.model.architecture);
  fact("task", info.task);
  fact("parameters", fmt::format("{:.1f} million", static_cast<double>(info.parameters) / 1e6));
  fact("read-out", info.read_out);
  return html + "</table>\n</body></html>\n";
}

}  // namespace whyformer
