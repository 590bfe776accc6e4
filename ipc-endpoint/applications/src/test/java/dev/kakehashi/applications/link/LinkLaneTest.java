package dev.kakehashi.applications.link;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.applications.link.LinkLane.Side;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Both ends of a lane in one process; OwnProcessTest has them in two.
class LinkLaneTest {
  private static final int LANE = 3;

  /// Where the length of a piece stands in a lane; the word behind it says whether more follow.
  private static final int LENGTH_AT = 12;

  @TempDir Path directory;

  private final ExecutorService other = Executors.newSingleThreadExecutor();
  private LinkMemory memory;
  private LinkMemory ofProcess;
  private LinkLane endpoint;
  private LinkLane process;

  @BeforeEach
  void open() throws IOException {
    Path file = directory.resolve("link");
    memory = LinkMemory.create(file);
    memory.reserve(LANE);
    ofProcess = LinkMemory.open(file);
    endpoint = memory.lane(LANE, Side.ENDPOINT);
    process = ofProcess.lane(LANE, Side.PROCESS);
  }

  @AfterEach
  void close() {
    endpoint.shut();
    other.close();
    ofProcess.close();
    memory.close();
  }

  @Test
  void shouldBeForItsOwnerAlone() throws IOException {
    assertEquals(
        "rw-------",
        PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("link"))));
    assertThrows(IOException.class, () -> LinkMemory.create(directory.resolve("link")).close());
  }

  @Test
  void shouldBringMessagesOfAnyLengthBothWays() throws Exception {
    int[] lengths = {0, 1, LinkLane.ROOM - 6, LinkLane.ROOM - 5, LinkLane.ROOM, 1_000_000};
    Future<?> echo =
        other.submit(() -> {
          MessageReader reader = new MessageReader();
          for (int i = 0; i < lengths.length; i++) {
            process.receive(reader, 10_000_000, -1);
            byte kind = reader.get();
            process.send(new MessageWriter().begin(kind).putBytes(reader.getBytes()));
          }
        });
    Random random = new Random(1);
    MessageReader reader = new MessageReader();
    for (int length : lengths) {
      byte[] sent = new byte[length];
      random.nextBytes(sent);
      endpoint.send(new MessageWriter().begin((byte) 5).putBytes(sent));
      endpoint.receive(reader, 10_000_000, -1);
      assertEquals(5, reader.get());
      assertArrayEquals(sent, reader.getBytes());
    }
    echo.get();
  }

  /// The error for a header that the process has written by itself, while the turn is the endpoint's.
  private ErrorCode refusal(int piece, int more, long most) throws IOException {
    ByteBuffer header = ByteBuffer.allocate(8).order(ByteOrder.nativeOrder());
    header.putInt(piece).putInt(more).flip();
    try (FileChannel file = FileChannel.open(directory.resolve("link"), StandardOpenOption.WRITE)) {
      file.write(header, (long) LANE * LinkLane.BYTES + LENGTH_AT);
    }
    return assertThrows(
            EngineException.class, () -> endpoint.receive(new MessageReader(), most, -1))
        .code();
  }

  @Test
  void shouldRefuseLengthsThatCannotBe() throws IOException {
    assertEquals(ErrorCode.MALFORMED_MESSAGE, refusal(-1, 0, 100));
    assertEquals(ErrorCode.MALFORMED_MESSAGE, refusal(LinkLane.ROOM + 1, 0, 1L << 30));
    assertEquals(ErrorCode.MALFORMED_MESSAGE, refusal(Integer.MAX_VALUE, 1, 1L << 40));
    // Pieces without end and without bytes.
    assertEquals(ErrorCode.MALFORMED_MESSAGE, refusal(0, 1, 100));
    assertEquals(ErrorCode.LIMIT_EXCEEDED, refusal(101, 0, 100));
  }

  @Test
  void shouldEndTheWaitsOfBothSidesWhenItIsShut() {
    Future<?> waits = other.submit(() -> process.receive(new MessageReader(), 100, -1));
    endpoint.shut();
    ExecutionException e = assertThrows(ExecutionException.class, waits::get);
    assertInstanceOf(LinkLane.ShutException.class, e.getCause());
    assertThrows(
        LinkLane.ShutException.class, () -> endpoint.receive(new MessageReader(), 100, -1));
    assertThrows(LinkLane.ShutException.class, () -> process.await(0));
  }

  @Test
  void shouldTellThatTheOtherSideIsLate() {
    endpoint.send(new MessageWriter().begin((byte) 1));
    assertThrows(
        LinkLane.LateException.class, () -> endpoint.receive(new MessageReader(), 100, 1_000_000));
    // It may still come.
    process.receive(new MessageReader(), 100, -1);
    process.send(new MessageWriter().begin((byte) 2));
    MessageReader reader = new MessageReader();
    endpoint.receive(reader, 100, -1);
    assertEquals(2, reader.get());
  }
}
