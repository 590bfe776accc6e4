package dev.kakehashi.engine.statistics;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.index.VarlenaLengths;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.engine.vector.VarHeap;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import org.jspecify.annotations.Nullable;

/// Values of one type with memory of their own. Immutable and thread-safe.
public final class ValueList {
  private final int oid;
  private final ColumnKind kind;
  private final long[] words;

  /// Holds by-reference values, and lives as long as this list.
  private final @Nullable MemorySegment memory;

  /// Written by any thread that asks; all write the same.
  private volatile @Nullable String array;

  private ValueList(int oid, long[] words, @Nullable MemorySegment memory) {
    this.oid = oid;
    this.kind = Types.kind(oid);
    this.words = words;
    this.memory = memory;
  }

  /// Copies values; by-reference ones with their bytes.
  static ValueList copyOf(int oid, long[] words) {
    ColumnKind kind = Types.kind(oid);
    if (!kind.byReference()) {
      return new ValueList(oid, words.clone(), null);
    }
    long bytes = 0;
    for (long word : words) {
      bytes += room(kind, word);
    }
    MemorySegment memory = Arena.ofAuto().allocate(Math.max(8, bytes), 8);
    long[] own = new long[words.length];
    long at = 0;
    for (int i = 0; i < words.length; i++) {
      MemorySegment.copy(
          VarHeap.MEMORY, words[i], memory, at, VarlenaLengths.bytes(kind, words[i]));
      own[i] = memory.address() + at;
      at += room(kind, words[i]);
    }
    return new ValueList(oid, own, memory);
  }

  private static long room(ColumnKind kind, long word) {
    return (VarlenaLengths.bytes(kind, word) + 7L) & ~7L;
  }

  public int oid() {
    return oid;
  }

  public int size() {
    return words.length;
  }

  /// Word of a value; a by-reference one is good while [#keepAlive()] is still to be called.
  public long word(int index) {
    return words[index];
  }

  /// Called after the last use of words that are addresses.
  @SuppressWarnings("ReachabilityFenceUsage") // the callers' loops end before it
  public void keepAlive() {
    Reference.reachabilityFence(memory);
  }

  /// Compares value `index` with a word of the same kind.
  public int compare(int index, long word) {
    int order = Ordering.compare(kind, words[index], word);
    keepAlive();
    return order;
  }

  /// Whether value `index` equals a word of the same kind.
  public boolean equal(int index, long word) {
    boolean equal = Ordering.equal(kind, words[index], word);
    keepAlive();
    return equal;
  }

  /// Whether the two values are equal.
  boolean equal(int index, ValueList other, int otherIndex) {
    boolean equal = equal(index, other.words[otherIndex]);
    other.keepAlive();
    return equal;
  }

  /// The value as PostgreSQL prints it.
  public String text(int index) {
    String text = dev.kakehashi.engine.type.value.Values.toText(oid, words[index]);
    keepAlive();
    return text;
  }

  /// The values as PostgreSQL prints an array of them.
  public String arrayText() {
    String known = array;
    if (known == null) {
      known = makeArrayText();
      array = known;
    }
    return known;
  }

  private String makeArrayText() {
    StringBuilder text = new StringBuilder("{");
    for (int i = 0; i < words.length; i++) {
      text.append(i == 0 ? "\"" : ",\"")
          .append(text(i).replace("\\", "\\\\").replace("\"", "\\\""))
          .append('"');
    }
    return text.append('}').toString();
  }
}
