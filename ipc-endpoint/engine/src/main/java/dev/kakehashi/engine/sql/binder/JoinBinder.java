package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.sql.algebra.PgOperators;
import dev.kakehashi.engine.sql.binder.FromBinder.From;
import dev.kakehashi.engine.sql.spelling.Marks;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.logical.LogicalCorrelate;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rel.logical.LogicalJoin;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.JoinConditionType;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlJoin;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.validate.SqlValidatorUtil;
import org.jspecify.annotations.Nullable;

/// Binds joins: the condition, USING and NATURAL, and right sides that name columns of the left.
final class JoinBinder {
  private final BindContext context;
  private final FromBinder from;
  private final ExpressionBinder expressions;

  JoinBinder(BindContext context, FromBinder from, ExpressionBinder expressions) {
    this.context = context;
    this.from = from;
    this.expressions = expressions;
  }

  private From side(SqlNode node, boolean nullable, @Nullable Scope parent) {
    return nullable
        ? context.barring("an outer join", () -> from.item(node, parent))
        : from.item(node, parent);
  }

  From bind(SqlJoin join, @Nullable Scope parent) {
    JoinRelType type = type(join);
    From left = side(join.getLeft(), type.generatesNullsOnLeft(), parent);
    boolean function = RowFunctionBinder.accepts(join.getRight());
    boolean lateral = function || isLateral(join.getRight());
    Scope outer = new Scope(parent);
    outer.fields.addAll(left.fields());
    outer.rowType = left.rel().getRowType();
    From right = side(join.getRight(), type.generatesNullsOnRight(), lateral ? outer : parent);
    // A function that names no column of the left is a table like others.
    if (lateral && (!function || outer.correlation != null)) {
      return lateral(join, left, right, outer);
    }
    from.refuseDuplicateAliases(left.fields(), right.fields(), join);
    int leftCount = left.rel().getRowType().getFieldCount();
    List<Scope.Field> shifted =
        optional(
            FromBinder.map(right.fields(), node -> from.shift(node, leftCount)),
            type.generatesNullsOnRight());
    List<Scope.Field> kept = optional(left.fields(), type.generatesNullsOnLeft());
    List<Scope.Field> fields = new ArrayList<>(kept);
    fields.addAll(shifted);
    Scope scope = new Scope(parent, "JOIN conditions");
    scope.fields.addAll(fields);
    scope.rowType =
        SqlValidatorUtil.deriveJoinRowType(
            left.rel().getRowType(),
            right.rel().getRowType(),
            JoinRelType.INNER,
            context.types,
            null,
            List.of());
    List<String> using = usingColumns(join, left.fields(), right.fields());
    RexNode condition =
        using != null
            ? usingCondition(join, using, left.fields(), shifted)
            : join.getConditionType() == JoinConditionType.ON
                ? expressions.bindCondition(
                    java.util.Objects.requireNonNull(join.getCondition()),
                    scope,
                    "argument of JOIN/ON")
                : context.rex.makeLiteral(true);
    RelNode rel =
        LogicalJoin.create(
            left.rel(), right.rel(), List.of(), condition, scope.correlations(), type);
    List<Scope.Field> output =
        using == null ? fields : mergeUsing(join, using, kept, shifted, type);
    List<Scope.BaseTable> tables = new ArrayList<>(left.tables());
    right.tables().forEach(t -> tables.add(t.moved(leftCount)));
    return new From(
        rel, FromBinder.map(output, node -> from.retype(node, rel.getRowType())), tables);
  }

  private static List<Scope.Field> optional(List<Scope.Field> fields, boolean optional) {
    return optional ? fields.stream().map(Scope.Field::asOptional).toList() : fields;
  }

  private static boolean isLateral(SqlNode node) {
    return node.getKind() == SqlKind.LATERAL
        || (node.getKind() == SqlKind.AS
            && ((SqlCall) node).operand(0).getKind() == SqlKind.LATERAL);
  }

  /// A join whose right side may name columns of the left.
  ///
  /// @param outer scope of the right side
  private From lateral(SqlJoin join, From left, From right, Scope outer) {
    from.refuseDuplicateAliases(left.fields(), right.fields(), join);
    JoinRelType type = type(join);
    if (type != JoinRelType.INNER && type != JoinRelType.LEFT) {
      throw context.error(
          ErrorCode.INVALID_COLUMN_REFERENCE,
          "the combining JOIN type must be INNER or LEFT for a LATERAL reference",
          join);
    }
    if (join.isNatural() || join.getConditionType() == JoinConditionType.USING) {
      throw expressions.unsupported(join, "USING with LATERAL");
    }
    RelNode filtered = right.rel();
    if (join.getConditionType() == JoinConditionType.ON) {
      Scope inner = new Scope(outer, "JOIN conditions");
      inner.fields.addAll(right.fields());
      inner.rowType = right.rel().getRowType();
      RexNode condition =
          expressions.bindCondition(
              java.util.Objects.requireNonNull(join.getCondition()), inner, "argument of JOIN/ON");
      if (!condition.isAlwaysTrue()) {
        filtered =
            LogicalFilter.create(
                filtered,
                condition,
                com.google.common.collect.ImmutableSet.copyOf(inner.correlations()));
      }
    }
    CorrelationId id = outer.correlation;
    RelNode rel =
        id == null
            ? LogicalJoin.create(
                left.rel(), filtered, List.of(), context.rex.makeLiteral(true), Set.of(), type)
            : LogicalCorrelate.create(
                left.rel(),
                filtered,
                List.of(),
                id,
                RelOptUtil.correlationColumns(id, filtered),
                type);
    int leftCount = left.rel().getRowType().getFieldCount();
    List<Scope.Field> fields = new ArrayList<>(left.fields());
    fields.addAll(
        optional(
            FromBinder.map(right.fields(), node -> from.shift(node, leftCount)),
            type.generatesNullsOnRight()));
    List<Scope.BaseTable> tables = new ArrayList<>(left.tables());
    return new From(
        rel, FromBinder.map(fields, node -> from.retype(node, rel.getRowType())), tables);
  }

  private static JoinRelType type(SqlJoin join) {
    return switch (join.getJoinType()) {
      case LEFT -> JoinRelType.LEFT;
      case RIGHT -> JoinRelType.RIGHT;
      case FULL -> JoinRelType.FULL;
      default -> JoinRelType.INNER;
    };
  }

  private @Nullable List<String> usingColumns(
      SqlJoin join, List<Scope.Field> left, List<Scope.Field> right) {
    if (join.isNatural()) {
      Set<String> common = new LinkedHashSet<>();
      for (Scope.Field field : left) {
        if (isCommon(field)
            && right.stream().anyMatch(r -> isCommon(r) && r.name().equals(field.name()))) {
          common.add(field.name());
        }
      }
      return List.copyOf(common);
    }
    if (join.getConditionType() != JoinConditionType.USING) {
      return null;
    }
    List<String> names = new ArrayList<>();
    for (SqlNode column : (SqlNodeList) java.util.Objects.requireNonNull(join.getCondition())) {
      String name = ((SqlIdentifier) column).getSimple();
      if (!name.startsWith(Marks.USING_ALIAS_PREFIX)) {
        names.add(name);
      }
    }
    return names;
  }

  /// Whether two tables may be joined by their columns of this name.
  private static boolean isCommon(Scope.Field field) {
    return !field.merged() && !field.system();
  }

  /// The alias of the columns of USING; null if they have none.
  private static @Nullable String usingAlias(SqlJoin join) {
    if (join.getConditionType() != JoinConditionType.USING) {
      return null;
    }
    SqlNodeList columns = (SqlNodeList) java.util.Objects.requireNonNull(join.getCondition());
    String last = ((SqlIdentifier) columns.get(columns.size() - 1)).getSimple();
    return last.startsWith(Marks.USING_ALIAS_PREFIX)
        ? last.substring(Marks.USING_ALIAS_PREFIX.length())
        : null;
  }

  private RexNode usingCondition(
      SqlJoin join, List<String> using, List<Scope.Field> left, List<Scope.Field> right) {
    List<RexNode> terms = new ArrayList<>();
    for (String name : using) {
      RexNode a = usingField(join, name, left, "left").expression();
      RexNode b = usingField(join, name, right, "right").expression();
      terms.add(expressions.calls.comparison(SqlKind.EQUALS, a, b, join));
    }
    return terms.isEmpty()
        ? context.rex.makeLiteral(true)
        : terms.size() == 1
            ? terms.getFirst()
            : context.rex.makeCall(SqlStdOperatorTable.AND, terms);
  }

  private Scope.Field usingField(SqlJoin join, String name, List<Scope.Field> fields, String side) {
    List<Scope.Field> found =
        fields.stream().filter(f -> isCommon(f) && f.name().equals(name)).toList();
    if (found.isEmpty()) {
      throw context.error(
          ErrorCode.UNDEFINED_COLUMN,
          "column \"" + name + "\" specified in USING clause does not exist in " + side + " table",
          join);
    }
    if (found.size() > 1) {
      throw context.error(
          ErrorCode.AMBIGUOUS_COLUMN,
          "common column name \"" + name + "\" appears more than once in " + side + " table",
          join);
    }
    found.getFirst().markRead();
    return found.getFirst();
  }

  private List<Scope.Field> mergeUsing(
      SqlJoin join,
      List<String> using,
      List<Scope.Field> left,
      List<Scope.Field> right,
      JoinRelType type) {
    List<Scope.Field> output = new ArrayList<>();
    for (String name : using) {
      RexNode a = usingField(join, name, left, "left").expression();
      RexNode b = usingField(join, name, right, "right").expression();
      RexNode merged =
          switch (type) {
            case RIGHT -> b;
            case FULL ->
                context.rex.makeCall(
                    context.types.createTypeWithNullability(a.getType(), true),
                    PgOperators.COALESCE,
                    List.of(a, b));
            default -> a;
          };
      output.add(new Scope.Field(null, null, name, merged, false));
    }
    String alias = usingAlias(join);
    if (alias != null) {
      List<Scope.Field> columns = output.stream().map(field -> field.named(alias)).toList();
      if (left.stream().anyMatch(field -> alias.equals(field.alias()))
          || right.stream().anyMatch(field -> alias.equals(field.alias()))) {
        throw FromBinder.duplicateAlias(context, alias, join);
      }
      output.addAll(columns);
    }
    for (List<Scope.Field> side : List.of(left, right)) {
      for (Scope.Field field : side) {
        boolean hidden = field.merged() || using.contains(field.name());
        if (field.alias() != null || !hidden) {
          output.add(field.withMerged(hidden));
        }
      }
    }
    return output;
  }
}
