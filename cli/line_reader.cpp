#include "line_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "console.h"
#include "whyformer/error.h"

namespace whyformer::cli {
namespace {

constexpr size_t kChunk = size_t{1} << 16;
// No text is longer; what has no line ends must not fill the memory.
constexpr size_t kLongestLine = size_t{1} << 24;
constexpr size_t kShownOfTooLong = 100;

int open_for_reading(const std::string& path) {
  if (path == "-") return STDIN_FILENO;
  std::error_code unreadable;
  if (std::filesystem::is_directory(path, unreadable)) {
    throw FileError(fmt::format("cannot read '{}': it is a folder", path));
  }
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw FileError(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  return fd;
}

// False where the user interrupts first.
bool wait_for_input(int fd) {
  constexpr int kMilliseconds = 100;
  while (!interrupted()) {
    pollfd waiting{fd, POLLIN, 0};
    if (poll(&waiting, 1, kMilliseconds) > 0) return true;
  }
  return false;
}

}  // namespace

void LineReader::Line::check_length() const {
  if (!too_long) return;
  throw InvalidInput(fmt::format(
      "line {} is longer than {} MB: put line ends between texts, or leave this one out", number,
      kLongestLine >> 20));
}

LineReader::LineReader(const std::string& path) : path_(path), fd_(open_for_reading(path)) {}

LineReader::~LineReader() {
  if (fd_ != STDIN_FILENO) close(fd_);
}

bool LineReader::fill() {
  if (!wait_for_input(fd_)) return false;
  waiting_.resize(kChunk);
  at_ = 0;
  ssize_t count = 0;
  do {
    count = read(fd_, waiting_.data(), waiting_.size());
  } while (count < 0 && errno == EINTR);
  waiting_.resize(static_cast<size_t>(std::max<ssize_t>(0, count)));
  if (count < 0) {
    throw FileError(fmt::format("cannot read {}: {}",
                                path_ == "-" ? "standard input" : "'" + path_ + "'",
                                std::strerror(errno)));
  }
  return count > 0;
}

std::optional<LineReader::Line> LineReader::next() {
  Line line;
  bool some = false, ended = false;
  while (!ended && (at_ < waiting_.size() || fill())) {
    some = true;
    const size_t end = std::min(waiting_.find('\n', at_), waiting_.size());
    ended = end < waiting_.size();
    line.too_long = line.too_long || line.text.size() + (end - at_) > kLongestLine;
    if (line.too_long)
      line.text.resize(std::min(line.text.size(), kShownOfTooLong));
    else
      line.text.append(waiting_, at_, end - at_);
    at_ = end + (ended ? 1 : 0);
  }
  // What was read of a line when the user interrupts is no line.
  if (!some || interrupted()) return std::nullopt;
  line.number = ++number_;
  // What some editors put in front to say that a file is UTF-8.
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (number_ == 1 && line.text.starts_with(kByteOrderMark)) line.text.erase(0, 3);
  if (!line.text.empty() && line.text.back() == '\r') line.text.pop_back();
  return line;
}

int64_t count_lines(const std::string& path) {
  std::error_code unreadable;
  if (path == "-" || !std::filesystem::is_regular_file(path, unreadable)) return 0;
  const int fd = open_for_reading(path);
  std::string chunk(kChunk, '\0');
  int64_t lines = 0;
  char last = '\n';
  for (ssize_t count = 0; !interrupted() && (count = read(fd, chunk.data(), chunk.size())) > 0;) {
    lines += std::count(chunk.begin(), chunk.begin() + count, '\n');
    last = chunk[static_cast<size_t>(count) - 1];
  }
  close(fd);
  return lines + (last == '\n' ? 0 : 1);
}

}  // namespace whyformer::cli
