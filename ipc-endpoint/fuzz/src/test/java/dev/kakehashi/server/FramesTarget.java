package dev.kakehashi.server;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Session;
import dev.kakehashi.fuzz.FuzzTarget;
import dev.kakehashi.protocol.Directories;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.queue.rollcycles.LegacyRollCycles;
import net.openhft.chronicle.wire.DocumentContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/// Frames of one session, in the queue of a running endpoint with the embedded engine. A session that breaks the protocol may be ended.
/// Another one has to be answered afterwards, and nothing may be an internal error.
///
/// The input is frames, each with its length in two bytes before it. Session and number of the request are those that a client would write.
public final class FramesTarget implements FuzzTarget {
  private static final int LENGTH_BYTES = 2;
  private static final int SESSION_OFFSET = 8;
  private static final int REQUEST_OFFSET = 16;
  private static final int HEAD_BYTES = 24;
  private static final int MAX_FRAMES = 16;

  private final Path root;
  private final EndpointServer server;
  private final Session bystander;
  private final Internal internal = new Internal();

  /// Starts the endpoint.
  public FramesTarget() throws IOException {
    root = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-fuzz-");
    Settings settings =
        Settings.defaults()
            .set("data_directory", root.resolve("data").toString())
            .set("runtime_directory", root.resolve("run").toString())
            // One queue: the bystander's answer says that what came before is done.
            .set("queues_per_user", "1");
    server = EndpointServer.start(settings, new EmbeddedEngineFactory());
    bystander = attach();
    Logger logger = (Logger) LoggerFactory.getLogger("dev.kakehashi");
    internal.start();
    logger.addAppender(internal);
  }

  private Session attach() {
    return Session.attach(AttachOptions.of(root.resolve("run")));
  }

  @Override
  public void run(byte[] input) {
    try (Session session = attach();
        ChronicleQueue queue = open(session);
        ExcerptAppender appender = queue.createAppender()) {
      ByteBuffer frames = ByteBuffer.wrap(input).order(ByteOrder.LITTLE_ENDIAN);
      for (int n = 1; n <= MAX_FRAMES && frames.remaining() > LENGTH_BYTES; n++) {
        int length = Math.min(Short.toUnsignedInt(frames.getShort()), frames.remaining());
        byte[] frame = new byte[length];
        frames.get(frame);
        if (length >= HEAD_BYTES) {
          ByteBuffer.wrap(frame)
              .order(ByteOrder.LITTLE_ENDIAN)
              .putLong(SESSION_OFFSET, session.limits().identity().sessionId())
              .putLong(REQUEST_OFFSET, n);
        }
        if (length > 0) {
          append(appender, frame);
        }
      }
      bystander.ping(new byte[] {1});
    }
    internal.requireNone();
  }

  private ChronicleQueue open(Session session) {
    return SingleChronicleQueueBuilder.single(
            root.resolve("run").resolve("queues").resolve(session.limits().queue().name()).toFile())
        .rollCycle(LegacyRollCycles.MINUTELY)
        .blockSize(session.limits().queue().blockBytes())
        .build();
  }

  private static void append(ExcerptAppender appender, byte[] frame) {
    try (DocumentContext document = appender.writingDocument()) {
      Objects.requireNonNull(document.wire()).bytes().write(frame);
    }
  }

  @Override
  public void close() throws IOException {
    ((Logger) LoggerFactory.getLogger("dev.kakehashi")).detachAppender(internal);
    bystander.close();
    server.close();
    Directories.delete(root);
  }

  /// Keeps the first error that the endpoint logs.
  private static final class Internal extends AppenderBase<ILoggingEvent> {
    private final AtomicReference<@Nullable String> first = new AtomicReference<>();

    @Override
    protected void append(ILoggingEvent event) {
      if (event.getLevel().isGreaterOrEqual(Level.ERROR)) {
        StringBuilder text = new StringBuilder(event.getFormattedMessage());
        for (IThrowableProxy cause = event.getThrowableProxy();
            cause != null;
            cause = cause.getCause()) {
          text.append("; ").append(cause.getClassName()).append(": ").append(cause.getMessage());
          for (int i = 0; i < Math.min(8, cause.getStackTraceElementProxyArray().length); i++) {
            text.append("\n  ").append(cause.getStackTraceElementProxyArray()[i]);
          }
        }
        first.compareAndSet(null, text.toString());
      }
    }

    void requireNone() {
      String text = first.getAndSet(null);
      if (text != null) {
        throw new AssertionError("the endpoint has logged: " + text);
      }
    }
  }
}
