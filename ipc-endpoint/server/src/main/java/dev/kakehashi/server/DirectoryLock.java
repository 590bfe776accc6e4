package dev.kakehashi.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// Keeps a data directory for one process: a locked file that names it. The lock goes with the process, whatever becomes of it.
final class DirectoryLock implements AutoCloseable {
  private static final String FILE = "endpoint.pid";

  private final Path file;
  private final FileChannel channel;

  private DirectoryLock(Path file, FileChannel channel) {
    this.file = file;
    this.channel = channel;
  }

  /// @throws SettingsException when another process has the directory
  static DirectoryLock take(Path data) throws IOException {
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
      channel.truncate(0);
      byte[] pid = (ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII);
      channel.write(ByteBuffer.wrap(pid));
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
            .formatted(data, Files.readString(data.resolve(FILE)).trim()));
  }

  /// Process that has a data directory; -1 when none does.
  static long owner(Path data) throws IOException {
    Path file = data.resolve(FILE);
    if (Files.notExists(file)) {
      return -1;
    }
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      if (channel.tryLock() != null) {
        return -1; // left over: its owner was killed
      }
    }
    return Long.parseLong(Files.readString(file).trim());
  }

  @Override
  public void close() throws IOException {
    Files.deleteIfExists(file);
    channel.close();
  }
}
