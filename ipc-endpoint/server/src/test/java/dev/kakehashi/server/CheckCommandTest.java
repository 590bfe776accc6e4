package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.kakehashi.client.Session;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// `kakehashi check`: what it says and its exit code.
@SuppressWarnings("NullAway.Init") // set before each test
class CheckCommandTest {
  private EndpointProcess endpoint;

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

  private Command check() {
    return Command.run("check", endpoint.dataDirectory().toString());
  }

  @Test
  void shouldRefuseADirectoryInUse() {
    check().expect(1, "is in use by another endpoint");
  }

  @Test
  void shouldPassWhatAKillLeaves() throws Exception {
    endpoint.kill();
    check()
        .expect(
            0,
            "table \"public\".\"item\": 20 rows decode",
            "index \"item_name\": 20 entries",
            "no problems");
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
    check().expect(1, file.getFileName().toString());
  }

  @Test
  void shouldNameWhatIsMissingOrDamagedWhateverItIs() throws Exception {
    endpoint.kill();
    Path users = endpoint.dataDirectory().resolve("users");
    Files.write(users, new byte[] {'a', ':', (byte) 0xC3, 'x', '\n'});
    check().expect(1, "PROBLEM: " + users + ":1: ");
    Files.delete(users);
    Path store = endpoint.dataDirectory().resolve("store");
    Path log = store.resolve("log");
    Path moved = store.resolveSibling("moved");
    Files.move(log, moved);
    check().expect(1, "PROBLEM: store is corrupted: log segment \"" + log, "is missing");
    Files.move(moved, log);
    Path rows = store.resolve("rows");
    Files.move(rows, moved);
    check().expect(1, "PROBLEM: store is corrupted: base image \"" + rows + "\" is missing");
    Files.move(moved, rows);
    Path format = store.resolve("FORMAT");
    Files.write(format, new byte[] {(byte) 0xFF, 'x'});
    check().expect(1, "PROBLEM: data directory \"" + store + "\" has format");
    Files.delete(format);
    check().expect(1, "has no file \"FORMAT\"");
  }

  @Test
  void shouldNameWhatAStartSetsAside() throws Exception {
    endpoint.kill();
    check().expect(0, "no problems\n");
    Path registry = endpoint.dataDirectory().resolve("transactions");
    byte[] whole = Files.readAllBytes(registry);
    byte[] damaged = whole.clone();
    // Behind the header, which looks as it should.
    Arrays.fill(damaged, 1700, 5796, (byte) 0x5a);
    Files.write(registry, damaged);
    Path journal = Files.createDirectories(endpoint.dataDirectory().resolve("http"));
    journal = Files.writeString(journal.resolve("journal"), "this is no journal");
    Command.run("check", "-q", endpoint.dataDirectory().toString())
        .expect(
            0,
            "WARNING: transactions: damaged, the next start sets it aside",
            "WARNING: jobs of HTTP: damaged, the next start sets a copy of it aside",
            "\"" + journal + "\" has 0 records");
    check().expect(0, "no problems, 2 warnings");
    assertArrayEquals(damaged, Files.readAllBytes(registry));
    Files.write(registry, whole);
    Files.delete(journal);
    check().expect(0, "no problems\n");
  }

  @Test
  void shouldRefuseAFileInThePlaceOfADirectory() throws Exception {
    Path file = Files.writeString(endpoint.dataDirectory().resolveSibling("file"), "content");
    Command.run("check", file.toString()).expect(1, "is no data directory");
    Command.run("restore", file.toString(), file.resolveSibling("new").toString())
        .expect(1, "\"" + file + "\" is no backup");
    Command.run(
            "backup",
            file.toString(),
            "-D",
            endpoint.dataDirectory().toString(),
            "-R",
            endpoint.runtimeDirectory().toString())
        .expect(1, "\"" + file + "\" is not a directory");
  }

  @Test
  void shouldRefuseWhatIsNoDataDirectory() {
    Command.run("check", endpoint.dataDirectory().resolve("nothing").toString())
        .expect(1, "is no data directory");
  }
}
