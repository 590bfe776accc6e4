package dev.kakehashi.engine.store.log;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// [SideFile]s that an archive or a standby may lack, under a second name each: the base image gives the first one up when it has their
/// changes.
///
/// The name has the end of the group that names the file, and its number: `END-NUMBER.kept`. It is made when that group is durable, and
/// again when a start reads the group. Stateless.
final class KeptFiles {
  private static final String SUFFIX = ".kept";

  private final Path directory;

  /// @param end of the group that names it
  record Kept(long end, long number, Path path) {}

  /// @param directory of the log
  KeptFiles(Path directory) {
    this.directory = directory;
  }

  /// Keeps a file; one that is kept already stays so.
  void keep(Path file, long end) throws IOException {
    Path name = path(end, SideFile.number(file));
    try {
      Files.createLink(name, file);
    } catch (FileAlreadyExistsException e) {
      // A start reads the group again.
      SideFiles.LOG.debug("\"{}\" is kept already", name, e);
    }
  }

  /// The second name of a file.
  ///
  /// @param end of the group that names it
  Path path(long end, long number) {
    return directory.resolve("%016x-%016x%s".formatted(end, number, SUFFIX));
  }

  /// Files whose groups end in `(from, to]`, in the order of their groups.
  List<Kept> between(long from, long to) throws IOException {
    List<Kept> found = new ArrayList<>();
    for (Kept each : all()) {
      if (each.end() > from && each.end() <= to) {
        found.add(each);
      }
    }
    return found;
  }

  /// Gives up those whose groups end before a position, or at it.
  void release(long to) throws IOException {
    for (Kept each : between(-1, to)) {
      Files.deleteIfExists(each.path());
    }
  }

  private List<Kept> all() throws IOException {
    List<Kept> found = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*" + SUFFIX)) {
      for (Path file : files) {
        String name = file.getFileName().toString();
        found.add(
            new Kept(
                Long.parseUnsignedLong(name.substring(0, 16), 16),
                Long.parseUnsignedLong(name.substring(17, 33), 16),
                file));
      }
    }
    found.sort(Comparator.comparingLong(Kept::end).thenComparingLong(Kept::number));
    return found;
  }
}
