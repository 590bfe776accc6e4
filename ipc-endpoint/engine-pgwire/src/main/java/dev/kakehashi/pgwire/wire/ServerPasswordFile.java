package dev.kakehashi.pgwire.wire;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Set;

/// The file with the password. It is read for each connection, so that a new password needs no restart.
final class ServerPasswordFile {
  private static final int MAX_BYTES = 1 << 16;

  private static final Set<PosixFilePermission> OF_OWNER =
      EnumSet.of(
          PosixFilePermission.OWNER_READ,
          PosixFilePermission.OWNER_WRITE,
          PosixFilePermission.OWNER_EXECUTE);

  private ServerPasswordFile() {}

  /// @throws EngineException AUTHENTICATION_FAILED: others than its owner may use the file, or it cannot be read
  static String read(Path file) {
    try {
      PosixFileAttributes attributes = Files.readAttributes(file, PosixFileAttributes.class);
      if (!attributes.isRegularFile()) {
        throw refused(file, "is no plain file");
      }
      if (!OF_OWNER.containsAll(attributes.permissions())) {
        throw refused(file, "has group or world access")
            .withHint("Its permissions should be u=rw (0600) or less.");
      }
      if (attributes.size() > MAX_BYTES) {
        throw refused(file, "is longer than " + MAX_BYTES + " bytes");
      }
      return Files.readString(file).stripTrailing();
    } catch (IOException e) {
      throw new EngineException(
          ErrorCode.AUTHENTICATION_FAILED, "could not read password file \"" + file + "\"", e);
    }
  }

  private static EngineException refused(Path file, String why) {
    return new EngineException(
        ErrorCode.AUTHENTICATION_FAILED, "password file \"" + file + "\" " + why);
  }
}
