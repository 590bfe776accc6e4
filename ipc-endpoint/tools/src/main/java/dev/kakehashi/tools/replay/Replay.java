package dev.kakehashi.tools.replay;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.FrameSession;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.archive.ArchiveReader;
import dev.kakehashi.protocol.archive.ArchiveRecord;
import dev.kakehashi.protocol.messages.CancelDecoder;
import dev.kakehashi.protocol.messages.ContinueTransactionDecoder;
import dev.kakehashi.protocol.messages.ExecuteDecoder;
import dev.kakehashi.protocol.messages.ExecuteEncoder;
import dev.kakehashi.protocol.messages.InvokeDecoder;
import dev.kakehashi.protocol.messages.InvokeEncoder;
import dev.kakehashi.protocol.messages.PrepareDecoder;
import dev.kakehashi.protocol.messages.PrepareEncoder;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.agrona.concurrent.UnsafeBuffer;

/// Sends the requests of an archive once more, in their order, and compares the answers with those of then.
///
/// Requests are sent where they stand in the archive and waited for where their answers stand: what overlapped then overlaps now, and a
/// request that waited for another one's transaction does so again without holding up the rest. A request that was canceled then is
/// canceled where its answer stands; requests to cancel are not sent. Nor are requests that join a transaction by its token, which is
/// another one now. The replay is one user, whose sessions use a transaction by its handle. One thread.
///
/// Row counts of queries of `kakehashi_catalog` are not compared: statistics, sessions and jobs are the endpoint's, and come and go
/// by themselves. One of several canceled requests of one transaction is canceled now. Another one is canceled, too, or finds its
/// transaction failed. That depends on which comes first, then as now: both are one outcome.
final class Replay {
  private static final String QUERY_CANCELED = ErrorCode.QUERY_CANCELED.sqlstate();
  private static final String TRANSACTION_ABORTED = ErrorCode.TRANSACTION_ABORTED.sqlstate();
  private static final String CATALOG = "kakehashi_catalog";
  private static final int MAX_DIFFERENCES_SHOWN = 20;

  /// Summary of a replay.
  ///
  /// @param skipped requests of transactions that began before the archive does, or of sessions that could not be had
  /// @param differences answers of another SQLSTATE or another count of rows than then
  record Summary(
      long sessions, long requests, long skipped, long differences, List<String> shown) {}

  /// A session of the archive, played here.
  private static final class Player {
    final FrameSession session;
    final Set<Long> statements = new HashSet<>();
    final Set<Long> catalogQueries = new HashSet<>(); // of the statements
    final Map<Long, Sent> pending = new HashMap<>(); // by request id of then
    final Map<Long, Long> buffers = new HashMap<>(); // offsets of now by those of then

    Player(FrameSession session) {
      this.session = session;
    }
  }

  private record Sent(FrameSession.Pending request, boolean catalogQuery) {}

  private final Function<ArchiveRecord.SessionBegan, FrameSession> attach;
  private final LongConsumer pace;
  private final Map<Long, Player> players = new HashMap<>();
  private final Handles handles = new Handles();
  private final List<String> shown = new ArrayList<>();
  private long sessions;
  private long requests;
  private long skipped;
  private long differences;

  /// @param attach opens a session for one of the archive
  /// @param pace called with the wall clock of each request then, in microseconds; may wait
  Replay(Function<ArchiveRecord.SessionBegan, FrameSession> attach, LongConsumer pace) {
    this.attach = attach;
    this.pace = pace;
  }

  Summary run(ArchiveReader archive) throws IOException {
    try {
      for (ArchiveRecord record = archive.next(); record != null; record = archive.next()) {
        play(record);
      }
    } finally {
      players.values().forEach(player -> player.session.close());
    }
    return new Summary(sessions, requests, skipped, differences, shown);
  }

  private void play(ArchiveRecord record) {
    switch (record) {
      case ArchiveRecord.SessionBegan began -> {
        // Named again at the beginning of each file.
        if (!players.containsKey(began.sessionId())) {
          players.put(began.sessionId(), new Player(attach.apply(began)));
          sessions++;
        }
      }
      case ArchiveRecord.StatementKept kept -> {
        int textBytes = inboundBytes(kept.frame());
        int frameBytes = kept.frame().length - textBytes;
        prepareAgain(
            Arrays.copyOf(kept.frame(), frameBytes),
            Arrays.copyOfRange(kept.frame(), frameBytes, kept.frame().length));
      }
      case ArchiveRecord.Requested requested -> request(requested);
      case ArchiveRecord.Finished finished -> finish(finished);
      case ArchiveRecord.SessionEnded ended -> {
        Player player = players.remove(ended.sessionId());
        if (player != null) {
          player.session.close();
        }
      }
    }
  }

  /// A statement that a session had before the first file of the archive begins; in later files the session has it already.
  private void prepareAgain(byte[] frame, byte[] text) {
    Player player = players.get(sessionId(frame));
    if (player != null
        && player.session.isAlive()
        && !player.statements.contains(statementId(frame))) {
      prepared(player, frame, text);
      if (text.length > 0) {
        long offset = player.session.acquire(text.length);
        player.session.write(offset, text);
        setOffset(new UnsafeBuffer(frame), PrepareEncoder.sqlOffsetEncodingOffset(), offset);
      }
      FrameSession.Pending sent = player.session.send(frame);
      if (sent != null) {
        player.session.finish(sent);
      }
    }
  }

  private void request(ArchiveRecord.Requested requested) {
    byte[] frame = requested.frame();
    UnsafeBuffer buffer = new UnsafeBuffer(frame);
    if (frame.length < Protocol.MESSAGE_HEADER_BYTES + 2 * Long.BYTES) {
      skipped++;
      return;
    }
    int template = Frames.templateId(buffer);
    if (template == CancelDecoder.TEMPLATE_ID
        || template == ContinueTransactionDecoder.TEMPLATE_ID) {
      return;
    }
    Player player = players.get(sessionId(frame));
    long requestId = requestId(buffer);
    if (player == null || !player.session.isAlive() || !handles.translate(frame)) {
      skipped++;
      return;
    }
    if (requested.inbound().length > 0 && !stage(player, template, buffer, requested.inbound())) {
      skipped++;
      return;
    }
    if (template == PrepareDecoder.TEMPLATE_ID) {
      prepared(player, frame, requested.inbound());
    }
    pace.accept(requested.epochMicros());
    requests++;
    try {
      FrameSession.Pending sent = player.session.send(frame);
      if (sent != null) {
        boolean catalogQuery =
            template == ExecuteDecoder.TEMPLATE_ID
                && player.catalogQueries.contains(
                    Frames.wrap(new ExecuteDecoder(), buffer).statementId());
        player.pending.put(requestId, new Sent(sent, catalogQuery));
      }
    } catch (EndpointException e) {
      differs("request " + requestId + " could not be sent: " + e.getMessage());
    }
  }

  private static void prepared(Player player, byte[] prepare, byte[] text) {
    long statement = statementId(prepare);
    player.statements.add(statement);
    // The statement is the one text of the frame, which may be a malformed one.
    if (new String(text.length > 0 ? text : prepare, StandardCharsets.ISO_8859_1)
        .contains(CATALOG)) {
      player.catalogQueries.add(statement);
    } else {
      player.catalogQueries.remove(statement);
    }
  }

  /// Length of the statement that lay in the arena when the request came.
  private static int inboundBytes(byte[] prepare) {
    long bytes = Frames.wrap(new PrepareDecoder(), new UnsafeBuffer(prepare)).sqlBytes();
    return bytes == PrepareDecoder.sqlBytesNullValue() ? 0 : Math.toIntExact(bytes);
  }

  /// Writes inbound rows, or a statement, where the request will say they are.
  private static boolean stage(Player player, int template, UnsafeBuffer frame, byte[] inbound) {
    long then =
        switch (template) {
          case PrepareDecoder.TEMPLATE_ID -> Frames.wrap(new PrepareDecoder(), frame).sqlOffset();
          case InvokeDecoder.TEMPLATE_ID -> Frames.wrap(new InvokeDecoder(), frame).inboundOffset();
          default -> Frames.wrap(new ExecuteDecoder(), frame).inboundOffset();
        };
    Long now = player.buffers.get(then);
    if (now == null) {
      return false; // granted before the archive begins
    }
    player.session.write(now, inbound);
    setOffset(
        frame,
        switch (template) {
          case PrepareDecoder.TEMPLATE_ID -> PrepareEncoder.sqlOffsetEncodingOffset();
          case InvokeDecoder.TEMPLATE_ID -> InvokeEncoder.inboundOffsetEncodingOffset();
          default -> ExecuteEncoder.inboundOffsetEncodingOffset();
        },
        now);
    return true;
  }

  private static void setOffset(UnsafeBuffer frame, int field, long offset) {
    frame.putLong(Protocol.MESSAGE_HEADER_BYTES + field, offset, ByteOrder.LITTLE_ENDIAN);
  }

  private void finish(ArchiveRecord.Finished then) {
    Player player = players.get(then.sessionId());
    Sent sent = player == null ? null : player.pending.remove(then.requestId());
    if (player == null || sent == null) {
      return; // asked before the archive begins, or skipped
    }
    try {
      if (then.sqlstate().equals(QUERY_CANCELED)) {
        player.session.cancel(sent.request());
      }
      FrameSession.Answer now = player.session.finish(sent.request());
      handles.bind(then.transactionHandle(), now.transactionHandle());
      int granted = Math.min(then.granted().size(), now.grantedBuffers().size());
      for (int i = 0; i < granted; i++) {
        player.buffers.put(then.granted().get(i), now.grantedBuffers().get(i));
      }
      compare(then, now, sent.catalogQuery());
    } catch (EndpointException e) {
      differs("request " + then.requestId() + " was not answered: " + e.getMessage());
    }
  }

  private void compare(ArchiveRecord.Finished then, FrameSession.Answer now, boolean catalogQuery) {
    String what = "session " + then.sessionId() + ", request " + then.requestId() + ": ";
    if (!sameOutcome(then.sqlstate(), now.sqlstate())) {
      differs(
          what
              + (then.sqlstate().isEmpty() ? "succeeded" : "SQLSTATE " + then.sqlstate())
              + " then, "
              + (now.sqlstate().isEmpty()
                  ? "succeeds"
                  : "SQLSTATE " + now.sqlstate() + " (" + now.message() + ")")
              + " now");
    } else if (!catalogQuery && then.rowsAffected() != now.rowsAffected()) {
      differs(what + then.rowsAffected() + " rows then, " + now.rowsAffected() + " rows now");
    }
  }

  /// Whether SQLSTATEs of a request, empty for success, tell of the same outcome.
  static boolean sameOutcome(String then, String now) {
    return then.equals(now)
        || (then.equals(QUERY_CANCELED) && now.equals(TRANSACTION_ABORTED))
        || (then.equals(TRANSACTION_ABORTED) && now.equals(QUERY_CANCELED));
  }

  private void differs(String how) {
    differences++;
    if (shown.size() < MAX_DIFFERENCES_SHOWN) {
      shown.add(how);
    }
  }

  private static long sessionId(byte[] frame) {
    return new UnsafeBuffer(frame).getLong(Protocol.MESSAGE_HEADER_BYTES, ByteOrder.LITTLE_ENDIAN);
  }

  private static long statementId(byte[] prepare) {
    return Frames.wrap(new PrepareDecoder(), new UnsafeBuffer(prepare)).statementId();
  }

  private static long requestId(UnsafeBuffer frame) {
    return frame.getLong(Protocol.MESSAGE_HEADER_BYTES + Long.BYTES, ByteOrder.LITTLE_ENDIAN);
  }
}
