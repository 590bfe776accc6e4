package dev.kakehashi.transport.endpoint;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.transport.TransportConfig;
import dev.kakehashi.transport.TransportException;

/// Blocks of the arena that one response holds: buffers that tasks have, and batches that the reader has not released.
///
/// They count against the session's share, and a response has at most a part of that. But one that holds nothing may always have one
/// buffer: a client that reads several responses by turns does not release the batches of one until it has got those of another, so that
/// they would wait for each other for ever. So a session holds at most its share and one batch for each response slot, and what holds
/// always is the length of the arena.
///
/// Confined to the lock of its channel.
final class ChannelBlocks {
  private final EndpointSession session;
  private final BufferArena arena;
  private final int blockBytes;
  private final int most;
  private int held;

  ChannelBlocks(EndpointSession session, BufferArena arena, TransportConfig.Buffers config) {
    this.session = session;
    this.arena = arena;
    this.blockBytes = config.blockBytes();
    this.most = (int) Math.max(1, config.responseBytes() / blockBytes);
  }

  /// How many blocks the next buffer is to have: as many as are usual, unless that would be the first buffer of a response and the
  /// session's share is used up by others. A session with thousands of open results then holds as little as each of them can do with.
  int blocksFor(int minBytes, int usualBytes) {
    int usual = blocks(Math.max(minBytes, usualBytes));
    return held > 0 || session.mayTakeBlocks(usual) ? usual : blocks(minBytes);
  }

  private int blocks(int bytes) {
    return (bytes + blockBytes - 1) / blockBytes;
  }

  /// First block of a run of `count`, or -1 as long as it cannot be had.
  ///
  /// @throws TransportException DISK_FULL; OUT_OF_MEMORY if waiting does not help
  int take(int count) {
    if (held == 0) {
      session.takeBlocksAlways(count);
    } else if (held + count > most || !session.takeBlocks(count)) {
      return -1;
    }
    int first = -1;
    try {
      first = arena.allocate(count);
    } finally {
      if (first < 0) {
        session.giveBlocks(count);
      }
    }
    if (first >= 0) {
      held += count;
    } else if (isHopeless(count)) {
      throw noRoom(count);
    }
    return first;
  }

  /// Whether [#take(int)] is worth trying again.
  boolean mayTake(int count) {
    if (held > 0 && (held + count > most || !session.mayTakeBlocks(count))) {
      return false;
    }
    return arena.hasRun(count) || isHopeless(count);
  }

  /// Whether nobody else's release can make room for a first buffer, because of what this session has in other responses.
  private boolean isHopeless(int count) {
    return held == 0 && session.usedBlocks() > arena.blockCount() - count;
  }

  private TransportException noRoom(int count) {
    return new TransportException(
        ErrorCode.OUT_OF_MEMORY,
        "no shared memory for a row batch of %d bytes".formatted((long) count * blockBytes),
        "Other results and rows of the session hold %d of the %d bytes that its operating system user has."
            .formatted(
                (long) session.usedBlocks() * blockBytes, (long) arena.blockCount() * blockBytes),
        "Close cursors, or raise \"user_buffers\" of the endpoint.",
        null);
  }

  /// Gives a run, or the tail of one, back.
  void free(int first, int count) {
    if (count > 0) {
      arena.free(first, count);
      session.giveBlocks(count);
      held -= count;
    }
  }
}
