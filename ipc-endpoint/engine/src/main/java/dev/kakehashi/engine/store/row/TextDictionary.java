package dev.kakehashi.engine.store.row;

import dev.kakehashi.engine.store.index.StoredWord;
import dev.kakehashi.engine.store.index.ValueCodec;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Native;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/// Values of a column of texts or bytes that many rows have: each is in memory once, and a page has its code of two bytes. Thread-safe.
///
/// A value that is here stays until the table goes, so there are [#MOST_ENTRIES] at most, of [#MOST_BYTES] each. While the dictionary is
/// open, it takes each new value. It closes when its values turn out not to come again: those that it has go on to be found by their codes.
///
/// An entry is a block: its code, then the value with its header. Readers search without a lock: `State` is replaced when it grows, and an
/// entry is written before its slot, with release.
final class TextDictionary implements ValueCodec.SharedValues {
  static final int MOST_ENTRIES = 4096;
  static final int MOST_BYTES = 128;

  private static final int FIRST_ENTRIES = 16;

  /// Entries at which it first looks whether values come again; later at each doubling.
  private static final int FIRST_LOOK = 1024;

  private static final int CODE_BYTES = 8;
  private static final int HEADER_BYTES = 4;
  private static final long MULTIPLIER = 0x9E37_79B9_7F4A_7C15L;

  /// @param slots twice as many as entries: one more than the code of a value with that hash; 0: none
  /// @param addresses of values by code
  private record State(AtomicIntegerArray slots, long[] addresses) {
    State(int entries) {
      this(new AtomicIntegerArray(2 * entries), new long[entries]);
    }
  }

  private final MemoryPool pool;

  /// For readers in other processes; null: there are none. Guarded by `this`.
  private final @Nullable DictionaryValues shared;

  private volatile State state = new State(FIRST_ENTRIES);
  private volatile boolean closed;

  /// Guarded by `this`.
  private int count;

  /// Guarded by `this`.
  private long blockBytes;

  /// Values that were looked for, and those that were not found once it was full. Counted without order, for a decision only.
  private long looked;

  private long missed;

  /// @param pool gets the entries
  TextDictionary(MemoryPool pool) {
    this.pool = pool;
    this.shared = DictionaryValues.of(pool);
  }

  /// See [dev.kakehashi.engine.store.memory.StoreHead]; 0: there are no readers in other processes.
  long cell() {
    return shared == null ? 0 : shared.cell();
  }

  @Override
  public long word(long bytes, int length) {
    if (closed || length > MOST_BYTES) {
      return 0;
    }
    looked++;
    long hash = hash(bytes, length);
    State present = state;
    int code = find(present, hash, bytes, length);
    return code >= 0 ? StoredWord.shared(present.addresses[code]) : add(hash, bytes, length);
  }

  private static long hash(long bytes, int length) {
    long hash = length * MULTIPLIER;
    int i = 0;
    for (; i + Long.BYTES <= length; i += Long.BYTES) {
      hash = Long.rotateLeft((hash ^ Native.getLongUnaligned(bytes + i)) * MULTIPLIER, 29);
    }
    for (; i < length; i++) {
      hash = (hash ^ Native.getByte(bytes + i)) * MULTIPLIER;
    }
    return hash ^ hash >>> 32;
  }

  /// @return code of a value; -1: it is not there
  private static int find(State in, long hash, long bytes, int length) {
    int mask = in.slots.length() - 1;
    for (int slot = (int) hash & mask; ; slot = (slot + 1) & mask) {
      int found = in.slots.getAcquire(slot) - 1;
      if (found < 0) {
        return -1;
      }
      long address = in.addresses[found];
      if (Native.getInt(address) >>> 2 == length + HEADER_BYTES
          && Native.equalBytes(address + HEADER_BYTES, bytes, length)) {
        return found;
      }
    }
  }

  private synchronized long add(long hash, long bytes, int length) {
    State present = state;
    int code = find(present, hash, bytes, length);
    if (code >= 0) {
      return StoredWord.shared(present.addresses[code]);
    }
    if (closed || !hasRoom()) {
      return 0;
    }
    if (count == present.addresses.length) {
      present = grown(present);
    }
    if (shared != null) {
      shared.reserve(count);
    }
    long size = CODE_BYTES + HEADER_BYTES + (long) length;
    long block = pool.allocate(size);
    blockBytes += MemoryPool.blockBytes(size);
    long address = block + CODE_BYTES;
    Native.putLong(block, StoredWord.ofCode(count));
    Native.putInt(address, (length + HEADER_BYTES) << 2);
    Native.copyApart(bytes, address + HEADER_BYTES, length);
    present.addresses[count] = address;
    if (shared != null) {
      shared.put(count, address);
    }
    enter(present, hash, count);
    count++;
    return StoredWord.shared(address);
  }

  private boolean hasRoom() {
    if (count >= FIRST_LOOK && (count & count - 1) == 0 && looked < count + count / 4) {
      closed = true;
    } else if (count == MOST_ENTRIES && ++missed > Math.max(MOST_ENTRIES, looked / 2)) {
      closed = true;
    }
    return !closed && count < MOST_ENTRIES;
  }

  private State grown(State before) {
    State next = new State(2 * before.addresses.length);
    System.arraycopy(before.addresses, 0, next.addresses, 0, count);
    for (int code = 0; code < count; code++) {
      long address = next.addresses[code];
      int length = (Native.getInt(address) >>> 2) - HEADER_BYTES;
      enter(next, hash(address + HEADER_BYTES, length), code);
    }
    state = next;
    return next;
  }

  private static void enter(State into, long hash, int code) {
    int mask = into.slots.length() - 1;
    int slot = (int) hash & mask;
    while (into.slots.getPlain(slot) != 0) {
      slot = (slot + 1) & mask;
    }
    into.slots.setRelease(slot, code + 1);
  }

  /// Word of the value with a code that a page has; nonsense gets 0.
  long word(long code) {
    long[] addresses = state.addresses;
    int number = StoredWord.code(code);
    long address = number < addresses.length ? addresses[number] : 0;
    return address == 0 ? 0 : StoredWord.shared(address);
  }

  /// Translates a word of a dictionary to that of a page.
  static long codeOf(long shared) {
    return Native.getLong(StoredWord.address(shared) - CODE_BYTES);
  }

  /// Memory of the entries, as the pool counts it.
  synchronized long memoryBytes() {
    return blockBytes;
  }

  /// Frees the entries. Nobody uses the table any more.
  synchronized void free() {
    long[] addresses = state.addresses;
    for (int code = 0; code < count; code++) {
      long address = addresses[code];
      pool.free(address - CODE_BYTES, CODE_BYTES + (Native.getInt(address) >>> 2));
    }
    if (shared != null) {
      shared.free();
    }
    count = 0;
    closed = true;
    state = new State(FIRST_ENTRIES);
    Arrays.fill(addresses, 0);
  }
}
