package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.Directories;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The directory of an archive. Names sort in the order of the log:
///
/// | name | is |
/// |---|---|
/// | `00000001.timeline` | the [Timelines] up to the first |
/// | `00000001-000000000000002a.log` | a segment of the first timeline, see [ArchiveFile] |
/// | `00000001-000000000000002b.part` | the beginning of the one that is written, replaced again and again |
/// | `00000001-000000000000002a-0000000000000003.side` | a [SideFile] that the segment names |
///
/// A file gets its name when it is durable. One that ends with `.new` is of a writer that was killed. Files may come and go while it is
/// read. Stateless.
record ArchiveDirectory(Path directory) {
  static final String FRESH = ".new";

  private static final String WHOLE = ".log";
  private static final String PART = ".part";
  private static final String SIDE = ".side";
  private static final String TIMELINE = ".timeline";
  private static final Pattern NAME =
      Pattern.compile("([0-9a-f]{8})-([0-9a-f]{16})(-[0-9a-f]{16})?(\\.log|\\.part|\\.side)");

  /// A file with a segment, or of one.
  record Name(int timeline, long segment, String rest, Path path) {
    boolean isWhole() {
      return rest.equals(WHOLE);
    }

    boolean isSide() {
      return rest.endsWith(SIDE);
    }
  }

  /// @throws IOException if it is not there
  void require() throws IOException {
    if (!Files.isDirectory(directory)) {
      throw new IOException("archive \"%s\" is not there".formatted(directory));
    }
  }

  Path whole(int timeline, long segment) {
    return directory.resolve("%08x-%016x%s".formatted(timeline, segment, WHOLE));
  }

  Path part(int timeline, long segment) {
    return directory.resolve("%08x-%016x%s".formatted(timeline, segment, PART));
  }

  Path side(int timeline, long segment, long number) {
    return directory.resolve("%08x-%016x-%016x%s".formatted(timeline, segment, number, SIDE));
  }

  Path timeline(int number) {
    return directory.resolve("%08x%s".formatted(number, TIMELINE));
  }

  /// Its files in the order of the log; others are left out.
  List<Name> list() throws IOException {
    require();
    List<Name> found = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        Matcher name = NAME.matcher(file.getFileName().toString());
        if (name.matches()) {
          found.add(
              new Name(
                  Integer.parseUnsignedInt(name.group(1), 16),
                  Long.parseUnsignedLong(name.group(2), 16),
                  (name.group(3) == null ? "" : name.group(3)) + name.group(4),
                  file));
        }
      }
    }
    found.sort(Comparator.comparing(each -> each.path().getFileName().toString()));
    return found;
  }

  /// Numbers of the timelines in it.
  NavigableSet<Integer> timelines() throws IOException {
    require();
    NavigableSet<Integer> found = new TreeSet<>();
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(directory, "[0-9a-f]*" + TIMELINE)) {
      for (Path file : files) {
        String name = file.getFileName().toString();
        found.add(
            Integer.parseUnsignedInt(name.substring(0, name.length() - TIMELINE.length()), 16));
      }
    } catch (NumberFormatException e) {
      throw new IOException(
          "archive \"%s\" has timelines that are not its own".formatted(directory), e);
    }
    return found;
  }

  /// Timelines up to one; null: there is none with that number.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException DATA_CORRUPTED
  @Nullable Timelines read(int number) throws IOException {
    Path file = timeline(number);
    return Files.exists(file)
        ? Timelines.parse(new String(Files.readAllBytes(file), StandardCharsets.UTF_8))
        : null;
  }

  /// Whether it has all of a segment. A part says nothing: the log still has the segment, or the archive has a gap there.
  boolean hasSegment(Timelines.Timeline timeline, long number) {
    return Files.exists(whole(timeline.number(), number));
  }

  /// Reads all of a segment.
  ///
  /// @param before file of the segment before; null: it is the first that is looked at
  /// @param bytes gets it; as long as a segment, of the heap
  /// @throws dev.kakehashi.engine.api.error.EngineException DATA_CORRUPTED naming the file: it is missing or damaged, or of another history
  ArchiveFile segment(
      Timelines.Timeline timeline, long number, @Nullable ArchiveFile before, ByteBuffer bytes)
      throws IOException {
    Name name = new Name(timeline.number(), number, WHOLE, whole(timeline.number(), number));
    ArchiveFile file;
    try {
      file = ArchiveFile.read(name.path(), bytes);
    } catch (NoSuchFileException e) {
      throw missing(name.path());
    }
    ArchiveCheck.require(file, name, timeline.format(), before);
    if (file.contentBytes() != timeline.format().segmentBytes()) {
      throw ArchiveFile.damaged(name.path(), "it has not all of the segment");
    }
    return file;
  }

  /// The segments of a timeline that a log has given up, for one reader.
  LogReader.Older older(Timelines.Timeline timeline) {
    return new LogReader.Older() {
      private @Nullable ArchiveFile last;

      @Override
      public boolean read(long number, ByteBuffer bytes) throws IOException {
        ArchiveFile before = last;
        last = null;
        boolean isNext = before != null && before.segment() + 1 == number;
        last = segment(timeline, number, isNext ? before : null, bytes);
        return true;
      }
    };
  }

  /// A side file that a group names.
  ///
  /// @param end of the group
  Path side(Timelines.Timeline timeline, long end, SideFile file) {
    return side(timeline.number(), timeline.format().segment(end - 1), file.number());
  }

  static EngineException missing(Path file) {
    return LogReader.corrupted("file \"%s\" of the archive is missing".formatted(file));
  }

  /// Removes what a killed writer has left. The caller is the only writer.
  void sweep() throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*" + FRESH)) {
      for (Path file : files) {
        Files.deleteIfExists(file);
      }
    }
  }

  /// Writes a file, or replaces it: it is there whole or not at all.
  void publish(Path file, byte[] content) throws IOException {
    publish(
        file,
        channel -> {
          ByteBuffer left = ByteBuffer.wrap(content);
          while (left.hasRemaining()) {
            channel.write(left);
          }
        });
  }

  interface Writer {
    void write(FileChannel channel) throws IOException;
  }

  /// The same with content that comes in pieces.
  void publish(Path file, Writer writer) throws IOException {
    Path fresh = file.resolveSibling(file.getFileName() + FRESH);
    boolean isDone = false;
    try {
      try (FileChannel channel =
          FileChannel.open(
              fresh,
              StandardOpenOption.CREATE,
              StandardOpenOption.TRUNCATE_EXISTING,
              StandardOpenOption.WRITE)) {
        writer.write(channel);
        channel.force(true);
      }
      Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
      Directories.force(directory);
      isDone = true;
    } catch (IOException e) {
      throw new IOException("could not write \"%s\": %s".formatted(file, e.getMessage()), e);
    } finally {
      if (!isDone) {
        Files.deleteIfExists(fresh);
      }
    }
  }
}
