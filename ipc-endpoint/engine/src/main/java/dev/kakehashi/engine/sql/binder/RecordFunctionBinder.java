package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.spelling.Marks;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.engine.sql.spelling.TypeText;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.RowFunction;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.json.JsonRecords;
import dev.kakehashi.engine.type.registry.Functions;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlDynamicParam;
import org.apache.calcite.sql.SqlNode;

/// Binds functions in FROM whose rows are what a list of column definitions says: `json_to_record(...) AS x (a integer, b text)`.
///
/// The function gives objects; the columns are members of these, each read by its type.
final class RecordFunctionBinder {
  private final BindContext context;
  private final QueryBinder queries;
  private final ExpressionBinder expressions;

  RecordFunctionBinder(QueryBinder queries) {
    this.context = queries.context;
    this.queries = queries;
    this.expressions = queries.expressions;
  }

  /// Whether a list of column definitions follows the arguments.
  static boolean isDefined(List<SqlNode> arguments) {
    return !arguments.isEmpty()
        && arguments.getLast() instanceof SqlCall call
        && call.getOperator().getName().equals(Marks.COLUMNS_CALL);
  }

  /// The function that gives the objects.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException SYNTAX_ERROR for a function whose columns are known
  RowFunction function(SqlCall at, String name, List<RexNode> arguments) {
    RowFunction function = JsonRecords.objects(name);
    int[] oids = arguments.stream().mapToInt(PgType::oidOf).toArray();
    boolean known =
        function != null
            ? oids.length == 1
                && (oids[0] == Types.UNKNOWN || oids[0] == function.argumentOids()[0])
            : expressions.calls.rowFunction(at, name, arguments) != null
                || Functions.resolve(name, oids) != null;
    if (!known) {
      throw expressions.calls.noFunction(at, name, oids);
    }
    if (function == null) {
      throw context.error(
          ErrorCode.SYNTAX_ERROR,
          "a column definition list is only allowed for functions returning \"record\"",
          at);
    }
    return function;
  }

  /// Refuses a function that needs a list of column definitions and has none.
  void refuseUndefined(SqlCall at, String name) {
    if (JsonRecords.objects(name) != null) {
      throw context.error(
          ErrorCode.SYNTAX_ERROR,
          "a column definition list is required for functions returning \"record\"",
          at);
    }
  }

  /// The columns of the objects that a relation has.
  RelNode columns(RelNode objects, SqlCall definitions) {
    List<SqlNode> parts = definitions.getOperandList();
    List<String> names = new ArrayList<>();
    List<RexNode> columns = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < parts.size(); i += 2) {
      Source.Literal name = expressions.literals.source((SqlDynamicParam) parts.get(i));
      String column = ((Source.Literal.Text) name).value();
      if (!seen.add(column)) {
        throw context.error(
            ErrorCode.DUPLICATE_COLUMN,
            "column name \"" + column + "\" specified more than once",
            parts.get(i));
      }
      names.add(column);
      SqlDataTypeSpec spec = ((SqlCall) parts.get(i + 1)).operand(1);
      SqlType type = TypeText.parse(spec.getTypeName().toString());
      columns.add(column(objects, column, java.util.Objects.requireNonNull(type), parts.get(i)));
    }
    return queries.project(objects, columns, names, Set.of());
  }

  private RexNode column(RelNode objects, String name, SqlType type, SqlNode at) {
    int oid = type.oid();
    int element = TypeOid.element(oid);
    boolean document = oid == TypeOid.JSON || oid == TypeOid.JSONB;
    if (element == TypeOid.JSON || element == TypeOid.JSONB) {
      throw context.error(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          "a column definition of type " + Types.name(oid) + " is not supported",
          at);
    }
    RexNode object = context.rex.makeInputRef(objects, 0);
    RexNode text =
        expressions.coercion.call(
            JsonRecords.member(PgType.oidOf(object), element != TypeOid.UNSPECIFIED, document),
            List.of(object, expressions.coercion.constant(Constant.ofText(TypeOid.TEXT, name))),
            SqlType.of(TypeOid.TEXT),
            "");
    // Read as the type's own text, then fitted into its length or digits as for an assignment.
    boolean string = oid == TypeOid.VARCHAR || oid == TypeOid.BPCHAR;
    RexNode value =
        string ? text : expressions.coercion.convert(text, SqlType.of(oid), CastContext.EXPLICIT);
    RexNode fitted =
        value == null ? null : expressions.coercion.convert(value, type, CastContext.ASSIGNMENT);
    if (fitted == null) {
      throw expressions.coercion.noCast(TypeOid.TEXT, oid, at);
    }
    return fitted;
  }
}
