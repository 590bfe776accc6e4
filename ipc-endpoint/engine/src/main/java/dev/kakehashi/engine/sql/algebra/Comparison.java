package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.protocol.TypeOid;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/// The six comparison operators.
public final class Comparison {
  private Comparison() {}

  /// Calcite's operator; its name is PostgreSQL's.
  public static SqlOperator operator(SqlKind kind) {
    return switch (kind) {
      case EQUALS -> SqlStdOperatorTable.EQUALS;
      case NOT_EQUALS -> SqlStdOperatorTable.NOT_EQUALS;
      case LESS_THAN -> SqlStdOperatorTable.LESS_THAN;
      case LESS_THAN_OR_EQUAL -> SqlStdOperatorTable.LESS_THAN_OR_EQUAL;
      case GREATER_THAN -> SqlStdOperatorTable.GREATER_THAN;
      case GREATER_THAN_OR_EQUAL -> SqlStdOperatorTable.GREATER_THAN_OR_EQUAL;
      default -> throw new IllegalArgumentException(kind.name());
    };
  }

  public static boolean isInteger(int oid) {
    return oid == TypeOid.INT2 || oid == TypeOid.INT4 || oid == TypeOid.INT8;
  }
}
