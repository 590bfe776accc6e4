package dev.kakehashi.bulk.arrow;

import dev.kakehashi.bulk.value.FileType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A field of a schema: how its values lie in record batches, and what they are. Immutable.
///
/// @param type what it holds; null: that cannot be loaded
/// @param typeName Arrow's, for messages
/// @param width bytes of a value of FIXED; length of FIXED_LIST
/// @param children of lists and structs; with a dictionary they are the values' and not in record batches
/// @param dictionary number of its dictionary; [#NO_DICTIONARY]: it has none
/// @param indexWidth bytes of an index into the dictionary
/// @param indexSigned whether indices are signed
record ArrowShape(
    String name,
    @Nullable FileType type,
    String typeName,
    Layout layout,
    int width,
    List<ArrowShape> children,
    long dictionary,
    int indexWidth,
    boolean indexSigned) {
  static final long NO_DICTIONARY = Long.MIN_VALUE;

  /// How values lie, with the number of buffers.
  enum Layout {
    NULL(0),
    BITS(2),
    FIXED(2),
    OFFSETS_32(3),
    OFFSETS_64(3),
    /// And data buffers, whose number the record batch says.
    VIEW(2),
    LIST_32(2),
    LIST_64(2),
    LIST_VIEW(3),
    FIXED_LIST(1),
    STRUCT(1),
    SPARSE_UNION(1),
    DENSE_UNION(2),
    RUN_END(0);

    final int buffers;

    Layout(int buffers) {
      this.buffers = buffers;
    }
  }

  boolean hasDictionary() {
    return dictionary != NO_DICTIONARY;
  }

  /// The field as it is in record batches: indices, if it has a dictionary.
  Layout batchLayout() {
    return hasDictionary() ? Layout.FIXED : layout;
  }
}
