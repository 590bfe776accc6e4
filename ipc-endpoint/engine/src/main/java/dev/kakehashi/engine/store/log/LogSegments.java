package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.store.log.file.LogFile;
import dev.kakehashi.protocol.Directories;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.TreeSet;

/// The files of the log's segments: made ahead of their use, and used again.
///
/// A file gets its name when its header is durable, so a file with a segment's name has that segment's header unless it is damaged. A new
/// file is written with zeros and synchronised first: then a flush changes no block map and costs no transaction of the file system (here
/// fdatasync takes 90 µs instead of 130). A file that was made in a hurry has its length and its blocks as well (see [LogFormat],
/// [LogRoom]).
///
/// Thread-safe by one lock, under which files are made: a thread that needs a segment that is just being made waits for it.
final class LogSegments {
  private static final String SUFFIX = ".log";

  /// A file that is being made.
  static final Path FRESH = Path.of("fresh.new");

  private static final int ZEROS_BYTES = 1 << 20;

  /// Files kept for use again beyond those that the log needs.
  private static final int MAX_SPARES = 4;

  private final Path directory;
  private final LogFormat format;
  private final LogFile.Opener opener;

  // Guarded by this.
  private final TreeSet<Long> numbers = new TreeSet<>();
  private final Deque<Long> spares = new ArrayDeque<>();

  /// Last of `numbers`; -1: there are none. Written under the lock, and read without it by threads that must not wait for a file that is
  /// being made.
  private volatile long last;

  /// @param numbers segments that are there
  LogSegments(Path directory, LogFormat format, LogFile.Opener opener, List<Long> numbers) {
    this.directory = directory;
    this.format = format;
    this.opener = opener;
    this.numbers.addAll(numbers);
    noteLast();
  }

  private void noteLast() {
    last = numbers.isEmpty() ? -1 : numbers.last();
  }

  /// Segments in a directory, in their order; none if it is not there.
  static List<Long> list(Path directory) throws IOException {
    List<Long> found = new ArrayList<>();
    if (Files.notExists(directory)) {
      return found;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*" + SUFFIX)) {
      for (Path file : files) {
        String name = file.getFileName().toString();
        found.add(Long.parseUnsignedLong(name.substring(0, name.length() - SUFFIX.length()), 16));
      }
    } catch (NumberFormatException e) {
      throw new IOException("\"" + directory + "\" has files that are not the log's", e);
    }
    found.sort(null);
    return found;
  }

  static Path path(Path directory, long number) {
    return directory.resolve("%016x%s".formatted(number, SUFFIX));
  }

  Path path(long number) {
    return path(directory, number);
  }

  Path directory() {
    return directory;
  }

  /// See [LogEnd].
  Path endFile() {
    return LogEnd.path(directory);
  }

  /// Whether nothing was ever written to a segment behind its header.
  static boolean isUnused(Path file) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(LogFormat.HEADER_BYTES + LogFormat.FRAME_HEADER_BYTES);
    try (LogFile opened = LogFile.openReadOnly(file)) {
      opened.read(bytes, 0);
    }
    for (int i = LogFormat.HEADER_BYTES; i < bytes.capacity(); i++) {
      if (bytes.get(i) != 0) {
        return false;
      }
    }
    return true;
  }

  /// In a message: a write that is not whole, of which the log ends.
  String describeCutOff(long end) {
    return "a write that was under way when the process or the system ended, at byte %d of \"%s\""
        .formatted(format.offset(end), path(format.segment(end)));
  }

  synchronized boolean has(long number) {
    return numbers.contains(number);
  }

  /// The last segment that is there; -1: none.
  long last() {
    return last;
  }

  /// Opens a segment; makes it first, in a hurry, if nobody has made it ahead of time.
  synchronized LogFile open(long number) throws IOException {
    require(number);
    return opener.open(path(number));
  }

  /// Makes a segment, in a hurry, if nobody has made it ahead of time.
  synchronized void require(long number) throws IOException {
    if (!numbers.contains(number)) {
      make(number, false);
    }
  }

  /// Makes a segment ahead of its use.
  synchronized void prepare(long number) throws IOException {
    if (!numbers.contains(number)) {
      make(number, true);
    }
  }

  private void make(long number, boolean zeroed) throws IOException {
    Long spare = spares.peek();
    Path source = spare == null ? directory.resolve(FRESH) : path(spare);
    try (LogFile file = opener.open(source)) {
      if (spare == null && zeroed) {
        zero(file, 0);
      }
      if (file.size() < format.segmentBytes()) {
        file.allocate(format.segmentBytes());
      }
      file.write(format.header(number), 0);
      file.force();
    }
    Files.move(source, path(number), StandardCopyOption.ATOMIC_MOVE);
    spares.poll();
    Directories.force(directory);
    numbers.add(number);
    noteLast();
  }

  /// Writes zeros from `offset` to the end of a segment.
  void zero(LogFile file, int offset) throws IOException {
    ByteBuffer zeros = ByteBuffer.allocateDirect(ZEROS_BYTES);
    int at = offset;
    while (at < format.segmentBytes()) {
      zeros.position(0).limit(Math.min(ZEROS_BYTES, format.segmentBytes() - at));
      int bytes = zeros.remaining();
      file.write(zeros, at);
      at += bytes;
    }
  }

  /// Segments below `number` are not needed any more.
  synchronized void retireBelow(long number) throws IOException {
    while (!numbers.isEmpty() && numbers.first() < number) {
      long old = numbers.first();
      if (spares.size() < MAX_SPARES) {
        spares.add(old);
      } else {
        Files.deleteIfExists(path(old));
      }
      numbers.remove(old);
    }
    noteLast();
  }

  /// Deletes the segments above `number`, durably.
  synchronized void deleteAbove(long number) throws IOException {
    while (!numbers.isEmpty() && numbers.last() > number) {
      Files.deleteIfExists(path(numbers.last()));
      numbers.remove(numbers.last());
    }
    noteLast();
    Directories.force(directory);
  }
}
