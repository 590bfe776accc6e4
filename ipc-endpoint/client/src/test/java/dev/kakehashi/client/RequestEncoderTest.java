package dev.kakehashi.client;

import static dev.kakehashi.protocol.layout.DoorbellPageLayout.BELL_OFFSET;
import static dev.kakehashi.protocol.layout.DoorbellPageLayout.PAGE_BYTES;
import static dev.kakehashi.protocol.layout.DoorbellPageLayout.SLEEPING_OFFSET;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.messages.CancelDecoder;
import dev.kakehashi.protocol.messages.CloseStatementDecoder;
import dev.kakehashi.transport.os.MappedFile;
import dev.kakehashi.transport.os.SharedMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.queue.rollcycles.LegacyRollCycles;
import net.openhft.chronicle.wire.DocumentContext;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Requests in a queue that nobody reads: how they are numbered, which are refused, when the endpoint is woken.
@SuppressWarnings("NullAway.Init") // set before each test
class RequestEncoderTest {
  private static final long SESSION = 77;
  private static final int MOST_FRAME_BYTES = 4096;
  private static final int BLOCK_BYTES = 256 << 10;

  private Path directory;
  private MappedFile doorbell;
  private RequestAppender appender;
  private RequestEncoder encoder;

  @BeforeEach
  void open() throws IOException {
    directory = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-");
    doorbell = MappedFile.create(directory.resolve("doorbell"), PAGE_BYTES, 0600);
    Limits limits =
        new Limits(
            new Limits.Identity(SESSION, 1, "1000", "1.0.0"),
            new Limits.Mailbox(
                0, 1, 1, new Limits.Slot(32 << 10, 1024, 15 << 10, 16 << 10, 16 << 10, 16)),
            new Limits.Queue(1, "1000-1", BLOCK_BYTES, MOST_FRAME_BYTES),
            1 << 20,
            256 << 10,
            16,
            0,
            0,
            Capabilities.EMBEDDED);
    appender = new RequestAppender(directory, limits);
    encoder = new RequestEncoder(limits, appender);
  }

  @AfterEach
  void remove() throws IOException {
    appender.close();
    doorbell.close();
    try (var paths = Files.walk(directory)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  /// Frames that the endpoint would read.
  private List<UnsafeBuffer> frames() {
    List<UnsafeBuffer> frames = new ArrayList<>();
    try (ChronicleQueue queue =
            SingleChronicleQueueBuilder.single(directory.resolve("queues/1000-1").toFile())
                .rollCycle(LegacyRollCycles.MINUTELY)
                .blockSize(BLOCK_BYTES)
                .build();
        var tailer = queue.createTailer()) {
      while (true) {
        try (DocumentContext document = tailer.readingDocument()) {
          if (!document.isPresent()) {
            return frames;
          }
          var bytes = Objects.requireNonNull(document.wire()).bytes();
          byte[] frame = new byte[(int) bytes.readRemaining()];
          bytes.read(frame);
          frames.add(new UnsafeBuffer(frame));
        }
      }
    }
  }

  @Test
  void shouldNumberRequestsInTheOrderOfTheQueue() {
    encoder.cancel(40);
    encoder.closeStatement(3);
    List<UnsafeBuffer> frames = frames();
    assertEquals(2, frames.size());
    assertEquals(CancelDecoder.TEMPLATE_ID, Frames.templateId(frames.getFirst()));
    CancelDecoder cancel = Frames.wrap(new CancelDecoder(), frames.getFirst());
    assertEquals(SESSION, cancel.sessionId());
    assertEquals(1, cancel.requestId());
    assertEquals(40, cancel.targetRequestId());
    CloseStatementDecoder close = Frames.wrap(new CloseStatementDecoder(), frames.getLast());
    assertEquals(2, close.requestId());
    assertEquals(3, close.statementId());
  }

  @Test
  void shouldAppendNothingOfARequestThatIsTooLong() {
    byte[] frame = new byte[MOST_FRAME_BYTES + 1];
    EndpointException refused =
        assertThrows(EndpointException.class, () -> encoder.frame(null, frame, id -> {}));
    assertEquals("54000", refused.sqlstate());
    assertFalse(appender.isDamaged());
    encoder.cancel(1);
    List<UnsafeBuffer> frames = frames();
    assertEquals(1, frames.size());
    assertEquals(1, Frames.wrap(new CancelDecoder(), frames.getFirst()).requestId());
  }

  @Test
  void shouldRingAnEndpointThatSleepsAndNoOther() {
    encoder.cancel(1);
    assertEquals(0, SharedMemory.getIntAcquire(doorbell.memory(), BELL_OFFSET));
    SharedMemory.putIntRelease(doorbell.memory(), SLEEPING_OFFSET, 1);
    encoder.cancel(2);
    assertEquals(1, SharedMemory.getIntAcquire(doorbell.memory(), BELL_OFFSET));
  }
}
