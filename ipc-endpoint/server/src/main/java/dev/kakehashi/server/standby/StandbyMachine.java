package dev.kakehashi.server.standby;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;

/// Tells two standbys of one name from each other, by machine and data directory. It is no file of the directory, which would be copied
/// with it; and the same after a start, so that the primary need not wait until the process before has gone. Stateless.
public final class StandbyMachine {
  /// Clones of one machine may have one identifier, and containers none: so the name of the host counts, too.
  private static final List<Path> IDENTITIES =
      List.of(Path.of("/etc/machine-id"), Path.of("/proc/sys/kernel/hostname"));

  private StandbyMachine() {}

  /// Which machine and directory it is, as a word that says nothing else.
  public static String of(Path data) {
    StringBuilder all = new StringBuilder();
    try {
      for (Path identity : IDENTITIES) {
        all.append(Files.isReadable(identity) ? Files.readString(identity) : "\n");
      }
    } catch (IOException e) {
      throw new UncheckedIOException("it is not known which machine this is", e);
    }
    all.append(data.toAbsolutePath().normalize());
    return UUID.nameUUIDFromBytes(all.toString().getBytes(StandardCharsets.UTF_8)).toString();
  }
}
