package dev.kakehashi.engine.store.garbage;

import dev.kakehashi.engine.store.memory.HeapRoom;
import dev.kakehashi.engine.store.row.Page;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Writes in their order: of each the page, the row's slot, and the undo record of what was there (0: nothing, an insert).
///
/// Kept in chunks, so that a long list is never copied. A chunk that is full keeps only what tells its writes from each other: rows that
/// were inserted one after another into a page take a few dozen bytes together, others 16 bytes each.
///
/// Confined to one thread at a time while it grows or shrinks; afterwards any number of threads may read it, one of them at a time clears
/// records.
public final class WriteLog {
  /// Writes of a chunk.
  private static final int CHUNK_WRITES = 1024;

  /// Room of the first chunk.
  private static final int FIRST_WRITES = 8;

  /// A chunk of inserts into one page is closed when the page changes, if it has so many.
  private static final int CLOSED_WRITES = 64;

  /// Bytes of a write in an open chunk, and of a chunk besides.
  private static final int WRITE_BYTES = 16;

  private static final int CHUNK_BYTES = 64;

  /// Transactions that only read have no room.
  private static final Chunk[] NO_CHUNKS = {};

  private @Nullable Chunk[] chunks = NO_CHUNKS;
  private int count;
  private int size;

  /// Bytes of the heap that it has, and for how many of them room was asked for.
  private long heapBytes;

  private long granted = HeapRoom.LONG_BYTES;

  private static final class Chunk {
    /// Number of its first write.
    private final int first;

    private int size;

    /// One for all writes, or one for each.
    private Page[] pages;

    /// Null: each is the one after that of the write before.
    private int @Nullable [] rowSlots;

    private int firstSlot;

    /// Null: all are 0.
    private long @Nullable [] undos;

    private boolean closed;

    Chunk(int first, int capacity) {
      this.first = first;
      pages = new Page[capacity];
      rowSlots = new int[capacity];
      undos = new long[capacity];
    }

    /// A closed chunk under another number.
    Chunk(int first, Chunk other) {
      this.first = first;
      size = other.size;
      pages = other.pages;
      rowSlots = other.rowSlots;
      firstSlot = other.firstSlot;
      undos = other.undos;
      closed = true;
    }

    Page page(int at) {
      return pages.length == 1 ? pages[0] : pages[at];
    }

    int rowSlot(int at) {
      int[] each = rowSlots;
      return each == null ? firstSlot + at : each[at];
    }

    long undo(int at) {
      long[] each = undos;
      return each == null ? 0 : each[at];
    }

    void grow(int capacity) {
      pages = Arrays.copyOf(pages, capacity);
      rowSlots = Arrays.copyOf(Objects.requireNonNull(rowSlots), capacity);
      undos = Arrays.copyOf(Objects.requireNonNull(undos), capacity);
    }

    /// No write is added any more.
    void close() {
      closed = true;
      Page page = pages[0];
      int slot = rowSlot(0);
      boolean onePage = true;
      boolean inOrder = true;
      boolean inserts = true;
      for (int i = 0; i < size; i++) {
        onePage &= pages[i] == page;
        inOrder &= rowSlot(i) == slot + i;
        inserts &= undo(i) == 0;
      }
      if (onePage) {
        pages = new Page[] {page};
      }
      if (inOrder) {
        firstSlot = slot;
        rowSlots = null;
      }
      if (inserts) {
        undos = null;
      }
      if (size < pages.length && !onePage) {
        pages = Arrays.copyOf(pages, size);
      }
      int[] slots = rowSlots;
      if (slots != null && size < slots.length) {
        rowSlots = Arrays.copyOf(slots, size);
      }
      long[] records = undos;
      if (records != null && size < records.length) {
        undos = Arrays.copyOf(records, size);
      }
    }

    /// Whether it is worth to be closed because another page comes.
    boolean isUniform() {
      return size >= CLOSED_WRITES && pages[0] == pages[size - 1] && undo(size - 1) == 0;
    }

    long bytes() {
      int[] slots = rowSlots;
      long[] records = undos;
      return CHUNK_BYTES
          + 4L * pages.length
          + (slots == null ? 0 : 4L * slots.length)
          + (records == null ? 0 : 8L * records.length);
    }
  }

  public int size() {
    return size;
  }

  public Page page(int write) {
    Chunk chunk = chunk(write);
    return chunk.page(write - chunk.first);
  }

  public int rowSlot(int write) {
    Chunk chunk = chunk(write);
    return chunk.rowSlot(write - chunk.first);
  }

  /// Record of the row as it was before a write; 0: there was none.
  public long undo(int write) {
    Chunk chunk = chunk(write);
    return chunk.undo(write - chunk.first);
  }

  private Chunk chunk(int write) {
    return at(count == 1 ? 0 : indexOf(write));
  }

  private Chunk at(int index) {
    return Objects.requireNonNull(chunks[index]);
  }

  private int indexOf(int write) {
    int low = 0;
    int high = count - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (at(middle).first <= write) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  /// Makes room for one more write, so that adding it cannot fail after it was made.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException OUT_OF_MEMORY
  public void reserve() {
    Chunk last = count == 0 ? null : at(count - 1);
    if (last == null) {
      append(FIRST_WRITES);
    } else if (last.closed || last.size == CHUNK_WRITES) {
      close(last);
      append(CHUNK_WRITES);
    } else if (last.size == last.pages.length) {
      int capacity = Math.min(CHUNK_WRITES, last.size * 4);
      heapBytes += (long) WRITE_BYTES * (capacity - last.size);
      last.grow(capacity);
    }
    while (heapBytes > granted) {
      HeapRoom.require("list of changes", HeapRoom.LONG_BYTES);
      granted += HeapRoom.LONG_BYTES;
    }
  }

  private void close(Chunk chunk) {
    if (!chunk.closed) {
      heapBytes -= chunk.bytes();
      chunk.close();
      heapBytes += chunk.bytes();
    }
  }

  private void append(int capacity) {
    heapBytes += CHUNK_BYTES + (long) WRITE_BYTES * capacity;
    append(new Chunk(size, capacity));
  }

  private void append(Chunk chunk) {
    if (count == chunks.length) {
      chunks = Arrays.copyOf(chunks, Math.max(1, count * 2));
    }
    chunks[count++] = chunk;
  }

  /// Adds a write that room was made for.
  public void add(Page page, int rowSlot, long undo) {
    Chunk last = at(count - 1);
    if (last.size > 0 && last.pages[last.size - 1] != page && last.isUniform()) {
      close(last);
      append(CHUNK_WRITES);
      last = at(count - 1);
    }
    last.pages[last.size] = page;
    Objects.requireNonNull(last.rowSlots)[last.size] = rowSlot;
    Objects.requireNonNull(last.undos)[last.size] = undo;
    last.size++;
    size++;
  }

  /// Adds the writes of another list, which is not used any more.
  public void addAll(WriteLog other) {
    closeLast();
    other.closeLast();
    for (int i = 0; i < other.count; i++) {
      Chunk moved = new Chunk(size, other.at(i));
      append(moved);
      size += moved.size;
      heapBytes += moved.bytes();
    }
    granted = Math.max(granted, heapBytes);
  }

  private void closeLast() {
    if (count > 0 && at(count - 1).size == 0) {
      dropLast();
    } else if (count > 0) {
      close(at(count - 1));
    }
  }

  /// Forgets the last write.
  public void removeLast() {
    size--;
    if (at(count - 1).size == 0) {
      dropLast(); // room was made, and no write came
    }
    Chunk last = at(count - 1);
    last.size--;
    if (last.size == 0) {
      dropLast();
    }
  }

  /// Inserts that have lain together in a list of writes, each of a row of its own. Any number of threads may read them.
  public static final class Inserts {
    private final Chunk chunk;
    private final int from;
    private final int size;

    private Inserts(Chunk chunk, int from, int size) {
      this.chunk = chunk;
      this.from = from;
      this.size = size;
    }

    /// Their number, at least 1.
    public int size() {
      return size;
    }

    /// @param at from 0
    public Page page(int at) {
      return chunk.page(from + at);
    }

    /// @param at from 0
    public int rowSlot(int at) {
      return chunk.rowSlot(from + at);
    }
  }

  /// Takes writes away from the end, if they are inserts and so many that this is worth it.
  ///
  /// @param downTo so many writes stay
  /// @return null: nothing was taken
  public @Nullable Inserts takeInserts(int downTo) {
    if (count > 0 && at(count - 1).size == 0) {
      dropLast(); // room was made, and no write came
    }
    if (size - downTo < CLOSED_WRITES) {
      return null;
    }
    Chunk last = at(count - 1);
    int from = Math.max(0, downTo - last.first);
    int taken = last.size - from;
    if (taken < CLOSED_WRITES) {
      return null;
    }
    close(last);
    if (last.undos != null) {
      return null;
    }
    Chunk kept = new Chunk(last.first, last);
    if (from == 0) {
      dropLast();
    } else {
      last.size = from;
    }
    size -= taken;
    return new Inserts(kept, from, taken);
  }

  private void dropLast() {
    heapBytes -= at(count - 1).bytes();
    chunks[--count] = null;
  }

  /// Goes over the writes `[from, to)`. Confined to one thread.
  public final class Cursor {
    private int next;
    private final int to;
    private int index;
    private @Nullable Chunk chunk;
    private int at;

    private Cursor(int from, int to) {
      this.next = from;
      this.to = to;
      if (from < to) {
        index = indexOf(from);
        chunk = WriteLog.this.at(index);
        at = from - chunk.first - 1;
      }
    }

    public boolean next() {
      if (next >= to) {
        return false;
      }
      next++;
      at++;
      while (at >= here().size) {
        chunk = WriteLog.this.at(++index);
        at = 0;
      }
      return true;
    }

    private Chunk here() {
      return Objects.requireNonNull(chunk);
    }

    public Page page() {
      return here().page(at);
    }

    public int rowSlot() {
      return here().rowSlot(at);
    }

    public long undo() {
      return here().undo(at);
    }

    /// Forgets the record, which is not 0.
    public void clearUndo() {
      Objects.requireNonNull(here().undos)[at] = 0;
    }
  }

  public Cursor cursor(int from, int to) {
    return new Cursor(from, to);
  }

  public Cursor cursor() {
    return new Cursor(0, size);
  }
}
