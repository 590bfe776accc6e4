package dev.kakehashi.engine.catalog.listing;

import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.store.api.IndexCondition;
import dev.kakehashi.engine.store.index.ValueCodec;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.text.Quoting;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.VarHeap;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/// The condition of a partial index as SQL.
final class IndexConditionText {
  private IndexConditionText() {}

  /// The conjunction, without parentheses around it; empty: of all rows.
  static String of(Table table, List<IndexCondition> conditions) {
    List<String> terms = new ArrayList<>();
    for (IndexCondition condition : conditions) {
      Column column = table.columns().get(condition.column());
      String name = Quoting.identifier(column.name());
      ByteBuffer value = condition.value();
      String operator =
          switch (condition.operator()) {
            case IS_NULL -> " IS NULL";
            case IS_NOT_NULL -> " IS NOT NULL";
            case EQUAL -> " = ";
            case NOT_EQUAL -> " <> ";
            case LESS -> " < ";
            case LESS_OR_EQUAL -> " <= ";
            case GREATER -> " > ";
            case GREATER_OR_EQUAL -> " >= ";
          };
      terms.add(name + operator + (value == null ? "" : constant(column.type(), value)));
    }
    return String.join(" AND ", terms);
  }

  private static String constant(SqlType type, ByteBuffer value) {
    try (VarHeap heap = new VarHeap()) {
      long word =
          ValueCodec.decodeInMemory(
              Types.kind(type.oid()).stored(), value.duplicate(), heap::allocate);
      // Without the modifier: the constant may be longer than the column.
      return Quoting.literal(Values.toText(type.oid(), word))
          + "::"
          + Types.format(SqlType.of(type.oid()));
    }
  }
}
