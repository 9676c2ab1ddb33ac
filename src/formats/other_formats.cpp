#include "formats/other_formats.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "formats/zip_archive.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kExport =
    "export the model to ONNX with torch.onnx.export(model, example, 'model.onnx') and give that "
    "file";
constexpr std::string_view kFolder =
    "put the model's state_dict as pytorch_model.bin into a folder with its config.json and "
    "tokenizer.json and give the folder, or ";

// Bytes that a file has at a place of its own, and what is said about it.
struct Mark {
  size_t at;
  std::string_view bytes;
  std::string_view about;
};

constexpr std::string_view kArchive =
    "is an archive: unpack it and give the model's folder or ONNX file inside";

constexpr std::array kMarks{
    Mark{0, "GGUF"sv,
         "is a GGUF file, a language model as llama.cpp runs it: give the HuggingFace folder that "
         "it was made from, or an ONNX export of the model"},
    Mark{0, "\x89HDF\r\n\x1a\n"sv,
         "is an HDF5 file, as Keras writes models (.h5): convert it with 'python -m "
         "tf2onnx.convert --keras FILE --output model.onnx' and give that file"},
    Mark{4, "TFL3"sv,
         "is a TensorFlow Lite model: convert it with 'python -m tf2onnx.convert --tflite FILE "
         "--output model.onnx' and give that file"},
    Mark{
        4, "ORTM"sv,
        "is a model in ONNX Runtime's own format (.ort): give the ONNX file that it was made from"},
    Mark{4, "ET12"sv,
         "is an ExecuTorch program: export the model to ONNX instead, with torch.onnx.export"},
    Mark{0, "\x93NUMPY"sv,
         "is a NumPy array, not a model: give a HuggingFace folder or an ONNX file"},
    Mark{0, "\x1f\x8b"sv, kArchive},
    Mark{0, "BZh"sv, kArchive},
    Mark{0, "\xfd\x37zXZ\0"sv, kArchive},
    Mark{0, "\x28\xb5\x2f\xfd"sv, kArchive},
    Mark{0, "7z\xbc\xaf\x27\x1c"sv, kArchive},
    Mark{257, "ustar"sv, kArchive},
};

// A length of eight bytes, then JSON of that length.
bool is_safetensors(std::string_view file) {
  uint64_t header = 0;
  if (file.size() < sizeof(header) + 2) return false;
  std::memcpy(&header, file.data(), sizeof(header));
  return header >= 2 && header <= file.size() - sizeof(header) && file[sizeof(header)] == '{';
}

// torch.save before version 1.6 begins with this number, pickled.
bool is_old_torch(std::string_view file) {
  return file.starts_with("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv);
}

// The instruction that tells the protocol, from 2 to 5.
bool is_pickle(std::string_view file) {
  return file.size() > 2 && file[0] == '\x80' && file[1] >= 2 && file[1] <= 5;
}

// What joblib compresses a pickle with.
bool is_zlib(std::string_view file) {
  return file.size() > 2 && file[0] == '\x78' &&
         (static_cast<unsigned char>(file[0]) * 256 + static_cast<unsigned char>(file[1])) % 31 ==
             0;
}

std::string about_zip(const Bytes& file) {
  try {
    const ZipArchive archive(file, "the file");
    const auto has = [&](auto matches) {
      return std::any_of(archive.entries().begin(), archive.entries().end(),
                         [&](const auto& entry) { return matches(std::string_view(entry.first)); });
    };
    if (has([](auto name) {
          return name.find("/code/") != name.npos || name.ends_with("/constants.pkl");
        })) {
      return "is a TorchScript program: load the model's own class in Python and " +
             std::string(kExport);
    }
    if (has([](auto name) { return name.ends_with("data.pkl"); })) {
      return "is a file of torch.save: " + std::string(kFolder) + std::string(kExport);
    }
    if (has([](auto name) {
          return name.find("exported_program") != name.npos || name.ends_with("models/model.json");
        })) {
      return "is a program of torch.export (.pt2): " + std::string(kExport);
    }
    if (archive.has("model.weights.h5")) {
      return "is a Keras model (.keras): in Python, "
             "keras.models.load_model(FILE).export('model.onnx', format='onnx'), and give that "
             "file";
    }
    if (has([](auto name) { return name.ends_with(".npy"); })) {
      return "is a file of NumPy arrays (.npz), not a model: give a HuggingFace folder or an ONNX "
             "file";
    }
  } catch (const FileError&) {
    return "is a zip archive that is cut off or damaged: download it again, and if it is a model "
           "of PyTorch, " +
           std::string(kExport);
  }
  return std::string(kArchive);
}

}  // namespace

std::string about_other_format(const Bytes& file) {
  const std::string_view text = file.text();
  for (const Mark& mark : kMarks) {
    if (text.size() >= mark.at && text.substr(mark.at).starts_with(mark.bytes))
      return std::string(mark.about);
  }
  if (text.starts_with("PK\x03\x04"sv)) return about_zip(file);
  if (is_safetensors(text)) {
    return "holds weights alone (safetensors): give the folder in which it lies as "
           "model.safetensors with config.json and tokenizer.json, or an ONNX export of the model";
  }
  if (is_old_torch(text))
    return "is a file of torch.save: " + std::string(kFolder) + std::string(kExport);
  if (is_pickle(text) || is_zlib(text)) {
    return "is a Python pickle (as of joblib or scikit-learn), which is not opened because that "
           "could run anything: convert the model to ONNX, for instance with skl2onnx, and give "
           "that file";
  }
  if (text.starts_with('{'))
    return "is JSON, not a model: give the HuggingFace folder that holds config.json and the "
           "weights";
  return "";
}

}  // namespace whyformer
