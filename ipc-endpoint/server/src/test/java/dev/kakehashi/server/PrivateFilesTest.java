package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.Session;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Files of an endpoint are its OS user's alone, whatever the umask.
@Timeout(120)
class PrivateFilesTest {
  @TempDir private Path home;

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  /// Paths that others could reach.
  private static List<String> open(Path directory) throws IOException {
    try (Stream<Path> found = Files.walk(directory)) {
      List<Path> all = found.filter(path -> !Files.isSymbolicLink(path)).toList();
      assertTrue(all.size() > 3, () -> directory + " has nothing in it");
      List<String> open = new java.util.ArrayList<>();
      for (Path path : all) {
        // A file that the client has made, in a directory that is closed.
        boolean ofClient = path.toString().endsWith(".cq4");
        if (!ofClient && !mode(path).endsWith("------")) {
          open.add(path + " " + mode(path));
        }
      }
      return open;
    }
  }

  @Test
  void shouldWriteNothingThatOthersCanRead() throws IOException {
    Path backup = home.resolve("backup");
    Path restored = home.resolve("restored");
    try (EndpointProcess endpoint = EndpointProcess.openWithoutUmask("archive=on")) {
      try (Session session = endpoint.attach()) {
        session.execute("create table t (id int primary key, v text)");
        session.execute("insert into t select i, 'secret' from generate_series(1, 1000) i");
      }
      String data = endpoint.dataDirectory().toString();
      Command.run("backup", backup.toString(), "-D", data).expect(0, "backup of");
      assertEquals(List.of(), open(endpoint.dataDirectory()));
      assertEquals(List.of(), open(endpoint.runtimeDirectory()));
      assertEquals(List.of(), open(backup));
      Command.run("restore", backup.toString(), restored.toString()).expect(0, "restored");
      assertEquals("rwx------", mode(restored));
      endpoint.stop();
      // As earlier versions have made it.
      Files.setPosixFilePermissions(
          endpoint.dataDirectory(), PosixFilePermissions.fromString("rwxr-xr-x"));
      endpoint.start();
      assertEquals("rwx------", mode(endpoint.dataDirectory()));
    }
  }

  @Test
  void shouldLeaveADirectoryAloneThatIsSomebodyElses() throws IOException {
    Path other = Files.createDirectory(home.resolve("other"));
    Files.setPosixFilePermissions(other, PosixFilePermissions.fromString("rwxr-xr-x"));
    PrivateDirectory.prepare(other);
    assertEquals("rwx------", mode(other));
    Files.writeString(other.resolve("letter"), "dear");
    PrivateDirectory.prepare(other);
    Files.setPosixFilePermissions(other, PosixFilePermissions.fromString("rwxr-xr-x"));
    SettingsException refused =
        assertThrows(SettingsException.class, () -> PrivateDirectory.prepare(other));
    assertTrue(String.valueOf(refused.getMessage()).contains("chmod 0700"));
    assertEquals("rwxr-xr-x", mode(other));
    Path made = home.resolve("a").resolve("b");
    PrivateDirectory.prepare(made);
    assertEquals("rwx------", mode(made));
  }
}
