package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.algebra.PgOperators;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.value.Records;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.jspecify.annotations.Nullable;

/// Rows as values: `ROW(...)`, `(a, b)` and tables of FROM by their names. They are the text of the record, and an object for functions
/// that make json.
final class RecordBinder {
  /// A call has a bit for each of its arguments.
  private static final int MAX_ARGUMENTS = 60;

  private static final Set<String> OF_JSON =
      Set.of(
          "to_json",
          "to_jsonb",
          "row_to_json",
          "json_agg",
          "jsonb_agg",
          "json_object_agg",
          "jsonb_object_agg",
          "json_build_object",
          "jsonb_build_object",
          "json_build_array",
          "jsonb_build_array");

  /// A row.
  ///
  /// @param names of the entries
  /// @param optional whether it may be missing, behind an outer join
  record Row(List<RexNode> entries, List<String> names, boolean optional) {}

  private final BindContext context;
  private final ExpressionBinder expressions;

  RecordBinder(BindContext context, ExpressionBinder expressions) {
    this.context = context;
    this.expressions = expressions;
  }

  /// Whether a name is `alias.*`, which is the same as `alias` where no columns are listed.
  static boolean isRow(SqlIdentifier name) {
    return name.isStar() && name.names.size() > 1;
  }

  /// The row that an expression is; null for what is none.
  @Nullable Row row(SqlNode node, Scope scope) {
    List<SqlNode> nodes = RowComparisons.entries(node);
    if (nodes == null) {
      if (!(node instanceof SqlIdentifier name)) {
        return null;
      }
      if (isRow(name)) {
        return expressions.names.row(name, scope);
      }
      return name.isSimple() && !name.isStar()
          ? expressions.names.row(name.getSimple(), scope)
          : null;
    }
    List<RexNode> entries = new ArrayList<>();
    for (SqlNode entry : nodes) {
      if (entry instanceof SqlIdentifier all && isRow(all)) {
        entries.addAll(expressions.names.row(all, scope).entries());
      } else {
        entries.add(expressions.bindTyped(entry, scope));
      }
    }
    List<String> names = new ArrayList<>();
    for (int i = 1; i <= entries.size(); i++) {
      names.add("f" + i);
    }
    return new Row(entries, names, false);
  }

  /// The text of the record.
  RexNode text(Row row, SqlNode at) {
    RexNode text = constant("(");
    for (int from = 0; from < row.entries.size(); from += MAX_ARGUMENTS) {
      List<RexNode> part =
          row.entries.subList(from, Math.min(row.entries.size(), from + MAX_ARGUMENTS));
      int[] oids = part.stream().mapToInt(PgType::oidOf).toArray();
      RexNode entries =
          expressions.coercion.call(Records.entries(oids), part, SqlType.of(TypeOid.TEXT), "");
      text = concat(at, from == 0 ? text : concat(at, text, constant(",")), entries);
    }
    return ifPresent(row, concat(at, text, constant(")")));
  }

  /// Argument that a function or an aggregate gets for a row; null: the argument is no row, or the function gets nothing special.
  @Nullable RexNode argument(String function, SqlNode node, Scope scope) {
    boolean json = OF_JSON.contains(function);
    if (!json && !function.equals("count")) {
      return null;
    }
    Row row = row(node, scope);
    if (row == null) {
      return null;
    }
    return json ? json(row, node) : ifPresent(row, context.rex.makeLiteral(true));
  }

  private RexNode json(Row row, SqlNode at) {
    RexNode text = constant("{");
    for (int i = 0; i < row.entries.size(); i++) {
      String name = row.names.get(i).replace("\\", "\\\\").replace("\"", "\\\"");
      text = concat(at, text, constant((i == 0 ? "\"" : ",\"") + name + "\":"));
      RexNode value =
          expressions.coercion.convert(
              expressions.calls.function(at, "to_json", List.of(row.entries.get(i))),
              SqlType.of(TypeOid.TEXT),
              CastContext.EXPLICIT);
      RexNode written =
          context.rex.makeCall(
              context.types.of(TypeOid.TEXT, false),
              PgOperators.COALESCE,
              List.of(java.util.Objects.requireNonNull(value), constant("null")));
      text = concat(at, text, written);
    }
    RexNode object =
        expressions.coercion.convert(
            concat(at, text, constant("}")), SqlType.of(TypeOid.JSON), CastContext.EXPLICIT);
    return ifPresent(row, java.util.Objects.requireNonNull(object));
  }

  private RexNode ifPresent(Row row, RexNode value) {
    if (!row.optional) {
      return value;
    }
    RexNode present =
        RexUtil.composeDisjunction(
            context.rex,
            row.entries.stream()
                .map(entry -> context.rex.makeCall(SqlStdOperatorTable.IS_NOT_NULL, entry))
                .toList());
    SqlType type = PgType.of(value);
    return context.rex.makeCall(
        context.types.of(type, true),
        PgOperators.CASE,
        List.of(present, value, expressions.coercion.constant(Constant.ofNull(type))));
  }

  private RexNode concat(SqlNode at, RexNode left, RexNode right) {
    return expressions.calls.function(at, "||", List.of(left, right));
  }

  private RexNode constant(String text) {
    return expressions.coercion.constant(Constant.ofText(TypeOid.TEXT, text));
  }
}
