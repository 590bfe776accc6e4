package dev.kakehashi.requests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Names of transactions that nobody guesses.
class TransactionTokensTest {
  private static final long HANDLE = 0x0123_4567_89AB_CDEFL;

  @TempDir private Path directory;

  @Test
  void shouldGiveBackTheHandle() throws IOException {
    TransactionTokens tokens = TransactionTokens.open(directory);
    for (long handle : new long[] {1, -1, HANDLE, Long.MIN_VALUE, 1L << 16 | 7}) {
      String token = tokens.token("alice", handle);
      assertTrue(token.matches("[0-9a-f]{32}"), token);
      assertEquals(OptionalLong.of(handle), tokens.handle("alice", token));
      assertEquals(OptionalLong.of(handle), tokens.handle("alice", token.toUpperCase(Locale.ROOT)));
      assertEquals(token, tokens.token("alice", handle));
    }
  }

  @Test
  void shouldHoldAfterARestart() throws IOException {
    String token = TransactionTokens.open(directory).token("alice", HANDLE);
    assertEquals(OptionalLong.of(HANDLE), TransactionTokens.open(directory).handle("alice", token));
  }

  @Test
  void shouldHoldForItsUserAlone() throws IOException {
    TransactionTokens tokens = TransactionTokens.open(directory);
    String token = tokens.token("alice", HANDLE);
    for (String other : new String[] {"bob", "alic", "alice ", "Alice", ""}) {
      assertEquals(OptionalLong.empty(), tokens.handle(other, token), other);
      assertNotEquals(token, tokens.token(other, HANDLE));
    }
  }

  /// Neither the order of handles nor one handle's token says anything of another's.
  @Test
  void shouldNotShowTheHandle() throws IOException {
    TransactionTokens tokens = TransactionTokens.open(directory);
    Set<String> parts = new HashSet<>();
    for (long handle = 0; handle < 1000; handle++) {
      String token = tokens.token("alice", handle);
      assertTrue(parts.add(token.substring(0, 16)), "a part is there twice");
      assertTrue(parts.add(token.substring(16)), "a part is there twice");
    }
  }

  @Test
  void shouldRefuseEveryOtherToken() throws IOException {
    TransactionTokens tokens = TransactionTokens.open(directory);
    String token = tokens.token("alice", HANDLE);
    for (int digit = 0; digit < token.length(); digit++) {
      for (int change = 1; change < 16; change++) {
        char other = Character.forDigit(Character.digit(token.charAt(digit), 16) ^ change, 16);
        String changed = token.substring(0, digit) + other + token.substring(digit + 1);
        assertEquals(OptionalLong.empty(), tokens.handle("alice", changed), changed);
      }
    }
    Random random = new Random(42);
    for (int i = 0; i < 10_000; i++) {
      String guess = "%016x%016x".formatted(random.nextLong(), random.nextLong());
      assertEquals(OptionalLong.empty(), tokens.handle("alice", guess), guess);
    }
  }

  @Test
  void shouldRefuseWhatIsNoToken() throws IOException {
    TransactionTokens tokens = TransactionTokens.open(directory);
    String token = tokens.token("alice", HANDLE);
    for (String bad :
        new String[] {
          "",
          "0",
          token.substring(1),
          token + "0",
          " " + token.substring(1),
          "-" + token.substring(1),
          "../" + token.substring(3),
          "g" + token.substring(1),
          "\uFF11" + token.substring(1),
          "0x" + token
        }) {
      assertEquals(OptionalLong.empty(), tokens.handle("alice", bad), bad);
    }
  }

  @Test
  void shouldNotHoldInAnotherDataDirectory() throws IOException {
    String token = TransactionTokens.open(directory).token("alice", HANDLE);
    Path other = Files.createDirectory(directory.resolve("other"));
    assertEquals(OptionalLong.empty(), TransactionTokens.open(other).handle("alice", token));
  }

  @Test
  void shouldKeepItsKeysFromOthers() throws IOException {
    TransactionTokens.open(directory);
    Path file = directory.resolve(TransactionTokens.FILE);
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    assertEquals(48, Files.size(file));
    try (var files = Files.list(directory)) {
      assertEquals(1, files.count());
    }
  }

  /// A start that was killed has left its file under another name.
  @Test
  void shouldMakeItsKeysAfterAnUnfinishedStart() throws IOException {
    Files.write(directory.resolve(TransactionTokens.FILE + ".new"), new byte[3]);
    TransactionTokens tokens = TransactionTokens.open(directory);
    assertEquals(OptionalLong.of(5), tokens.handle("alice", tokens.token("alice", 5)));
  }

  @Test
  void shouldRefuseDamagedKeys() throws IOException {
    Path file = directory.resolve(TransactionTokens.FILE);
    Files.write(file, new byte[47]);
    IOException failure = assertThrows(IOException.class, () -> TransactionTokens.open(directory));
    assertTrue(String.valueOf(failure.getMessage()).contains("47 bytes"), failure.getMessage());
    assertEquals(47, Files.size(file));
  }
}
