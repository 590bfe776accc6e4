package dev.kakehashi.rest.sql;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

/// Memory outside of the heap for the rows of all answers, bounded, so that many slow readers cannot take what the others need.
/// Thread-safe.
///
/// | buffers | who has them | bound |
/// |---|---|---|
/// | short, [#SHORT_BYTES] | the first rows of each answer | the number of requests at once |
/// | long, [#LONG_BYTES] and more | answers that are longer | bytes of all together, reserved before the first is taken |
///
/// A statement whose rows wait for their reader has its state on the heap, too, on which everybody depends. So the number of long answers
/// is bounded by a quarter of it.
///
/// Buffers of the usual sizes are kept for the next answers. Longer ones go back to the system at once.
public final class AnswerRoom implements AutoCloseable {
  /// Length of the first buffer of an answer.
  static final int SHORT_BYTES = 16 << 10;

  /// Length of the further ones, unless a row is longer.
  static final int LONG_BYTES = 256 << 10;

  private static final int KEPT_SHORT = 64;
  private static final int KEPT_LONG = 8;

  /// Heap of the statement and the encoder of a long answer, about.
  private static final long HEAP_BYTES = 2L << 20;

  private static final int FEWEST_ANSWERS = 8;

  private final long limitBytes;
  private final long mostAnswers;

  // All below: guarded by this.
  private final ArrayDeque<Memory> shorts = new ArrayDeque<>();
  private final ArrayDeque<Memory> longs = new ArrayDeque<>();
  private long reservedBytes;
  private int answers;
  private boolean closed;

  /// @param limitBytes of all long buffers together
  public AnswerRoom(long limitBytes) {
    this.limitBytes = limitBytes;
    this.mostAnswers = Math.max(FEWEST_ANSWERS, Runtime.getRuntime().maxMemory() / 4 / HEAP_BYTES);
  }

  /// A buffer; its owner gives it back once.
  record Memory(Arena arena, MemorySegment segment) {
    static Memory allocate(long bytes) {
      Arena arena = Arena.ofShared();
      return new Memory(arena, arena.allocate(bytes, 8));
    }

    long bytes() {
      return segment.byteSize();
    }
  }

  /// Lets a long answer in, with room for its buffers.
  ///
  /// @throws EngineException OUT_OF_MEMORY when others have it
  void enter(long bytes) {
    synchronized (this) {
      if (answers < mostAnswers && bytes <= limitBytes - reservedBytes) {
        reservedBytes += bytes;
        answers++;
        return;
      }
    }
    throw full();
  }

  /// A long answer has ended.
  synchronized void leave(long bytes) {
    reservedBytes -= bytes;
    answers--;
  }

  /// Reserves room for a buffer that is longer than others.
  ///
  /// @throws EngineException OUT_OF_MEMORY when others have it
  void reserve(long bytes) {
    synchronized (this) {
      if (bytes <= limitBytes - reservedBytes) {
        reservedBytes += bytes;
        return;
      }
    }
    throw full();
  }

  private synchronized EngineException full() {
    return new EngineException(
            ErrorCode.OUT_OF_MEMORY, "out of memory for another long answer over HTTP")
        .withDetail(answers + " long answers that are being read hold " + reservedBytes + " bytes.")
        .withHint(
            "Ask for a job with \"Prefer: respond-async\", or raise \"http_answer_memory\" or the memory of the endpoint's JVM.");
  }

  synchronized void unreserve(long bytes) {
    reservedBytes -= bytes;
  }

  /// Bytes that are reserved for long answers now.
  public synchronized long reservedBytes() {
    return reservedBytes;
  }

  /// A buffer of at least so many bytes.
  Memory take(int bytes) {
    synchronized (this) {
      Memory kept =
          bytes <= SHORT_BYTES ? shorts.poll() : bytes <= LONG_BYTES ? longs.poll() : null;
      if (kept != null) {
        return kept;
      }
    }
    return Memory.allocate(
        bytes <= SHORT_BYTES ? SHORT_BYTES : bytes <= LONG_BYTES ? LONG_BYTES : bytes);
  }

  void give(Memory memory) {
    if (!keep(memory)) {
      memory.arena().close();
    }
  }

  private synchronized boolean keep(Memory memory) {
    if (closed) {
      return false;
    }
    if (memory.bytes() == SHORT_BYTES && shorts.size() < KEPT_SHORT) {
      shorts.push(memory);
      return true;
    }
    if (memory.bytes() == LONG_BYTES && longs.size() < KEPT_LONG) {
      longs.push(memory);
      return true;
    }
    return false;
  }

  /// Frees what is kept; what answers still have is freed when they give it back.
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      shorts.forEach(memory -> memory.arena().close());
      shorts.clear();
      longs.forEach(memory -> memory.arena().close());
      longs.clear();
    }
  }
}
