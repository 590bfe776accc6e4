package dev.kakehashi.engine.sql.spelling;

import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import org.jspecify.annotations.Nullable;

/// Types in translated statements: quoted names `"oid:modifier"`, which Calcite takes for names of types.
public final class TypeText {
  private TypeText() {}

  static String write(SqlType type) {
    return "\"" + type.oid() + ":" + type.typeModifier() + "\"";
  }

  /// The type that [#write(SqlType)] wrote; null if it is none.
  public static @Nullable SqlType parse(String text) {
    int colon = text.indexOf(':');
    if (colon < 0) {
      return null;
    }
    int oid = Integer.parseInt(text.substring(0, colon));
    return Types.isKnown(oid)
        ? new SqlType(oid, Integer.parseInt(text.substring(colon + 1)))
        : null;
  }
}
