package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.application.DirectTable;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.type.text.Quoting;
import java.util.List;

/// Shape of a table or view for calls, by one version of the catalogue. Immutable; calls of the same version share it.
///
/// @param version of the catalogue
/// @param form the table, or the form of the view
/// @param quoted its name as SQL writes it
/// @param columns those that can be named
/// @param key names of the columns of the primary key; empty: there is none
/// @param plain whether a row can be written to the store as it is: nothing is computed or checked but what the store does, and no other
///     table references it
record TableShape(
    long version,
    Table form,
    boolean isView,
    String quoted,
    List<DirectTable.Column> columns,
    List<String> key,
    boolean plain) {
  static TableShape of(CatalogSnapshot catalog, Table form, boolean isView) {
    Index primary = isView ? null : form.primaryKey();
    return new TableShape(
        catalog.version(),
        form,
        isView,
        Quoting.identifier(form.schema()) + "." + Quoting.identifier(form.name()),
        form.columns().stream()
            .filter(each -> !each.hidden())
            .map(each ->
                new DirectTable.Column(
                    each.name(), each.type().oid(), each.notNull(), isGenerated(each)))
            .toList(),
        primary == null
            ? List.of()
            : primary.columns().stream().map(each -> form.columns().get(each).name()).toList(),
        !isView && isPlain(catalog, form));
  }

  private static boolean isGenerated(Column column) {
    Column.Owned identity = column.identity();
    return column.generation() != null
        || (identity != null && identity.generated() == Column.Generated.ALWAYS);
  }

  private static boolean isPlain(CatalogSnapshot catalog, Table table) {
    return !table.isSystem()
        && table.checks().isEmpty()
        && table.foreignKeys().isEmpty()
        && table.columns().stream()
            .allMatch(each -> each.generation() == null && each.identity() == null)
        && table.indexes().stream().noneMatch(Index::deferrable)
        && catalog.referencing(table.tableId()).isEmpty();
  }
}
