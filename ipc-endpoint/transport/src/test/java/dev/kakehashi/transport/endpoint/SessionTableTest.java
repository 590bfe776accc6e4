package dev.kakehashi.transport.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.messages.ClientKind;
import dev.kakehashi.transport.TransportConfig;
import dev.kakehashi.transport.TransportException;
import dev.kakehashi.transport.os.Credentials;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.concurrent.TimeUnit;
import org.agrona.DirectBuffer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Queues of sessions, without threads: the poller's commands run when the test says so.
@SuppressWarnings("NullAway.Init") // set before each test
class SessionTableTest {
  private static final int SESSIONS = 8;
  private static final long LONG_AFTER_NANOS = TimeUnit.HOURS.toNanos(1);

  private Path root;
  private TransportConfig config;
  private RuntimeDirectory runtime;
  private Doorbell doorbell;
  private ControlPage control;
  private Poller poller;
  private SessionTable sessions;
  private AttachServer attachServer;

  @BeforeEach
  void create() throws IOException {
    root = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-");
    TransportConfig defaults = TransportConfig.defaults(root.resolve("run"));
    TransportConfig.Sessions sessionLimits = defaults.sessions();
    config =
        new TransportConfig(
            defaults.runtimeDirectory(),
            defaults.endpointVersion(),
            defaults.mailbox(),
            defaults.buffers(),
            defaults.queue(),
            new TransportConfig.Sessions(
                SESSIONS,
                0,
                sessionLimits.maxStatements(),
                sessionLimits.clientSpin(),
                sessionLimits.lease(),
                sessionLimits.attachTimeout()),
            defaults.access(),
            defaults.polling());
    runtime = RuntimeDirectory.open(config);
    doorbell = Doorbell.create(runtime);
    control = ControlPage.create(runtime, 1);
    WatchedChannels watched = new WatchedChannels(() -> {});
    Poller.ChannelInspector inspector =
        new Poller.ChannelInspector() {
          @Override
          public void checkWritable() {}

          @Override
          public long inspect(long nowNanos) {
            return Long.MAX_VALUE;
          }

          @Override
          public void queueFailed(RequestQueue queue) {
            sessions.queueFailed(queue);
          }
        };
    poller =
        new Poller(
            doorbell,
            (queue, frame) -> {},
            inspector,
            now -> 1000,
            LONG_AFTER_NANOS,
            config.polling());
    sessions = new SessionTable(config, runtime, poller, control, watched, new NoRequests());
    attachServer =
        AttachServer.open(
            runtime,
            config,
            sessions,
            (uid, osUser, user, authentication) ->
                new Authenticator.Accepted(new Authenticator.Identity(osUser, true), ""),
            () -> Capabilities.EMBEDDED,
            1);
    sessions.attachServer(attachServer);
  }

  @AfterEach
  void remove() throws IOException {
    attachServer.close();
    sessions.close();
    control.close();
    doorbell.close();
    runtime.close();
    try (var paths = Files.walk(root)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  private EndpointSession open() throws IOException {
    return open(Credentials.ownUid());
  }

  private EndpointSession open(int uid) throws IOException {
    return open(uid, 0);
  }

  private EndpointSession open(int uid, long damagedQueue) throws IOException {
    return sessions.open(
        new EndpointSession.Client(
            new Credentials(1, uid, 0),
            ClientKind.JAVA_CLIENT,
            "somebody",
            new Authenticator.Identity("somebody", true),
            "test",
            1,
            1,
            damagedQueue));
  }

  /// Runs what was handed to the poller; stopped before, it does nothing else.
  private void runCommands() {
    poller.stop();
    poller.run();
  }

  private Path directoryOf(RequestQueue queue) {
    return runtime.queues().resolve(queue.name());
  }

  @Test
  void shouldCloseAQueueThatFailedAndKeepItsSuccessor() throws IOException {
    EndpointSession first = open();
    RequestQueue failed = first.queue();
    sessions.queueFailed(failed);
    assertFalse(Files.exists(directoryOf(failed)), "closed at once");
    assertEquals(0, sessions.usage().queues());

    EndpointSession second = open();
    RequestQueue successor = second.queue();
    assertNotSame(failed, successor);
    assertNotEquals(failed.name(), successor.name());

    sessions.ended(first);
    runCommands();
    sessions.tick(System.nanoTime() + LONG_AFTER_NANOS);
    assertEquals(1, sessions.usage().queues(), "the end of the old sessions leaves it alone");
    assertTrue(Files.exists(directoryOf(successor)));
    assertSame(successor, second.queue());
    assertSame(second, sessions.find(second.id(), successor));

    sessions.queueFailed(failed); // reported twice
    assertTrue(Files.exists(directoryOf(successor)));
    sessions.ended(second);
    runCommands();
    sessions.tick(System.nanoTime() + LONG_AFTER_NANOS);
    assertEquals(0, sessions.usage().queues(), "idle for long");
    assertFalse(Files.exists(directoryOf(successor)));
  }

  @Test
  void shouldGiveNewSessionsAnotherQueueThanTheOneThatAClientCouldNotAppendTo() throws IOException {
    EndpointSession first = open();
    RequestQueue damaged = first.queue();
    open(Credentials.ownUid() + 1, damaged.number());
    assertEquals(2, sessions.usage().queues(), "what another OS user says changes nothing");

    EndpointSession next = open(Credentials.ownUid(), damaged.number());
    assertNotSame(damaged, next.queue());
    assertEquals(damaged.writers(), next.queue().writers(), "in its place");
    EndpointSession last = open(Credentials.ownUid(), damaged.number());
    assertNotEquals(damaged.number(), last.queue().number(), "said twice");
    assertTrue(Files.exists(directoryOf(damaged)), "it has a session");
    assertSame(first, sessions.find(first.id(), damaged));

    sessions.ended(first);
    runCommands();
    sessions.tick(System.nanoTime() + LONG_AFTER_NANOS);
    assertFalse(Files.exists(directoryOf(damaged)), "it has none");
  }

  @Test
  void shouldEndQueuesWhoseFilesAreGone() throws IOException {
    RequestQueue damaged = open().queue();
    Files.delete(directoryOf(damaged).resolve("metadata.cq4t"));
    sessions.tick(System.nanoTime() + LONG_AFTER_NANOS);
    assertEquals(0, sessions.usage().queues());
    assertFalse(Files.exists(directoryOf(damaged)));
    RequestQueue truncated = open().queue();
    try (var file =
        FileChannel.open(
            directoryOf(truncated).resolve("metadata.cq4t"), StandardOpenOption.WRITE)) {
      file.truncate(4096);
    }
    sessions.tick(System.nanoTime() + 2 * LONG_AFTER_NANOS);
    assertNotSame(truncated, open().queue());
  }

  private void assertFull(int uid, String message) {
    TransportException refused = assertThrows(TransportException.class, () -> open(uid));
    assertEquals("53300", refused.failure().sqlstate());
    assertEquals(message, refused.failure().message());
  }

  @Test
  void shouldKeepSessionsForOtherUsers() throws IOException {
    int other = Credentials.ownUid() + 1000;
    EndpointSession first = open(other);
    open(other);
    assertFull(other, "sorry, too many sessions of this OS user already");
    open(other + 1);
    open(other + 1);
    open(other + 2);
    open(other + 2);
    assertFull(other + 3, "sorry, too many sessions already");
    open();
    open();
    assertFull(Credentials.ownUid(), "sorry, too many sessions already");
    sessions.ended(first);
    runCommands();
    open(other);
  }

  private static final class NoRequests implements RequestHandler {
    @Override
    public void request(
        EndpointSession session,
        long requestId,
        @Nullable ResponseChannel channel,
        int templateId,
        DirectBuffer frame) {}

    @Override
    public void sessionClosed(EndpointSession session) {}

    @Override
    public long tick(long nowNanos) {
      return Long.MAX_VALUE;
    }
  }
}
