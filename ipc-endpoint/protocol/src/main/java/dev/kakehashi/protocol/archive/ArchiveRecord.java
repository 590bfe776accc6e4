package dev.kakehashi.protocol.archive;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/// One entry of a request archive, in the order in which the endpoint saw or did it.
public sealed interface ArchiveRecord {
  /// A session began, or was attached already when the file begins.
  record SessionBegan(long sessionId, String userName, String applicationName)
      implements ArchiveRecord {}

  /// A session ended.
  record SessionEnded(long sessionId) implements ArchiveRecord {}

  /// A statement that was prepared before the file begins, in a session that goes on.
  ///
  /// @param frame the request that prepared it, and behind it the statement if that lay in the arena
  record StatementKept(byte[] frame) implements ArchiveRecord {
    @Override
    public boolean equals(Object other) {
      return other instanceof StatementKept that && Arrays.equals(frame, that.frame);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(frame);
    }
  }

  /// A request arrived.
  ///
  /// @param epochMicros wall clock
  /// @param frame the message as it was in the queue
  /// @param inbound what it names in the arena; empty when it names nothing
  record Requested(long epochMicros, byte[] frame, byte[] inbound) implements ArchiveRecord {
    @Override
    public boolean equals(Object other) {
      return other instanceof Requested that
          && epochMicros == that.epochMicros
          && Arrays.equals(frame, that.frame)
          && Arrays.equals(inbound, that.inbound);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(frame);
    }
  }

  /// A request was answered.
  ///
  /// @param transactionHandle in the answer; 0: none
  /// @param sqlstate of a failure; empty: success
  /// @param granted offsets of the inbound buffers that the answer grants
  record Finished(
      long sessionId,
      long requestId,
      long transactionHandle,
      long rowsAffected,
      String sqlstate,
      List<Long> granted)
      implements ArchiveRecord {
    public Finished {
      granted = List.copyOf(granted);
      if (sqlstate.getBytes(StandardCharsets.US_ASCII).length > 5) {
        throw new IllegalArgumentException("SQLSTATE " + sqlstate);
      }
    }
  }
}
