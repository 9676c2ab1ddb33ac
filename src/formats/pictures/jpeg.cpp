#include <fmt/format.h>

#include <cstdio>
#include <memory>
// libjpeg's header needs FILE and size_t before it.
#include <jpeglib.h>
// Its codes of warnings need jpeglib.h before it.
#include <jerror.h>

#include "formats/file_checks.h"
#include "formats/pictures/decoders.h"
#include "formats/pictures/guarded.h"
#include "whyformer/error.h"

namespace whyformer::pictures {
namespace {

// Encoders write a dozen scans; hundreds of them over a large picture only burn time.
constexpr int kMostScans = 100;

constexpr const char* kTruncated = "it is truncated";

// PIL's rounded a · b / 255.
uint8_t product_over_255(int a, int b) {
  const int product = a * b + 128;
  return static_cast<uint8_t>((product + (product >> 8)) >> 8);
}

// PIL takes every JPEG of four components for Adobe's, which stores inks inverted.
void inverted_cmyk_to_rgb(const uint8_t* inks, uint8_t* rgb, int64_t width) {
  for (int64_t x = 0; x < width; ++x, inks += 4, rgb += 3) {
    const int light = inks[3];
    for (int c = 0; c < 3; ++c) {
      rgb[c] = static_cast<uint8_t>(light - product_over_255(255 - inks[c], light));
    }
  }
}

class JpegDecoder {
 public:
  explicit JpegDecoder(const Source& source) : source_(source) {
    state_.err = jpeg_std_error(&errors_);
    state_.client_data = this;
    errors_.error_exit = [](j_common_ptr state) {
      JpegDecoder& self = of(state);
      char text[JMSG_LENGTH_MAX];
      state->err->format_message(state, text);
      self.guard_.leave(text);
    };
    // Most warnings are of pixels that look wrong, which PIL shows too; and a library does not
    // print. But data that end before the picture does are as good as cut off, and a few bytes can
    // claim to be many million pixels that way.
    errors_.emit_message = [](j_common_ptr state, int level) {
      if (level < 0 && state->err->msg_code == JWRN_HIT_MARKER) of(state).guard_.leave(kTruncated);
    };
    errors_.output_message = [](j_common_ptr) {};
    progress_.progress_monitor = [](j_common_ptr state) {
      if (reinterpret_cast<j_decompress_ptr>(state)->input_scan_number > kMostScans) {
        of(state).guard_.leave("it has too many scans");
      }
    };
  }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;
  ~JpegDecoder() { jpeg_destroy_decompress(&state_); }

  Decoded decode() {
    check(guard_.run([this] { read_header(); }));
    Decoded decoded;
    decoded.picture = checked_picture(source_, state_.image_width, state_.image_height);
    check_memory();
    decoded.orientation = orientation();
    const bool inks = state_.num_components == 4;
    std::vector<uint8_t> row(inks ? 4 * decoded.picture.width : 0);
    check(guard_.run(
        [&] { inks ? read_inks(decoded.picture, row.data()) : read_rgb(decoded.picture); }));
    return decoded;
  }

 private:
  static JpegDecoder& of(j_common_ptr state) {
    return *static_cast<JpegDecoder*>(state->client_data);
  }

  void check(bool done) {
    if (done) return;
    if (errors_.msg_code == JERR_IMAGE_TOO_BIG) {
      throw FileError(fmt::format("{} claims more than {} pixels on a side: scale it down",
                                  in_quotes(source_.name), JPEG_MAX_DIMENSION));
    }
    throw_undecodable(source_, "JPEG", guard_.problem());
  }

  void read_header() {
    jpeg_create_decompress(&state_);
    state_.progress = &progress_;
    jpeg_mem_src(&state_, source_.data(), source_.file.size());
    // libjpeg would make up the missing end and paint the rest grey.
    state_.src->fill_input_buffer = [](j_decompress_ptr state) -> boolean {
      of(reinterpret_cast<j_common_ptr>(state)).guard_.leave(kTruncated);
    };
    jpeg_save_markers(&state_, JPEG_APP0 + 1, 0xffff);
    jpeg_read_header(&state_, TRUE);
    const int components = state_.num_components;
    if (components != 1 && components != 3 && components != 4) {
      guard_.leave("it has neither 1, 3 nor 4 components");
    }
    state_.out_color_space = components == 4 ? JCS_CMYK : JCS_RGB;
  }

  // Where there are several scans, libjpeg keeps two bytes for each sample of each component.
  void check_memory() {
    if (!jpeg_has_multiple_scans(&state_)) return;
    int64_t memory = 0;
    for (int i = 0; i < state_.num_components; ++i) {
      const jpeg_component_info& component = state_.comp_info[i];
      memory += int64_t{component.width_in_blocks} * component.height_in_blocks * sizeof(JBLOCK);
    }
    if (memory > source_.limits.max_memory) {
      throw FileError(fmt::format(
          "{} is a progressive JPEG of {} x {} pixels, too large to decode: scale it down",
          in_quotes(source_.name), state_.image_width, state_.image_height));
    }
  }

  // The first EXIF block counts; XMP only where EXIF is silent.
  Orientation orientation() const {
    std::optional<Orientation> by_exif, by_xmp;
    for (const jpeg_marker_struct* marker = state_.marker_list; marker; marker = marker->next) {
      const std::string_view text(reinterpret_cast<const char*>(marker->data), marker->data_length);
      if (!by_exif) by_exif = exif_orientation(text);
      if (!by_xmp) by_xmp = xmp_orientation(text);
    }
    return by_exif.value_or(by_xmp.value_or(Orientation::kUpright));
  }

  void read_rgb(Picture& picture) {
    jpeg_start_decompress(&state_);
    while (state_.output_scanline < state_.output_height) {
      JSAMPROW row = picture.row(state_.output_scanline);
      jpeg_read_scanlines(&state_, &row, 1);
    }
    jpeg_finish_decompress(&state_);
  }

  void read_inks(Picture& picture, uint8_t* inks) {
    jpeg_start_decompress(&state_);
    while (state_.output_scanline < state_.output_height) {
      uint8_t* rgb = picture.row(state_.output_scanline);
      jpeg_read_scanlines(&state_, &inks, 1);
      inverted_cmyk_to_rgb(inks, rgb, picture.width);
    }
    jpeg_finish_decompress(&state_);
  }

  const Source& source_;
  Guard guard_;
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  jpeg_decompress_struct state_{};
};

}  // namespace

Decoded decode_jpeg(const Source& source) {
  // On the heap: what setjmp's caller keeps in registers may be lost, members are not.
  return std::make_unique<JpegDecoder>(source)->decode();
}

}  // namespace whyformer::pictures
