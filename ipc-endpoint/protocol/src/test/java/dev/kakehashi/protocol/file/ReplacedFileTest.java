package dev.kakehashi.protocol.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@SuppressWarnings("NullAway.Init") // set before each test
class ReplacedFileTest {
  @TempDir private Path directory;

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(each -> String.valueOf(each.getFileName())).sorted().toList();
    }
  }

  @Test
  void shouldReplaceAFileWhole() throws IOException {
    Path file = directory.resolve("state");
    ReplacedFile.write(file, "the first state, which is longer");
    ReplacedFile.write(file, "next\n");
    assertEquals("next\n", Files.readString(file));
    assertEquals(List.of("state"), names());
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
  }

  @Test
  void shouldPutUpWithWhatACrashHasLeft() throws IOException {
    Path file = directory.resolve("state");
    Files.writeString(directory.resolve("state.new"), "half of a state that never was");
    ReplacedFile.write(file, "whole");
    assertEquals("whole", Files.readString(file));
    assertEquals(List.of("state"), names());
  }

  /// A directory that is not empty cannot be replaced by a file.
  @Test
  void shouldLeaveNothingBehindWhenItFails() throws IOException {
    Path file = directory.resolve("state");
    Files.createDirectories(file.resolve("inside"));
    assertThrows(IOException.class, () -> ReplacedFile.write(file, "next"));
    assertEquals(List.of("state"), names());
    assertThrows(
        IOException.class, () -> ReplacedFile.write(directory.resolve("nowhere/state"), "next"));
  }
}
