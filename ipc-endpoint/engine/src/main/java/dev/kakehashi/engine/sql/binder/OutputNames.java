package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.sql.algebra.PgTypeNames;
import dev.kakehashi.engine.sql.spelling.Marks;
import dev.kakehashi.engine.sql.spelling.TypeText;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.TypeOid;
import java.util.Locale;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlFunction;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlOrderBy;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.SqlWith;
import org.apache.calcite.sql.fun.SqlCase;
import org.apache.calcite.sql.fun.SqlTrimFunction;
import org.jspecify.annotations.Nullable;

/// Names that PostgreSQL gives to output columns without AS.
final class OutputNames {
  private static final String NONE = "?column?";

  /// @param strong whether a cast around the expression leaves the name
  private record Name(String text, boolean strong) {}

  private OutputNames() {}

  static String of(SqlNode expression) {
    Name name = name(expression);
    return name == null ? NONE : name.text;
  }

  private static @Nullable Name name(@Nullable SqlNode node) {
    if (node == null) {
      return null;
    }
    return switch (node.getKind()) {
      case IDENTIFIER -> strong(((SqlIdentifier) node).names.getLast());
      case CASE -> {
        Name otherwise = name(((SqlCase) node).getElseOperand());
        yield otherwise != null && otherwise.strong ? otherwise : new Name("case", false);
      }
      case CAST -> {
        Name inner = name(((SqlCall) node).operand(0));
        yield inner != null && inner.strong ? inner : typeName((SqlCall) node);
      }
      case EXISTS -> strong("exists");
      case ARRAY_QUERY_CONSTRUCTOR -> strong("array");
      case ROW -> strong("row");
      case TRIM -> strong(trim((SqlCall) node));
      case FILTER, OVER, WITHIN_GROUP, IGNORE_NULLS, RESPECT_NULLS ->
          name(((SqlCall) node).operand(0));
      case ORDER_BY -> name(((SqlOrderBy) node).query);
      case WITH -> name(((SqlWith) node).body);
      case SELECT -> {
        SqlNodeList list = ((SqlSelect) node).getSelectList();
        SqlNode first = list.get(0);
        yield first.getKind() == SqlKind.AS
            ? strong(((SqlIdentifier) ((SqlCall) first).operand(1)).getSimple())
            : name(first);
      }
      default -> node instanceof SqlCall call ? callName(call) : null;
    };
  }

  private static Name strong(String text) {
    return new Name(text, true);
  }

  private static String trim(SqlCall call) {
    return switch (((SqlLiteral) call.operand(0)).getValueAs(SqlTrimFunction.Flag.class)) {
      case BOTH -> "btrim";
      case LEADING -> "ltrim";
      case TRAILING -> "rtrim";
    };
  }

  private static @Nullable Name callName(SqlCall call) {
    String name = call.getOperator().getName().toLowerCase(Locale.ROOT);
    if (name.startsWith(Marks.QUANTIFIED_CALL)) {
      return null;
    }
    return switch (name) {
      case Marks.SUBSCRIPT_CALL, Marks.COLLATE_CALL -> name(call.operand(0));
      case Marks.ARRAY_CALL -> strong("array");
      case Marks.ROW_CALL -> strong("row");
      case Marks.AT_TIME_ZONE_CALL -> strong("timezone");
      default ->
          call.getOperator() instanceof SqlFunction
                  && !name.isEmpty()
                  && (Character.isLetter(name.charAt(0)) || name.charAt(0) == '_')
              ? strong(name)
              : null;
    };
  }

  private static @Nullable Name typeName(SqlCall cast) {
    SqlType type = TypeText.parse(((SqlDataTypeSpec) cast.operand(1)).getTypeName().toString());
    if (type == null) {
      return null;
    }
    int element = TypeOid.element(type.oid());
    return new Name(
        PgTypeNames.internalName(element == TypeOid.UNSPECIFIED ? type.oid() : element), false);
  }
}
