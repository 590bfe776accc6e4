package dev.kakehashi.engine.catalog.listing;

import dev.kakehashi.engine.catalog.CatalogNames;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.DeployedApplication;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Queue;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.View;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Rows of `kakehashi_catalog.comments`.
final class CommentRows {
  private final List<@Nullable Object[]> rows = new ArrayList<>();

  private CommentRows() {}

  /// In the order of object_type, object_schema, object_name, column_name, comment, constraint_name.
  static List<@Nullable Object[]> of(CatalogNames names) {
    CommentRows all = new CommentRows();
    CatalogSnapshot catalog = names.catalog();
    for (String schema : catalog.schemas()) {
      all.add("schema", schema, schema, null, catalog.comment(schema));
    }
    for (Table table : names.tables()) {
      all.addTable("table", table);
      for (Index index : table.indexes()) {
        all.add("index", table.schema(), index.name(), null, index.comment());
      }
      table
          .constraintComments()
          .forEach((constraint, comment) ->
              all.add("constraint", table.schema(), table.name(), constraint, comment));
    }
    for (View view : names.views()) {
      all.addTable("view", view.form());
    }
    for (Sequence sequence : names.sequences()) {
      all.add("sequence", sequence.schema(), sequence.name(), null, sequence.comment());
    }
    for (Queue queue : names.queues()) {
      all.add("queue", queue.schema(), queue.name(), null, queue.comment());
    }
    for (DeployedApplication each : names.applications()) {
      all.add("application", each.schema(), each.name(), null, each.comment());
    }
    return all.rows;
  }

  private void addTable(String type, Table table) {
    add(type, table.schema(), table.name(), null, table.comment());
    for (Column column : table.columns()) {
      add("column", table.schema(), table.name(), column.name(), column.comment());
    }
  }

  private void add(
      String type, String schema, String name, @Nullable String part, @Nullable String comment) {
    if (comment != null) {
      boolean constraint = type.equals("constraint");
      rows.add(
          new @Nullable Object[] {
            type, schema, name, constraint ? null : part, comment, constraint ? part : null
          });
    }
  }
}
