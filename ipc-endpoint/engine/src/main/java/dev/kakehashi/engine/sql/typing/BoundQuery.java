package dev.kakehashi.engine.sql.typing;

import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.type.SqlType;
import java.util.List;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.jspecify.annotations.Nullable;

/// A query with names and types.
///
/// @param names of the output columns as the user sees them; they may repeat. None: `SELECT FROM`, where `rel` has one that nobody names
public record BoundQuery(RelNode rel, List<String> names) {
  public List<SqlType> types() {
    return rel.getRowType().getFieldList().stream()
        .map(RelDataTypeField::getType)
        .map(PgType::of)
        .toList();
  }

  /// Expectation of the user of a query for output columns without type (string literals, NULL, parameters).
  ///
  /// @param types the types that they take, or null
  /// @param keepUnknown without `types`: leave them, else they become text
  public record Expectation(@Nullable List<SqlType> types, boolean keepUnknown) {
    public static final Expectation NONE = new Expectation(null, false);
    public static final Expectation KEEP_UNKNOWN = new Expectation(null, true);

    public static Expectation of(List<SqlType> types) {
      return new Expectation(types, false);
    }
  }
}
