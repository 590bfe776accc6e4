package dev.kakehashi.applications.link;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.PoliteSpin;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// One end of a lane: a block of shared memory by which a thread of the endpoint and one of the process take turns.
///
/// Used by one thread at a time; [#shut] by any. A message longer than [#ROOM] goes in pieces, each of which the other side takes before
/// the next one is written.
@SuppressWarnings("EnumOrdinal") // both sides are of one build
public final class LinkLane {
  /// Bytes of a lane: a header and a piece of a message.
  static final int BYTES = 64 << 10;

  private static final int HEADER = 128;

  /// Bytes of one piece.
  public static final int ROOM = BYTES - HEADER;

  // Header: whose turn it is, whether each side sleeps, bytes of the piece, whether more follow.
  private static final long TURN = 0;
  private static final long ENDPOINT_SLEEPS = 4;
  private static final long PROCESS_SLEEPS = 8;
  private static final long LENGTH = 12;
  private static final long MORE = 16;

  private static final int SHUT = 2;
  private static final int LOOKS = 64;
  private static final long AWAKE_NANOS = 20_000;
  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

  /// Whose end it is.
  public enum Side {
    ENDPOINT,
    PROCESS;

    private Side other() {
      return this == ENDPOINT ? PROCESS : ENDPOINT;
    }
  }

  /// The other side has ended.
  public static final class ShutException extends RuntimeException {
    private static final long serialVersionUID = 1;

    ShutException() {
      super("the other side of the lane has ended", null, false, false);
    }
  }

  /// The other side has not answered in time.
  public static final class LateException extends RuntimeException {
    private static final long serialVersionUID = 1;

    LateException() {
      super("the other side of the lane has not answered in time", null, false, false);
    }
  }

  private final MemorySegment memory;
  private final MemorySegment turnWord;
  private final MemorySegment data;
  private final int number;
  private final Side side;
  private final PoliteSpin spin = new PoliteSpin();
  private volatile boolean shut;

  LinkLane(MemorySegment memory, int number, Side side) {
    this.memory = memory;
    this.turnWord = memory.asSlice(TURN, LinkFutex.WORD);
    this.data = memory.asSlice(HEADER, ROOM);
    this.number = number;
    this.side = side;
  }

  public int number() {
    return number;
  }

  /// Where a message of one piece is written and read directly, while this side has the turn: [#ROOM] bytes.
  public MemorySegment data() {
    return data;
  }

  /// Hands over a message that has been written to [#data].
  public void hand(int length) {
    hand(length, false);
  }

  /// Sends a message, whose pieces the other side takes as they come.
  ///
  /// @throws ShutException, and [LateException] never: the other side is waited for
  public void send(MessageWriter message) {
    byte[] bytes = message.bytes();
    int length = message.length();
    int sent = 0;
    while (true) {
      int piece = Math.min(ROOM, length - sent);
      MemorySegment.copy(bytes, sent, data, ValueLayout.JAVA_BYTE, 0, piece);
      sent += piece;
      hand(piece, sent < length);
      if (sent == length) {
        return;
      }
      await(-1);
    }
  }

  /// Waits for a message and copies it.
  ///
  /// @param most bytes that are taken
  /// @param nanos longest time until its first piece; negative: any
  /// @throws EngineException LIMIT_EXCEEDED; MALFORMED_MESSAGE
  public void receive(MessageReader message, long most, long nanos) {
    await(nanos);
    int length = 0;
    while (true) {
      int piece = (int) INT.get(memory, LENGTH);
      boolean more = (int) INT.get(memory, MORE) != 0;
      if (piece < 0 || piece > ROOM || (more && piece == 0)) {
        throw new EngineException(
            ErrorCode.MALFORMED_MESSAGE, "a piece of a message of " + piece + " bytes");
      }
      if (length + (long) piece > most) {
        throw new EngineException(
            ErrorCode.LIMIT_EXCEEDED, "a message of more than " + most + " bytes");
      }
      MemorySegment.copy(
          data, ValueLayout.JAVA_BYTE, 0, message.room(length, piece), length, piece);
      length += piece;
      if (!more) {
        message.begin(length);
        return;
      }
      hand(0, false);
      await(-1);
    }
  }

  private void hand(int length, boolean more) {
    INT.set(memory, LENGTH, length);
    INT.set(memory, MORE, more ? 1 : 0);
    turnTo(side.other().ordinal());
  }

  private void turnTo(int whose) {
    INT.setRelease(memory, TURN, whose);
    VarHandle.fullFence();
    long sleeps = side == Side.ENDPOINT ? PROCESS_SLEEPS : ENDPOINT_SLEEPS;
    if ((int) INT.get(memory, sleeps) != 0) {
      LinkFutex.wakeAll(turnWord);
    }
  }

  /// Waits until this side has the turn.
  ///
  /// @param nanos negative: for ever
  public void await(long nanos) {
    for (int i = 0; i < LOOKS; i++) {
      if (isMine()) {
        return;
      }
      Thread.onSpinWait();
    }
    if (!spin.await(this::isMine, nanos < 0 ? AWAKE_NANOS : Math.min(nanos, AWAKE_NANOS))) {
      sleep(nanos);
    }
  }

  private void sleep(long nanos) {
    long end = System.nanoTime() + nanos;
    long sleeps = side == Side.ENDPOINT ? ENDPOINT_SLEEPS : PROCESS_SLEEPS;
    INT.set(memory, sleeps, 1);
    try {
      while (true) {
        VarHandle.fullFence();
        int turn = (int) INT.getAcquire(memory, TURN);
        if (turn == side.ordinal() || turn == SHUT || shut) {
          break;
        }
        long left = nanos < 0 ? -1 : end - System.nanoTime();
        if (nanos >= 0 && left <= 0) {
          throw new LateException();
        }
        LinkFutex.await(turnWord, turn, left);
      }
    } finally {
      INT.set(memory, sleeps, 0);
    }
    boolean mine = isMine();
    assert mine;
  }

  private boolean isMine() {
    int turn = (int) INT.getAcquire(memory, TURN);
    if (shut || turn == SHUT) {
      throw new ShutException();
    }
    return turn == side.ordinal();
  }

  /// Ends all waits, now and later, on this side; the other process has ended, or is to.
  public void shut() {
    shut = true;
    INT.setRelease(memory, TURN, SHUT);
    VarHandle.fullFence();
    LinkFutex.wakeAll(turnWord);
  }
}
