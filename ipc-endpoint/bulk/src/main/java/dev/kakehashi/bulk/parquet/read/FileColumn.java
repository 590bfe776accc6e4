package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.bulk.parquet.thrift.SchemaNode;
import dev.kakehashi.bulk.value.FileType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A column of a file: a field below the root.
///
/// @param type null: it cannot be read
/// @param unsupported what it is then
/// @param firstLeaf index of its first leaf among all
/// @param leaves below it; one, or the members of an interval, if it can be read
/// @param maxDefinition level of a value that is there
/// @param listDefinition level from which on there is a list; -1: it is no list. Elements are from the next level on
record FileColumn(
    String name,
    @Nullable FileType type,
    String unsupported,
    int firstLeaf,
    List<SchemaNode> leaves,
    int maxDefinition,
    int listDefinition) {
  boolean isList() {
    return listDefinition >= 0;
  }

  /// The type of values, or of the elements of lists.
  FileType valueType() {
    FileType known = knownType();
    FileType item = known.item();
    return item == null ? known : item;
  }

  FileType knownType() {
    if (type == null) {
      throw new IllegalStateException("column " + name + " cannot be read");
    }
    return type;
  }
}
