package dev.kakehashi.engine.type.array;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.TypeOid;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// PostgreSQL's order of arrays: by elements, null last, then by their number, the dimensions and their bounds. Thread-safe.
public final class ArrayOrder {
  private static final Map<ColumnKind, ArrayOrder> ORDERS = new EnumMap<>(ColumnKind.class);

  static {
    add(ColumnKind.ARRAY_INTEGER, TypeOid.INT8, true);
    add(ColumnKind.ARRAY_FLOAT, TypeOid.FLOAT8, false);
    add(ColumnKind.ARRAY_NUMERIC, TypeOid.NUMERIC, false);
    add(ColumnKind.ARRAY_TEXT, TypeOid.TEXT, true);
    add(ColumnKind.ARRAY_BPCHAR, TypeOid.BPCHAR, false);
    add(ColumnKind.ARRAY_DATE, TypeOid.DATE, true);
    add(ColumnKind.ARRAY_TIMESTAMP, TypeOid.TIMESTAMP, true);
    add(ColumnKind.ARRAY_TIMESTAMPTZ, TypeOid.TIMESTAMPTZ, false);
    add(ColumnKind.ARRAY_INTERVAL, TypeOid.INTERVAL, false);
    add(ColumnKind.ARRAY_JSONB, TypeOid.JSONB, false);
  }

  /// As what elements are read; it has the order of their type.
  private final int elementOid;

  /// Whether equal elements have the same text.
  private final boolean sameText;

  private ArrayOrder(int elementOid, boolean sameText) {
    this.elementOid = elementOid;
    this.sameText = sameText;
  }

  private static void add(ColumnKind kind, int elementOid, boolean sameText) {
    ORDERS.put(kind, new ArrayOrder(elementOid, sameText));
  }

  /// The order of arrays of a kind.
  ///
  /// @param kind one of those of arrays
  public static ArrayOrder of(ColumnKind kind) {
    ArrayOrder order = ORDERS.get(kind);
    if (order == null) {
      throw new IllegalArgumentException(kind + " is not of arrays");
    }
    return order;
  }

  /// Whether two arrays whose texts differ are equal.
  public boolean equal(long left, long right) {
    return !sameText && compare(left, right) == 0;
  }

  /// Negative, zero or positive.
  ///
  /// @param left word of an array
  public int compare(long left, long right) {
    ArrayValue a = ArrayTypes.array(left);
    ArrayValue b = ArrayTypes.array(right);
    int order = elements(a.elements(), b.elements());
    if (order == 0) {
      order = Integer.compare(a.elements().size(), b.elements().size());
    }
    if (order == 0) {
      order = Integer.compare(a.dimensions(), b.dimensions());
    }
    for (int i = 0; i < a.dimensions() && order == 0; i++) {
      order = Integer.compare(a.lengths().get(i), b.lengths().get(i));
      if (order == 0) {
        order = Integer.compare(a.lowerBounds().get(i), b.lowerBounds().get(i));
      }
    }
    return order;
  }

  private int elements(List<@Nullable String> left, List<@Nullable String> right) {
    try (VarHeap heap = new VarHeap()) {
      for (int i = 0; i < Math.min(left.size(), right.size()); i++) {
        String a = left.get(i);
        String b = right.get(i);
        int order =
            a == null || b == null
                ? Boolean.compare(a == null, b == null)
                : Ordering.compare(
                    elementOid,
                    Values.parse(elementOid, a, heap),
                    Values.parse(elementOid, b, heap));
        if (order != 0) {
          return order;
        }
      }
      return 0;
    }
  }

  /// Equal arrays hash equally.
  public long hash(long word) {
    if (sameText) {
      return RawMemory.hashBytes(Varlena.data(word), Varlena.length(word));
    }
    long hash = 1;
    try (VarHeap heap = new VarHeap()) {
      for (String element : ArrayTypes.array(word).elements()) {
        hash =
            RawMemory.mix(hash)
                + (element == null
                    ? 0
                    : Ordering.hash(elementOid, Values.parse(elementOid, element, heap)));
      }
    }
    return hash;
  }
}
