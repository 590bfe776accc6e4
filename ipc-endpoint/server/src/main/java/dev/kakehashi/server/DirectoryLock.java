package dev.kakehashi.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Keeps a data directory for one process: a locked file with its process id and, if it is an endpoint, with its runtime directory on the
/// next line. The lock goes with the process, whatever becomes of it.
final class DirectoryLock implements AutoCloseable {
  private static final String FILE = "endpoint.pid";

  private final Path file;
  private final FileChannel channel;

  private DirectoryLock(Path file, FileChannel channel) {
    this.file = file;
    this.channel = channel;
  }

  /// Owner of a data directory.
  ///
  /// @param runtimeDirectory of an endpoint; null of a process that is none
  record Owner(long pid, @Nullable Path runtimeDirectory) {
    /// Where its sockets are.
    ///
    /// @param configured the runtime directory of the settings
    Path runtimeDirectory(Path configured) {
      return runtimeDirectory == null ? configured : runtimeDirectory;
    }
  }

  /// For a process that is no endpoint.
  ///
  /// @throws SettingsException when another process has the directory
  static DirectoryLock take(Path data) throws IOException {
    return take(data, "");
  }

  /// For an endpoint.
  ///
  /// @throws SettingsException when another process has the directory
  static DirectoryLock take(Path data, Path runtimeDirectory) throws IOException {
    return take(data, runtimeDirectory + "\n");
  }

  private static DirectoryLock take(Path data, String more) throws IOException {
    Path file = data.resolve(FILE);
    FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    boolean locked = false;
    try {
      locked = channel.tryLock() != null;
      if (!locked) {
        throw inUse(data);
      }
      String lines = ProcessHandle.current().pid() + "\n" + more;
      ByteBuffer bytes = ByteBuffer.wrap(lines.getBytes(StandardCharsets.UTF_8));
      int length = bytes.remaining();
      channel.write(bytes, 0);
      channel.truncate(length);
      return new DirectoryLock(file, channel);
    } catch (OverlappingFileLockException e) {
      throw inUse(data);
    } finally {
      if (!locked) {
        channel.close();
      }
    }
  }

  private static SettingsException inUse(Path data) throws IOException {
    return new SettingsException(
        "data directory \"%s\" is in use by another endpoint (process %s)"
            .formatted(data, Files.readAllLines(data.resolve(FILE)).getFirst()));
  }

  /// Process that has a data directory; none when it is free.
  static Optional<Owner> owner(Path data) throws IOException {
    Path file = data.resolve(FILE);
    if (Files.notExists(file)) {
      return Optional.empty();
    }
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      if (channel.tryLock() != null) {
        return Optional.empty(); // left over: its owner was killed
      }
    }
    List<String> lines = Files.readAllLines(file);
    return Optional.of(
        new Owner(
            Long.parseLong(lines.getFirst()), lines.size() > 1 ? Path.of(lines.get(1)) : null));
  }

  @Override
  public void close() throws IOException {
    Files.deleteIfExists(file);
    channel.close();
  }
}
