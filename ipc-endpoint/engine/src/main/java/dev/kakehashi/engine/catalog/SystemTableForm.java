package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;

/// Makes the form of a system table.
final class SystemTableForm {
  private SystemTableForm() {}

  /// @param tableId negative, and of this table alone
  /// @param columns name and type of each, a space between them
  static Table table(long tableId, String schema, String name, String... columns) {
    List<Column> list = new ArrayList<>();
    for (String column : columns) {
      int space = column.indexOf(' ');
      int oid =
          switch (column.substring(space + 1)) {
            case "int4" -> TypeOid.INT4;
            case "int8" -> TypeOid.INT8;
            case "bool" -> TypeOid.BOOL;
            case "float8" -> TypeOid.FLOAT8;
            case "timestamptz" -> TypeOid.TIMESTAMPTZ;
            case "interval" -> TypeOid.INTERVAL;
            case "jsonb" -> TypeOid.JSONB;
            default -> TypeOid.TEXT;
          };
      list.add(new Column(column.substring(0, space), SqlType.of(oid), false, null));
    }
    return new Table(schema, name, tableId, list, List.of());
  }
}
