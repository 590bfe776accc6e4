package dev.kakehashi.applications.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// How processes of applications begin, and what their output says. In place of a JVM scripts are run.
class ProcessCommandTest {
  @TempDir Path directory;

  private Path script(String text) throws IOException {
    Path script = directory.resolve("java");
    Files.writeString(script, "#!/bin/sh\n" + text);
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
    return script;
  }

  private Process start(Path program, ApplicationOptions options) throws IOException {
    ProcessSettings settings =
        new ProcessSettings(directory, program, "/a.jar:/b.jar", "x.Main", "", "");
    return ProcessCommand.start(settings, options, directory.resolve("link"));
  }

  private static List<String> lines(Process process) throws IOException {
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
        .lines()
        .toList();
  }

  @Test
  void shouldLimitMemoryAndStack() throws IOException {
    Path program = script("for word in \"$@\"; do echo \"$word\"; done\n");
    ApplicationOptions usual = ApplicationOptions.DEFAULT;
    List<String> words = lines(start(program, usual));
    assertTrue(words.contains("-Xmx" + usual.memoryBytes()));
    assertTrue(words.contains("-Xss" + usual.maxStackBytes()));
    assertTrue(words.contains("-XX:+ExitOnOutOfMemoryError"));
    assertEquals(
        List.of("-cp", "/a.jar:/b.jar", "x.Main", directory.resolve("link").toString()),
        words.subList(words.size() - 4, words.size()));
    List<String> bounded =
        lines(start(program, new ApplicationOptions(1, 1, 1, 1, 1, 1L << 40, 1, 1)));
    assertTrue(bounded.contains("-Xmx" + (16 << 20)), "a JVM needs some memory");
    assertTrue(bounded.contains("-Xss" + (1 << 30)), "and has no longer stack");
  }

  @Test
  void shouldGiveNothingOfTheEndpointsEnvironment() throws IOException {
    List<String> lines = lines(start(script("pwd\nenv\n"), ApplicationOptions.DEFAULT));
    assertEquals("/", lines.getFirst());
    assertTrue(lines.contains("LC_ALL=C.UTF-8"));
    for (String name : System.getenv().keySet()) {
      if (!List.of("LC_ALL", "PATH", "PWD", "OLDPWD", "SHLVL", "_").contains(name)) {
        assertFalse(lines.stream().anyMatch(line -> line.startsWith(name + "=")), name);
      }
    }
  }

  @Test
  void shouldTellWhichMemoryAProcessLacked() throws Exception {
    String end = "Terminating due to java.lang.OutOfMemoryError: Java heap space";
    Process process =
        start(script("echo hello\necho '" + end + "' >&2\nexit 3\n"), ApplicationOptions.DEFAULT);
    ProcessOutput output = ProcessOutput.read("shop", process);
    assertEquals(3, process.waitFor());
    // The reader may not be done when the process is.
    Await.until("its last words", () -> !output.lackedMemory().isEmpty());
    assertEquals("Java heap space", output.lackedMemory());
  }

  /// Lines of any length and number neither stop the process nor fill the endpoint's memory.
  @Test
  void shouldTakeAnyOutput() throws Exception {
    Process process =
        start(
            script("head -c 5000000 /dev/zero | tr '\\0' x\nyes | head -n 100000\nprintf 'last'\n"),
            ApplicationOptions.DEFAULT);
    ProcessOutput output = ProcessOutput.read("shop", process);
    assertEquals(0, process.waitFor());
    assertEquals("", output.lackedMemory());
  }
}
