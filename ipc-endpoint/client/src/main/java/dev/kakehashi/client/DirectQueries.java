package dev.kakehashi.client;

import dev.kakehashi.client.direct.DirectAnswer;
import dev.kakehashi.client.direct.DirectReader;
import dev.kakehashi.client.direct.DirectTicket;
import dev.kakehashi.client.direct.StoreMemory;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.layout.ResponseSlotLayout;
import dev.kakehashi.protocol.messages.StatementKind;
import dev.kakehashi.transport.os.SharedMemory;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Queries of a session that read their row in the endpoint's memory, without a request: those of one row by its whole key, each a
/// transaction of its own. Whatever is not sure is a request. The session's thread.
///
/// A query reads what is committed and durable while it runs. It takes no slot, and waits for nobody.
final class DirectQueries implements AutoCloseable {
  /// How long the endpoint is believed to live after it was last seen alive: one that follows it, and changes rows, needs far longer to
  /// begin. Each look is a system call.
  private static final long LIVENESS_NANOS = 1_000_000;

  private final Session session;
  private final MemorySegment firstSlot;
  private final RowBatchReader parameters = new RowBatchReader();
  private @Nullable StoreMemory memory;
  private @Nullable DirectReader reader;
  private long seenAliveNanos;
  private long reads;

  /// A statement may have changed the session's role, of which nobody else is told: nothing is read without a request any more.
  private boolean asksAlways;

  /// @param memory from now on this one's; null: none was given, and everything is a request
  /// @param firstSlot the session's first slot, which has its count of reads
  DirectQueries(Session session, @Nullable StoreMemory memory, MemorySegment firstSlot) {
    this.session = session;
    this.memory = memory;
    this.firstSlot = firstSlot;
    this.reader = memory == null ? null : new DirectReader(memory);
    this.seenAliveNanos = System.nanoTime() - LIVENESS_NANOS;
  }

  /// The ticket of a prepared statement, and room for its rows.
  static final class Ticketed {
    /// The last one that there was.
    private DirectTicket ticket;

    /// Words on which the ticket depends, at the time when another one was asked for and did not hold.
    private long @Nullable [] askedAt;

    private @Nullable DirectResult spare;

    private Ticketed(DirectTicket ticket) {
      this.ticket = ticket;
    }
  }

  /// @param message of the answer to Prepare; empty: there is none
  /// @return null: requests answer the statement
  @Nullable Ticketed ticketed(byte[] message) {
    StoreMemory mapped = memory;
    DirectTicket ticket =
        mapped == null || message.length == 0 ? null : DirectTicket.decode(message, mapped);
    return ticket == null || !fits(ticket) ? null : new Ticketed(ticket);
  }

  /// Whether a row without its long values fits into a batch.
  private boolean fits(DirectTicket ticket) {
    return RowBatchWriter.rowsThatFit(ticket.columnCount(), session.limits().maxBatchBytes()) > 0;
  }

  /// Rows that were looked for without a request.
  long reads() {
    return reads;
  }

  /// Notes that a statement is executed by a request.
  void executed(PreparedStatement statement) {
    // Statements about the session have no columns. A query without columns is the same to us.
    asksAlways |= statement.kind() == StatementKind.QUERY && statement.columns().isEmpty();
  }

  /// @param given of the statement, finished
  /// @return null: a request has to answer
  @Nullable Rows query(PreparedStatement statement, Parameters given) {
    Ticketed ticketed = statement.ticketed();
    DirectReader its = reader;
    if (ticketed == null
        || its == null
        || asksAlways
        || given.rowCount() != 1
        || given.writer().columnCount() != statement.parameterCount()
        || !isAlive()) {
      return null;
    }
    given.writer().finish();
    parameters.wrap(given.writer().batch());
    DirectResult result = ticketed.spare;
    ticketed.spare = null;
    if (result == null) {
      result = new DirectResult(ticketed.ticket.columnCount(), session.limits().maxBatchBytes());
    }
    DirectAnswer answer = its.read(ticketed.ticket, parameters, result.empty());
    if (answer == DirectAnswer.STALE && renew(statement, ticketed)) {
      answer = its.read(ticketed.ticket, parameters, result.empty());
    }
    if (answer != DirectAnswer.ROW && answer != DirectAnswer.NO_ROW) {
      ticketed.spare = result;
      return null;
    }
    // For display, in the session's first slot, which its first request has made ours.
    SharedMemory.putLongPlain(firstSlot, ResponseSlotLayout.DIRECT_READS_OFFSET, ++reads);
    DirectResult found = result;
    return new Rows(session, found.finished(), statement.columns(), () -> ticketed.spare = found);
  }

  private boolean isAlive() {
    long now = System.nanoTime();
    if (now - seenAliveNanos < LIVENESS_NANOS) {
      return true;
    }
    boolean isAlive = session.isAlive();
    if (isAlive) {
      seenAliveNanos = now;
    }
    return isAlive;
  }

  /// Asks for another ticket, once after each change of what a ticket depends on.
  ///
  /// @return whether there is one that held just now
  private boolean renew(PreparedStatement statement, Ticketed ticketed) {
    StoreMemory mapped = memory;
    if (mapped == null) {
      return false;
    }
    long[] words = ticketed.ticket.words(mapped);
    if (java.util.Arrays.equals(words, ticketed.askedAt)) {
      return false;
    }
    ticketed.askedAt = words;
    Ticketed next = session.ticketedAnew(statement);
    if (next == null || next.ticket.columnCount() != ticketed.ticket.columnCount()) {
      return false;
    }
    ticketed.ticket = next.ticket;
    return next.ticket.holds(mapped);
  }

  /// Unmaps the memory: everything is a request from now on.
  @Override
  public void close() {
    if (memory != null) {
      memory.close();
    }
    memory = null;
    reader = null;
  }
}
