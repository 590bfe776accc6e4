package dev.kakehashi.tools.shell.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.tools.shell.ShellException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PasswordFileTest {
  private static final String LINES =
      """
      # first:80:alice:comment
      first:80:alice:one
      first:*:alice:any port
      *:80:bob:any host
      second:443:*:any:user
      ::1:80:carol:too many fields are a password
      \\:\\:1:80:carol:c\\:d\\\\e
      localhost:0:dave:socket
      short:80:alice
      """;

  @TempDir private Path directory;

  private Path file(String permissions) throws IOException {
    Path file = Files.writeString(directory.resolve("passwords"), LINES);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
  }

  private @Nullable String find(String url, String user) throws IOException {
    return PasswordFile.find(file("rw-------"), HttpPlace.of(url, null), user);
  }

  @Test
  void shouldTakeTheFirstLineThatFits() throws IOException {
    assertEquals("one", find("http://first", "alice"));
    assertEquals("any port", find("http://first:81", "alice"));
    assertEquals("any host", find("http://elsewhere:80", "bob"));
    assertEquals("any:user", find("https://second", "erin"));
    assertEquals("c:d\\e", find("http://[::1]:80", "carol"));
    assertEquals("socket", find("unix:/run/kakehashi.sock", "dave"));
  }

  @Test
  void shouldFindNothingForOthers() throws IOException {
    assertNull(find("http://first", "mallory"));
    assertNull(find("http://elsewhere:81", "bob"));
    assertNull(find("http://short", "alice"));
    assertNull(find("http://localhost", "dave"), "a port is no socket");
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-r-----", "rw--w----", "rw----r--", "rw-----w-", "rwxrwxrwx"})
  void shouldRefuseAFileThatOthersCanUse(String permissions) throws IOException {
    Path file = file(permissions);
    ShellException refused =
        assertThrows(
            ShellException.class,
            () -> PasswordFile.find(file, HttpPlace.of("http://first", null), "alice"));
    assertTrue(String.valueOf(refused.getMessage()).contains("chmod 0600"), refused::getMessage);
  }
}
