package dev.kakehashi.requests;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kakehashi.protocol.file.ReplacedFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.OptionalLong;
import java.util.function.LongFunction;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/// Names of transactions outside of the process: 32 hexadecimal digits, bound to a user.
///
/// A token is one block of AES-128 that holds the handle and the first 64 bits of HMAC-SHA256(user, handle). So nothing is kept for a
/// transaction, its token holds as long as the keys, also after a restart, and shows nothing of the handle. A caller without the keys hits
/// a token that holds for him with probability 2^-64 for each try.
///
/// The keys are 48 random bytes in the file `transaction.key` of the data directory, made at its first start, which only its owner reads. A
/// copy of the data directory has to have it, too, if tokens shall hold there.
///
/// Thread-safe.
public final class TransactionTokens {
  /// In the data directory.
  public static final String FILE = "transaction.key";

  private static final int CIPHER_KEY_BYTES = 16;
  private static final int MAC_KEY_BYTES = 32;
  private static final int FILE_BYTES = CIPHER_KEY_BYTES + MAC_KEY_BYTES;
  private static final int TOKEN_BYTES = 16;
  private static final int TOKEN_DIGITS = 2 * TOKEN_BYTES;

  // Guarded by this: a token takes a microsecond.
  private final Cipher encryption;
  private final Cipher decryption;
  private final Mac mac;

  private TransactionTokens(byte[] keys) {
    try {
      SecretKeySpec cipherKey = new SecretKeySpec(keys, 0, CIPHER_KEY_BYTES, "AES");
      // One block that differs for each handle: no mode hides more of it.
      encryption = Cipher.getInstance("AES/ECB/NoPadding");
      encryption.init(Cipher.ENCRYPT_MODE, cipherKey);
      decryption = Cipher.getInstance("AES/ECB/NoPadding");
      decryption.init(Cipher.DECRYPT_MODE, cipherKey);
      mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(keys, CIPHER_KEY_BYTES, MAC_KEY_BYTES, "HmacSHA256"));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has AES and HMAC-SHA256", e);
    }
  }

  /// Reads the keys of a data directory, or makes them.
  ///
  /// @throws IOException if they cannot be read or made, or are damaged: tokens that are out would not hold any more, so nobody makes other
  ///     keys by itself
  public static TransactionTokens open(Path dataDirectory) throws IOException {
    Path file = dataDirectory.resolve(FILE);
    byte[] keys = Files.exists(file) ? read(file) : make(file);
    try {
      return new TransactionTokens(keys);
    } finally {
      Arrays.fill(keys, (byte) 0);
    }
  }

  private static byte[] read(Path file) throws IOException {
    if (Files.size(file) != FILE_BYTES) {
      throw new IOException(
          "\"%s\" is damaged: it has %d bytes instead of %d. Without it the endpoint makes another one, and tokens of open transactions do not hold any more."
              .formatted(file, Files.size(file), FILE_BYTES));
    }
    return Files.readAllBytes(file);
  }

  private static byte[] make(Path file) throws IOException {
    byte[] keys = new byte[FILE_BYTES];
    new SecureRandom().nextBytes(keys);
    ReplacedFile.write(file, keys);
    return keys;
  }

  /// The token of a user's transaction.
  public String token(String userName, long handle) {
    ByteBuffer block = ByteBuffer.allocate(TOKEN_BYTES);
    block.putLong(handle).putLong(proof(userName, handle));
    return HexFormat.of().formatHex(crypt(encryption, block.array()));
  }

  /// The handle that a token of this user stands for; empty: it is none of his. Takes the same time whatever is wrong with its content.
  public OptionalLong handle(String userName, String token) {
    return handle(token, handle -> userName);
  }

  /// The handle that a token stands for, whoever's it is; empty: it is none.
  ///
  /// @param userOf user of the transaction of a handle; null: there is none
  OptionalLong handle(String token, LongFunction<@Nullable String> userOf) {
    if (token.length() != TOKEN_DIGITS || !token.chars().allMatch(HexFormat::isHexDigit)) {
      return OptionalLong.empty();
    }
    ByteBuffer block = ByteBuffer.wrap(crypt(decryption, HexFormat.of().parseHex(token)));
    long handle = block.getLong();
    byte[] said = bytes(block.getLong());
    String userName = userOf.apply(handle);
    return userName != null && MessageDigest.isEqual(said, bytes(proof(userName, handle)))
        ? OptionalLong.of(handle)
        : OptionalLong.empty();
  }

  private static byte[] bytes(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }

  private synchronized byte[] crypt(Cipher cipher, byte[] block) {
    try {
      return cipher.doFinal(block);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a block of AES could not be computed", e);
    }
  }

  private synchronized long proof(String userName, long handle) {
    // The handle's length is fixed, so no other pair has the same bytes.
    mac.update(bytes(handle));
    return ByteBuffer.wrap(mac.doFinal(userName.getBytes(UTF_8))).getLong();
  }
}
