package dev.kakehashi.engine.store.index;

/// Words of by-reference values in the store that have an address: of a value of the row's own, or of one that many rows share. The other
/// ones are [dev.kakehashi.engine.vector.CompactWord]s. Stateless.
///
/// ```
/// ... 000   address of a value of the row's own, or of the missing value of the column
/// ... 100   address of a value that rows share; in a page, from bit 3 on its code of 12 bits instead
/// ```
public final class StoredWord {
  private static final int TAG = 7;
  private static final int SHARED = 4;
  private static final int CODE_SHIFT = 3;

  /// No address is below.
  private static final long CODE_LIMIT = 1 << 15;

  private StoredWord() {}

  /// Whether rows share the value.
  public static boolean isShared(long word) {
    return (word & TAG) == SHARED;
  }

  /// Where the value of a word is that is not compact.
  public static long address(long word) {
    return word & ~TAG;
  }

  public static long shared(long address) {
    return address | SHARED;
  }

  /// @param code 0 to 4095
  public static long ofCode(int code) {
    return (long) code << CODE_SHIFT | SHARED;
  }

  /// Whether a word of a page has a code.
  public static boolean isCode(long word) {
    return isShared(word) && word >>> CODE_SHIFT < CODE_LIMIT >> CODE_SHIFT;
  }

  public static int code(long word) {
    return (int) (word >>> CODE_SHIFT) & (int) (CODE_LIMIT >> CODE_SHIFT) - 1;
  }
}
