package dev.kakehashi.transport.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.transport.TransportException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Which endpoint a command is about.
class MeantEndpointTest {
  private static final Path USUAL = Path.of("/run/usual");
  private static final Path OTHER = Path.of("/run/other");

  @TempDir private Path home;

  private final Map<String, String> environment = new HashMap<>();

  private void client(String... lines) throws IOException {
    Path file = Files.write(home.resolve("client.conf"), java.util.List.of(lines));
    environment.put("KAKEHASHI_CLIENT_CONF", file.toString());
  }

  private void expect(Path directory, String peer, @Nullable Path named, String required)
      throws IOException {
    assertEquals(
        new MeantEndpoint(directory, peer), MeantEndpoint.of(named, required, environment));
  }

  @Test
  void shouldTakeTheFilesWhereNothingElseIsSaid() throws IOException {
    client("# of the package", "", "runtime_directory = /run/usual # memory", "requirepeer=them");
    expect(USUAL, "them", null, "");
    expect(USUAL, "me", null, "me");
  }

  @Test
  void shouldTrustTheFilesUserForTheFilesDirectoryAlone() throws IOException {
    client("runtime_directory = /run/usual", "requirepeer = them");
    expect(OTHER, "", OTHER, "");
    expect(USUAL, "them", USUAL, "");
    environment.put("KAKEHASHI_RUNTIME_DIR", OTHER.toString());
    expect(OTHER, "", null, "");
    environment.put("KAKEHASHI_RUNTIME_DIR", USUAL.toString());
    expect(USUAL, "them", null, "");
  }

  @Test
  void shouldTakeOptionsBeforeTheEnvironmentAndThatBeforeTheFile() throws IOException {
    client("runtime_directory = /run/usual", "requirepeer = them");
    environment.put("KAKEHASHI_RUNTIME_DIR", OTHER.toString());
    environment.put("KAKEHASHI_REQUIREPEER", "others");
    expect(OTHER, "others", null, "");
    expect(USUAL, "others", USUAL, "");
    expect(OTHER, "me", null, "me");
  }

  @Test
  void shouldSayThatNothingNamesAnEndpoint() throws IOException {
    TransportException e =
        assertThrows(TransportException.class, () -> MeantEndpoint.of(null, "", environment));
    assertTrue(e.failure().hint().contains("--runtime-directory"), e.failure().hint());
    client("requirepeer = them");
    assertThrows(TransportException.class, () -> MeantEndpoint.of(null, "", environment));
  }

  @Test
  void shouldRefuseALineThatItDoesNotUnderstand() throws IOException {
    client("runtime_directory = /run/usual", "requirepear = them");
    TransportException e =
        assertThrows(TransportException.class, () -> MeantEndpoint.of(null, "", environment));
    assertTrue(String.valueOf(e.getMessage()).contains("line 2"), e.getMessage());
    environment.put("KAKEHASHI_CLIENT_CONF", home.resolve("none").toString());
    assertThrows(NoSuchFileException.class, () -> MeantEndpoint.of(null, "", environment));
  }
}
