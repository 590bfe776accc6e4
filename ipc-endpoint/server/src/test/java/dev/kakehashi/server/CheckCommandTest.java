package dev.kakehashi.server;

import dev.kakehashi.client.Session;
import java.io.IOException;
import java.io.RandomAccessFile;
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
  void shouldRefuseWhatIsNoDataDirectory() {
    Command.run("check", endpoint.dataDirectory().resolve("nothing").toString())
        .expect(1, "is no data directory");
  }
}
