package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.plan.PlanNode.FrameBoundKind;
import dev.kakehashi.engine.plan.PlanNode.FrameExclusion;
import dev.kakehashi.engine.plan.PlanNode.FrameMode;
import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.algebra.PgOperators;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.algebra.SortOrder;
import dev.kakehashi.engine.sql.algebra.WindowFrame;
import dev.kakehashi.engine.sql.spelling.Marks;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.registry.Aggregates;
import dev.kakehashi.engine.type.registry.Functions;
import dev.kakehashi.engine.type.value.FrameLimits;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlWindow;
import org.jspecify.annotations.Nullable;

/// Binds `function OVER window` and registers it with its SELECT.
final class WindowBinder {
  /// Types of the arguments after the first, and the greatest number of arguments; the first of lag and its relatives is of any type.
  private record Signature(int minArguments, int maxArguments, int resultOid) {}

  private static final Map<String, Signature> FUNCTIONS =
      Map.ofEntries(
          Map.entry("row_number", new Signature(0, 0, TypeOid.INT8)),
          Map.entry("rank", new Signature(0, 0, TypeOid.INT8)),
          Map.entry("dense_rank", new Signature(0, 0, TypeOid.INT8)),
          Map.entry("percent_rank", new Signature(0, 0, TypeOid.FLOAT8)),
          Map.entry("cume_dist", new Signature(0, 0, TypeOid.FLOAT8)),
          Map.entry("ntile", new Signature(1, 1, TypeOid.INT4)),
          Map.entry("lag", new Signature(1, 3, 0)),
          Map.entry("lead", new Signature(1, 3, 0)),
          Map.entry("first_value", new Signature(1, 1, 0)),
          Map.entry("last_value", new Signature(1, 1, 0)),
          Map.entry("nth_value", new Signature(2, 2, 0)));

  /// Functions that take IGNORE NULLS and RESPECT NULLS.
  private static final Set<String> VALUE_FUNCTIONS =
      Set.of("lag", "lead", "first_value", "last_value", "nth_value");

  private static final String EXCLUDE = "exclude ";

  private final BindContext context;
  private final ExpressionBinder expressions;

  WindowBinder(BindContext context, ExpressionBinder expressions) {
    this.context = context;
    this.expressions = expressions;
  }

  /// Whether there is a window function of this name that is no aggregate.
  static boolean isWindowFunction(String name) {
    return FUNCTIONS.containsKey(name);
  }

  /// Whether a call is `function(...) IGNORE NULLS` or `RESPECT NULLS`: its operand is the function.
  static boolean isNullTreatment(SqlCall call) {
    return call.getKind() == SqlKind.IGNORE_NULLS || call.getKind() == SqlKind.RESPECT_NULLS;
  }

  /// The error for `function(...) IGNORE NULLS` and `RESPECT NULLS` without OVER.
  EngineException noWindow(SqlCall treated, Scope scope) {
    SqlCall function = treated.operand(0);
    RexNode ignored = expressions.bind(function, scope);
    String name = name(function);
    return isAggregate(function, name)
        ? aggregateWithTreatment(function)
        : context.error(
            ErrorCode.WRONG_OBJECT_TYPE,
            "RESPECT/IGNORE NULLS specified, but " + name + " is not a window function",
            function);
  }

  private EngineException aggregateWithTreatment(SqlCall function) {
    return context.error(
        ErrorCode.WRONG_OBJECT_TYPE,
        "aggregate functions do not accept RESPECT/IGNORE NULLS",
        function);
  }

  private static String name(SqlCall function) {
    return function.getOperator().getName().toLowerCase(Locale.ROOT);
  }

  private boolean isAggregate(SqlCall function, String name) {
    return Aggregates.isAggregate(name)
        || expressions.calls.applications.isAggregate(function, name);
  }

  RexNode bind(SqlCall over, Scope scope) {
    Scope.Clause clause = scope.clause();
    Windowing windowing = clause.windowing();
    if (clause.aggregation() != null && clause.aggregation().inside) {
      throw context.error(
          ErrorCode.GROUPING_ERROR,
          "aggregate function calls cannot contain window function calls",
          over);
    }
    if (windowing == null) {
      throw context.error(
          ErrorCode.WINDOWING_ERROR, "window functions are not allowed in " + clause.name(), over);
    }
    if (windowing.inside) {
      throw context.error(
          ErrorCode.WINDOWING_ERROR, "window function calls cannot be nested", over);
    }
    windowing.inside = true;
    try {
      Windowing.Call call = call(over, scope, windowing);
      return context.rex.makeCall(
          call.type(), new PgOperators.WindowPlace(windowing.add(call)), List.of());
    } finally {
      windowing.inside = false;
    }
  }

  private Windowing.Call call(SqlCall over, Scope scope, Windowing windowing) {
    SqlCall function = over.operand(0);
    SqlNode filter = null;
    if (function.getKind() == SqlKind.FILTER) {
      filter = function.operand(1);
      function = function.operand(0);
    }
    if (function.getKind() == SqlKind.WITHIN_GROUP) {
      throw expressions.unsupported(function, "ORDER BY in an aggregate over a window");
    }
    SqlKind treatment = isNullTreatment(function) ? function.getKind() : null;
    if (treatment != null) {
      function = function.operand(0);
    }
    String name = name(function);
    Definition window = definition(over.operand(1), scope, windowing);
    if (isAggregate(function, name)) {
      if (treatment != null) {
        throw aggregateWithTreatment(function);
      }
      Aggregation.Call bound = expressions.aggregates.overWindow(function, name, filter, scope);
      int[] oids =
          bound.function() instanceof PgOperators.AggregateOperator operator
              ? operator.aggregate.argumentOids()
              : bound.arguments().stream().mapToInt(PgType::oidOf).toArray();
      return new Windowing.Call(
          name,
          bound.arguments(),
          oids,
          true,
          false,
          bound.filter(),
          window.partition,
          window.order,
          window.frame,
          bound.type(),
          bound.function() instanceof PgOperators.AggregateOperator operator
                  && operator.aggregate.isOfApplication()
              ? operator.aggregate
              : null);
    }
    Signature signature = FUNCTIONS.get(name);
    if (signature == null) {
      throw context.error(
          Functions.all().stream().anyMatch(f -> f.name().equals(name))
              ? ErrorCode.WRONG_OBJECT_TYPE
              : ErrorCode.UNDEFINED_FUNCTION,
          "OVER specified, but " + name + " is not a window function nor an aggregate function",
          function);
    }
    if (filter != null) {
      throw expressions.unsupported(function, "FILTER for non-aggregate window functions");
    }
    if (treatment != null && !VALUE_FUNCTIONS.contains(name)) {
      throw context.error(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          "function " + name + " does not allow RESPECT/IGNORE NULLS",
          function);
    }
    List<RexNode> arguments = arguments(function, name, signature, scope);
    RelDataType type =
        signature.resultOid == 0
            ? context.types.createTypeWithNullability(arguments.getFirst().getType(), true)
            : context.types.of(signature.resultOid, name.equals("ntile"));
    return new Windowing.Call(
        name,
        arguments,
        arguments.stream().mapToInt(PgType::oidOf).toArray(),
        false,
        treatment == SqlKind.IGNORE_NULLS,
        null,
        window.partition,
        window.order,
        window.frame,
        type,
        null);
  }

  private List<RexNode> arguments(SqlCall function, String name, Signature signature, Scope scope) {
    List<RexNode> bound = new ArrayList<>();
    for (SqlNode operand : function.getOperandList()) {
      bound.add(expressions.bind(operand, scope));
    }
    if (bound.size() < signature.minArguments || bound.size() > signature.maxArguments) {
      throw expressions.aggregates.noAggregate(function, name, bound);
    }
    List<RexNode> converted = new ArrayList<>();
    for (int i = 0; i < bound.size(); i++) {
      boolean count = name.equals("ntile") || i == 1;
      RexNode argument =
          count
              ? expressions.coercion.convert(
                  bound.get(i), SqlType.of(TypeOid.INT4), CastContext.IMPLICIT)
              : bound.get(i);
      if (argument == null) {
        throw expressions.aggregates.noAggregate(function, name, bound);
      }
      converted.add(argument);
    }
    if (signature.resultOid == 0) {
      List<SqlType> values = new ArrayList<>();
      values.add(PgType.of(converted.getFirst()));
      if (converted.size() == 3) {
        values.add(PgType.of(converted.get(2)));
      }
      SqlType common = expressions.coercion.commonType(values, name, function);
      for (int i = 0; i < converted.size(); i += 2) {
        converted.set(
            i,
            expressions
                .calls
                .convertAll(List.of(converted.get(i)), common, name, function)
                .getFirst());
      }
    }
    return converted;
  }

  /// A window with everything that it inherits.
  private record Definition(
      List<RexNode> partition, List<Windowing.Key> order, WindowFrame frame, boolean framed) {}

  private Definition definition(SqlNode node, Scope scope, Windowing windowing) {
    if (node instanceof SqlIdentifier name) {
      return definition(named(name, windowing), scope, windowing);
    }
    SqlWindow window = (SqlWindow) node;
    SqlIdentifier base = window.getRefName();
    Definition inherited =
        base == null ? null : definition(named(base, windowing), scope, windowing);
    List<RexNode> partition = new ArrayList<>();
    for (SqlNode item : window.getPartitionList()) {
      partition.add(expressions.bindTyped(item, scope));
    }
    List<SqlNode> items = new ArrayList<>(window.getOrderList().getList());
    SqlCall frame = null;
    if (!items.isEmpty()
        && items.getLast() instanceof SqlCall last
        && last.getOperator().getName().equals(Marks.FRAME_CALL)) {
      frame = last;
      items.removeLast();
    }
    List<Windowing.Key> order = new ArrayList<>();
    for (SqlNode node2 : items) {
      SortOrder.Item item = SortOrder.item(node2);
      order.add(
          new Windowing.Key(
              expressions.bindTyped(item.expression(), scope),
              item.descending(),
              item.nullsFirst()));
    }
    if (inherited != null) {
      refuseOverride(Objects.requireNonNull(base), inherited, partition, order);
      partition = inherited.partition;
      order = inherited.order.isEmpty() ? order : inherited.order;
    }
    WindowFrame bound = frame == null ? WindowFrame.DEFAULT : frame(frame, order);
    return new Definition(partition, order, bound, frame != null);
  }

  private SqlWindow named(SqlIdentifier name, Windowing windowing) {
    SqlWindow window = windowing.named.get(name.getSimple());
    if (window == null) {
      throw context.error(
          ErrorCode.UNDEFINED_OBJECT, "window \"" + name.getSimple() + "\" does not exist", name);
    }
    return window;
  }

  private void refuseOverride(
      SqlIdentifier base,
      Definition inherited,
      List<RexNode> partition,
      List<Windowing.Key> order) {
    String name = "\"" + base.getSimple() + "\"";
    if (!partition.isEmpty()) {
      throw context.error(
          ErrorCode.WINDOWING_ERROR, "cannot override PARTITION BY clause of window " + name, base);
    }
    if (!order.isEmpty() && !inherited.order.isEmpty()) {
      throw context.error(
          ErrorCode.WINDOWING_ERROR, "cannot override ORDER BY clause of window " + name, base);
    }
    if (inherited.framed) {
      throw context.error(
          ErrorCode.WINDOWING_ERROR,
          "cannot copy window " + name + " because it has a frame clause",
          base);
    }
  }

  private WindowFrame frame(SqlCall call, List<Windowing.Key> order) {
    List<SqlNode> operands = new ArrayList<>(call.getOperandList());
    String modeName = word(operands.removeFirst());
    FrameMode mode = FrameMode.valueOf(Objects.requireNonNull(modeName).toUpperCase(Locale.ROOT));
    List<WindowFrame.Bound> bounds = new ArrayList<>();
    FrameExclusion exclusion = FrameExclusion.NO_OTHERS;
    SqlNode offset = null;
    for (SqlNode operand : operands) {
      String word = word(operand);
      if (word == null) {
        offset = operand;
        continue;
      }
      if (word.startsWith(EXCLUDE)) {
        String name = word.substring(EXCLUDE.length()).replace(' ', '_');
        exclusion = FrameExclusion.valueOf(name.toUpperCase(Locale.ROOT));
        continue;
      }
      FrameBoundKind kind = FrameBoundKind.valueOf(word.replace(' ', '_').toUpperCase(Locale.ROOT));
      bounds.add(
          offset == null
              ? WindowFrame.Bound.of(kind)
              : withOffset(mode, kind, bounds.isEmpty(), offset, order));
      offset = null;
    }
    if (bounds.size() == 1) {
      bounds.add(WindowFrame.Bound.of(FrameBoundKind.CURRENT_ROW));
    }
    refuseOrder(call, mode, bounds.get(0).kind(), bounds.get(1).kind(), order);
    return new WindowFrame(mode, bounds.get(0), bounds.get(1), exclusion);
  }

  private void refuseOrder(
      SqlNode at,
      FrameMode mode,
      FrameBoundKind start,
      FrameBoundKind end,
      List<Windowing.Key> order) {
    String problem = null;
    if (start == FrameBoundKind.UNBOUNDED_FOLLOWING) {
      problem = "frame start cannot be UNBOUNDED FOLLOWING";
    } else if (end == FrameBoundKind.UNBOUNDED_PRECEDING) {
      problem = "frame end cannot be UNBOUNDED PRECEDING";
    } else if (start == FrameBoundKind.CURRENT_ROW && end == FrameBoundKind.PRECEDING) {
      problem = "frame starting from current row cannot have preceding rows";
    } else if (start == FrameBoundKind.FOLLOWING
        && (end == FrameBoundKind.PRECEDING || end == FrameBoundKind.CURRENT_ROW)) {
      problem = "frame starting from following row cannot have preceding rows";
    } else if (mode == FrameMode.GROUPS && order.isEmpty()) {
      problem = "GROUPS mode requires an ORDER BY clause";
    }
    if (problem != null) {
      throw context.error(ErrorCode.WINDOWING_ERROR, problem, at);
    }
  }

  private static @Nullable String word(SqlNode node) {
    return node instanceof SqlIdentifier identifier
            && identifier.isSimple()
            && identifier.getSimple().startsWith("kh ")
        ? identifier.getSimple().substring(3)
        : null;
  }

  private WindowFrame.Bound withOffset(
      FrameMode mode, FrameBoundKind kind, boolean start, SqlNode node, List<Windowing.Key> order) {
    Scope free = new Scope(null, "window " + mode);
    RexNode offset = expressions.bind(node, free);
    if (mode != FrameMode.RANGE) {
      RexNode count =
          expressions.coercion.convert(offset, SqlType.of(TypeOid.INT8), CastContext.IMPLICIT);
      if (count == null) {
        throw context.error(
            ErrorCode.DATATYPE_MISMATCH,
            "argument of "
                + mode
                + " must be type bigint, not type "
                + Types.name(PgType.oidOf(offset)),
            node);
      }
      return new WindowFrame.Bound(kind, count, isNegative(count, node), null, null);
    }
    if (order.size() != 1) {
      throw context.error(
          ErrorCode.WINDOWING_ERROR,
          "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column",
          node);
    }
    Windowing.Key key = order.getFirst();
    RexNode typed = rangeOffset(key.expression(), offset, node);
    boolean minus = (kind == FrameBoundKind.PRECEDING) != key.descending();
    Integer compared = FrameLimits.comparedOid(PgType.oidOf(key.expression()));
    if (compared != null) {
      return movable(kind, start, compared, key.expression(), typed, minus);
    }
    RexNode limit =
        expressions.calls.function(node, minus ? "-" : "+", List.of(key.expression(), typed));
    RexNode comparable =
        expressions.coercion.convert(key.expression(), PgType.of(limit), CastContext.EXPLICIT);
    if (comparable == null) {
      throw expressions.unsupported(node, "RANGE with this offset");
    }
    return new WindowFrame.Bound(kind, null, isNegative(typed, node), comparable, limit);
  }

  /// A bound whose limit may be beyond all values of its type.
  private WindowFrame.Bound movable(
      FrameBoundKind kind,
      boolean start,
      int compared,
      RexNode key,
      RexNode offset,
      boolean minus) {
    RexNode comparable = converted(key, compared);
    RexNode moving = converted(offset, FrameLimits.offsetOid(compared));
    RexNode limit =
        expressions.coercion.call(
            FrameLimits.limit(compared, minus, kind == FrameBoundKind.PRECEDING, start),
            List.of(comparable, moving),
            SqlType.of(compared),
            "");
    RexNode refused =
        expressions.coercion.call(
            FrameLimits.refused(compared), List.of(moving), SqlType.of(TypeOid.BOOL), "");
    return new WindowFrame.Bound(kind, null, refused, comparable, limit);
  }

  private RexNode converted(RexNode node, int oid) {
    return Objects.requireNonNull(
        expressions.coercion.convert(node, SqlType.of(oid), CastContext.IMPLICIT));
  }

  /// The offset as of the type that PostgreSQL takes for the key's: an integer for integers, an interval for times.
  private RexNode rangeOffset(RexNode key, RexNode offset, SqlNode at) {
    int keyOid = PgType.oidOf(key);
    int offsetOid = PgType.oidOf(offset);
    int wanted =
        switch (keyOid) {
          case TypeOid.DATE,
              TypeOid.TIMESTAMP,
              TypeOid.TIMESTAMPTZ,
              TypeOid.TIME,
              TypeOid.INTERVAL ->
              TypeOid.INTERVAL;
          case TypeOid.INT2, TypeOid.INT4, TypeOid.INT8 ->
              offsetOid == Types.UNKNOWN ? keyOid : TypeOid.INT8;
          case TypeOid.NUMERIC -> TypeOid.NUMERIC;
          case TypeOid.FLOAT4, TypeOid.FLOAT8 -> TypeOid.FLOAT8;
          default ->
              throw expressions.unsupported(
                  at,
                  "RANGE with offset PRECEDING/FOLLOWING for column type " + Types.name(keyOid));
        };
    RexNode typed = expressions.coercion.convert(offset, SqlType.of(wanted), CastContext.IMPLICIT);
    if (typed == null) {
      throw expressions.unsupported(
          at,
          "RANGE with offset PRECEDING/FOLLOWING for column type "
              + Types.name(keyOid)
              + " and offset type "
              + Types.name(offsetOid));
    }
    return typed;
  }

  private RexNode isNegative(RexNode offset, SqlNode at) {
    RexNode zero =
        expressions.coercion.convert(
            expressions.coercion.constant(Constant.ofText(Types.UNKNOWN, "0")),
            SqlType.of(PgType.oidOf(offset)),
            CastContext.IMPLICIT);
    return expressions.calls.comparison(
        SqlKind.LESS_THAN, offset, Objects.requireNonNull(zero), at);
  }
}
