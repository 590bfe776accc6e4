package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.algebra.PgOperators;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.spelling.Marks;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.engine.sql.spelling.TypeText;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.sql.typing.Coercion;
import dev.kakehashi.engine.sql.typing.FunctionCalls;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.RowFunction;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlDynamicParam;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.SqlPostfixOperator;
import org.apache.calcite.sql.fun.SqlBetweenOperator;
import org.apache.calcite.sql.fun.SqlCase;
import org.apache.calcite.sql.fun.SqlLikeOperator;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.fun.SqlTrimFunction;
import org.jspecify.annotations.Nullable;

/// Gives expressions names, types and functions by PostgreSQL's rules.
///
/// String literals, NULL and parameters begin with the type `unknown` and take the type that their use asks for.
public final class ExpressionBinder {
  final BindContext context;
  public final Coercion coercion;
  public final SequenceBinder sequences;
  public final FunctionCalls calls;
  final MembershipBinder memberships;
  final NameResolver names;
  final RecordBinder records;
  private final QueryBinder queries;
  final AggregateBinder aggregates;
  final WindowBinder windows;
  private final RowComparisons rows;
  final ArrayBinder arrays;
  final LiteralBinder literals;

  ExpressionBinder(BindContext context, QueryBinder queries) {
    this.context = context;
    this.queries = queries;
    this.coercion = new Coercion(context);
    this.sequences = new SequenceBinder(context, coercion);
    this.names = new NameResolver(context);
    this.records = new RecordBinder(context, this);
    this.aggregates = new AggregateBinder(context, this);
    this.windows = new WindowBinder(context, this);
    this.calls = new FunctionCalls(context, coercion);
    this.memberships = new MembershipBinder(context, this);
    this.rows = new RowComparisons(context, this);
    this.arrays = new ArrayBinder(context, this);
    this.literals = new LiteralBinder(context, this);
  }

  /// The expression; its type may be `unknown`.
  public RexNode bind(SqlNode node, Scope scope) {
    Interrupts.check();
    return switch (node) {
      case SqlDynamicParam parameter -> literals.bind(parameter, scope);
      case SqlLiteral literal -> literals.bind(literal);
      case SqlIdentifier identifier -> column(identifier, scope);
      case SqlCase sqlCase -> withoutRows("CASE", scope, () -> bindCase(sqlCase, scope));
      case SqlCall call -> bindCall(call, scope);
      default -> throw unsupported(node, node.getKind().lowerName);
    };
  }

  private RexNode column(SqlIdentifier identifier, Scope scope) {
    RecordBinder.Row row = records.row(identifier, scope);
    return row == null ? names.column(identifier, scope) : records.text(row, identifier);
  }

  private RexNode record(SqlCall call, Scope scope) {
    return records.text(java.util.Objects.requireNonNull(records.row(call, scope)), call);
  }

  /// An argument of a function or an aggregate.
  RexNode bindArgument(String function, SqlNode node, Scope scope) {
    RexNode row = records.argument(function, node, scope);
    return row != null ? row : bind(node, scope);
  }

  /// The expression with the type text if it would have none.
  public RexNode bindTyped(SqlNode node, Scope scope) {
    return coercion.resolveUnknown(bind(node, scope));
  }

  public RexNode bindCondition(SqlNode node, Scope scope, String what) {
    RexNode condition = coercion.condition(bind(node, scope), what, node);
    // Calcite wants AND of AND, and OR of OR, as one call.
    return RexUtil.flatten(context.rex, condition);
  }

  public EngineException unsupported(SqlNode node, String what) {
    return context.error(ErrorCode.FEATURE_NOT_SUPPORTED, what + " is not supported", node);
  }

  private RexNode bindCall(SqlCall call, Scope scope) {
    SqlOperator operator = call.getOperator();
    return switch (call.getKind()) {
      case AND -> condition(SqlStdOperatorTable.AND, call, scope, "argument of AND");
      case OR -> condition(SqlStdOperatorTable.OR, call, scope, "argument of OR");
      case NOT -> condition(SqlStdOperatorTable.NOT, call, scope, "argument of NOT");
      case EQUALS, NOT_EQUALS, LESS_THAN, LESS_THAN_OR_EQUAL, GREATER_THAN, GREATER_THAN_OR_EQUAL ->
          bindComparison(call, scope);
      case IS_NULL -> rows.isNull(call.operand(0), SqlStdOperatorTable.IS_NULL, scope);
      case IS_NOT_NULL -> rows.isNull(call.operand(0), SqlStdOperatorTable.IS_NOT_NULL, scope);
      case IS_TRUE, IS_NOT_TRUE, IS_FALSE, IS_NOT_FALSE, IS_UNKNOWN ->
          condition(
              (SqlPostfixOperator) operator, call, scope, "argument of " + operator.getName());
      case IS_DISTINCT_FROM -> bindDistinct(call, scope, true);
      case IS_NOT_DISTINCT_FROM -> bindDistinct(call, scope, false);
      case BETWEEN -> bindBetween(call, scope);
      case IN -> memberships.in(call, scope, false);
      case NOT_IN -> memberships.in(call, scope, true);
      case SOME, ALL -> queries.subqueries.quantified(call, scope);
      case EXISTS -> queries.subqueries.exists(call.operand(0), scope);
      case SELECT, UNION, INTERSECT, EXCEPT, VALUES, WITH, ORDER_BY ->
          queries.subqueries.scalar(call, scope);
      case CAST, SAFE_CAST -> bindCast(call, scope);
      case LIKE, SIMILAR -> bindLike(call, scope);
      case MINUS_PREFIX -> bindMinus(call, scope);
      case PLUS_PREFIX -> bindFunction(call, "+", call.getOperandList(), scope);
      case TRIM -> bindTrim(call, scope);
      case POSITION ->
          bindFunction(call, "strpos", List.of(call.<SqlNode>operand(1), call.operand(0)), scope);
      case OVER -> windows.bind(call, scope);
      case IGNORE_NULLS, RESPECT_NULLS -> throw windows.noWindow(call, scope);
      case DEFAULT ->
          context.rex.makeCall(
              context.types.of(Types.UNKNOWN, true), PgOperators.DEFAULT, List.of());
      case ROW -> record(call, scope);
      case ARRAY_QUERY_CONSTRUCTOR -> queries.subqueries.array(call, scope);
      default -> bindNamed(call, operator.getName().toLowerCase(Locale.ROOT), scope);
    };
  }

  /// A call by name.
  RexNode bindNamed(SqlCall call, String name, Scope scope) {
    return switch (name) {
      case Marks.DEFAULT_CALL ->
          context.rex.makeCall(
              context.types.of(Types.UNKNOWN, true), PgOperators.DEFAULT, List.of());
      case Marks.AT_TIME_ZONE_CALL ->
          bindFunction(call, "timezone", List.of(call.<SqlNode>operand(1), call.operand(0)), scope);
      case Marks.COLLATE_CALL -> bindCollated(call, scope);
      case Marks.ROW_CALL -> record(call, scope);
      case Marks.SUBQUERY_CALL, Marks.VARIADIC_CALL -> bind(call.operand(0), scope);
      case Marks.NAMED_CALL ->
          throw context.error(
              ErrorCode.UNDEFINED_FUNCTION,
              "arguments have no names here: \"" + NamedArguments.name(call) + "\"",
              call);
      case "row_to_json" -> {
        RexNode json =
            call.operandCount() == 1 ? records.argument(name, call.operand(0), scope) : null;
        yield json != null ? json : bindFunction(call, name, call.getOperandList(), scope);
      }
      case Marks.ARRAY_CALL -> arrays.constructor(call, scope);
      case Marks.SUBSCRIPT_CALL -> arrays.subscript(call, scope);
      case "coalesce" ->
          withoutRows(
              "COALESCE", scope, () -> bindVariadic(call, scope, PgOperators.COALESCE, "COALESCE"));
      case "greatest" -> bindVariadic(call, scope, PgOperators.GREATEST, "GREATEST");
      case "least" -> bindVariadic(call, scope, PgOperators.LEAST, "LEAST");
      case "nullif" -> bindNullIf(call, scope);
      case "merge_action" -> {
        if (scope.mergeAction == null || call.operandCount() > 0) {
          throw context.error(
              ErrorCode.SYNTAX_ERROR,
              "MERGE_ACTION() can only be used in the RETURNING list of a MERGE command",
              call);
        }
        yield scope.mergeAction;
      }
      case "overlaps" ->
          bindFunction(call, name, RowComparisons.periods(call.getOperandList()), scope);
      default -> {
        if (name.startsWith(Marks.QUANTIFIED_CALL)) {
          yield memberships.quantifiedCall(call, name, scope);
        }
        if (NamedArguments.areIn(call.getOperandList())) {
          yield bindFunction(call, name, call.getOperandList(), scope);
        }
        if (WindowBinder.isWindowFunction(name)) {
          throw context.error(
              ErrorCode.WRONG_OBJECT_TYPE,
              "window function " + name + " requires an OVER clause",
              call);
        }
        RexNode aggregate = aggregates.bind(call, name, scope);
        yield aggregate != null
            ? aggregate
            : bindFunction(call, name, call.getOperandList(), scope);
      }
    };
  }

  private RexNode bindCollated(SqlCall call, Scope scope) {
    RexNode value = bindTyped(call.operand(0), scope);
    int oid = PgType.oidOf(value);
    switch (oid) {
      case TypeOid.TEXT, TypeOid.VARCHAR, TypeOid.BPCHAR, TypeOid.NAME -> {}
      default ->
          throw context.error(
              ErrorCode.DATATYPE_MISMATCH,
              "collations are not supported by type " + Types.name(oid),
              call);
    }
    return value;
  }

  private RexNode condition(SqlOperator operator, SqlCall call, Scope scope, String what) {
    List<RexNode> operands = new ArrayList<>();
    for (SqlNode operand : call.getOperandList()) {
      operands.add(bindCondition(operand, scope, what));
    }
    return RexUtil.flatten(context.rex, context.rex.makeCall(operator, operands));
  }

  /// A function call or operator by name.
  RexNode bindFunction(SqlNode at, String name, List<SqlNode> arguments, Scope scope) {
    if (NamedArguments.areIn(name, arguments)) {
      NamedArguments named = new NamedArguments(this, at, name, arguments);
      return named.resolve(
          node -> bindArgument(name, node, scope),
          bound ->
              named.isVariadic()
                  ? calls.variadic(at, name, bound, named.nodes())
                  : bindFunction(at, name, bound, named.nodes(), scope));
    }
    List<RexNode> bound = new ArrayList<>();
    for (SqlNode argument : arguments) {
      if (argument instanceof SqlIdentifier identifier
          && identifier.isStar()
          && !RecordBinder.isRow(identifier)) {
        throw unsupported(argument, "* as an argument of " + name);
      }
      bound.add(bindArgument(name, argument, scope));
    }
    return !arguments.isEmpty() && isCall(arguments.getLast(), Marks.VARIADIC_CALL)
        ? calls.variadic(at, name, bound, arguments)
        : bindFunction(at, name, bound, arguments, scope);
  }

  private RexNode bindFunction(
      SqlNode at, String name, List<RexNode> bound, List<SqlNode> arguments, Scope scope) {
    RexNode rows = rows(at, name, bound, arguments, scope);
    if (rows != null) {
      return rows;
    }
    RexNode sequence = SequenceBinder.accepts(name) ? sequences.bind(at, name, bound) : null;
    return sequence != null ? sequence : calls.function(at, name, bound, arguments);
  }

  static boolean isCall(SqlNode node, String name) {
    return node instanceof SqlCall call && call.getOperator().getName().equalsIgnoreCase(name);
  }

  /// A call of a function that returns rows; null if it is another.
  private @Nullable RexNode rows(
      SqlNode at, String name, List<RexNode> bound, List<SqlNode> nodes, Scope scope) {
    RowFunction function = calls.rowFunction(at, name, bound);
    if (function != null && function.columns().size() > 1) {
      throw unsupported(at, name + " in a select list");
    }
    if (function == null) {
      return null;
    }
    Scope.Clause clause = scope.clause();
    if (clause.aggregation() != null && clause.aggregation().inside) {
      throw context.error(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          "aggregate function calls cannot contain set-returning function calls",
          at);
    }
    if (clause.windowing() != null && clause.windowing().inside) {
      throw context.error(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          "window function calls cannot contain set-returning function calls",
          at);
    }
    RowCalls rowCalls = clause.rowCalls();
    if (rowCalls == null) {
      throw context.error(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          "set-returning functions are not allowed in " + clause.name(),
          at);
    }
    if (bound.stream().anyMatch(node -> PgOperators.Place.isIn(node, PgOperators.RowPlace.class))) {
      throw unsupported(at, "a set-returning function as an argument of another");
    }
    return rowCalls.place(
        new RowCalls.Call(function, calls.arguments(bound, function.argumentOids(), at, nodes)));
  }

  /// Binds what is evaluated only sometimes, so that it can hold no function that returns rows.
  private <T> T withoutRows(String what, Scope scope, Supplier<T> binding) {
    Scope.Clause clause = scope.clause();
    return clause.rowCalls() == null
        ? binding.get()
        : scope.within(
            new Scope.Clause(what, clause.aggregation(), clause.windowing(), null), binding);
  }

  private RexNode bindComparison(SqlCall call, Scope scope) {
    return bindComparison(call.getKind(), call.operand(0), call.operand(1), scope, call);
  }

  RexNode bindComparison(SqlKind kind, SqlNode left, SqlNode right, Scope scope, SqlNode at) {
    RexNode compared = rows.compare(kind, left, right, scope, at);
    return compared != null
        ? compared
        : calls.comparison(kind, bind(left, scope), bind(right, scope), at);
  }

  SubqueryBinder subqueries() {
    return queries.subqueries;
  }

  /// The columns of a subquery of at most one row.
  List<RexNode> columns(SqlNode query, Scope scope) {
    return queries.subqueries.columns(query, scope);
  }

  /// Distinct is what the operator "=" of the two types finds unequal, also when it compares a date with a timestamp.
  private RexNode bindDistinct(SqlCall call, Scope scope, boolean distinct) {
    RexNode row = rows.distinct(call, distinct, scope);
    return row != null
        ? row
        : calls.distinct(
            bind(call.operand(0), scope), bind(call.operand(1), scope), distinct, call);
  }

  private RexNode bindBetween(SqlCall call, Scope scope) {
    SqlBetweenOperator operator = (SqlBetweenOperator) call.getOperator();
    RexNode result = between(call, 1, 2, scope);
    if (operator.flag == SqlBetweenOperator.Flag.SYMMETRIC) {
      result = context.rex.makeCall(SqlStdOperatorTable.OR, result, between(call, 2, 1, scope));
    }
    return operator.isNegated() ? context.rex.makeCall(SqlStdOperatorTable.NOT, result) : result;
  }

  private RexNode between(SqlCall call, int lower, int upper, Scope scope) {
    SqlNode value = call.operand(0);
    return RexUtil.flatten(
        context.rex,
        context.rex.makeCall(
            SqlStdOperatorTable.AND,
            bindComparison(SqlKind.GREATER_THAN_OR_EQUAL, value, call.operand(lower), scope, call),
            bindComparison(SqlKind.LESS_THAN_OR_EQUAL, value, call.operand(upper), scope, call)));
  }

  private RexNode bindCast(SqlCall call, Scope scope) {
    SqlDataTypeSpec spec = call.operand(1);
    SqlType type = TypeText.parse(spec.getTypeName().toString());
    if (type == null) {
      throw context.error(
          ErrorCode.UNDEFINED_OBJECT, "type \"" + spec.getTypeName() + "\" does not exist", spec);
    }
    if (ArrayBinder.isConstructor(call.operand(0))
        && TypeOid.element(type.oid()) != TypeOid.UNSPECIFIED) {
      return arrays.constructor(call.operand(0), scope, type);
    }
    RexNode value = bind(call.operand(0), scope);
    int from = PgType.oidOf(value);
    RexNode converted;
    try {
      converted = coercion.convert(value, type, CastContext.EXPLICIT);
    } catch (EngineException refused) {
      throw refused.position() == 0
          ? refused.withPosition(context.position(call.operand(0)))
          : refused;
    }
    if (converted == null) {
      throw coercion.noCast(from, type.oid(), call);
    }
    return converted;
  }

  private RexNode bindLike(SqlCall call, Scope scope) {
    SqlLikeOperator operator = (SqlLikeOperator) call.getOperator();
    boolean ilike = operator.getName().endsWith("ILIKE");
    RexNode value = bind(call.operand(0), scope);
    RexNode pattern = bind(call.operand(1), scope);
    boolean similar = call.getKind() == SqlKind.SIMILAR;
    if (similar) {
      List<RexNode> arguments = new ArrayList<>(List.of(pattern));
      if (call.operandCount() == 3) {
        arguments.add(bind(call.operand(2), scope));
      }
      pattern = calls.function(call, "similar_to_escape", arguments);
    } else if (call.operandCount() == 3) {
      pattern = calls.function(call, "like_escape", List.of(pattern, bind(call.operand(2), scope)));
    }
    String name = (operator.isNegated() ? "!" : "") + (similar ? "~" : "~~") + (ilike ? "*" : "");
    return calls.function(call, name, List.of(value, pattern));
  }

  private RexNode bindMinus(SqlCall call, Scope scope) {
    if (call.operand(0) instanceof SqlDynamicParam parameter
        && literals.source(parameter) instanceof Source.Literal.NumberText number) {
      return literals.number("-" + number.text());
    }
    return bindFunction(call, "-", call.getOperandList(), scope);
  }

  private RexNode bindTrim(SqlCall call, Scope scope) {
    SqlTrimFunction.Flag flag =
        ((SqlLiteral) call.operand(0)).getValueAs(SqlTrimFunction.Flag.class);
    String name =
        switch (flag) {
          case BOTH -> "btrim";
          case LEADING -> "ltrim";
          case TRAILING -> "rtrim";
        };
    RexNode value = bind(call.operand(2), scope);
    SqlNode characters = call.operand(1);
    // Without characters the parser adds a literal of its own, one blank.
    return characters instanceof SqlLiteral || characters == null
        ? calls.function(call, name, List.of(value))
        : calls.function(call, name, List.of(value, bind(characters, scope)));
  }

  private RexNode bindVariadic(SqlCall call, Scope scope, SqlOperator operator, String name) {
    List<RexNode> bound = new ArrayList<>();
    for (SqlNode operand : call.getOperandList()) {
      bound.add(bind(operand, scope));
    }
    SqlType type = coercion.commonType(bound.stream().map(PgType::of).toList(), name, call);
    List<RexNode> operands = calls.convertAll(bound, type, name, call);
    boolean nullable = operands.stream().allMatch(o -> o.getType().isNullable());
    return operands.size() == 1
        ? operands.getFirst()
        : context.rex.makeCall(context.types.of(type, nullable), operator, operands);
  }

  /// The first argument of NULLIF as the operator takes it. PostgreSQL has operators for each two types of dates, which the comparison here
  /// does without.
  private RexNode takenBy(RexNode comparison, RexNode left) {
    if (comparison instanceof RexCall call && call.getOperands().size() == 2) {
      RexNode taken = call.getOperands().getFirst();
      int oid = PgType.oidOf(taken);
      if (PgType.oidOf(left) == Types.UNKNOWN
          || oid == TypeOid.NUMERIC
          || oid == TypeOid.FLOAT8
          || oid == TypeOid.TEXT) {
        return taken;
      }
    }
    return coercion.resolveUnknown(left);
  }

  private RexNode bindNullIf(SqlCall call, Scope scope) {
    RexNode left = bind(call.operand(0), scope);
    RexNode right = bind(call.operand(1), scope);
    RexNode equal = calls.comparison(SqlKind.EQUALS, left, right, call);
    RexNode typed = takenBy(equal, left);
    SqlType type = PgType.of(typed);
    return context.rex.makeCall(
        context.types.of(type, true),
        PgOperators.CASE,
        List.of(equal, coercion.constant(Constant.ofNull(type)), typed));
  }

  private RexNode bindCase(SqlCase sqlCase, Scope scope) {
    SqlNode subject = sqlCase.getValueOperand();
    List<RexNode> conditions = new ArrayList<>();
    for (SqlNode when : sqlCase.getWhenOperands()) {
      conditions.add(
          subject == null
              ? bindCondition(when, scope, "argument of CASE/WHEN")
              : calls.comparison(SqlKind.EQUALS, bind(subject, scope), bind(when, scope), when));
    }
    List<RexNode> values = new ArrayList<>();
    for (SqlNode then : sqlCase.getThenOperands()) {
      values.add(bind(then, scope));
    }
    SqlNode otherwise = sqlCase.getElseOperand();
    values.add(
        otherwise == null
            ? coercion.constant(Constant.ofNull(SqlType.of(Types.UNKNOWN)))
            : bind(otherwise, scope));
    SqlType type = coercion.commonType(values.stream().map(PgType::of).toList(), "CASE", sqlCase);
    List<RexNode> converted = calls.convertAll(values, type, "CASE", sqlCase);
    List<RexNode> operands = new ArrayList<>();
    for (int i = 0; i < conditions.size(); i++) {
      operands.add(conditions.get(i));
      operands.add(converted.get(i));
    }
    operands.add(converted.getLast());
    boolean nullable = converted.stream().anyMatch(v -> v.getType().isNullable());
    return context.rex.makeCall(context.types.of(type, nullable), PgOperators.CASE, operands);
  }
}
