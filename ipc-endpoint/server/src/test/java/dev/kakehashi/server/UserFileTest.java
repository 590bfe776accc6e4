package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.protocol.authentication.ScramVerifier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@SuppressWarnings("NullAway.Init") // set before each test
class UserFileTest {
  /// Salt and password of the example in RFC 7677; the keys as PostgreSQL computes them.
  private static final String PENCIL =
      "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY="
          + ":wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";

  @TempDir private Path directory;

  private static ScramVerifier verifier(String password) {
    return ScramVerifier.of(password.toCharArray());
  }

  @Test
  void shouldMatchWhatPostgresqlHasHashed() {
    ScramVerifier pencil = ScramVerifier.parse(PENCIL);
    assertTrue(pencil.matches("pencil".toCharArray()));
    assertFalse(pencil.matches("pencils".toCharArray()));
    assertEquals(PENCIL, pencil.format());
  }

  @Test
  void shouldSaltEachPasswordAnewAndTakeAnyLetters() {
    ScramVerifier first = verifier("päss wörd 懸け橋");
    assertTrue(ScramVerifier.parse(first.format()).matches("päss wörd 懸け橋".toCharArray()));
    assertNotEquals(first.format(), verifier("päss wörd 懸け橋").format());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "md5abc", "SCRAM-SHA-256$0:AAAA$AAAA:AAAA", "SCRAM-SHA-256$1:AAAA$AAAA:AAAA"})
  void shouldRefuseOtherForms(String text) {
    assertThrows(IllegalArgumentException.class, () -> ScramVerifier.parse(text));
  }

  @Test
  void shouldKeepUsersInAFileOfItsOwnerAlone() throws IOException {
    UserFile users = new UserFile(directory.resolve("data"));
    assertEquals(Set.of(), users.read().keySet());
    users.add("alice", verifier("one"), false);
    users.add("bob", verifier("two"), false);
    assertTrue(Objects.requireNonNull(users.find("alice")).matches("one".toCharArray()));
    assertThrows(SettingsException.class, () -> users.add("bob", verifier("three"), false));
    assertTrue(Objects.requireNonNull(users.find("bob")).matches("two".toCharArray()));
    users.add("bob", verifier("three"), true);
    assertTrue(Objects.requireNonNull(users.find("bob")).matches("three".toCharArray()));
    assertNull(users.find("carol"));
    users.remove("alice");
    assertThrows(SettingsException.class, () -> users.remove("alice"));
    assertEquals(Set.of("bob"), users.read().keySet());
    assertEquals(
        PosixFilePermissions.fromString("rw-------"),
        Files.getPosixFilePermissions(directory.resolve("data/users")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a:b", "a\nb", "#a"})
  void shouldRefuseNamesThatTheFileCannotHold(String name) {
    UserFile users = new UserFile(directory);
    assertThrows(SettingsException.class, () -> users.add(name, verifier("x"), false));
  }

  @Test
  void shouldNameTheLineThatItCannotRead() throws IOException {
    Files.writeString(directory.resolve("users"), "# users\nalice:" + PENCIL + "\nbob:plain\n");
    SettingsException e =
        assertThrows(SettingsException.class, () -> new UserFile(directory).read());
    String message = String.valueOf(e.getMessage());
    assertTrue(message.contains("users:3:"), message);
    assertFalse(message.contains("plain"), "no secrets in messages");
  }
}
