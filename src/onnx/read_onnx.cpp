// Protobuf messages to plain structures. The field numbers read here have not changed since
// ONNX 1.0; of the newer fields that Debian's messages do not know, only one changes results (see
// defaults).
#include <fmt/format.h>
#define ONNX_ML 1
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "formats/file_checks.h"
#include "formats/other_formats.h"
#include "onnx/onnx_file.h"
#include "onnx/sort_nodes.h"
#include "whyformer/error.h"

namespace whyformer::onnx {
namespace {

namespace pb = ::onnx;

constexpr size_t kMostBytes = size_t{1} << 31;  // protobuf's limit for one message
constexpr int64_t kFirstOpset = 7, kLastOpset = 28;

// Reads messages whose bytes `owner` keeps alive.
class OnnxReader {
 public:
  OnnxReader(std::shared_ptr<const void> owner, const FileLookup& external)
      : owner_(std::move(owner)), external_(external) {}

  OnnxFile file(const pb::ModelProto& model) const {
    OnnxFile file;
    file.producer = model.producer_name();
    file.opsets = opsets(model.opset_import());
    if (file.opsets.empty()) file.opsets[""] = 1;
    for (const pb::FunctionProto& function : model.functions()) {
      const auto key = std::pair(domain(function.domain()), function.name());
      file.functions[key] = this->function(function);
    }
    file.graph = graph(model.graph());
    return file;
  }

  FileTensor tensor(const pb::TensorProto& proto) const {
    const std::string what = fmt::format("tensor {}", in_quotes(proto.name()));
    FileTensor result;
    result.name = proto.name();
    result.type = element_type(proto.data_type(), what);
    if (static_cast<size_t>(proto.dims_size()) > kMaxDimensions) {
      throw FileError(
          fmt::format("the ONNX file is damaged: {} has {} axes", what, proto.dims_size()));
    }
    result.shape.assign(proto.dims().begin(), proto.dims().end());
    // Lengths beside one of 0 must be possible too: products of some of them are taken.
    Shape lengths = result.shape;
    std::replace(lengths.begin(), lengths.end(), int64_t{0}, int64_t{1});
    uint64_t elements = 0, most = 0;
    if (!byte_count(lengths, 1, most) || most > (uint64_t{1} << 40) ||
        !byte_count(result.shape, 1, elements)) {
      throw FileError(fmt::format("the ONNX file is damaged: {} has the impossible shape {}", what,
                                  to_string(result.shape)));
    }
    result.data = bytes(proto, what);
    const uint64_t needed = (elements * bits_of(result.type) + 7) / 8;
    if (result.data.size() != needed) {
      throw FileError(fmt::format(
          "the ONNX file is damaged: {} of shape {} and type {} needs {} bytes but has {}", what,
          to_string(result.shape), name_of(result.type), needed, result.data.size()));
    }
    return result;
  }

 private:
  static std::string domain(const std::string& name) { return name == "ai.onnx" ? "" : name; }

  template <typename Imports>
  static std::map<std::string, int64_t, std::less<>> opsets(const Imports& imports) {
    std::map<std::string, int64_t, std::less<>> result;
    for (const auto& import : imports) result[domain(import.domain())] = import.version();
    return result;
  }

  Bytes bytes(const pb::TensorProto& proto, const std::string& what) const {
    if (proto.data_location() == pb::TensorProto::EXTERNAL) return external_bytes(proto, what);
    if (proto.has_raw_data()) return view(proto.raw_data());
    switch (proto.data_type()) {
      case pb::TensorProto::FLOAT:
        return copied<float>(proto.float_data());
      case pb::TensorProto::DOUBLE:
        return copied<double>(proto.double_data());
      case pb::TensorProto::INT64:
        return copied<int64_t>(proto.int64_data());
      case pb::TensorProto::UINT32:
        return copied<uint32_t>(proto.uint64_data());
      case pb::TensorProto::UINT64:
        return copied<uint64_t>(proto.uint64_data());
      case pb::TensorProto::INT32:
        return copied<int32_t>(proto.int32_data());
      case pb::TensorProto::INT16:
      case pb::TensorProto::UINT16:
      case pb::TensorProto::FLOAT16:
      case pb::TensorProto::BFLOAT16:
        return copied<uint16_t>(proto.int32_data());
      default:
        return copied<uint8_t>(proto.int32_data());
    }
  }

  Bytes view(const std::string& text) const {
    return {{reinterpret_cast<const std::byte*>(text.data()), text.size()}, owner_};
  }

  template <typename Element, typename Field>
  static Bytes copied(const Field& field) {
    std::string text(field.size() * sizeof(Element), '\0');
    size_t at = 0;
    for (const auto number : field) {
      const Element element = static_cast<Element>(number);
      std::memcpy(text.data() + at, &element, sizeof(Element));
      at += sizeof(Element);
    }
    return bytes_of(std::move(text));
  }

  Bytes external_bytes(const pb::TensorProto& proto, const std::string& what) const {
    std::string location;
    uint64_t offset = 0;
    std::optional<uint64_t> length;
    for (const auto& entry : proto.external_data()) {
      if (entry.key() == "location") location = entry.value();
      if (entry.key() == "offset") offset = number(entry.value(), what);
      if (entry.key() == "length") length = number(entry.value(), what);
    }
    const std::optional<Bytes> file = external_(location);
    if (!file) {
      throw FileError(fmt::format(
          "{} is stored in {}, which is not there: put it into the folder of the ONNX file", what,
          in_quotes(location)));
    }
    const uint64_t rest = file->size() - std::min<uint64_t>(offset, file->size());
    if (offset > file->size() || length.value_or(0) > rest) {
      throw_truncated(location, offset + length.value_or(0), file->size());
    }
    return {file->view.subspan(offset, length.value_or(rest)), file->owner};
  }

  static uint64_t number(const std::string& text, const std::string& what) {
    if (text.empty() || text.size() > 15 || text.find_first_not_of("0123456789") != text.npos) {
      throw FileError(
          fmt::format("the ONNX file is damaged: {} lies at the place {}", what, in_quotes(text)));
    }
    return std::stoull(text);
  }

  static DeclaredValue info(const pb::ValueInfoProto& proto) {
    DeclaredValue info;
    info.name = proto.name();
    if (proto.type().value_case() == pb::TypeProto::VALUE_NOT_SET) return info;
    if (!proto.type().has_tensor_type()) {
      throw UnsupportedModel(
          fmt::format("the model's input {} is a sequence, a map or an optional value; only "
                      "tensors can be given",
                      in_quotes(info.name)));
    }
    const auto& type = proto.type().tensor_type();
    info.type = element_type(type.elem_type(), fmt::format("input {}", in_quotes(info.name)));
    for (const auto& dimension : type.shape().dim()) {
      const bool fixed = dimension.has_dim_value() && dimension.dim_value() >= 0;
      info.shape.push_back(fixed ? dimension.dim_value() : -1);
      info.axis_names.push_back(dimension.has_dim_param() ? dimension.dim_param() : "");
    }
    return info;
  }

  FileGraph graph(const pb::GraphProto& proto) const {
    FileGraph graph;
    if (proto.sparse_initializer_size() > 0) {
      throw UnsupportedModel("the ONNX file has sparse tensors, which cannot be imported");
    }
    for (const pb::TensorProto& tensor : proto.initializer()) {
      graph.initialisers[tensor.name()] = this->tensor(tensor);
    }
    for (const pb::ValueInfoProto& input : proto.input()) {
      if (!graph.initialisers.contains(input.name())) graph.inputs.push_back(info(input));
    }
    // Shapes of outputs may be stale and types missing: only names matter.
    for (const pb::ValueInfoProto& output : proto.output()) {
      graph.outputs.push_back({output.name(), ElementType::kFloat, {}, {}});
    }
    for (const pb::NodeProto& node : proto.node()) {
      graph.nodes.push_back(this->node(node));
      for (const std::string& output : node.output()) {
        if (graph.initialisers.contains(output)) {
          throw FileError(fmt::format("the ONNX file is damaged: {} is both stored and computed",
                                      in_quotes(output)));
        }
      }
    }
    sort_nodes(graph.nodes);
    return graph;
  }

  OnnxNode node(const pb::NodeProto& proto) const {
    OnnxNode node{proto.name(), domain(proto.domain()), proto.op_type(), {}, {}, {}, {}};
    node.inputs.assign(proto.input().begin(), proto.input().end());
    node.outputs.assign(proto.output().begin(), proto.output().end());
    for (const pb::AttributeProto& attribute : proto.attribute()) {
      if (!attribute.ref_attr_name().empty()) {
        node.attribute_of_caller[attribute.name()] = attribute.ref_attr_name();
      } else if (auto value = this->attribute(attribute)) {
        node.attributes[attribute.name()] = std::move(*value);
      }
    }
    return node;
  }

  // Nothing for kinds that no operator here reads.
  std::optional<Attribute> attribute(const pb::AttributeProto& proto) const {
    switch (proto.type()) {
      case pb::AttributeProto::INT:
        return proto.i();
      case pb::AttributeProto::FLOAT:
        return static_cast<double>(proto.f());
      case pb::AttributeProto::STRING:
        return proto.s();
      case pb::AttributeProto::INTS:
        return std::vector<int64_t>(proto.ints().begin(), proto.ints().end());
      case pb::AttributeProto::FLOATS:
        return std::vector<double>(proto.floats().begin(), proto.floats().end());
      case pb::AttributeProto::STRINGS:
        return std::vector<std::string>(proto.strings().begin(), proto.strings().end());
      case pb::AttributeProto::TENSOR:
        return tensor(proto.t());
      case pb::AttributeProto::GRAPH:
        return std::make_shared<const FileGraph>(graph(proto.g()));
      default:
        return std::nullopt;
    }
  }

  OnnxFunction function(const pb::FunctionProto& proto) const {
    OnnxFunction function;
    function.inputs.assign(proto.input().begin(), proto.input().end());
    function.outputs.assign(proto.output().begin(), proto.output().end());
    function.opsets = opsets(proto.opset_import());
    for (const pb::NodeProto& node : proto.node()) function.nodes.push_back(this->node(node));
    sort_nodes(function.nodes);
    function.defaults = defaults(proto);
    return function;
  }

  // Attributes with a usual value, attribute_proto of ONNX 1.13: kept by protobuf as an unknown
  // field.
  std::map<std::string, Attribute, std::less<>> defaults(const pb::FunctionProto& proto) const {
    constexpr int kAttributeProto = 11;
    std::map<std::string, Attribute, std::less<>> result;
    const auto& fields = proto.GetReflection()->GetUnknownFields(proto);
    for (int index = 0; index < fields.field_count(); ++index) {
      const auto& field = fields.field(index);
      if (field.number() != kAttributeProto ||
          field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
        continue;
      }
      const auto kept = std::make_shared<pb::AttributeProto>();
      if (!kept->ParseFromString(field.length_delimited())) {
        throw FileError(
            fmt::format("the ONNX file is damaged: an attribute of function {} cannot be read",
                        in_quotes(proto.name())));
      }
      if (auto value = OnnxReader(kept, external_).attribute(*kept)) {
        result[kept->name()] = std::move(*value);
      }
    }
    return result;
  }

  std::shared_ptr<const void> owner_;
  const FileLookup& external_;
};

void check_opset(int64_t opset) {
  if (kFirstOpset <= opset && opset <= kLastOpset) return;
  throw UnsupportedModel(fmt::format(
      "the ONNX file uses opset {}; opsets {} to {} can be imported: export or convert it again",
      opset, kFirstOpset, kLastOpset));
}

// Other files of a model's folder. A name must not lead out of it; a link may, but only to where
// the model file itself lies (as in a download cache).
FileLookup files_beside(const std::filesystem::path& model) {
  return [model](std::string_view name) -> std::optional<Bytes> {
    namespace fs = std::filesystem;
    const fs::path relative(name);
    const auto leaves = [](const fs::path& part) { return part == ".."; };
    if (relative.empty() || relative.is_absolute() || name.find('\0') != name.npos ||
        std::any_of(relative.begin(), relative.end(), leaves)) {
      throw FileError(
          fmt::format("the ONNX file refers to {}, outside its folder", in_quotes(name)));
    }
    const fs::path folder = model.has_parent_path() ? model.parent_path() : fs::path(".");
    std::error_code error;
    const fs::path path = fs::canonical(folder / relative, error);
    if (error) return std::nullopt;
    const std::string inside = fs::canonical(folder, error).string() + "/";
    const bool beside = path.parent_path() == fs::canonical(model, error).parent_path();
    if (!path.string().starts_with(inside) && !beside) {
      throw FileError(
          fmt::format("{} is a link that leads out of the model's folder", in_quotes(name)));
    }
    return map_file(path);
  };
}

}  // namespace

namespace {

void count_parameters(const FileGraph& graph, ParameterCount& count);

// Some exporters write weights as Constant nodes. Single numbers and integers there are settings,
// shapes and indices.
bool is_weight(const FileTensor& tensor) {
  const bool quantised = bits_of(tensor.type) <= 8 && tensor.type != ElementType::kBool;
  return !tensor.shape.empty() && (is_float(tensor.type) || quantised);
}

void count_parameters(const std::vector<OnnxNode>& nodes, ParameterCount& count) {
  for (const OnnxNode& node : nodes) {
    for (const auto& [name, attribute] : node.attributes) {
      if (const auto* inner = std::get_if<std::shared_ptr<const FileGraph>>(&attribute))
        count_parameters(**inner, count);
      if (node.kind != "Constant") continue;
      if (const auto* tensor = std::get_if<FileTensor>(&attribute); tensor && is_weight(*tensor))
        count.add(tensor->shape);
      if (const auto* list = std::get_if<std::vector<double>>(&attribute))
        count.add({static_cast<int64_t>(list->size())});
    }
  }
}

void count_parameters(const FileGraph& graph, ParameterCount& count) {
  for (const auto& [name, tensor] : graph.initialisers) count.add(tensor.shape);
  count_parameters(graph.nodes, count);
}

}  // namespace

int64_t OnnxFile::opset() const {
  const auto found = opsets.find("");
  return found == opsets.end() ? 1 : found->second;
}

ParameterCount OnnxFile::parameters() const {
  ParameterCount count;
  count_parameters(graph, count);
  for (const auto& [name, function] : functions) count_parameters(function.nodes, count);
  return count;
}

OnnxFile read_onnx(const Bytes& bytes, const FileLookup& external) {
  check_not_a_pointer(bytes.text(), "the ONNX file");
  if (bytes.size() >= kMostBytes) {
    throw FileError(
        "the ONNX file has 2 GiB or more in one piece; store its tensors as external data");
  }
  const auto model = std::make_shared<pb::ModelProto>();
  if (bytes.size() == 0 ||
      !model->ParseFromArray(bytes.view.data(), static_cast<int>(bytes.size())) ||
      !model->has_graph()) {
    throw FileError("this is not a whole ONNX file: it is damaged, cut off, or something else");
  }
  OnnxFile file = OnnxReader(model, external).file(*model);
  check_opset(file.opset());
  for (const auto& [name, function] : file.functions) {
    const auto own = function.opsets.find("");
    if (own != function.opsets.end()) check_opset(own->second);
  }
  return file;
}

OnnxFile read_onnx(const std::filesystem::path& path) {
  const Bytes bytes = map_file(path);
  try {
    return read_onnx(bytes, files_beside(path));
  } catch (const FileError& error) {
    if (const std::string about = about_other_format(bytes); !about.empty()) {
      throw UnsupportedModel(fmt::format("'{}' {}", path.string(), about));
    }
    throw FileError(fmt::format("'{}': {}", path.string(), error.what()));
  } catch (const UnsupportedModel& error) {
    throw UnsupportedModel(fmt::format("'{}': {}", path.string(), error.what()));
  }
}

}  // namespace whyformer::onnx
