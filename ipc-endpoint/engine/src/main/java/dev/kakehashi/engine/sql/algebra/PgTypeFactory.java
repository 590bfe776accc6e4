package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.TypeOid;
import java.util.List;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeSystem;
import org.apache.calcite.rel.type.StructKind;
import org.apache.calcite.sql.type.SqlTypeFactoryImpl;
import org.apache.calcite.sql.type.SqlTypeMappingRule;
import org.apache.calcite.sql.type.SqlTypeName;

/// Makes [PgType]s, also where Calcite's rules ask for a type of their own (COUNT is bigint).
public final class PgTypeFactory extends SqlTypeFactoryImpl {
  public PgTypeFactory() {
    super(RelDataTypeSystem.DEFAULT);
  }

  public RelDataType of(SqlType type, boolean nullable) {
    return canonize(new PgType(type, nullable));
  }

  public RelDataType of(int oid, boolean nullable) {
    return of(SqlType.of(oid), nullable);
  }

  @Override
  public RelDataType createSqlType(SqlTypeName name) {
    return switch (name) {
      case BOOLEAN -> of(TypeOid.BOOL, false);
      case SMALLINT -> of(TypeOid.INT2, false);
      case INTEGER -> of(TypeOid.INT4, false);
      case BIGINT -> of(TypeOid.INT8, false);
      case DOUBLE -> of(TypeOid.FLOAT8, false);
      case DECIMAL -> of(TypeOid.NUMERIC, false);
      case VARCHAR -> of(TypeOid.TEXT, false);
      default -> super.createSqlType(name);
    };
  }

  @Override
  public RelDataType createSqlType(SqlTypeName name, int precision) {
    return name == SqlTypeName.DECIMAL || name == SqlTypeName.VARCHAR
        ? createSqlType(name)
        : super.createSqlType(name, precision);
  }

  @Override
  public RelDataType createSqlType(SqlTypeName name, int precision, int scale) {
    return name == SqlTypeName.DECIMAL
        ? createSqlType(name)
        : super.createSqlType(name, precision, scale);
  }

  /// Whatever makes a relation comes by here: much of the planner's work is Calcite's, which knows no statement.
  @Override
  public RelDataType createStructType(
      StructKind kind, List<RelDataType> columns, List<String> names) {
    Interrupts.check();
    return super.createStructType(kind, columns, names);
  }

  @Override
  public RelDataType createTypeWithNullability(RelDataType type, boolean nullable) {
    Interrupts.check();
    if (type instanceof PgType pg) {
      return pg.isNullable() == nullable ? pg : of(pg.sqlType(), nullable);
    }
    return super.createTypeWithNullability(type, nullable);
  }

  @Override
  public RelDataType leastRestrictive(List<RelDataType> types, SqlTypeMappingRule rule) {
    RelDataType first = types.getFirst();
    if (!(first instanceof PgType pg)) {
      return super.leastRestrictive(types, rule);
    }
    boolean nullable = types.stream().anyMatch(RelDataType::isNullable);
    return createTypeWithNullability(pg, nullable);
  }
}
