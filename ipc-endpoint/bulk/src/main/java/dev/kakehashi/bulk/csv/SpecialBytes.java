package dev.kakehashi.bulk.csv;

import dev.kakehashi.bulk.csv.text.Eight;

/// Gives, one after the other, the places of those bytes that have a meaning: they are found eight bytes at a time, some hundred in
/// advance. Not thread-safe.
final class SpecialBytes {
  private static final int CAPACITY = 512;

  private final long first;
  private final long second;
  private final long third;
  private final long fourth;
  private final long fifth;
  private final int[] places = new int[CAPACITY + 16];
  private byte[] data = {};
  private int limit;
  private int scanned;
  private int count;
  private int next;

  /// @param bytes five that have a meaning; the same may be there twice
  SpecialBytes(byte... bytes) {
    first = Eight.pattern(bytes[0]);
    second = Eight.pattern(bytes[1]);
    third = Eight.pattern(bytes[2]);
    fourth = Eight.pattern(bytes[3]);
    fifth = Eight.pattern(bytes[4]);
  }

  /// @param bytes with padding behind `to`
  void begin(byte[] bytes, int from, int to) {
    data = bytes;
    limit = to;
    scanned = from;
    count = 0;
    next = 0;
  }

  /// The next place; the limit if there is none.
  int next() {
    return next < count ? places[next++] : refill();
  }

  /// Leaves out those before a place.
  void skipTo(int place) {
    while (next < count && places[next] < place) {
      next++;
    }
    if (next == count && scanned < place) {
      scanned = place;
    }
  }

  private int refill() {
    int found = 0;
    int at = scanned;
    while (found <= CAPACITY && at < limit) {
      long eight = Eight.load(data, at);
      long others =
          Eight.differs(eight, first)
              & Eight.differs(eight, second)
              & Eight.differs(eight, third)
              & Eight.differs(eight, fourth);
      if (fifth != fourth) {
        others &= Eight.differs(eight, fifth);
      }
      long bits = ~others & Eight.HIGHS;
      if (limit - at < 8) {
        bits &= Eight.first(limit - at);
      }
      // Three are written in any case, since whether there is one is anybody's guess; what is none
      // is overwritten.
      int end = found + Long.bitCount(bits);
      places[found] = at + (Long.numberOfTrailingZeros(bits) >>> 3);
      bits &= bits - 1;
      places[found + 1] = at + (Long.numberOfTrailingZeros(bits) >>> 3);
      bits &= bits - 1;
      places[found + 2] = at + (Long.numberOfTrailingZeros(bits) >>> 3);
      bits &= bits - 1;
      for (int i = found + 3; i < end; i++) {
        places[i] = at + (Long.numberOfTrailingZeros(bits) >>> 3);
        bits &= bits - 1;
      }
      found = end;
      at += 8;
    }
    scanned = Math.min(at, limit);
    count = found;
    next = 0;
    return found == 0 ? limit : places[next++];
  }
}
