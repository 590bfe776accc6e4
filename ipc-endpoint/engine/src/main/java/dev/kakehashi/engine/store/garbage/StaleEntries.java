package dev.kakehashi.engine.store.garbage;

import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.index.OrderedTree;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.TableIndex;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/// Index entries of versions that a transaction has taken back: superfluous, unless another version of the row has the key, too. Each takes
/// its own bytes of the heap and 8 more, in pieces, so that a long list is not copied when it grows.
///
/// Filled by the transaction's own thread, which is the only one that knows it until the transaction ends; handed over with its garbage,
/// whose `ready` (volatile) is written then. Dropped under the collector's lock: by that thread before, see [GarbageCollector#dropMany], by
/// whoever frees the garbage afterwards.
final class StaleEntries {
  private static final int FIRST_BYTES = 128;
  private static final int PIECE_BYTES = 64 << 10;

  /// Before an entry: which index it is of, and its length.
  private static final int HEAD_BYTES = 8;

  private static final int LENGTH_BITS = 24;

  /// An index among whose entries there are some.
  private record Place(CollectedTable table, TableIndex index) {}

  private final List<Place> places = new ArrayList<>(2);
  private final IdentityHashMap<TableIndex, Integer> numbers = new IdentityHashMap<>(2);

  /// An entry lies in one piece.
  private final List<KeyBuffer> pieces = new ArrayList<>(1);

  private KeyBuffer last = new KeyBuffer(FIRST_BYTES);
  private int bytes;

  StaleEntries() {
    pieces.add(last);
  }

  /// @param key with the row identifier; of a version without an entry that alone
  void add(CollectedTable table, TableIndex index, KeyBuffer key) {
    // One that is too long has never been in the index: that was the reason to take the change
    // back.
    if (key.length == Long.BYTES || key.length > OrderedTree.MAX_ENTRY_BYTES) {
      return;
    }
    Integer number = numbers.get(index);
    if (number == null) {
      number = places.size();
      places.add(new Place(table, index));
      numbers.put(index, number);
    }
    int needed = HEAD_BYTES + key.length;
    if (last.length + needed > PIECE_BYTES) {
      last = new KeyBuffer(PIECE_BYTES);
      pieces.add(last);
    }
    last.putLong((long) number << LENGTH_BITS | key.length);
    last.putBytes(key);
    bytes += needed;
  }

  boolean isEmpty() {
    return bytes == 0;
  }

  int bytes() {
    return bytes;
  }

  /// Removes the entries from their indexes, unless they are needed, and forgets them. The caller has the collector's lock.
  void drop(long horizon) {
    KeyBuffer key = new KeyBuffer(64);
    for (KeyBuffer piece : pieces) {
      int at = 0;
      while (at < piece.length) {
        long head = KeyBuffer.longAt(piece.bytes, at);
        int length = (int) head & (1 << LENGTH_BITS) - 1;
        key.set(piece.bytes, at + HEAD_BYTES, length);
        drop(places.get((int) (head >>> LENGTH_BITS)), key, horizon);
        at += HEAD_BYTES + length;
      }
    }
    pieces.clear();
    pieces.add(last);
    last.length = 0;
    places.clear();
    numbers.clear();
    bytes = 0;
  }

  private static void drop(Place place, KeyBuffer key, long horizon) {
    long rowId = KeyBuffer.longAt(key.bytes, key.length - Long.BYTES);
    Page page = place.table.page(rowId >>> Page.SLOT_BITS);
    // Without one the table was freed.
    if (page != null) {
      place.table.dropEntry(place.index, page, Page.slotOf(rowId), key, horizon);
    }
  }
}
