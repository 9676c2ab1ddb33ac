#include <png.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "formats/pictures/decoders.h"
#include "formats/pictures/guarded.h"

namespace whyformer::pictures {
namespace {

class PngDecoder {
 public:
  explicit PngDecoder(const Source& source) : source_(source) {
    const auto fail = [](png_structp png, png_const_charp problem) {
      static_cast<PngDecoder*>(png_get_error_ptr(png))->guard_.leave(problem);
    };
    const auto ignore = [](png_structp, png_const_charp) {};
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, ignore);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
  }
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;
  ~PngDecoder() { png_destroy_read_struct(&png_, &info_, nullptr); }

  Decoded decode() {
    Decoded decoded;
    decoded.picture = picture_of_header();
    check(guard_.run([this] { read_header(); }));
    const bool wide_grey = png_get_color_type(png_, info_) == PNG_COLOR_TYPE_GRAY &&
                           png_get_bit_depth(png_, info_) == 16;
    if (wide_grey) {
      std::vector<uint8_t> greys(2 * decoded.picture.width * decoded.picture.height);
      check(guard_.run([&] { read_rows(greys.data(), 2 * decoded.picture.width); }));
      cut_off_greys(greys, decoded.picture);
    } else {
      check(guard_.run([&] {
        ask_for_rgb();
        read_rows(decoded.picture.pixels.data(), 3 * decoded.picture.width);
      }));
    }
    decoded.orientation = orientation();
    return decoded;
  }

 private:
  void check(bool done) {
    if (!done) throw_undecodable(source_, "PNG", guard_.problem());
  }

  // The header stands at a fixed place; libpng would not say what is wrong with its sizes.
  Picture picture_of_header() const {
    const std::string_view file = source_.text();
    if (file.size() < 33) throw_undecodable(source_, "PNG", "it is truncated");
    if (file.substr(12, 4) != "IHDR") throw_undecodable(source_, "PNG", "it has no header");
    return checked_picture(source_, png_get_uint_32(source_.data() + 16),
                           png_get_uint_32(source_.data() + 20));
  }

  void read_header() {
    png_set_read_fn(png_, this, [](png_structp png, png_bytep to, size_t count) {
      auto& self = *static_cast<PngDecoder*>(png_get_io_ptr(png));
      if (count > self.source_.file.size() - self.position_) self.guard_.leave("it is truncated");
      std::memcpy(to, self.source_.data() + self.position_, count);
      self.position_ += count;
    });
    png_set_user_limits(png_, static_cast<png_uint_32>(source_.limits.longest_side),
                        static_cast<png_uint_32>(source_.limits.longest_side));
    // Texts and profiles may unfold to gigabytes, and no pixel depends on them.
    static const png_byte kUnread[] = "iCCP\0iTXt\0sPLT\0tEXt\0zTXt";
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, kUnread, sizeof(kUnread) / 5);
    png_read_info(png_, info_);
  }

  // As PIL converts: alpha dropped, 16 bits halved to the upper 8, no gamma.
  void ask_for_rgb() {
    png_set_strip_16(png_);
    if (png_get_color_type(png_, info_) == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (png_get_bit_depth(png_, info_) < 8) png_set_expand_gray_1_2_4_to_8(png_);
    png_set_gray_to_rgb(png_);
    png_set_strip_alpha(png_);
  }

  void read_rows(uint8_t* pixels, int64_t row_bytes) {
    const int passes = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    if (static_cast<int64_t>(png_get_rowbytes(png_, info_)) != row_bytes) {
      guard_.leave("its rows have an unexpected length");
    }
    const int64_t height = png_get_image_height(png_, info_);
    for (int pass = 0; pass < passes; ++pass) {
      for (int64_t y = 0; y < height; ++y) png_read_row(png_, pixels + y * row_bytes, nullptr);
    }
    png_read_end(png_, info_);
  }

  static void cut_off_greys(const std::vector<uint8_t>& greys, Picture& picture) {
    for (size_t i = 0; i < greys.size() / 2; ++i) {
      const uint8_t level = greys[2 * i] != 0 ? 255 : greys[2 * i + 1];
      std::fill_n(picture.pixels.data() + 3 * i, 3, level);
    }
  }

  Orientation orientation() {
    png_bytep block = nullptr;
    png_uint_32 size = 0;
    if (png_get_eXIf_1(png_, info_, &size, &block) == 0) return Orientation::kUpright;
    return exif_orientation({reinterpret_cast<const char*>(block), size})
        .value_or(Orientation::kUpright);
  }

  const Source& source_;
  Guard guard_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  size_t position_ = 0;
};

}  // namespace

Decoded decode_png(const Source& source) {
  // On the heap: what setjmp's caller keeps in registers may be lost, members are not.
  return std::make_unique<PngDecoder>(source)->decode();
}

}  // namespace whyformer::pictures
