package dev.kakehashi.server.standby;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.Session;
import dev.kakehashi.server.Command;
import dev.kakehashi.server.EndpointProcess;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Which log a standby may follow, and which standby of a name may follow a log.
@SuppressWarnings("NullAway.Init") // set before each test
@Timeout(240)
class StandbyIdentityTest {
  private static final int HEADER_BYTES = 32;
  private static final int FIRST_FRAME = 4096;

  private StandbyPair pair;
  @TempDir private Path home;

  @BeforeEach
  void start() throws Exception {
    pair = StandbyPair.open(home);
    try (Session session = pair.primary.attach()) {
      session.execute("create table entry (id int8 primary key)");
    }
    pair.followBackup();
    insert(1);
    pair.awaitStandby();
  }

  @AfterEach
  void stop() throws IOException {
    pair.close();
  }

  private void insert(long id) {
    try (Session session = pair.primary.attach()) {
      session.execute("insert into entry values (%d)".formatted(id));
    }
  }

  private static List<String> ids(EndpointProcess endpoint) {
    return StandbyPair.column(endpoint, "select id::text from entry order by entry.id");
  }

  /// The one segment of a log, which is short.
  private static Path segment(EndpointProcess endpoint) throws IOException {
    Path log = endpoint.dataDirectory().resolve("store/log");
    try (var files = Files.list(log)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("0000000000000000"))
          .findFirst()
          .orElseThrow();
    }
  }

  private static int checksum(ByteBuffer segment, int frame) {
    CRC32C crc = new CRC32C();
    ByteBuffer before = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN);
    // Identifier of the log, and the checksum of a frame before it in its group, of which there is
    // none.
    crc.update(before.putLong(segment.getLong(8)).putInt(0).flip());
    int end = frame + HEADER_BYTES + segment.getInt(frame + 4);
    crc.update(segment.duplicate().position(frame + 4).limit(end));
    return (int) crc.getValue();
  }

  /// Changes the last byte of the last group, which is the time of it, as another group of the same length would have it.
  private static void doctor(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    ByteBuffer segment = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int last = -1;
    int at = FIRST_FRAME;
    while (segment.getLong(at + 8) == at && segment.getInt(at + 4) > 0) {
      assertEquals(checksum(segment, at), segment.getInt(at), "the frame at " + at);
      last = at;
      at += (HEADER_BYTES + segment.getInt(at + 4) + 7) & -8;
    }
    assertTrue(last > 0, "no group was written");
    int end = last + HEADER_BYTES + segment.getInt(last + 4);
    bytes[end - 1] ^= 1;
    segment.putInt(last, checksum(segment, last));
    Files.write(file, bytes);
  }

  @Test
  void shouldFollowNoLogThatIsAnotherOneAtTheSamePlace() throws Exception {
    pair.standby.stop();
    Path segment = segment(pair.standby);
    byte[] whole = Files.readAllBytes(segment);
    doctor(segment);
    pair.standby.start();
    String position = pair.position(pair.standby);
    insert(2);
    Await.until(
        "the refusal",
        () ->
            pair.ask(pair.standby, "status")
                .output()
                .contains("is at %s, and its log is of another history".formatted(position)));
    pair.ask(pair.standby, "status")
        .expect(0, "what it has before that is at 1/0/", "and the log here has 1/0/", "checksum");
    assertEquals(position, pair.position(pair.standby));
    assertEquals(List.of("1"), ids(pair.standby));
    // With its own log it goes on.
    pair.standby.stop();
    Files.write(segment, whole);
    pair.standby.start();
    pair.awaitStandby();
    assertEquals(List.of("1", "2"), ids(pair.standby));
    // A primary that was away is compared again.
    pair.primary.kill();
    pair.primary.start();
    insert(3);
    pair.awaitStandby();
    assertEquals(List.of("1", "2", "3"), ids(pair.standby));
  }

  /// A second standby with the settings of the first one, as a clone of its machine has them.
  @Test
  void shouldLetOneStandbyOfANameFollow() throws Exception {
    try (EndpointProcess clone = EndpointProcess.prepare(clonedConfig())) {
      pair.standby.stop();
      copy(pair.standby.dataDirectory(), clone.dataDirectory());
      // Its own process of before is no other one.
      pair.standby.start();
      insert(2);
      pair.awaitStandby();
      clone.start();
      Await.until(
          "the refusal",
          () -> statusOf(clone).contains("of another machine or directory follows this log"));
      insert(3);
      pair.awaitStandby();
      assertEquals(List.of("1"), ids(clone));
      // A silent one loses its place after some time, and is the other one when it comes back.
      pair.standby.kill();
      Await.until("the clone", () -> ids(clone).equals(List.of("1", "2", "3")));
      pair.standby.start();
      Await.until(
          "the refusal",
          () ->
              pair.ask(pair.standby, "status")
                  .output()
                  .contains("of another machine or directory follows this log"));
    }
  }

  private Path clonedConfig() throws IOException {
    List<String> settings = new ArrayList<>(Files.readAllLines(pair.config(pair.standby)));
    settings.removeIf(line -> line.startsWith("http_port"));
    return Files.write(home.resolve("clone.conf"), settings);
  }

  private static String statusOf(EndpointProcess endpoint) {
    return Command.run(
            "status",
            "-D",
            endpoint.dataDirectory().toString(),
            "-R",
            endpoint.runtimeDirectory().toString())
        .output();
  }

  private static void copy(Path from, Path to) throws Exception {
    Process copying =
        new ProcessBuilder("cp", "-a", from.toString(), to.toString()).inheritIO().start();
    assertEquals(0, copying.waitFor());
  }
}
