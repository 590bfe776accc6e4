package dev.kakehashi.server.standby;

import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.file.ReplacedFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// File of a data directory that says that it is a standby's: a start as something else would give its log a second history. Stateless.
public final class StandbyMark {
  public static final String FILE = "standby";

  private StandbyMark() {}

  public static boolean isSet(Path data) {
    return Files.exists(data.resolve(FILE));
  }

  /// Returns when it survives power loss.
  public static void set(Path data) throws IOException {
    ReplacedFile.write(
        data.resolve(FILE), "follows another endpoint; \"kakehashi promote\" ends that\n");
  }

  public static void remove(Path data) throws IOException {
    Files.deleteIfExists(data.resolve(FILE));
    Directories.force(data);
  }
}
