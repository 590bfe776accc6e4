package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.TypeOid;

/// Which types store equal values alike, so that a column may get another type while its rows stay.
final class StoredForm {
  private StoredForm() {}

  /// Whether every value of the one type is stored as the same value of the other.
  static boolean keeps(SqlType from, SqlType to) {
    if (from.equals(to)) {
      return true;
    }
    if (isInteger(from) && isInteger(to)) {
      return bytes(from) <= bytes(to);
    }
    boolean wider =
        to.typeModifier() < 0
            || (from.typeModifier() >= 0 && from.typeModifier() <= to.typeModifier());
    if (isText(from) && isText(to)) {
      return wider;
    }
    return from.oid() == TypeOid.NUMERIC
        && to.oid() == TypeOid.NUMERIC
        && wider
        && (to.typeModifier() < 0
            || Types.scale(from.typeModifier()) == Types.scale(to.typeModifier()));
  }

  private static boolean isInteger(SqlType type) {
    return type.oid() == TypeOid.INT2 || type.oid() == TypeOid.INT4 || type.oid() == TypeOid.INT8;
  }

  private static int bytes(SqlType type) {
    return type.oid() == TypeOid.INT2 ? 2 : type.oid() == TypeOid.INT4 ? 4 : 8;
  }

  private static boolean isText(SqlType type) {
    return type.oid() == TypeOid.TEXT || type.oid() == TypeOid.VARCHAR;
  }
}
