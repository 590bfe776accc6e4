package dev.kakehashi.engine.store.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The library of processes that are killed.
final class RocksLibraryTest {
  private static final int PROCESSES = 3;

  @TempDir private Path temporary;

  /// Loads the library, says so, and waits until it is killed.
  static final class Loader {
    private Loader() {}

    public static void main(String[] arguments) throws InterruptedException {
      try {
        RocksLibrary.load();
        System.out.println("loaded");
      } catch (EngineException e) {
        System.out.println(e.getMessage());
      }
      Thread.currentThread().join();
    }
  }

  @Test
  void shouldLeaveOneCopyOfProcessesThatAreKilled() throws Exception {
    List<Process> first = startAtOnce();
    first.forEach(process -> assertEquals("loaded", line(process)));
    kill(first);
    Path library = library();
    Object inode = Files.getAttribute(library, "unix:ino");

    List<Process> second = startAtOnce();
    second.forEach(process -> assertEquals("loaded", line(process)));
    kill(second);
    assertEquals(library, library());
    assertEquals(inode, Files.getAttribute(library, "unix:ino"), "extracted once more");
  }

  @Test
  void shouldReplaceWhatIsNotTheLibrary() throws Exception {
    List<Process> first = List.of(start());
    assertEquals("loaded", line(first.getFirst()));
    Path library = library();
    byte[] content = Files.readAllBytes(library);
    content[content.length / 2] ^= 1;
    // As another version does: the process that has the old one goes on with it.
    Path other = Files.write(temporary.resolve("other"), content);
    Files.move(other, library, StandardCopyOption.REPLACE_EXISTING);
    // A file of a process that was killed while it extracted.
    Files.write(library.resolveSibling(library.getFileName() + ".part"), new byte[10]);

    List<Process> second = List.of(start());
    assertEquals("loaded", line(second.getFirst()));
    assertEquals(library, library());
    assertNotEquals(content[content.length / 2], Files.readAllBytes(library)[content.length / 2]);
    kill(first);
    kill(second);
  }

  @Test
  void shouldRefuseADirectoryThatOthersCanWriteTo() throws Exception {
    List<Process> first = List.of(start());
    assertEquals("loaded", line(first.getFirst()));
    kill(first);
    Path directory = library().getParent();
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));

    List<Process> second = List.of(start());
    String said = line(second.getFirst());
    kill(second);
    assertTrue(said.contains("is not a directory of this user alone"), said);
  }

  /// The one file of the directory besides that of the lock.
  private Path library() throws IOException {
    try (Stream<Path> files = Files.walk(temporary)) {
      List<Path> found =
          files
              .filter(file -> Files.isRegularFile(file) && !file.endsWith("lock"))
              .filter(file -> !file.toString().contains("hsperfdata"))
              .toList();
      assertEquals(1, found.size(), found::toString);
      return found.getFirst();
    }
  }

  private List<Process> startAtOnce() throws IOException {
    List<Process> started = new ArrayList<>();
    for (int i = 0; i < PROCESSES; i++) {
      started.add(start());
    }
    return started;
  }

  private Process start() throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-Djava.io.tmpdir=" + temporary,
            "-cp",
            System.getProperty("java.class.path"),
            Loader.class.getName())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  private static String line(Process process) {
    try {
      return String.valueOf(
          new BufferedReader(
                  new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))
              .readLine());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void kill(List<Process> processes) throws InterruptedException {
    for (Process process : processes) {
      process.destroyForcibly().waitFor();
    }
  }
}
