package dev.kakehashi.engine.store.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.LogFeed;
import dev.kakehashi.engine.api.LogRequest;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.testsupport.Await;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.Pipe;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The stream of a log, seen by who stands for a standby.
@SuppressWarnings("NullAway.Init") // set before each test
@Timeout(60)
final class StandbyFeedTest {
  @TempDir private Path home;
  private SegmentedLog log;
  private ExecutorService threads;
  private int written;

  @BeforeEach
  void start() {
    log = (SegmentedLog) SmallLog.open(home.resolve("log"), home.resolve("rows"), null);
    threads = Executors.newCachedThreadPool();
  }

  @AfterEach
  void stop() {
    threads.shutdownNow();
    log.close();
  }

  private void write() {
    LogRecord record = new LogRecord(16);
    record.put("key %d".formatted(written++).getBytes(StandardCharsets.UTF_8), new byte[100]);
    log.write(List.of(record));
  }

  private LogFeed feed(String machine) throws IOException {
    return log.feed(
        new LogRequest(
            "second",
            machine,
            log.logId(),
            log.position(log.end()),
            log.position(log.end()),
            null));
  }

  /// A stream that runs, and its other end.
  private final class Stream {
    final LogFeed feed;
    final DataInputStream in;
    final Future<Boolean> running;

    Stream(String machine) throws IOException {
      feed = feed(machine);
      Pipe pipe = Pipe.open();
      OutputStream out = Channels.newOutputStream(pipe.sink());
      in = new DataInputStream(Channels.newInputStream(pipe.source()));
      running =
          threads.submit(() -> {
            feed.run(out);
            return true;
          });
      assertEquals(LogBatches.MAGIC, in.readLong());
    }

    /// Ends of the groups of the next batch that has some.
    List<Long> batch() throws IOException {
      List<Long> ends = new ArrayList<>();
      while (true) {
        byte kind = in.readByte();
        if (kind == LogBatches.END) {
          in.readLong();
          in.readBoolean();
          if (!ends.isEmpty()) {
            return ends;
          }
          // Nothing has come for some time.
          acknowledge(log.end());
          continue;
        }
        assertEquals(LogBatches.GROUP, kind);
        ends.add(in.readLong());
        in.readInt();
        in.skipNBytes(in.readInt() + Integer.BYTES);
      }
    }

    void acknowledge(long end) throws IOException {
      feed.received(
          ByteBuffer.allocate(LogBatches.ACKNOWLEDGEMENT_BYTES)
              .put(LogBatches.ACKNOWLEDGED)
              .putLong(end)
              .putLong(end)
              .flip());
    }

    void awaitEnd() throws Exception {
      assertTrue(running.get(30, TimeUnit.SECONDS));
    }
  }

  private String standby() {
    return log.status().standbys().getFirst().position().toString();
  }

  @Test
  void shouldSendTogetherWhatHasComeUntilAnAcknowledgement() throws Exception {
    Stream stream = new Stream("a");
    write();
    List<Long> first = stream.batch();
    assertEquals(List.of(log.end()), first);
    write();
    write();
    long second = log.end();
    stream.acknowledge(first.getFirst());
    assertEquals(log.position(first.getFirst()).toString(), standby());
    List<Long> next = stream.batch();
    assertEquals(2, next.size());
    assertEquals(second, next.getLast());
    stream.acknowledge(second);
    assertEquals(log.position(second).toString(), standby());
    stream.feed.close();
    stream.awaitEnd();
  }

  @Test
  void shouldTakeAcknowledgementsInPieces() throws Exception {
    Stream stream = new Stream("a");
    write();
    long end = stream.batch().getLast();
    ByteBuffer bytes =
        ByteBuffer.allocate(LogBatches.ACKNOWLEDGEMENT_BYTES)
            .put(LogBatches.ACKNOWLEDGED)
            .putLong(end)
            .putLong(end)
            .flip();
    while (bytes.hasRemaining()) {
      stream.feed.received(ByteBuffer.wrap(new byte[] {bytes.get()}));
    }
    assertEquals(log.position(end).toString(), standby());
  }

  @Test
  void shouldRefuseWhatNoStandbyCanHave() throws Exception {
    Stream stream = new Stream("a");
    write();
    long end = stream.batch().getLast();
    assertThrows(IOException.class, () -> stream.acknowledge(end + 8));
    stream.acknowledge(end);
    assertThrows(IOException.class, () -> stream.acknowledge(end - 8), "it goes back");
    Stream damaged = new Stream("a");
    assertThrows(
        IOException.class,
        () -> damaged.feed.received(ByteBuffer.allocate(LogBatches.ACKNOWLEDGEMENT_BYTES)));
    assertEquals(log.position(end).toString(), standby());
  }

  @Test
  void shouldEndAStreamWhoseStandbyHasAnotherOne() throws Exception {
    Stream before = new Stream("a");
    write();
    long first = before.batch().getLast();
    Stream now = new Stream("a");
    before.awaitEnd();
    before.acknowledge(first - 8);
    assertEquals(log.position(first).toString(), standby(), "nobody listens to the one before");
    before.feed.close();
    write();
    now.acknowledge(now.batch().getLast());
    Await.untilEquals("the other one", log.position(log.end()).toString(), this::standby);
  }

  @Test
  void shouldLetOneMachineOfANameFollow() throws Exception {
    new Stream("a");
    EngineException refused = assertThrows(EngineException.class, () -> feed("b"));
    assertEquals(ErrorCode.OBJECT_IN_USE, refused.code());
  }

  @Test
  void shouldEndAStreamThatIsNotTaken() throws Exception {
    Stream stream = new Stream("a");
    stream.in.close();
    write();
    assertThrows(Exception.class, stream::awaitEnd);
  }
}
