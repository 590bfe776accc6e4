package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.TypeOid;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.type.AbstractSqlType;
import org.apache.calcite.sql.type.SqlTypeName;

/// A PostgreSQL type in Calcite's clothes. Calcite sees only a rough name; what counts is [#sqlType()].
public final class PgType extends AbstractSqlType {
  private static final long serialVersionUID = 1L;

  private final transient SqlType sqlType;

  PgType(SqlType sqlType, boolean nullable) {
    super(name(sqlType.oid()), nullable, null);
    this.sqlType = sqlType;
    computeDigest();
  }

  public SqlType sqlType() {
    return sqlType;
  }

  /// The PostgreSQL type of a Calcite type that this engine made.
  public static SqlType of(RelDataType type) {
    if (type instanceof PgType pg) {
      return pg.sqlType;
    }
    throw new IllegalStateException("type " + type + " is none of ours");
  }

  /// The PostgreSQL type of an expression.
  public static SqlType of(RexNode node) {
    return of(node.getType());
  }

  /// Number of the PostgreSQL type of an expression.
  public static int oidOf(RexNode node) {
    return of(node).oid();
  }

  @Override
  protected void generateTypeString(StringBuilder text, boolean withDetail) {
    text.append(sqlType.oid() == Types.UNKNOWN ? "unknown" : Types.format(sqlType));
  }

  private static SqlTypeName name(int oid) {
    return switch (oid) {
      case TypeOid.BOOL -> SqlTypeName.BOOLEAN;
      case TypeOid.INT2 -> SqlTypeName.SMALLINT;
      case TypeOid.INT4 -> SqlTypeName.INTEGER;
      case TypeOid.INT8 -> SqlTypeName.BIGINT;
      case TypeOid.FLOAT4 -> SqlTypeName.REAL;
      case TypeOid.FLOAT8 -> SqlTypeName.DOUBLE;
      case TypeOid.NUMERIC -> SqlTypeName.DECIMAL;
      case TypeOid.BYTEA -> SqlTypeName.VARBINARY;
      case TypeOid.DATE -> SqlTypeName.DATE;
      case TypeOid.TIME -> SqlTypeName.TIME;
      case TypeOid.TIMESTAMP -> SqlTypeName.TIMESTAMP;
      case TypeOid.TIMESTAMPTZ -> SqlTypeName.TIMESTAMP_WITH_LOCAL_TIME_ZONE;
      // Character types would need a charset and a collation of Calcite.
      default -> SqlTypeName.OTHER;
    };
  }
}
