// Lines of a file or of standard input, one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace whyformer::cli {

class LineReader {
 public:
  // "-" is standard input. Throws FileError.
  explicit LineReader(const std::string& path);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  struct Line {
    std::string text;    // without its end; of a line that is too long, the beginning
    int64_t number = 0;  // from 1
    bool too_long = false;

    // Throws InvalidInput that tells the limit where the line is too long.
    void check_length() const;
  };
  // Waits for the next line; none at the end, and where the user interrupts. Throws FileError.
  std::optional<Line> next();

 private:
  bool fill();  // false at the end, and where the user interrupts

  std::string path_;
  int fd_;
  std::string waiting_;  // read and not yet given
  size_t at_ = 0;        // in it
  int64_t number_ = 0;
};

// How many lines a file has; 0 where it cannot be told beforehand, as of a pipe.
int64_t count_lines(const std::string& path);

}  // namespace whyformer::cli
