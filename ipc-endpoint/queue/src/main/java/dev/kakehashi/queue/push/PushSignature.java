package dev.kakehashi.queue.push;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/// Signs requests, so that a target knows who sends them: HMAC-SHA256 over `timestamp.task.body`, in hexadecimal digits. Thread-safe.
///
/// The key is the text of a file that the owner of the data directory reads, and gives to targets.
final class PushSignature {
  private static final int KEY_BYTES = 32;
  private static final String ALGORITHM = "HmacSHA256";

  private final SecretKeySpec key;

  PushSignature(byte[] key) {
    this.key = new SecretKeySpec(key, ALGORITHM);
  }

  /// The key of a file, which is made if it is not there.
  ///
  /// @throws EngineException IO_ERROR
  static PushSignature of(Path file) {
    try {
      if (!Files.exists(file)) {
        byte[] random = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(random);
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        Files.deleteIfExists(fresh);
        Files.createFile(
            fresh,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(
            fresh,
            HexFormat.of().formatHex(random),
            StandardOpenOption.WRITE,
            StandardOpenOption.SYNC);
        Files.move(fresh, file);
        Directories.force(file.resolveSibling("."));
      }
      String text = Files.readString(file).strip();
      if (text.length() < KEY_BYTES) {
        throw new EngineException(
            ErrorCode.IO_ERROR, "\"" + file + "\" has no key of " + KEY_BYTES + " characters");
      }
      return new PushSignature(text.getBytes(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      throw new EngineException(
          ErrorCode.IO_ERROR, "could not read the key of pushes: " + e.getMessage(), e);
    }
  }

  String sign(long seconds, long taskId, byte[] body) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      mac.update((seconds + "." + taskId + ".").getBytes(StandardCharsets.US_ASCII));
      return HexFormat.of().formatHex(mac.doFinal(body));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}
