package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DoctorCommandTest {
  @TempDir private Path directory;

  @Test
  void shouldExpectTheVersionOfTheExtensionThatIsBuiltWithIt() throws IOException {
    String control = Files.readString(Path.of("../../fdw-extension/kakehashi_fdw.control"));
    assertTrue(
        control.contains("default_version = '" + DoctorCommand.EXTENSION_VERSION + "'"), control);
  }

  @Test
  void shouldLookAtThisMachine() {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    PrintStream before = System.out;
    System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
    try {
      Main.commandLine()
          .execute(
              "doctor",
              "--data-directory",
              directory.resolve("data").toString(),
              "--runtime-directory",
              directory.resolve("runtime").toString());
    } finally {
      System.setOut(before);
    }
    String text = said.toString(StandardCharsets.UTF_8);
    for (String subject :
        new String[] {
          "java", "memory", "data directory", "shared memory", "open files", "endpoint"
        }) {
      assertTrue(text.contains(subject), text);
    }
  }
}
