package dev.kakehashi.server.standby;

import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.file.ReplacedFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// File of a data directory that `kakehashi rejoin` is changing, or was when it was interrupted: nothing starts there until it is done.
/// Stateless.
public final class RejoinMark {
  public static final String FILE = "rejoin.tmp";

  private RejoinMark() {}

  public static boolean isSet(Path data) {
    return Files.exists(data.resolve(FILE));
  }

  /// Returns when it survives power loss.
  public static void set(Path data) throws IOException {
    ReplacedFile.write(data.resolve(FILE), "\"kakehashi rejoin\" has to be done again\n");
  }

  public static void remove(Path data) throws IOException {
    Files.deleteIfExists(data.resolve(FILE));
    Directories.force(data);
  }
}
