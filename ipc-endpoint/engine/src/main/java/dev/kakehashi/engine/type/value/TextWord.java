package dev.kakehashi.engine.type.value;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.CompactWord;
import dev.kakehashi.engine.vector.VarHeap;

/// Words of texts and bytes that may be compact, or an address: what operators take that make nothing in memory. Stateless.
public final class TextWord {
  private static final int BLANK = ' ';

  private TextWord() {}

  /// Whether values of a kind are texts or bytes.
  public static boolean isText(ColumnKind kind) {
    return kind == ColumnKind.VARLENA || kind == ColumnKind.BPCHAR;
  }

  /// The one word of a short value, which equal values have, also `'a'` and `'a '` of bpchar.
  ///
  /// @return 0: the value is long, and equal to no short one
  public static long ofShort(ColumnKind kind, long word) {
    if (CompactWord.isBytes(word)) {
      return kind == ColumnKind.BPCHAR ? withoutBlanks(word) : word;
    }
    int length = kind == ColumnKind.BPCHAR ? Ordering.bpcharLength(word) : Varlena.length(word);
    return CompactWord.ofBytes(Varlena.data(word), length);
  }

  private static long withoutBlanks(long word) {
    int count = CompactWord.count(word);
    int present = count;
    long bytes = CompactWord.bytes(word);
    while (present > 0 && (bytes >>> (Byte.SIZE * (present - 1)) & 0xFF) == BLANK) {
      present--;
    }
    return present == count ? word : CompactWord.first(word, present);
  }

  /// Address of the value.
  public static long inMemory(long word, VarHeap heap) {
    if (!CompactWord.isBytes(word)) {
      return word;
    }
    long address = heap.allocate(CompactWord.MOST_BYTES);
    CompactWord.write(word, address);
    return address;
  }
}
