package dev.kakehashi.protocol;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.stream.Stream;

/// Operations that owners of directories share. Thread-safe.
public final class Directories {
  private Directories() {}

  /// Deletes a file, or a directory with everything in it, if it is there.
  public static void delete(Path directory) throws IOException {
    if (Files.notExists(directory)) {
      return;
    }
    try (Stream<Path> found = Files.walk(directory)) {
      for (Path path : found.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  /// Deletes everything in a directory.
  public static void deleteContent(Path directory) throws IOException {
    try (Stream<Path> found = Files.list(directory)) {
      for (Path path : found.toList()) {
        delete(path);
      }
    }
  }

  /// Whether there is nothing in a directory, or no directory.
  public static boolean isEmpty(Path directory) throws IOException {
    if (Files.notExists(directory)) {
      return true;
    }
    try (Stream<Path> found = Files.list(directory)) {
      return found.findAny().isEmpty();
    }
  }

  /// Returns when the names of a directory survive power loss.
  public static void force(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /// Returns when the name of a directory survives power loss, and those of the directories above it: one that was made with its parents is
  /// lost with the first of their names. Ends where this process may not write: it has made no name there.
  public static void forceNames(Path directory) throws IOException {
    Path above = directory.toAbsolutePath().normalize().getParent();
    while (above != null && Files.isWritable(above) && Files.isReadable(above)) {
      force(above);
      above = above.getParent();
    }
  }
}
