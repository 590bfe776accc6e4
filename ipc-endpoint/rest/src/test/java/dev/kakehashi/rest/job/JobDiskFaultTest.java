package dev.kakehashi.rest.job;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.testsupport.PreloadedLibrary;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Writes of results and of the journal fail: the job says so, nothing is left of its result, and later jobs run. The faults are made by
/// the library of the server's `DiskFaultTest`, preloaded into a process of its own.
@Timeout(120)
class JobDiskFaultTest {
  private static final int BYTES = 900_000;

  @TempDir Path directory;

  /// A process with faults on the paths that have a part.
  private final class Console implements AutoCloseable {
    private final Process process;
    private final BufferedReader out;
    private final BufferedWriter in;

    Console(String part) throws IOException, InterruptedException {
      Files.writeString(control(), "0", StandardCharsets.US_ASCII);
      ProcessBuilder builder =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-Xmx128m",
                  "-XX:TieredStopAtLevel=1",
                  "-cp",
                  System.getProperty("java.class.path"),
                  JobConsole.class.getName(),
                  data().toString())
              .redirectError(ProcessBuilder.Redirect.INHERIT);
      builder.environment().put("LD_PRELOAD", library().toString());
      builder.environment().put("KAKEHASHI_FAULT_CONTROL", control().toString());
      builder.environment().put("KAKEHASHI_FAULT_PATH", part);
      process = builder.start();
      out =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
      in =
          new BufferedWriter(
              new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
      assertEquals("open", answer());
    }

    String ask(String line) throws IOException {
      in.write(line + "\n");
      in.flush();
      return answer();
    }

    private String answer() throws IOException {
      while (true) {
        String line = out.readLine();
        if (line == null) {
          throw new IOException("the process has ended");
        }
        if (line.startsWith("answer ")) {
          return line.substring(7);
        }
        System.out.println(line); // of the log
      }
    }

    @Override
    public void close() throws IOException {
      in.close();
      try {
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } finally {
        process.destroyForcibly();
      }
    }
  }

  private Path data() {
    return directory.resolve("jobs");
  }

  private Path control() {
    return directory.resolve("control");
  }

  private void fault(String kind) throws IOException {
    // The byte is changed in place: the process has the file mapped.
    try (RandomAccessFile file = new RandomAccessFile(control().toFile(), "rw")) {
      file.write(kind.charAt(0));
    }
  }

  private Path library() throws IOException {
    return PreloadedLibrary.compile(Path.of("../server/src/test/c/disk_faults.c"), directory);
  }

  private static void assertStarts(String start, String answer) {
    assertTrue(answer.startsWith(start), answer);
  }

  private long files() throws IOException {
    try (Stream<Path> files = Files.list(data().resolve("results"))) {
      return files.count();
    }
  }

  @ParameterizedTest
  @CsvSource({"n, DISK_FULL", "e, IO_ERROR", "s, IO_ERROR"})
  void shouldFailWhatCannotBeWrittenAndGoOn(String kind, String code) throws Exception {
    String first;
    String third;
    try (Console console = new Console("/results/")) {
      first = token(console.ask("job 1 " + BYTES));
      fault(kind);
      String failed = console.ask("job 2 " + BYTES);
      assertStarts(
          "failed " + code + " " + BYTES + " could not write a file of a result: ", failed);
      assertFalse(failed.contains(directory.toString()), failed);
      assertEquals(1, files());
      assertEquals("whole " + BYTES, console.ask("read " + first));
      fault("0");
      third = token(console.ask("job 3 " + BYTES));
      assertEquals("whole " + BYTES, console.ask("read " + third));
    }
    try (Console console = new Console("/results/")) {
      assertEquals("whole " + BYTES, console.ask("read " + first));
      assertEquals("whole " + BYTES, console.ask("read " + third));
    }
  }

  @ParameterizedTest
  @CsvSource({"n, DISK_FULL", "e, IO_ERROR", "s, IO_ERROR"})
  void shouldRefuseJobsThatCannotBeKeptAndFreeTheirKeys(String kind, String code) throws Exception {
    String first;
    String second;
    try (Console console = new Console("/journal")) {
      first = token(console.ask("job 1 " + BYTES));
      fault(kind);
      assertStarts("refused " + code + " " + BYTES, console.ask("job 2 " + BYTES));
      assertStarts("refused " + code + " " + BYTES, console.ask("job 2 " + BYTES));
      assertEquals("whole " + BYTES, console.ask("read " + first));
      fault("0");
      second = token(console.ask("job 2 " + BYTES));
    }
    try (Console console = new Console("/journal")) {
      assertEquals("whole " + BYTES, console.ask("read " + first));
      assertEquals("whole " + BYTES, console.ask("read " + second));
      assertEquals(second, token(console.ask("job 2 " + BYTES)));
    }
  }

  @Test
  void shouldGoOnAfterShortWrites() throws Exception {
    try (Console console = new Console("/jobs/")) {
      fault("h");
      String token = token(console.ask("job 1 " + BYTES));
      assertEquals("whole " + BYTES, console.ask("read " + token));
    }
  }

  private static String token(String answer) {
    assertStarts("succeeded ", answer);
    return answer.split(" ", -1)[1];
  }
}
