package dev.kakehashi.engine.store.row;

import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Native;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// One page of rows: blocks of native memory as [RowLayout] says, and what is known about them as a whole.
///
/// **Latch.** `version` is even when the page is free and odd while a writer has it. Everything else here, and all words in
/// the blocks, is written by the holder of the latch only, and never for longer than it takes to change one row.
/// A reader takes no latch: it notes the even version (acquire), copies what it wants, and believes it only if the version is still
/// the same after an acquire fence (a sequence lock; Boehm, "Can seqlocks get along with programming language memory models?", 2012).
/// The writer's odd version is ordered before its changes by a store fence, the even one after them by release.
///
/// **Addresses that a reader may follow.** A copied address may be dereferenced only after the version has been validated. Then it needs no
/// further check: a value or undo record that some version visible to a running transaction leads to is not freed before that transaction
/// has ended (see [dev.kakehashi.engine.store.garbage.GarbageCollector]), and neither ever changes.
///
/// | field | meaning |
/// |---|---|
/// | used | slots from here on have never held a row |
/// | live, liveCount | slots whose newest version, committed or not, is a row |
/// | occupied, occupiedCount | slots that are not free |
/// | inFlight | slots whose newest version has no commit timestamp yet |
/// | lastCommit | greatest commit timestamp of any version that is or was here |
///
/// Readers in other processes do as readers here do, with what a [SharedPage] repeats.
///
/// If `inFlight` is 0 and `lastCommit` not above a snapshot, the newest versions are what that snapshot sees: a scan copies whole columns.
public final class Page {
  public static final int SLOT_BITS = 16;

  private static final VarHandle VERSION;

  static {
    try {
      VERSION = MethodHandles.lookup().findVarHandle(Page.class, "version", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /// Form of its table.
  public final TableForm form;

  /// Stamps; while it has no memory, where they were. Changed under the latch. A reader that has read it before finds out when it
  /// validates, and until then reads what is mapped: the pool keeps that to its end.
  private long stamps;

  /// Undo pointers; 0: there are none. Made under the latch, and stays while a slot is in use.
  private long undos;

  /// Whether it has memory. Written under the latch; a reader without the latch gets an answer that may be old.
  private boolean hasMemory = true;

  /// For the number of rows, which is the same in every later layout of the table.
  private final RowLayout layout;

  /// Its [SharedPage], for readers in other processes; 0: there are none, or the table is gone. Changes under the latch.
  private long header;

  /// Row identifiers are `number << SLOT_BITS | slot`.
  public final long number;

  /// How often each slot has been used again, ints of the pool; 0: none has been. Made before the first slot is used again, and stays. Like
  /// the words of the page: a thread that sees a row reads what was written before its version, because its slot is not freed meanwhile.
  private volatile long reuses;

  /// Reuses that count for every slot besides: more than any slot had before the page lost its memory. Written under the latch while no
  /// slot holds a row.
  private int reusesBefore;

  public int used;
  public int liveCount;
  int occupiedCount;
  public int inFlight;
  public long lastCommit;
  public final long[] live;
  final long[] occupied;

  /// Their words.
  private final PageColumns columns;

  /// Null: nobody shares a row of the page.
  private @Nullable SharedLocks sharedLocks;

  /// Whether the table has this page on its list of pages with room; guarded by that list's lock.
  boolean listed;

  @SuppressWarnings("UnusedVariable") // accessed through VERSION
  private volatile long version;

  /// @param stamps memory of [#stampBytes]
  /// @param header memory of [SharedPage#bytes], which is complete; 0: there are no readers in other processes
  Page(TableForm form, long stamps, long header, long number) {
    this.form = form;
    this.stamps = stamps;
    this.header = header;
    this.number = number;
    this.layout = form.layout;
    this.columns = new PageColumns(form, header);
    if (header != 0) {
      SharedPage.stamps(header, stamps);
    }
    int bitWords = (layout.rows + 63) >>> 6;
    live = new long[bitWords];
    occupied = new long[bitWords];
  }

  /// Memory that a page begins with.
  static long stampBytes(RowLayout layout) {
    return 8L * layout.rows;
  }

  // ---- memory, under the latch ----

  public boolean hasMemory() {
    return hasMemory;
  }

  /// Gives its memory away, if there is nothing in it.
  void freeIfEmpty() {
    if (hasMemory
        && occupiedCount == 0
        && inFlight == 0
        && mostReuses() < RowIdentity.MOST_REUSES) {
      reusesBefore = mostReuses() + 1;
      used = 0;
      freeMemory();
    }
  }

  /// Gets memory again.
  void revive(long memory) {
    stamps = memory;
    if (header != 0) {
      SharedPage.stamps(header, memory);
    }
    hasMemory = true;
  }

  /// Frees its memory. Nobody uses the table any more, also in other processes: the generation of its cell is another one.
  public void free() {
    latch();
    freeMemory();
    long shared = header;
    header = 0;
    unlatch();
    if (shared != 0) {
      SharedPage.free(shared, form.pool);
    }
  }

  private void freeMemory() {
    freeReuses();
    if (hasMemory) {
      hasMemory = false;
      if (header != 0) {
        SharedPage.stamps(header, 0);
      }
      columns.free();
      if (undos != 0) {
        form.pool.free(undos, stampBytes(layout));
        undos = 0;
      }
      form.pool.free(stamps, stampBytes(layout));
    }
  }

  /// Memory of what it knows of its rows, as the pool counts it: all but [#columnBytes]. An answer that may be old.
  public long rowBytes() {
    return hasMemory
        ? MemoryPool.blockBytes(stampBytes(layout)) * (undos == 0 ? 1 : 2)
            + (reuses == 0 ? 0 : MemoryPool.blockBytes(reuseBytes()))
            + (header == 0 ? 0 : MemoryPool.blockBytes(SharedPage.bytes(header)))
        : 0;
  }

  /// Memory of the words of a column, in the same way.
  public long columnBytes(int column) {
    return columns.memoryBytes(column);
  }

  public long rowId(int slot) {
    return number << SLOT_BITS | slot;
  }

  /// Slot of a row identifier in its page.
  public static int slotOf(long rowId) {
    return (int) rowId & (1 << SLOT_BITS) - 1;
  }

  // ---- version ----

  /// The version, even, waited for.
  public long stableVersion() {
    long seen = (long) VERSION.getAcquire(this);
    for (int spins = 0; (seen & 1) != 0; spins++) {
      pause(spins);
      seen = (long) VERSION.getAcquire(this);
    }
    return seen;
  }

  /// Slots that have held a row, with those of every change that was begun before this call.
  public int stableUsed() {
    for (int spins = 0; ; spins++) {
      long seen = stableVersion();
      int slots = used;
      if (validate(seen)) {
        return slots;
      }
      pause(spins);
    }
  }

  /// Whether nothing read since `seen` was noted can have been torn.
  public boolean validate(long seen) {
    VarHandle.acquireFence();
    return (long) VERSION.getOpaque(this) == seen;
  }

  public void latch() {
    for (int spins = 0; ; spins++) {
      long seen = (long) VERSION.getOpaque(this);
      if ((seen & 1) == 0 && VERSION.compareAndSet(this, seen, seen + 1)) {
        if (header != 0) {
          SharedPage.version(header, seen + 1);
        }
        VarHandle.storeStoreFence();
        return;
      }
      pause(spins);
    }
  }

  public void unlatch() {
    long next = (long) VERSION.getOpaque(this) + 1;
    if (header != 0) {
      SharedPage.release(header, next);
    }
    VERSION.setRelease(this, next);
  }

  /// Spins shortly, then lets others run: the holder of a latch may have lost its core.
  @SuppressWarnings("ThreadPriorityCheck") // gives way, does not hope for an order
  public static void pause(int spins) {
    if (spins < 200) {
      Thread.onSpinWait();
    } else {
      Thread.yield();
    }
  }

  // ---- one row; the caller has the latch, or validates ----

  /// Also of a slot that has never held a row, or whose page has no memory.
  public long stamp(int slot) {
    return slot < used ? Native.getLong(stamps + 8L * slot) : Stamp.NOTHING;
  }

  public void setStamp(int slot, long stamp) {
    Native.putLong(stamps + 8L * slot, stamp);
  }

  public long undo(int slot) {
    long pointers = undos;
    return slot < used && pointers != 0 ? Native.getLong(pointers + 8L * slot) : 0;
  }

  /// @param record 0, or [#makeRoomForUndo] has been called
  public void setUndo(int slot, long record) {
    if (undos != 0) {
      Native.putLong(undos + 8L * slot, record);
    }
  }

  /// Makes room for undo pointers, in a latched page, before anything of it is changed.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException OUT_OF_MEMORY; the page is as it was then
  public void makeRoomForUndo() {
    if (undos == 0) {
      long pointers = form.pool.allocateToMakeRoom((int) stampBytes(layout));
      Native.zero(pointers, stampBytes(layout));
      VarHandle.storeStoreFence();
      undos = pointers;
    }
  }

  /// Where the words of a column are, for [Words]; 0: all rows have its missing value.
  public long place(int column) {
    return columns.place(column);
  }

  /// Null bits of a column that has a place; 0: there was never a null.
  public long nulls(int column) {
    return columns.nulls(column);
  }

  public long word(int column, int slot) {
    return columns.word(column, slot);
  }

  public boolean isNull(int column, int slot) {
    return columns.isNull(column, slot);
  }

  /// Sets a value; [#makeRoomFor] has been called for the version that it is of.
  public void setWord(int column, int slot, long word, boolean isNull) {
    columns.set(column, slot, word, isNull);
  }

  /// Makes the memory that a version needs, in a latched page, before anything else of it is changed.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException OUT_OF_MEMORY; the page holds what it held then
  public void makeRoomFor(RowVersion version) {
    columns.makeRoomFor(version, used);
  }

  /// Makes room for counting how often slots are used again, in a latched page that has room for a row, before anything of it is changed.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException OUT_OF_MEMORY; the page is as it was then
  public void makeRoomForReuse() {
    if (used == layout.rows && reuses == 0) {
      long bytes = reuseBytes();
      long counts = form.pool.allocate(bytes);
      Native.zero(counts, bytes);
      reuses = counts;
    }
  }

  private long reuseBytes() {
    return (long) Integer.BYTES * layout.rows;
  }

  private void freeReuses() {
    if (reuses != 0) {
      form.pool.free(reuses, reuseBytes());
      reuses = 0;
    }
  }

  /// How often the slot has been used again; it holds a row that the caller sees, or the page is latched.
  public int reuses(int slot) {
    long counts = reuses;
    return reusesBefore + (counts == 0 ? 0 : Native.getInt(reuseCount(counts, slot)));
  }

  private static long reuseCount(long counts, int slot) {
    return counts + (long) Integer.BYTES * slot;
  }

  /// The most that any slot has been used again.
  private int mostReuses() {
    int most = reusesBefore;
    for (int slot = 0; slot < layout.rows && reuses != 0; slot++) {
      most = Math.max(most, reuses(slot));
    }
    return most;
  }

  public boolean hasRoom() {
    return hasMemory && occupiedCount < layout.rows;
  }

  /// Takes a free slot of a latched page that has room, and for which [#makeRoomForReuse] has been called.
  public int claim() {
    int slot;
    if (used < layout.rows) {
      slot = used++;
      // Before any reader can look at it: a slot below `used` always has a stamp.
      setStamp(slot, Stamp.NOTHING);
    } else {
      int word = 0;
      while (occupied[word] == -1L) {
        word++;
      }
      slot = (word << 6) + Long.numberOfTrailingZeros(~occupied[word]);
      assert slot < layout.rows : "page without room";
      long count = reuseCount(reuses, slot);
      Native.putInt(count, Native.getInt(count) + 1);
    }
    occupy(slot);
    return slot;
  }

  /// Takes a certain slot of a latched page.
  public void claim(int slot) {
    while (used <= slot) {
      setStamp(used, Stamp.NOTHING);
      setUndo(used, 0);
      used++;
    }
    occupy(slot);
  }

  private void occupy(int slot) {
    occupied[slot >>> 6] |= 1L << (slot & 63);
    occupiedCount++;
  }

  /// Takes an insert back that nobody else has seen, in a latched page: there is no row any more. Its values stay, and the slot is not
  /// free, until it is vacated.
  public void retract(int slot) {
    setLive(slot, false);
    setStamp(slot, Stamp.NOTHING);
    setUndo(slot, 0);
    inFlight--;
  }

  /// Frees a slot of a latched page. One that has been used as often as identities tell apart stays empty.
  public void vacate(int slot) {
    setLive(slot, false);
    setStamp(slot, Stamp.NOTHING);
    setUndo(slot, 0);
    if (reuses(slot) == RowIdentity.MOST_REUSES) {
      return;
    }
    occupied[slot >>> 6] &= ~(1L << (slot & 63));
    occupiedCount--;
  }

  /// Shared locks of rows of a latched page; null: there are none.
  public @Nullable SharedLocks sharedLocks() {
    return sharedLocks;
  }

  /// The same of a latched page that has none.
  public SharedLocks makeSharedLocks() {
    SharedLocks made = new SharedLocks(layout.rows);
    sharedLocks = made;
    return made;
  }

  /// Under the latch, after one was let go of.
  public void dropSharedLocksIfEmpty() {
    SharedLocks present = sharedLocks;
    if (present != null && present.isEmpty()) {
      sharedLocks = null;
    }
  }

  public void setLive(int slot, boolean isLive) {
    long bit = 1L << (slot & 63);
    boolean was = (live[slot >>> 6] & bit) != 0;
    if (was != isLive) {
      live[slot >>> 6] ^= bit;
      liveCount += isLive ? 1 : -1;
    }
  }

  /// Gives an in-flight newest version its commit timestamp.
  public void commitStamp(int slot, long stamp, long timestamp) {
    setStamp(slot, Stamp.committed(stamp, timestamp));
    inFlight--;
    lastCommit = Math.max(lastCommit, timestamp);
  }

  /// Stamps the newest version of a row of a latched page, if it is (still) that of the transaction in a slot.
  public void stampCommitted(int slot, int owner, long timestamp) {
    long stamp = stamp(slot);
    if (Stamp.isInFlight(stamp) && Stamp.slot(stamp) == owner) {
      commitStamp(slot, stamp, timestamp);
    }
  }

  @Override
  public String toString() {
    return "page %d, used %d, live %s".formatted(number, used, Arrays.toString(live));
  }
}
