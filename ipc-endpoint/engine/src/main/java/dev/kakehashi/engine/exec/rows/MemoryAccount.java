package dev.kakehashi.engine.exec.rows;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Bytes that one statement holds, with a limit, and what else its operators need of it. Thread-safe.
///
/// Each owner of rows (the share of one task in an operator) is a user with an account of its own, see [#user()]. The first [#FLOOR_BYTES]
/// of each user do not count against the limit. An operator needs them to work with files, so a plan runs with any limit, however many
/// operators it has. The rest of the limit goes to the users that come first, up to a third of it. After that, each user that holds more
/// than a quarter of the remaining bytes goes to files, so that some always remain.
public final class MemoryAccount {
  /// Bytes that each user may hold besides the limit.
  static final long FLOOR_BYTES = 256L << 10;

  private static final int MIN_BUFFER_BYTES = 4 << 10;
  private static final int MAX_BUFFER_BYTES = 32 << 10;

  /// Files that one [Spill] writes at a time, and twice as many for what else its user holds.
  private static final int BUFFERS_OF_USER = 4 * Spill.PARTITIONS;

  /// The statement's account, which has the limit; null: this is it.
  private final @Nullable MemoryAccount statement;

  /// Profile of the node that the account is a part of; null: nothing is measured.
  private final PlanProfile.@Nullable Node profile;

  private final boolean isUser;

  /// Bytes that a user may hold besides the limit.
  private volatile long floorBytes = FLOOR_BYTES;

  /// Bytes that a user holds; for the statement's account, bytes that count against the limit.
  private final AtomicLong held = new AtomicLong();

  private volatile long limitBytes = Long.MAX_VALUE;
  private volatile @Nullable TempSpace tempSpace;
  private volatile Runnable cancelCheck = () -> {};

  public MemoryAccount() {
    this(null, null, false);
  }

  /// A node's part of a statement's account.
  public MemoryAccount(MemoryAccount statement, PlanProfile.Node profile) {
    this(statement, profile, false);
  }

  private MemoryAccount(
      @Nullable MemoryAccount statement, PlanProfile.@Nullable Node profile, boolean isUser) {
    this.statement = statement;
    this.profile = profile;
    this.isUser = isUser;
  }

  private MemoryAccount root() {
    return statement == null ? this : statement;
  }

  /// An account for one more user.
  public MemoryAccount user() {
    return new MemoryAccount(root(), profile, true);
  }

  /// @param poll throws when the statement was canceled
  public void open(long limit, TempSpace space, Runnable poll) {
    cancelCheck = poll;
    held.set(0);
    limitBytes = limit;
    tempSpace = space;
  }

  /// The statement has ended: its poll, and with it its transaction and session, are let go of. Nothing may be kept in files until the next
  /// statement is opened.
  public void close() {
    cancelCheck = () -> {};
    tempSpace = null;
  }

  /// Whether a user that has `bytes` should put them on the disk: memory is tight, and it is worth a file.
  ///
  /// @param more bytes that it will need besides if they stay: for sorting them, a table over them, or merging them with those of other
  ///     tasks
  public boolean wantsBack(long bytes, long more) {
    MemoryAccount root = root();
    return root.held.get() + more > root.limitBytes / 3 && bytes + more > room();
  }

  /// Bytes that one user may take now, and still leave as much to others: a quarter of what is left, and never less than half of its floor.
  public long room() {
    MemoryAccount root = root();
    return Math.max((root.limitBytes - root.held.get()) / 4, FLOOR_BYTES / 2);
  }

  /// Files that are merged at a time: half of the room is for their buffers.
  int mostReaders() {
    return Math.clamp(room() / 2 / bufferBytes(), 4, 256);
  }

  /// Bytes of a buffer for writing or reading a temporary file.
  public int bufferBytes() {
    return Math.clamp(room() / BUFFERS_OF_USER, MIN_BUFFER_BYTES, MAX_BUFFER_BYTES);
  }

  /// For loops over what was collected: called every few thousand rows, so that a cancel acts within 10 ms of work.
  public void checkCanceled() {
    root().cancelCheck.run();
  }

  /// The same in a loop over rows: looks at every 1024th.
  ///
  /// @param row number of the row
  public void checkCanceled(long row) {
    if (row % VectorBatch.CAPACITY == 0) {
      checkCanceled();
    }
  }

  /// A temporary file of the statement; whoever asks for it closes it.
  public SpillFile newFile(ColumnKind[] kinds) {
    return newFile(kinds, bufferBytes());
  }

  public SpillFile newFile(ColumnKind[] kinds, int buffer) {
    TempSpace space = root().tempSpace;
    if (space == null) {
      throw new IllegalStateException("no statement is running");
    }
    return new SpillFile(space, kinds, buffer, profile);
  }

  /// Counts `bytes` more, or fewer when negative.
  ///
  /// @throws EngineException OUT_OF_MEMORY beyond the limit
  public void add(long bytes) {
    if (profile != null) {
      profile.memory.add(bytes);
    }
    if (isUser) {
      long before = held.getAndAdd(bytes);
      long floor = floorBytes;
      root().charge(Math.max(before + bytes, floor) - Math.max(before, floor));
    } else {
      root().charge(bytes);
    }
  }

  /// Takes over the floor of a user who holds nothing any more, because this one has its rows. Nobody may use either account at the same
  /// time.
  public void absorb(MemoryAccount other) {
    long before = floorBytes;
    long after = before + other.floorBytes;
    long now = held.get();
    other.floorBytes = 0;
    floorBytes = after;
    root().charge(Math.max(now - after, 0) - Math.max(now - before, 0));
  }

  private void charge(long bytes) {
    if (bytes == 0) {
      return;
    }
    long now = held.addAndGet(bytes);
    if (bytes > 0 && now > limitBytes) {
      throw new EngineException(ErrorCode.OUT_OF_MEMORY, "out of memory for this statement")
          .withDetail("The statement holds " + now + " bytes; the limit is " + limitBytes + ".")
          .withHint("Raise statement_memory, or return or group fewer rows.");
    }
  }
}
