#include <fmt/format.h>
#include <webp/decode.h>
#include <webp/demux.h>

#include <algorithm>
#include <memory>

#include "formats/file_checks.h"
#include "formats/pictures/decoders.h"
#include "whyformer/error.h"

namespace whyformer::pictures {
namespace {

std::string_view problem_of(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
      return "it is truncated";
    case VP8_STATUS_OUT_OF_MEMORY:
      return "there is not enough memory";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "it uses a feature that libwebp does not know";
    default:
      return "it is damaged";
  }
}

void decode_still(const Source& source, Picture& picture) {
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0)
    throw Error("libwebp has another version than its headers");
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {picture.pixels.data(), static_cast<int>(3 * picture.width),
                          picture.pixels.size()};
  const VP8StatusCode status = WebPDecode(source.data(), source.file.size(), &config);
  if (status != VP8_STATUS_OK) throw_undecodable(source, "WebP", problem_of(status));
}

// A frame may cover a part of the canvas only; libwebp's own player knows how it lies.
void decode_first_frame(const Source& source, Picture& picture) {
  // The player keeps two canvases of four bytes per pixel.
  const int64_t memory = 8 * picture.width * picture.height;
  if (memory > source.limits.max_memory) {
    throw FileError(
        fmt::format("{} is an animation of {} x {} pixels, too large to decode: scale it down",
                    in_quotes(source.name), picture.width, picture.height));
  }
  WebPAnimDecoderOptions options;
  if (WebPAnimDecoderOptionsInit(&options) == 0) {
    throw Error("libwebp has another version than its headers");
  }
  options.color_mode = MODE_RGBA;
  const WebPData data{source.data(), source.file.size()};
  const std::unique_ptr<WebPAnimDecoder, decltype(&WebPAnimDecoderDelete)> player(
      WebPAnimDecoderNew(&data, &options), WebPAnimDecoderDelete);
  uint8_t* canvas = nullptr;
  int time = 0;
  if (player == nullptr || WebPAnimDecoderGetNext(player.get(), &canvas, &time) == 0) {
    throw_undecodable(source, "WebP", "it is damaged or truncated");
  }
  for (int64_t i = 0; i < picture.width * picture.height; ++i) {
    std::copy_n(canvas + 4 * i, 3, picture.pixels.data() + 3 * i);
  }
}

std::string_view chunk_of(const WebPDemuxer* demuxer, const char (&name)[5]) {
  WebPChunkIterator chunk;
  if (WebPDemuxGetChunk(demuxer, name, 1, &chunk) == 0) return {};
  const std::string_view text(reinterpret_cast<const char*>(chunk.chunk.bytes), chunk.chunk.size);
  WebPDemuxReleaseChunkIterator(&chunk);
  return text;
}

Orientation orientation_of(const Source& source) {
  const WebPData data{source.data(), source.file.size()};
  const std::unique_ptr<WebPDemuxer, decltype(&WebPDemuxDelete)> demuxer(WebPDemux(&data),
                                                                         WebPDemuxDelete);
  if (demuxer == nullptr) return Orientation::kUpright;
  const auto by_exif = exif_orientation(chunk_of(demuxer.get(), "EXIF"));
  if (by_exif) return *by_exif;
  return xmp_orientation(chunk_of(demuxer.get(), "XMP ")).value_or(Orientation::kUpright);
}

}  // namespace

Decoded decode_webp(const Source& source) {
  WebPBitstreamFeatures features;
  const VP8StatusCode status = WebPGetFeatures(source.data(), source.file.size(), &features);
  if (status != VP8_STATUS_OK) throw_undecodable(source, "WebP", problem_of(status));
  Decoded decoded;
  decoded.picture = checked_picture(source, features.width, features.height);
  if (features.has_animation) {
    decode_first_frame(source, decoded.picture);
  } else {
    decode_still(source, decoded.picture);
  }
  decoded.orientation = orientation_of(source);
  return decoded;
}

}  // namespace whyformer::pictures
