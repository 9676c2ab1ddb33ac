// A picture that was given as a file or as pixels.
#pragma once

#include <string>

#include "formats/pictures/picture.h"
#include "whyformer/input.h"

namespace whyformer {

// Throws FileError for files that cannot be read, and InvalidInput for pixels that are no picture.
Picture pixels_of(const PictureInput& picture);

// What reports call it.
std::string name_of(const PictureInput& picture);

}  // namespace whyformer
