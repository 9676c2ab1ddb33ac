// The two containers torch.save writes: a zip of a pickle and its storages, and before torch 1.6 a
// row of pickles with the storages behind them.
#pragma once

#include <string_view>

#include "base/bytes.h"
#include "formats/torch_tensor.h"

namespace whyformer {

struct TorchArchive {
  Bytes text;     // which the pickle's names are views of
  Pickle pickle;  // what torch.save was given
  StorageLookup storages;
};

// `what` names the file in messages. Throws FileError, or UnsupportedModel for a file which was
// written on a big-endian machine or holds a program.
TorchArchive open_torch_archive(const Bytes& file, std::string_view what,
                                ForeignGlobals foreign = ForeignGlobals::kRefused);

}  // namespace whyformer
