package dev.kakehashi.engine.catalog.listing;

import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Permissions;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Privilege;
import org.jspecify.annotations.Nullable;

/// Objects that a user sees in the information schema: objects that he owns or has a privilege on, as in PostgreSQL's views. The system's
/// own tables are everybody's. Immutable.
final class InformationSight {
  private final @Nullable Permissions permissions;

  /// @param permissions of who looks; null: there are no rights to ask about
  InformationSight(@Nullable Permissions permissions) {
    this.permissions = permissions;
  }

  /// @param form the table, or the form of the view
  boolean sees(Table form) {
    return has(form, ObjectKind.TABLE.all(), ObjectKind.COLUMN.all());
  }

  /// Whether a column is seen, of a table or view that is.
  boolean sees(Table form, Column column) {
    return permissions == null
        || form.isSystem()
        || permissions.owns(form.rights())
        || (permissions.on(ObjectKind.TABLE, form.rights()) & ObjectKind.COLUMN.all()) != 0
        || permissions.on(column) != 0;
  }

  /// Whether constraints are seen: more than to read is asked for.
  boolean changes(Table form) {
    int reading = Privilege.SELECT.bit();
    return has(form, ObjectKind.TABLE.all() & ~reading, ObjectKind.COLUMN.all() & ~reading);
  }

  boolean seesSchema(String schema) {
    return permissions == null || permissions.onSchema(schema) != 0;
  }

  private boolean has(Table form, int ofTable, int ofColumns) {
    return permissions == null
        || form.isSystem()
        || permissions.owns(form.rights())
        || (permissions.on(ObjectKind.TABLE, form.rights()) & ofTable) != 0
        || form.columns().stream().anyMatch(column -> (permissions.on(column) & ofColumns) != 0);
  }
}
