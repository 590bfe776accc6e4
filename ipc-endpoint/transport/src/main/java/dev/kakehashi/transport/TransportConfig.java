package dev.kakehashi.transport;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/// Limits of the transport. Clients learn them at attach (PROTOCOL.md §2); the defaults stand here and nowhere else.
///
/// @param runtimeDirectory made anew by each incarnation; on tmpfs
/// @param endpointVersion for messages about versions
public record TransportConfig(
    Path runtimeDirectory,
    String endpointVersion,
    Mailbox mailbox,
    Buffers buffers,
    Queue queue,
    Sessions sessions,
    Access access,
    Polling polling) {

  public static TransportConfig defaults(Path runtimeDirectory) {
    return new TransportConfig(
        runtimeDirectory,
        "1.0.0",
        Mailbox.DEFAULT,
        Buffers.DEFAULT,
        Queue.DEFAULT,
        Sessions.DEFAULT,
        Access.DEFAULT,
        Polling.DEFAULT);
  }

  /// A session's response slots.
  ///
  /// @param slots outstanding requests of a session, open results included, 1..4096. Slots beyond the reserved ones take no memory while
  /// they are not used
  /// @param headAreaBytes head of a slot and descriptor ring
  /// @param frameAreaBytes longest final frame that needs no buffer
  /// @param inlineBytes longest result that needs no buffer
  /// @param channelWindow batches that may wait for their reader, per request
  public record Mailbox(
      int slots, int headAreaBytes, int frameAreaBytes, int inlineBytes, int channelWindow) {
    private static final int MOST_RESERVED_SLOTS = 16;

    public static final Mailbox DEFAULT = new Mailbox(4096, 1024, 15 << 10, 16 << 10, 16);

    public Mailbox {
      require(slots >= 1 && slots <= 4096, "slots", slots, "1..4096");
      require(
          channelWindow >= 2 && channelWindow <= 1024, "channel window", channelWindow, "2..1024");
      require(
          headAreaBytes >= 384 + 32 * channelWindow && headAreaBytes % 64 == 0,
          "head area",
          headAreaBytes,
          "384 + 32 * channel window at least, multiple of 64");
      require(
          frameAreaBytes >= 2048 && frameAreaBytes % 64 == 0,
          "frame area",
          frameAreaBytes,
          "2048 at least, multiple of 64");
      require(
          inlineBytes >= 1024 && inlineBytes % 64 == 0,
          "inline area",
          inlineBytes,
          "1024 at least, multiple of 64");
      require(
          (headAreaBytes + frameAreaBytes + inlineBytes) * (long) slots % 4096 == 0,
          "mailbox",
          (headAreaBytes + frameAreaBytes + inlineBytes) * (long) slots,
          "a multiple of 4096");
    }

    /// Slots that have their memory as long as the session is attached; that of others is there while they are used.
    public int reservedSlots() {
      return Math.min(slots, MOST_RESERVED_SLOTS);
    }

    public int slotBytes() {
      return headAreaBytes + frameAreaBytes + inlineBytes;
    }

    public long mailboxBytes() {
      return (long) slotBytes() * slots;
    }
  }

  /// Result and inbound buffers.
  ///
  /// @param blockBytes unit of allocation, a multiple of 4096
  /// @param batchBytes usual length of a result buffer
  /// @param maxBatchBytes longest row batch, which is a long row alone
  /// @param principalBytes all buffers of one OS user; the length of its arena file
  /// @param sessionBytes buffers of one session, but that a response which holds none may always take one
  /// @param retainedBytes free memory kept for the next results
  public record Buffers(
      int blockBytes,
      int batchBytes,
      int maxBatchBytes,
      long principalBytes,
      long sessionBytes,
      long retainedBytes) {
    private static final int SHARES_OF_SESSION = 8;

    public static final Buffers DEFAULT =
        new Buffers(64 << 10, 256 << 10, 256 << 20, 1L << 30, 512L << 20, 32L << 20);

    public Buffers {
      require(
          blockBytes >= 4096 && blockBytes % 4096 == 0, "block", blockBytes, "a multiple of 4096");
      require(batchBytes >= blockBytes, "batch", batchBytes, "a block at least");
      require(maxBatchBytes >= batchBytes, "longest batch", maxBatchBytes, "a batch at least");
      require(
          sessionBytes >= 2L * maxBatchBytes,
          "session's buffers",
          sessionBytes,
          "two longest batches at least");
      require(
          principalBytes >= sessionBytes && principalBytes <= 1L << 40,
          "principal's buffers",
          principalBytes,
          "a session's at least");
    }

    /// Bytes that one response may hold, unless it is a single batch: a few long rows, or all the usual batches of a window.
    public long responseBytes() {
      return sessionBytes / SHARES_OF_SESSION;
    }
  }

  /// Request queues.
  ///
  /// @param blockBytes of the queue's files, a power of two from 256 KiB
  /// @param maxFrameBytes longest request; a quarter of a block at most
  /// @param queuesPerPrincipal queues that the backends of one server share
  public record Queue(int blockBytes, int maxFrameBytes, int queuesPerPrincipal) {
    public static final Queue DEFAULT = new Queue(4 << 20, 64 << 10, 8);

    public Queue {
      require(
          blockBytes >= 256 << 10 && Integer.bitCount(blockBytes) == 1,
          "queue block",
          blockBytes,
          "a power of two from 256 KiB");
      require(
          maxFrameBytes >= 4096 && maxFrameBytes <= blockBytes / 8,
          "longest frame",
          maxFrameBytes,
          "4096..block / 8");
      require(
          queuesPerPrincipal >= 1 && queuesPerPrincipal <= 64,
          "queues",
          queuesPerPrincipal,
          "1..64");
    }
  }

  /// Sessions.
  ///
  /// @param maxSessions attached at a time, 1..65535
  /// @param maxUserSessions of one OS user other than the endpoint's own; 0: a quarter of all
  /// @param maxStatements prepared statements of a session
  /// @param clientSpin longest spin of a waiting client
  /// @param lease default lease of a transaction
  /// @param attachTimeout how long a connection may take to say who it is
  public record Sessions(
      int maxSessions,
      int maxUserSessions,
      int maxStatements,
      Duration clientSpin,
      Duration lease,
      Duration attachTimeout) {
    public static final Sessions DEFAULT =
        new Sessions(
            1000,
            0,
            1024,
            Duration.ofNanos(200_000),
            Duration.ofMinutes(15),
            Duration.ofSeconds(5));

    public Sessions {
      require(maxSessions >= 1 && maxSessions <= 0xFFFF, "sessions", maxSessions, "1..65535");
      require(
          maxStatements >= 1 && maxStatements <= 1 << 16, "statements", maxStatements, "1..65536");
      require(
          maxUserSessions >= 0 && maxUserSessions <= 0xFFFF,
          "sessions of an OS user",
          maxUserSessions,
          "0..65535");
    }

    /// Sessions that one OS user other than the endpoint's own may have.
    public int userLimit() {
      return maxUserSessions > 0 ? maxUserSessions : Math.max(1, maxSessions / 4);
    }
  }

  /// Users that may attach besides the endpoint's own OS user.
  ///
  /// @param group OS group that may attach; empty: none
  /// @param users OS users by name or number
  public record Access(String group, List<String> users) {
    public static final Access DEFAULT = new Access("", List.of());
  }

  /// The poller's idle strategy.
  ///
  /// @param minSpin spin when spinning has not paid off lately
  /// @param maxSpin spin when it has
  public record Polling(Duration minSpin, Duration maxSpin) {
    public static final Polling DEFAULT =
        new Polling(Duration.ofNanos(50_000), Duration.ofNanos(200_000));
  }

  private static void require(boolean valid, String name, long value, String range) {
    if (!valid) {
      throw new IllegalArgumentException(name + " cannot be " + value + ": " + range);
    }
  }
}
