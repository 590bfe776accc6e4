package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.Session;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// `kakehashi check`: what it says and its exit code.
@SuppressWarnings("NullAway.Init") // set before each test
class CheckCommandTest {
  private EndpointProcess endpoint;

  /// What a command has printed and its exit code.
  record Outcome(int exitCode, String output) {}

  /// Runs a command in this process.
  static Outcome run(String... arguments) {
    PrintStream out = System.out;
    PrintStream err = System.err;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    try (PrintStream to = new PrintStream(printed, true, StandardCharsets.UTF_8)) {
      System.setOut(to);
      System.setErr(to);
      int code = Main.commandLine().execute(arguments);
      return new Outcome(code, printed.toString(StandardCharsets.UTF_8));
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
  }

  @BeforeEach
  void start() throws IOException {
    endpoint = EndpointProcess.open();
    try (Session session = endpoint.attach()) {
      session.execute("create table item (id int8 primary key, name text not null)");
      session.execute("create index item_name on item (name)");
      for (int id = 0; id < 20; id++) {
        session.execute("insert into item values (" + id + ", 'name " + id + "')");
      }
    }
  }

  @AfterEach
  void stop() throws IOException {
    endpoint.close();
  }

  private Outcome check() {
    return run("check", endpoint.dataDirectory().toString());
  }

  @Test
  void shouldRefuseADirectoryInUse() {
    Outcome outcome = check();
    assertEquals(1, outcome.exitCode());
    assertTrue(outcome.output().contains("is in use by another endpoint"), outcome.output());
  }

  @Test
  void shouldPassWhatAKillLeaves() throws Exception {
    endpoint.kill();
    Outcome outcome = check();
    assertEquals(0, outcome.exitCode(), outcome.output());
    assertTrue(
        outcome.output().contains("table \"public\".\"item\": 20 rows decode"), outcome.output());
    assertTrue(outcome.output().contains("index \"item_name\": 20 entries"), outcome.output());
    assertTrue(outcome.output().contains("no problems"), outcome.output());
    // It has left nothing: the endpoint starts as after a kill.
    endpoint.start();
  }

  @Test
  void shouldNameADamagedFile() throws Exception {
    endpoint.kill();
    Path image = endpoint.dataDirectory().resolve("store").resolve("rows");
    Path file;
    try (Stream<Path> files = Files.list(image)) {
      file = files.filter(each -> each.toString().endsWith(".sst")).findFirst().orElseThrow();
    }
    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
      bytes.seek(10);
      bytes.write(bytes.read() ^ 0xFF);
      bytes.seek(0);
      bytes.write(0xA5);
    }
    Outcome outcome = check();
    assertEquals(1, outcome.exitCode(), outcome.output());
    assertTrue(outcome.output().contains(file.getFileName().toString()), outcome.output());
  }

  @Test
  void shouldRefuseWhatIsNoDataDirectory() {
    Outcome outcome = run("check", endpoint.dataDirectory().resolve("nothing").toString());
    assertEquals(1, outcome.exitCode());
    assertTrue(outcome.output().contains("is no data directory"), outcome.output());
  }
}
