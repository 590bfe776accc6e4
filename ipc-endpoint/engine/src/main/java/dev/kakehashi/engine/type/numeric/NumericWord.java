package dev.kakehashi.engine.type.numeric;

import dev.kakehashi.engine.vector.CompactWord;
import dev.kakehashi.engine.vector.VarHeap;

/// Words of numerics that may be compact, or an address that a scan has marked: what operators take that make nothing in memory.
public final class NumericWord {
  private static final long MARK = 7;

  private NumericWord() {}

  /// As [NumericFast#unscaled(long)].
  public static long unscaled(long word) {
    return CompactWord.isNumeric(word)
        ? CompactWord.unscaled(word)
        : NumericFast.unscaled(word & ~MARK);
  }

  /// As [NumericFast#scale(long)].
  public static int scale(long word) {
    return CompactWord.isNumeric(word) ? CompactWord.scale(word) : NumericFast.scale(word & ~MARK);
  }

  /// Address of a value that is not compact.
  public static long address(long word) {
    return word & ~MARK;
  }

  /// Address of the value.
  public static long inMemory(long word, VarHeap heap) {
    if (!CompactWord.isNumeric(word)) {
      return word & ~MARK;
    }
    long address = heap.allocate(CompactWord.MOST_BYTES);
    CompactWord.write(word, address);
    return address;
  }
}
