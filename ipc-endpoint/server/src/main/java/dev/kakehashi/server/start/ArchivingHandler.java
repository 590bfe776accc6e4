package dev.kakehashi.server.start;

import dev.kakehashi.protocol.Failure;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.archive.ArchiveRecord;
import dev.kakehashi.protocol.archive.ArchiveWriter;
import dev.kakehashi.protocol.messages.BuffersGrantedDecoder;
import dev.kakehashi.protocol.messages.CloseStatementDecoder;
import dev.kakehashi.protocol.messages.CompletedDecoder;
import dev.kakehashi.protocol.messages.ExecuteDecoder;
import dev.kakehashi.protocol.messages.FailedDecoder;
import dev.kakehashi.protocol.messages.InvokeDecoder;
import dev.kakehashi.protocol.messages.PingDecoder;
import dev.kakehashi.protocol.messages.PrepareDecoder;
import dev.kakehashi.protocol.messages.PreparedDecoder;
import dev.kakehashi.transport.endpoint.EndpointSession;
import dev.kakehashi.transport.endpoint.RequestHandler;
import dev.kakehashi.transport.endpoint.ResponseChannel;
import dev.kakehashi.transport.endpoint.ResponseObserver;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Writes every request and answer to the archive on its way to and from another handler; `kakehashi replay` reads it.
///
/// Costs the poller a copy of each request. When the archive cannot be written (a full disk), it ends there and the service goes
/// on. Requests and ends of sessions come from the poller, answers from any thread; the lock of this object orders them in the
/// archive as they were seen.
public final class ArchivingHandler implements RequestHandler, ResponseObserver, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ArchivingHandler.class);
  private static final byte[] NOTHING = {};

  /// Facts of a session for a reader that begins with a later file.
  private record Known(ArchiveRecord.SessionBegan began, Map<Long, byte[]> statements) {}

  private final RequestHandler handler;
  private final ExecuteDecoder execute = new ExecuteDecoder(); // poller only

  // Guarded by this.
  private final Map<Long, Known> sessions = new LinkedHashMap<>();
  private @Nullable ArchiveWriter writer;

  /// @param directory of the archive
  /// @param limitBytes of all its files
  public ArchivingHandler(RequestHandler handler, Path directory, long limitBytes)
      throws IOException {
    this.handler = handler;
    this.writer = new ArchiveWriter(directory, limitBytes, this::preamble);
  }

  /// Called while a record is appended, so under the lock.
  @SuppressWarnings("GuardedBy")
  private List<ArchiveRecord> preamble() {
    List<ArchiveRecord> records = new ArrayList<>();
    for (Known known : sessions.values()) {
      records.add(known.began);
      known
          .statements
          .values()
          .forEach(frame -> records.add(new ArchiveRecord.StatementKept(frame)));
    }
    return records;
  }

  private synchronized void append(ArchiveRecord record) {
    if (writer == null) {
      return;
    }
    try {
      writer.append(record);
    } catch (IOException e) {
      fail(e);
    }
  }

  private synchronized void fail(IOException e) {
    LOG.error("the request archive could not be written and ends here: {}", e.getMessage());
    sessions.clear();
    ArchiveWriter failed = writer;
    writer = null;
    if (failed != null) {
      try {
        failed.close();
      } catch (IOException again) {
        LOG.debug("closing it failed, too", again);
      }
    }
  }

  @Override
  public void request(
      EndpointSession session,
      long requestId,
      @Nullable ResponseChannel channel,
      int templateId,
      DirectBuffer frame) {
    if (templateId != PingDecoder.TEMPLATE_ID) {
      archive(session, templateId, frame);
    }
    handler.request(session, requestId, channel, templateId, frame);
  }

  private synchronized void archive(EndpointSession session, int templateId, DirectBuffer frame) {
    if (writer == null) {
      return;
    }
    Known known = sessions.get(session.id());
    if (known == null) {
      var began =
          new ArchiveRecord.SessionBegan(
              session.id(), session.userName(), session.applicationName());
      append(began);
      known = new Known(began, new TreeMap<>());
      sessions.put(session.id(), known);
    }
    byte[] copy = new byte[frame.capacity()];
    frame.getBytes(0, copy);
    byte[] inbound = NOTHING;
    try {
      if (templateId == ExecuteDecoder.TEMPLATE_ID) {
        inbound = inbound(session, frame);
      } else if (templateId == InvokeDecoder.TEMPLATE_ID) {
        InvokeDecoder invoke = Frames.wrap(new InvokeDecoder(), frame);
        long bytes = invoke.inboundBytes();
        inbound = bytes == 0 ? NOTHING : session.inboundBytes(invoke.inboundOffset(), bytes);
      } else if (templateId == PrepareDecoder.TEMPLATE_ID) {
        PrepareDecoder prepare = Frames.wrap(new PrepareDecoder(), frame);
        inbound = inbound(session, prepare);
        byte[] kept = Arrays.copyOf(copy, copy.length + inbound.length);
        System.arraycopy(inbound, 0, kept, copy.length, inbound.length);
        known.statements.put(prepare.statementId(), kept);
      } else if (templateId == CloseStatementDecoder.TEMPLATE_ID) {
        known.statements.remove(Frames.wrap(new CloseStatementDecoder(), frame).statementId());
      }
    } catch (MalformedFrameException | IndexOutOfBoundsException | IllegalArgumentException e) {
      LOG.debug("a malformed request is archived as it is", e); // the handler refuses it
    }
    long micros = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    append(new ArchiveRecord.Requested(micros, copy, inbound));
  }

  private byte[] inbound(EndpointSession session, DirectBuffer frame) {
    Frames.wrap(execute, frame);
    long bytes = execute.inboundBytes();
    return bytes == 0 ? NOTHING : session.inboundBytes(execute.inboundOffset(), bytes);
  }

  /// A statement that is too long for the queue.
  private static byte[] inbound(EndpointSession session, PrepareDecoder prepare) {
    long bytes = prepare.sqlBytes();
    return bytes == 0 || bytes == PrepareDecoder.sqlBytesNullValue()
        ? NOTHING
        : session.inboundBytes(prepare.sqlOffset(), bytes);
  }

  @Override
  public void responding(EndpointSession session, long requestId, DirectBuffer shared) {
    byte[] copy = new byte[shared.capacity()];
    shared.getBytes(0, copy);
    UnsafeBuffer frame = new UnsafeBuffer(copy);
    try {
      finished(answer(session.id(), requestId, frame));
    } catch (MalformedFrameException | IndexOutOfBoundsException | IllegalArgumentException e) {
      LOG.debug("an answer was changed by its client before it was archived", e);
    }
  }

  private static ArchiveRecord.Finished answer(long sessionId, long requestId, UnsafeBuffer frame) {
    long handle = 0;
    long rows = 0;
    String sqlstate = "";
    List<Long> granted = new ArrayList<>();
    switch (Frames.templateId(frame)) {
      case CompletedDecoder.TEMPLATE_ID -> {
        CompletedDecoder completed = Frames.wrap(new CompletedDecoder(), frame);
        handle = completed.transactionHandle();
        rows = completed.rowsAffected();
      }
      case FailedDecoder.TEMPLATE_ID -> {
        FailedDecoder failed = Frames.wrap(new FailedDecoder(), frame);
        handle = failed.transactionHandle();
        sqlstate = Failure.decode(failed, frame).sqlstate();
      }
      case PreparedDecoder.TEMPLATE_ID ->
          handle = Frames.wrap(new PreparedDecoder(), frame).transactionHandle();
      case BuffersGrantedDecoder.TEMPLATE_ID -> {
        var buffers = Frames.wrap(new BuffersGrantedDecoder(), frame).buffers();
        while (buffers.hasNext()) {
          granted.add(buffers.next().arenaOffset());
        }
      }
      default -> {}
    }
    return new ArchiveRecord.Finished(sessionId, requestId, handle, rows, sqlstate, granted);
  }

  private synchronized void finished(ArchiveRecord.Finished answer) {
    if (sessions.containsKey(answer.sessionId())) {
      append(answer);
    }
  }

  @Override
  public void sessionClosed(EndpointSession session) {
    ended(session);
    handler.sessionClosed(session);
  }

  private synchronized void ended(EndpointSession session) {
    if (sessions.remove(session.id()) != null) {
      append(new ArchiveRecord.SessionEnded(session.id()));
    }
  }

  @Override
  public long tick(long nowNanos) {
    flush();
    return handler.tick(nowNanos);
  }

  private synchronized void flush() {
    if (writer == null) {
      return;
    }
    try {
      writer.flush();
    } catch (IOException e) {
      fail(e);
    }
  }

  @Override
  public int openTransactions() {
    return handler.openTransactions();
  }

  @Override
  public synchronized void close() throws IOException {
    ArchiveWriter closing = writer;
    writer = null;
    if (closing != null) {
      closing.close();
    }
  }
}
