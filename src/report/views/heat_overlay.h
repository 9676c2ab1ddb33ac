// Scores painted over a picture.
#pragma once

#include <span>
#include <vector>

#include "report/views/picture_view.h"
#include "report/views/raster.h"

namespace whyformer::report {

// The picture at this size: the mean of what a pixel covers, or the pixel itself where enlarged.
Raster resized(const PictureView& picture, MapSize size);

// A size at which a map over the picture looks well on paper and on a screen: small pictures a
// multiple of their own, very large ones smaller.
MapSize drawn_size(const PictureView& picture);

// Strengths at every pixel of a raster, with the scores at the two ends of the colours.
struct Heat {
  ScoreKind kind = ScoreKind::kMagnitude;
  MapSize size;
  std::vector<double> strengths;  // [0, 1], or [-1, 1] where signed
  double low = 0;
  double high = 0;
};
Heat heat_of(std::span<const double> scores, MapSize from, ScoreKind kind, MapSize size,
             Grain grain);
Heat heat_of(const PictureView& picture, const Attribution& attribution, MapSize size, Grain grain);

// Otsu's segment; of signed scores, of the evidence for the target alone.
std::vector<bool> segment_of(const Heat& heat);

// A method's segment: of its patches also where it scores pixels, whose segment would be speckles.
std::vector<bool> segment_of(const PictureView& picture, const Attribution& attribution,
                             MapSize size, Grain grain);

// The heat over the picture in grey, so that every colour is the method's. Both of one size.
Raster painted(const Raster& picture, const Heat& heat, double opacity);

// A line around the segment, light with a dark rim: visible on any picture.
void draw_outline(Raster& raster, const std::vector<bool>& inside);

// The picture inside the segment, and little of it outside.
Raster masked(const Raster& picture, const std::vector<bool>& inside);

}  // namespace whyformer::report
