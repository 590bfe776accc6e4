package dev.kakehashi.pgtests.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/// Which Unix sockets are listened on, from /proc.
public final class ProcessSockets {
  private static final String LISTENING_FLAG = "00010000";

  private ProcessSockets() {}

  /// Whether a socket listens at `path`. The file alone proves nothing: it may be left over from a killed process, or bound
  /// and not yet listening.
  public static boolean listens(long pid, Path path) {
    // num refcount protocol flags type state inode path
    try (Stream<String> lines = Files.lines(Path.of("/proc", Long.toString(pid), "net", "unix"))) {
      return lines
          .map(line -> line.trim().split("\\s+", 8))
          .anyMatch(
              f -> f.length == 8 && f[3].equals(LISTENING_FLAG) && f[7].equals(path.toString()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
