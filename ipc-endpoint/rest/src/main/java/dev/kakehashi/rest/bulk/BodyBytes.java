package dev.kakehashi.rest.bulk;

import dev.kakehashi.formats.coding.Coding;
import dev.kakehashi.os.ThreadPriority;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.ExchangeRequest;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.jspecify.annotations.Nullable;

/// The bytes of a body without its content coding, and their digest. One thread.
///
/// Reads fill the whole array, unless the end comes: what is behind writes long pieces. They throw a [Problem] as those of
/// [ExchangeRequest#body], and for a body that is not as coded as it says.
final class BodyBytes extends InputStream {
  private final ExchangeRequest request;
  private final MessageDigest digest = sha256();
  private @Nullable InputStream decoded;

  BodyBytes(ExchangeRequest request) {
    this.request = request;
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("this Java has no SHA-256", e);
    }
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    ThreadPriority.letOthersPass();
    int count;
    try {
      count = decoded().readNBytes(bytes, offset, length);
    } catch (IOException e) {
      throw Problem.of(
          400,
          "broken-coding",
          "Broken coding",
          "the body is not as its content coding says: " + e.getMessage());
    }
    digest.update(bytes, offset, count);
    return count == 0 && length > 0 ? -1 : count;
  }

  private InputStream decoded() throws IOException {
    InputStream open = decoded;
    if (open == null) {
      @Nullable String name = request.header("Content-Encoding");
      @Nullable Coding coding = name == null ? Coding.IDENTITY : Coding.find(name);
      if (coding == null) {
        throw new IllegalStateException("the route takes a coding that is not known: " + name);
      }
      // The space for uploads is the limit.
      open =
          coding == Coding.IDENTITY
              ? request.body()
              : coding.decode(request.body(), Long.MAX_VALUE);
      decoded = open;
    }
    return open;
  }

  /// Digest of all that was read.
  byte[] digest() {
    return digest.digest();
  }
}
