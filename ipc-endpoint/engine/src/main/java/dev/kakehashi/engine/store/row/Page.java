package dev.kakehashi.engine.store.row;

import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Native;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// One page of rows: 64 KB of native memory laid out by [RowLayout], and what is known about it as a whole.
///
/// **Latch.** `version` is even when the page is free and odd while a writer has it. Everything else here, and all words in
/// the native page, is written by the holder of the latch only, and never for longer than it takes to change one row.
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

  /// Where its rows are; while it has no memory, where they were. Changed under the latch. A reader that has read it before finds out when
  /// it validates, and until then reads what is mapped: the pool keeps that to its end.
  private long address;

  /// Whether it has memory. Written under the latch; a reader without the latch gets an answer that may be old.
  private boolean hasMemory = true;

  /// For where things lie, which is the same in every later layout of the table.
  private final RowLayout layout;

  private final int pageColumns;

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

  /// Per column that lies in the page itself: whether a null was ever stored here.
  private final boolean[] mayHaveNulls;

  private static final Annex[] NO_ANNEXES = {};

  /// Annexes of the columns that were added later. An annex is made when a row gets another value of its column than the missing one, and
  /// stays. An array is not changed any more once it is here, so that a reader, before it has validated, follows no address that is not of
  /// this page.
  private volatile @Nullable Annex[] annexes = NO_ANNEXES;

  /// Where a column lies that was added after the table was made.
  private static final class Annex {
    final long address;
    boolean mayHaveNulls;

    Annex(long address) {
      this.address = address;
    }
  }

  /// Null: nobody shares a row of the page.
  private @Nullable SharedLocks sharedLocks;

  /// Whether the table has this page on its list of pages with room; guarded by that list's lock.
  boolean listed;

  @SuppressWarnings("UnusedVariable") // accessed through VERSION
  private volatile long version;

  Page(TableForm form, long address, long number) {
    this.form = form;
    this.address = address;
    this.number = number;
    RowLayout layout = form.layout;
    this.layout = layout;
    this.pageColumns = layout.pageColumns;
    int bitWords = (layout.rows + 63) >>> 6;
    live = new long[bitWords];
    occupied = new long[bitWords];
    mayHaveNulls = new boolean[layout.pageColumns];
    clearNulls();
  }

  private void clearNulls() {
    for (int c = 0; c < layout.pageColumns; c++) {
      mayHaveNulls[c] = false;
      Native.zero(layout.nulls(address, c), 8L * live.length);
    }
  }

  // ---- memory, under the latch ----

  public boolean hasMemory() {
    return hasMemory;
  }

  /// Gives its memory away, if there is nothing in it.
  void freeIfEmpty() {
    // A large block is unmapped when it is freed, and a late reader might look there.
    boolean annexesStay = annexes.length > 0 && layout.annexBytes > MemoryPool.LARGEST_CLASS;
    if (hasMemory
        && occupiedCount == 0
        && inFlight == 0
        && !annexesStay
        && mostReuses() < RowIdentity.MOST_REUSES) {
      reusesBefore = mostReuses() + 1;
      used = 0;
      hasMemory = false;
      freeAnnexes();
      freeReuses();
      form.pool.freePage(address);
    }
  }

  /// Gets memory again.
  void revive(long memory) {
    address = memory;
    hasMemory = true;
    clearNulls();
  }

  /// Frees its memory. Nobody uses the table any more.
  public void free() {
    freeAnnexes();
    freeReuses();
    if (hasMemory) {
      hasMemory = false;
      form.pool.freePage(address);
    }
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
        VarHandle.storeStoreFence();
        return;
      }
      pause(spins);
    }
  }

  public void unlatch() {
    VERSION.setRelease(this, (long) VERSION.getOpaque(this) + 1);
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
    return slot < used ? Native.getLong(layout.stamp(address, slot)) : Stamp.NOTHING;
  }

  public void setStamp(int slot, long stamp) {
    Native.putLong(layout.stamp(address, slot), stamp);
  }

  public long undo(int slot) {
    return slot < used ? Native.getLong(layout.undo(address, slot)) : 0;
  }

  public void setUndo(int slot, long record) {
    Native.putLong(layout.undo(address, slot), record);
  }

  private @Nullable Annex annex(int column) {
    @Nullable Annex[] present = annexes;
    int number = column - pageColumns;
    return number < present.length ? present[number] : null;
  }

  /// Address of the words of a column; 0: all rows end before it.
  public long words(int column) {
    return column < pageColumns ? layout.words(address, column) : annexWords(column);
  }

  private long annexWords(int column) {
    Annex annex = annex(column);
    return annex == null ? 0 : layout.annexWords(annex.address);
  }

  /// Address of the null bits of a column that has words.
  public long nulls(int column) {
    Annex annex = column < pageColumns ? null : annex(column);
    return annex == null ? layout.nulls(address, column) : annex.address;
  }

  /// Whether a null was ever stored in a column that has words.
  public boolean mayHaveNulls(int column) {
    if (column < pageColumns) {
      return mayHaveNulls[column];
    }
    Annex annex = annex(column);
    return annex != null && annex.mayHaveNulls;
  }

  public long word(int column, int slot) {
    return column < pageColumns
        ? Native.getLong(layout.words(address, column) + 8L * slot)
        : addedWord(column, slot);
  }

  private long addedWord(int column, int slot) {
    long words = annexWords(column);
    return words == 0 ? form.layout.missing(column) : Native.getLong(words + 8L * slot);
  }

  public boolean isNull(int column, int slot) {
    return column < pageColumns
        ? mayHaveNulls[column] && hasBit(layout.nulls(address, column), slot)
        : isAddedNull(column, slot);
  }

  private boolean isAddedNull(int column, int slot) {
    Annex annex = annex(column);
    return annex == null
        ? form.layout.isMissingNull(column)
        : annex.mayHaveNulls && hasBit(annex.address, slot);
  }

  private static boolean hasBit(long bits, int slot) {
    return (Native.getLong(bits + 8L * (slot >>> 6)) >>> (slot & 63) & 1) != 0;
  }

  /// Sets a value; [#makeRoomFor] has been called for the version that it is of.
  public void setWord(int column, int slot, long word, boolean isNull) {
    if (column < pageColumns) {
      Native.putLong(layout.words(address, column) + 8L * slot, isNull ? 0 : word);
      if (isNull || mayHaveNulls[column]) {
        setBit(layout.nulls(address, column), slot, isNull);
        mayHaveNulls[column] |= isNull;
      }
    } else {
      setAddedWord(column, slot, word, isNull);
    }
  }

  private void setAddedWord(int column, int slot, long word, boolean isNull) {
    Annex annex = annex(column);
    // Without one it is the missing value, or that of a deleted row.
    if (annex != null) {
      Native.putLong(layout.annexWords(annex.address) + 8L * slot, isNull ? 0 : word);
      if (isNull || annex.mayHaveNulls) {
        setBit(annex.address, slot, isNull);
        annex.mayHaveNulls |= isNull;
      }
    }
  }

  private static void setBit(long bits, int slot, boolean isSet) {
    long at = bits + 8L * (slot >>> 6);
    long bit = 1L << (slot & 63);
    long present = Native.getLong(at);
    Native.putLong(at, isSet ? present | bit : present & ~bit);
  }

  /// Makes the annexes that a version needs, in a latched page, before anything else of it is changed.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException OUT_OF_MEMORY; the page is as it was then
  public void makeRoomFor(RowVersion version) {
    for (int c = pageColumns; c < version.words.length; c++) {
      RowLayout now = form.layout;
      if (annex(c) == null
          && (version.nulls[c] != now.isMissingNull(c) || version.words[c] != now.missing(c))) {
        addAnnex(c, now);
      }
    }
  }

  private void addAnnex(int column, RowLayout now) {
    int number = column - pageColumns;
    Annex annex = new Annex(form.pool.allocate(layout.annexBytes));
    long words = layout.annexWords(annex.address);
    annex.mayHaveNulls = now.isMissingNull(column);
    for (long at = annex.address; at < words; at += 8) {
      Native.putLong(at, annex.mayHaveNulls ? -1L : 0);
    }
    for (int slot = 0; slot < layout.rows; slot++) {
      Native.putLong(words + 8L * slot, now.missing(column));
    }
    @Nullable Annex[] next = Arrays.copyOf(annexes, Math.max(annexes.length, number + 1));
    next[number] = annex;
    annexes = next;
  }

  private void freeAnnexes() {
    for (Annex annex : annexes) {
      if (annex != null) {
        form.pool.free(annex.address, layout.annexBytes);
      }
    }
    annexes = NO_ANNEXES;
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
