// A picture that was given as a file or as pixels.
#pragma once

#include <string>

#include "formats/pictures/picture.h"
#include "readers/pictures/picture_processor.h"
#include "whyformer/model.h"

namespace whyformer {

// Throws FileError for files that cannot be read, and InvalidInput for pixels that are no picture.
Picture pixels_of(const PictureInput& picture);

// As the model reads it. Throws InvalidInput where its processor gives pixels of a size that it
// does not take.
ProcessedPicture processed(const Model& model, const Picture& picture);

// What reports call it.
std::string name_of(const PictureInput& picture);

}  // namespace whyformer
