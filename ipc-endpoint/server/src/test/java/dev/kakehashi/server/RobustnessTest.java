package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.client.TransactionOptions;
import dev.kakehashi.protocol.Failure;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.messages.AttachEncoder;
import dev.kakehashi.protocol.messages.ClientKind;
import dev.kakehashi.protocol.messages.FailedDecoder;
import dev.kakehashi.protocol.messages.MessageHeaderEncoder;
import dev.kakehashi.protocol.messages.PingEncoder;
import dev.kakehashi.transport.endpoint.EndpointSession;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.function.Function;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.queue.rollcycles.LegacyRollCycles;
import net.openhft.chronicle.wire.DocumentContext;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/// Clients that break the protocol or go silent: they lose their session or transaction, nobody else anything.
@SuppressWarnings("NullAway.Init") // set before each test
class RobustnessTest {
  private static final int FUZZ_SESSIONS = 100;
  private static final int FRAMES_PER_SESSION = 20;
  private static final int TEMPLATES = 32;
  private static final int FLOOD = 2000;

  private TestEndpoint endpoint;
  private Session bystander;

  @BeforeEach
  void start() throws IOException {
    // One queue: the session under test and the bystander share it.
    endpoint = TestEndpoint.start("queues_per_user", "1");
    bystander = endpoint.attach();
  }

  @AfterEach
  void stop() throws IOException, InterruptedException {
    assertArrayEquals(new byte[] {1}, bystander.ping(new byte[] {1}));
    bystander.close();
    endpoint.await(
        "resources are given back",
        () -> {
          var usage = endpoint.server().transport().usage();
          return usage.mailboxes() == 0
              && usage.blocks() == 0
              && usage.watchedChannels() == 0
              && endpoint.engine().openTransactions() == 0;
        });
    endpoint.close();
  }

  @Test
  void shouldDropBytesThatAreNoMessage() {
    Random random = new Random(1);
    try (Session session = endpoint.attach()) {
      for (int bytes = 1; bytes < 200; bytes++) {
        byte[] garbage = new byte[bytes];
        random.nextBytes(garbage);
        append(session, garbage);
      }
      // They name no session: everybody goes on.
      assertArrayEquals(new byte[] {2}, session.ping(new byte[] {2}));
    }
  }

  @Test
  void shouldEndSessionThatSendsUnknownMessage() throws InterruptedException {
    try (Session session = endpoint.attach()) {
      PreparedStatement insert = session.prepare(FixedEngine.INSERT);
      session.begin().update(insert, insert.parameters().addRow(1L, "lost"));
      append(session, frame(session, 4711, 1_000_000, 3, new byte[40]));
      endpoint.await("session is ended", () -> !session.isAlive());
      EndpointException e =
          assertThrows(EndpointException.class, () -> session.ping(new byte[] {3}));
      assertEquals("08006", e.sqlstate());
    }
    assertEquals(0, notes(bystander));
  }

  @Test
  void shouldLogAFloodOfMalformedRequestsOnce() throws InterruptedException {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger(EndpointSession.class);
    logger.addAppender(log);
    try (Session session = endpoint.attach();
        ChronicleQueue queue = open(session);
        ExcerptAppender appender = queue.createAppender()) {
      for (int i = 0; i < FLOOD; i++) {
        append(appender, frame(session, 4711, 1_000_000 + i, 3, new byte[40]));
      }
      endpoint.await("session is ended", () -> !session.isAlive());
      endpoint.await("session is gone", () -> endpoint.server().transport().sessionCount() == 1);
    } finally {
      logger.detachAppender(log);
    }
    List<String> lines = log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    // The first one, and at the end of the session how many there were besides.
    assertTrue(lines.size() <= 2 && lines.getFirst().startsWith("ending session"), "" + lines);
  }

  @Test
  void shouldEndSessionWhoseRequestIdsDoNotGrow() throws InterruptedException {
    try (Session session = endpoint.attach()) {
      session.ping(new byte[0]);
      append(
          session, frame(session, PingEncoder.TEMPLATE_ID, 1, 0, new byte[8])); // as the one before
      endpoint.await("session is ended", () -> !session.isAlive());
    }
  }

  @Test
  void shouldSurviveRandomRequests() throws InterruptedException {
    long seed = System.nanoTime();
    System.out.println("random requests: seed " + seed);
    Random random = new Random(seed);
    int ended = 0;
    for (int i = 0; i < FUZZ_SESSIONS; i++) {
      try (Session session = endpoint.attach();
          ChronicleQueue queue = open(session);
          ExcerptAppender appender = queue.createAppender()) {
        for (int n = 1; n <= FRAMES_PER_SESSION; n++) {
          byte[] body = new byte[random.nextInt(200)];
          random.nextBytes(body);
          if (random.nextBoolean()) {
            // Small numbers get further than large ones.
            for (int at = 0; at < body.length; at++) {
              body[at] = random.nextInt(4) == 0 ? (byte) random.nextInt(3) : 0;
            }
          }
          int slot = random.nextInt(8) == 0 ? Protocol.NO_SLOT : random.nextInt(17);
          byte[] frame = frame(session, random.nextInt(TEMPLATES), n, slot, body);
          append(appender, frame);
        }
        assertArrayEquals(new byte[] {4}, bystander.ping(new byte[] {4}), "seed " + seed);
        ended += session.isAlive() ? 0 : 1;
      }
    }
    assertTrue(bystander.isAlive(), "seed " + seed);
    System.out.println(ended + " of " + FUZZ_SESSIONS + " sessions were ended");
  }

  /// A request as the protocol has it up to the slot, then `body`.
  private static byte[] frame(
      Session session, int templateId, long requestId, int slot, byte[] body) {
    ByteBuffer frame = ByteBuffer.allocate(26 + body.length).order(ByteOrder.LITTLE_ENDIAN);
    frame.putShort((short) (18 + body.length)).putShort((short) templateId);
    frame.putShort((short) Protocol.SCHEMA_ID).putShort((short) Protocol.PROTOCOL_VERSION);
    frame
        .putLong(session.limits().identity().sessionId())
        .putLong(requestId)
        .putShort((short) slot);
    return frame.put(body).array();
  }

  private void append(Session session, byte[] frame) {
    try (ChronicleQueue queue = open(session);
        ExcerptAppender appender = queue.createAppender()) {
      append(appender, frame);
    }
  }

  private ChronicleQueue open(Session session) {
    return SingleChronicleQueueBuilder.single(
            endpoint
                .runtimeDirectory()
                .resolve("queues")
                .resolve(session.limits().queue().name())
                .toFile())
        .rollCycle(LegacyRollCycles.MINUTELY)
        .blockSize(session.limits().queue().blockBytes())
        .build();
  }

  /// The next ping of the bystander rings for it.
  private static void append(ExcerptAppender appender, byte[] frame) {
    try (DocumentContext document = appender.writingDocument()) {
      Objects.requireNonNull(document.wire()).bytes().write(frame);
    }
  }

  @Test
  void shouldRefuseOtherLayoutNamingBothVersions() throws IOException {
    refusesVersions(
        Protocol.PROTOCOL_VERSION, 99, ours(), ours().replaceFirst("layout .*", "layout 99"));
  }

  @Test
  void shouldRefuseOtherProtocolNamingBothVersions() throws IOException {
    int next = Protocol.PROTOCOL_VERSION + 1;
    refusesVersions(
        next,
        Protocol.LAYOUT_VERSION,
        ours(),
        ours().replaceFirst("protocol \\d+", "protocol " + next));
  }

  private static String ours() {
    return "protocol " + Protocol.PROTOCOL_VERSION + " with layout " + Protocol.LAYOUT_VERSION;
  }

  private void refusesVersions(int protocol, int layout, String ours, String theirs)
      throws IOException {
    UnsafeBuffer buffer = new UnsafeBuffer(new byte[4096]);
    AttachEncoder encoder = new AttachEncoder();
    encoder
        .wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder())
        .layoutVersion(layout)
        .processId(ProcessHandle.current().pid())
        .processStartTicks(0)
        .pidNamespace(0)
        .clientKind(ClientKind.JAVA_CLIENT)
        .applicationName("test")
        .userName("")
        .password("")
        .clientVersion("other 9.9");
    buffer.putShort(
        MessageHeaderEncoder.versionEncodingOffset(), (short) protocol, ByteOrder.LITTLE_ENDIAN);
    int length = Protocol.MESSAGE_HEADER_BYTES + encoder.encodedLength();
    Failure failure = attach(buffer.byteArray(), length);
    assertEquals("08P01", failure.sqlstate());
    assertTrue(failure.fatal());
    assertTrue(failure.message().contains(ours), failure.message());
    assertTrue(failure.message().contains("other 9.9 speaks " + theirs), failure.message());
    assertEquals("Install the same release of endpoint and client.", failure.hint());
  }

  private Failure attach(byte[] frame, int length) throws IOException {
    var address = UnixDomainSocketAddress.of(endpoint.runtimeDirectory().resolve("endpoint.sock"));
    try (SocketChannel socket = SocketChannel.open(address)) {
      ByteBuffer output = ByteBuffer.allocate(4 + length).order(ByteOrder.LITTLE_ENDIAN);
      output.putInt(length).put(frame, 0, length).flip();
      while (output.hasRemaining()) {
        socket.write(output);
      }
      ByteBuffer size = read(socket, 4);
      UnsafeBuffer reply = new UnsafeBuffer(read(socket, size.getInt(0)).array());
      assertEquals(-1, socket.read(ByteBuffer.allocate(1)));
      return Failure.decode(Frames.wrap(new FailedDecoder(), reply), reply);
    }
  }

  private static ByteBuffer read(SocketChannel socket, int bytes) throws IOException {
    ByteBuffer input = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    while (input.hasRemaining()) {
      assertTrue(socket.read(input) > 0, "endpoint closed the connection");
    }
    return input;
  }

  @Test
  void shouldRollBackTransactionWhoseLeaseExpires() throws InterruptedException {
    try (Session session = endpoint.attach()) {
      PreparedStatement insert = session.prepare(FixedEngine.INSERT);
      Transaction transaction =
          withinItsLease(
              session,
              begun -> {
                begun.update(insert, insert.parameters().addRow(1L, "never committed"));
                return begun;
              });
      endpoint.await("lease expires", () -> endpoint.engine().openTransactions() == 0);
      assertTrue(System.nanoTime() - transaction.leaseDeadlineNanos() >= 0);
      EndpointException e =
          assertThrows(
              EndpointException.class,
              () -> transaction.update(insert, insert.parameters().addRow(2L, "too late")));
      assertEquals("25P03", e.sqlstate());
      assertThrows(EndpointException.class, transaction::commit);
      assertEquals(0, notes(session));
      // The session itself is as good as before.
      Transaction next = session.begin();
      next.update(insert, insert.parameters().addRow(3L, "kept"));
      next.commit();
      assertEquals(1, notes(session));
    }
  }

  /// Begins a transaction of a short lease and uses it; a busy machine gets a longer one.
  private static <T> T withinItsLease(Session session, Function<Transaction, T> use) {
    for (long leaseMillis = 500; ; leaseMillis *= 4) {
      Transaction transaction =
          session.begin(TransactionOptions.DEFAULT.withLease(Duration.ofMillis(leaseMillis)));
      try {
        return use.apply(transaction);
      } catch (EndpointException e) {
        if (!e.sqlstate().equals("25P03") || leaseMillis > 20_000) {
          throw e;
        }
      }
    }
  }

  /// A lease that was asked for ends a statement that runs, too; one request later than the last would have kept both.
  @Test
  void shouldCancelStatementThatRunsWhenTheLeaseExpires() throws InterruptedException {
    try (Session session = endpoint.attach();
        PreparedStatement forever = session.prepare(FixedEngine.FOREVER)) {
      try (Rows rows = withinItsLease(session, begun -> begun.query(forever))) {
        EndpointException e = assertThrows(EndpointException.class, rows::next);
        assertEquals("25P03", e.sqlstate());
      }
      endpoint.await("transaction ends", () -> endpoint.engine().openTransactions() == 0);
    }
  }

  /// The end of a session ends only what no other session uses.
  @Test
  void shouldKeepTransactionOfClosedSessionThatAnotherUses() throws InterruptedException {
    try (Session other = endpoint.attach()) {
      long handle;
      int sessions = endpoint.server().transport().sessionCount();
      try (Session session = endpoint.attach()) {
        PreparedStatement insert = session.prepare(FixedEngine.INSERT);
        Transaction transaction = session.begin();
        transaction.update(insert, insert.parameters().addRow(1L, "of the first"));
        handle = transaction.handle();
        PreparedStatement second = other.prepare(FixedEngine.INSERT);
        other.attachTransaction(handle).update(second, second.parameters().addRow(2L, "other's"));
      }
      endpoint.await(
          "the first session is gone",
          () -> endpoint.server().transport().sessionCount() == sessions);
      assertEquals(1, endpoint.engine().openTransactions());
      other.attachTransaction(handle).rollback();
      endpoint.await("transaction ends", () -> endpoint.engine().openTransactions() == 0);
    }
  }

  @Test
  void shouldEndSessionAndTransactionOfKilledProcess() throws Exception {
    Process client = KilledClient.start(endpoint.runtimeDirectory());
    try (var output = client.inputReader()) {
      assertEquals(KilledClient.READY, output.readLine());
      assertEquals(2, endpoint.server().transport().sessionCount());
      // The open transaction, and the statement that runs in it.
      assertTrue(endpoint.engine().openTransactions() > 0);
      client.toHandle().destroyForcibly();
      assertEquals(128 + 9, client.waitFor());
    }
    endpoint.await(
        "session of the killed process ends",
        () ->
            endpoint.server().transport().sessionCount() == 1
                && endpoint.server().transport().usage().mailboxes() == 1
                && endpoint.server().transport().usage().blocks() == 0
                && endpoint.engine().openTransactions() == 0);
    assertEquals(0, notes(bystander));
  }

  private static long notes(Session session) {
    try (PreparedStatement count = session.prepare(FixedEngine.COUNT);
        Rows rows = session.query(count)) {
      assertTrue(rows.next());
      long notes = rows.getLong(0);
      assertFalse(rows.next());
      return notes;
    }
  }
}
