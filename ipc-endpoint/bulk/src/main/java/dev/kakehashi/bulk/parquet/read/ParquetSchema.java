package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.bulk.parquet.thrift.FileMeta;
import dev.kakehashi.bulk.parquet.thrift.LogicalKind;
import dev.kakehashi.bulk.parquet.thrift.Physical;
import dev.kakehashi.bulk.parquet.thrift.SchemaNode;
import dev.kakehashi.bulk.value.FileType;
import dev.kakehashi.bulk.value.FileType.Kind;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The columns of a file by its schema, whose nesting is checked.
final class ParquetSchema {
  /// Deepest nesting of fields, readable or not.
  private static final int MAX_DEPTH = 32;

  private final List<SchemaNode> nodes;
  private final List<FileColumn> columns = new ArrayList<>();
  private final List<SchemaNode> leaves = new ArrayList<>();

  /// Next element that is looked at.
  private int next;

  private ParquetSchema(List<SchemaNode> nodes) {
    this.nodes = nodes;
  }

  /// A schema with its columns and leaves.
  record Columns(List<FileColumn> columns, List<SchemaNode> leaves) {}

  /// @throws dev.kakehashi.engine.api.error.EngineException BAD_COPY_FILE_FORMAT
  static Columns of(FileMeta meta) {
    ParquetSchema schema = new ParquetSchema(meta.schema());
    SchemaNode root = schema.take();
    for (int i = 0; i < root.children(); i++) {
      schema.addColumn();
    }
    if (schema.next != schema.nodes.size() || schema.columns.isEmpty()) {
      throw Damage.of("its schema has no column, or elements that belong to none");
    }
    return new Columns(List.copyOf(schema.columns), List.copyOf(schema.leaves));
  }

  private SchemaNode take() {
    if (next == nodes.size()) {
      throw Damage.of("its schema breaks off");
    }
    return nodes.get(next++);
  }

  private void addColumn() {
    int begin = next;
    int firstLeaf = leaves.size();
    skip(0);
    List<SchemaNode> inside = nodes.subList(begin, next);
    SchemaNode top = inside.getFirst();
    FileColumn column;
    if (top.isGroup()
        && top.logical() == LogicalKind.LIST
        && top.repetition() != Physical.REPEATED) {
      column = list(inside, firstLeaf);
    } else if (top.repetition() == Physical.REPEATED) {
      // An old form of a list that cannot be null, nor have nulls.
      column = value(inside, top.name(), firstLeaf, 1, 0);
    } else {
      column = value(inside, top.name(), firstLeaf, optional(top), -1);
    }
    columns.add(column);
  }

  /// Steps over a field and what is below it.
  private void skip(int depth) {
    if (depth == MAX_DEPTH) {
      throw Damage.of("its schema is nested too deep");
    }
    SchemaNode node = take();
    if (!node.isGroup()) {
      leaves.add(node);
      return;
    }
    for (int i = 0; i < node.children(); i++) {
      skip(depth + 1);
    }
  }

  private static int optional(SchemaNode node) {
    return node.repetition() == Physical.OPTIONAL ? 1 : 0;
  }

  private static FileColumn list(List<SchemaNode> inside, int firstLeaf) {
    SchemaNode top = inside.getFirst();
    if (top.children() != 1 || inside.size() < 2) {
      return unsupported(top.name(), firstLeaf, "a list without one member");
    }
    SchemaNode repeated = inside.get(1);
    if (repeated.repetition() != Physical.REPEATED) {
      return unsupported(top.name(), firstLeaf, "a list whose member is not repeated");
    }
    int listDefinition = optional(top);
    boolean threeLevels =
        repeated.isGroup()
            && repeated.children() == 1
            && !repeated.name().equals("array")
            && !repeated.name().equals(top.name() + "_tuple");
    if (!threeLevels) {
      return value(
          inside.subList(1, inside.size()),
          top.name(),
          firstLeaf,
          listDefinition + 1,
          listDefinition);
    }
    List<SchemaNode> element = inside.subList(2, inside.size());
    if (element.isEmpty() || element.getFirst().repetition() == Physical.REPEATED) {
      return unsupported(top.name(), firstLeaf, "a list of lists");
    }
    return value(
        element,
        top.name(),
        firstLeaf,
        listDefinition + 1 + optional(element.getFirst()),
        listDefinition);
  }

  private static FileColumn unsupported(String name, int firstLeaf, String what) {
    return new FileColumn(name, null, what, firstLeaf, List.of(), 0, -1);
  }

  private static FileColumn value(
      List<SchemaNode> inside, String name, int firstLeaf, int maxDefinition, int listDefinition) {
    SchemaNode node = inside.getFirst();
    FileType type;
    List<SchemaNode> leaves;
    if (node.isGroup()) {
      if (!isInterval(inside)) {
        String what =
            switch (node.logical()) {
              case MAP -> "a map";
              case LIST -> "a list of lists";
              default -> "a structure";
            };
        return unsupported(name, firstLeaf, what);
      }
      type = FileType.of(Kind.INTERVAL_MICROS);
      leaves = List.copyOf(inside.subList(1, inside.size()));
    } else {
      type = leafType(node);
      leaves = List.of(node);
    }
    if (type == null) {
      return unsupported(name, firstLeaf, "values of an unknown type");
    }
    return new FileColumn(
        name,
        listDefinition >= 0 ? FileType.list(type) : type,
        "",
        firstLeaf,
        leaves,
        maxDefinition,
        listDefinition);
  }

  /// Whether it is the structure that intervals are written as.
  private static boolean isInterval(List<SchemaNode> inside) {
    return inside.size() == 4
        && isMember(inside.get(1), "months", Physical.INT32)
        && isMember(inside.get(2), "days", Physical.INT32)
        && isMember(inside.get(3), "micros", Physical.INT64);
  }

  private static boolean isMember(SchemaNode node, String name, int physical) {
    return node.name().equals(name)
        && node.physical() == physical
        && node.repetition() == Physical.REQUIRED
        && node.logical() == LogicalKind.NONE;
  }

  private static @Nullable FileType leafType(SchemaNode node) {
    if (node.logical() == LogicalKind.UNKNOWN) {
      return FileType.NULL;
    }
    return LeafTypes.of(node);
  }
}
