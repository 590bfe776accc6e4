package dev.kakehashi.bulk.parquet.write;

import dev.kakehashi.bulk.parquet.page.ParquetOptions;
import dev.kakehashi.bulk.parquet.thrift.LogicalKind;
import dev.kakehashi.bulk.parquet.thrift.Physical;
import dev.kakehashi.bulk.parquet.thrift.SchemaNode;
import dev.kakehashi.bulk.parquet.write.LeafForm.Kind;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.formats.BatchView;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A column of a file that is written: its place in the schema, and its values of the row group. Not thread-safe.
final class OutputColumn implements AutoCloseable {
  private static final String LIST = "list";
  private static final String ELEMENT = "element";
  private final String name;
  private final LeafForm form;
  private final ColumnSink values;
  private final @Nullable ListSink lists;

  OutputColumn(LoadColumn column, ParquetOptions options, BulkContext context) {
    this.name = column.name();
    int element = TypeOid.element(column.typeOid());
    boolean isList =
        element != TypeOid.UNSPECIFIED && !options.textColumns().contains(column.name());
    this.form = LeafForm.of(column, isList ? element : column.typeOid(), options);
    this.values = new ColumnSink(name, form, options, context);
    this.lists = isList ? new ListSink(name, form, values, context) : null;
  }

  String name() {
    return name;
  }

  /// Adds the elements of the schema.
  void addNodes(List<SchemaNode> nodes) {
    if (lists == null) {
      addValueNodes(nodes, name);
      return;
    }
    nodes.add(SchemaNode.group(name, Physical.OPTIONAL, 1, LogicalKind.LIST));
    nodes.add(SchemaNode.group(LIST, Physical.REPEATED, 1, LogicalKind.NONE));
    addValueNodes(nodes, ELEMENT);
  }

  private void addValueNodes(List<SchemaNode> nodes, String node) {
    if (form.kind() != Kind.INTERVAL) {
      nodes.add(form.node(node));
      return;
    }
    nodes.add(SchemaNode.group(node, Physical.OPTIONAL, 3, LogicalKind.NONE));
    for (int i = 0; i < 3; i++) {
      nodes.add(
          SchemaNode.leaf(
              IntervalParts.NAMES.get(i),
              IntervalParts.PHYSICAL[i],
              0,
              Physical.REQUIRED,
              LogicalKind.NONE));
    }
  }

  void append(BatchView view, int column, int from, int to) {
    if (lists == null) {
      values.append(view, column, from, to);
    } else {
      lists.append(view, column, from, to);
    }
  }

  long heldBytes() {
    return values.heldBytes() + (lists == null ? 0 : 2L * lists.levels.count);
  }

  /// Writes the chunks of the row group, and forgets them.
  void write(ChunkWriter writer, ParquetOptions options, List<WrittenChunk> chunks) {
    Levels levels = lists == null ? values.levels : lists.levels;
    List<String> base = lists == null ? List.of(name) : List.of(name, LIST, ELEMENT);
    for (int i = 0; i < values.leaves.length; i++) {
      List<String> path = base;
      if (values.leaves.length > 1) {
        path = new ArrayList<>(base);
        path.add(IntervalParts.NAMES.get(i));
      }
      chunks.add(
          writer.write(
              values.leaves[i],
              levels,
              path,
              options.codecOf(name),
              options.columnCodecs().containsKey(name)));
    }
    levels.clear();
    values.clear();
  }

  /// Gives its memory back.
  @Override
  public void close() {
    if (lists == null) {
      values.close();
    } else {
      lists.close();
    }
  }

  /// Members of the structure that an interval is.
  static final class IntervalParts {
    static final List<String> NAMES = List.of("months", "days", "micros");
    static final int[] PHYSICAL = {Physical.INT32, Physical.INT32, Physical.INT64};

    private IntervalParts() {}
  }
}
