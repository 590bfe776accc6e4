package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.sql.algebra.BottomUp;
import dev.kakehashi.engine.sql.algebra.PgOperators.AggregateOperator;
import dev.kakehashi.engine.sql.algebra.PgOperators.AggregateOrder;
import dev.kakehashi.engine.sql.algebra.SortOrder;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.apache.calcite.rel.RelCollations;
import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.AggregateCall;
import org.apache.calcite.rel.logical.LogicalAggregate;
import org.apache.calcite.rel.logical.LogicalUnion;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexLocalRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.rex.RexVisitorImpl;
import org.apache.calcite.sql.SqlAggFunction;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/// Turns expressions over the input of a grouped SELECT into expressions over its groups and aggregates.
final class Grouping {
  private final BindContext context;
  private final Scope scope;
  private final List<RexNode> keys;
  private final Aggregation aggregation;

  /// Sets of GROUPING SETS and its relatives; null: one, of all keys.
  private final @Nullable List<Set<RexNode>> sets;

  private boolean correlated;
  private @Nullable RelDataType groupedType;

  Grouping(
      BindContext context,
      Scope scope,
      List<RexNode> keys,
      @Nullable List<Set<RexNode>> sets,
      Aggregation aggregation) {
    this.sets = sets;
    this.context = context;
    this.scope = scope;
    this.keys = new ArrayList<>(keys);
    this.aggregation = aggregation;
  }

  static boolean hasAggregate(RexNode node) {
    boolean[] found = {false};
    node.accept(
        new RexVisitorImpl<@Nullable Void>(true) {
          @Override
          public @Nullable Void visitLocalRef(RexLocalRef aggregate) {
            found[0] = true;
            return null;
          }
        });
    return found[0];
  }

  /// Whether a subquery in an expression names an aggregate of the query around it.
  static boolean hasAggregateInSubquery(RexNode node, Scope scope) {
    boolean[] found = {false};
    node.accept(
        new RexShuttle() {
          @Override
          public RexNode visitFieldAccess(RexFieldAccess access) {
            found[0] |=
                access.getReferenceExpr() instanceof RexCorrelVariable variable
                    && scope.correlations().contains(variable.id)
                    && NameResolver.outerAggregate(access, scope) >= 0;
            return access;
          }

          @Override
          public RexNode visitSubQuery(RexSubQuery subQuery) {
            BottomUp.rewrite(subQuery.rel, each -> each.accept(this));
            return super.visitSubQuery(subQuery);
          }
        });
    return found[0];
  }

  /// Subqueries of the SELECT list or HAVING refer to this query: their references have to go to the groups.
  void redirectCorrelations() {
    correlated = true;
  }

  /// Adds the columns that depend on a grouped primary key to the keys.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException GROUPING_ERROR for a column that is neither grouped nor aggregated
  void complete(List<RexNode> expressions, SqlNode at) {
    for (RexNode expression : expressions) {
      expression.accept(
          new RexShuttle() {
            @Override
            public RexNode visitInputRef(RexInputRef reference) {
              if (!keys.contains(reference)) {
                addDependent(reference, at);
              }
              return reference;
            }

            @Override
            public RexNode visitCall(org.apache.calcite.rex.RexCall call) {
              return keys.contains(call) ? call : super.visitCall(call);
            }

            @Override
            public RexNode visitSubQuery(RexSubQuery subQuery) {
              return keys.contains(subQuery) ? subQuery : super.visitSubQuery(subQuery);
            }
          });
    }
  }

  private void addDependent(RexInputRef reference, SqlNode at) {
    for (Scope.BaseTable table : sets == null ? scope.baseTables : List.<Scope.BaseTable>of()) {
      int column = reference.getIndex() - table.firstField();
      Index key = table.table().primaryKey();
      if (column < 0 || column >= table.table().columns().size() || key == null) {
        continue;
      }
      boolean grouped =
          key.columns().stream()
              .allMatch(k ->
                  keys.stream()
                      .anyMatch(e ->
                          e instanceof RexInputRef ref
                              && ref.getIndex() == table.firstField() + k));
      if (grouped) {
        keys.add(reference);
        return;
      }
    }
    throw context.error(
        ErrorCode.GROUPING_ERROR,
        "column \""
            + SelectBinder.columnName(scope, reference.getIndex())
            + "\" must appear in the GROUP BY clause or be used in an aggregate function",
        at);
  }

  /// The aggregation: keys first, then aggregates.
  RelNode aggregate(RelNode input) {
    List<RexNode> columns = new ArrayList<>(keys);
    List<AggregateCall> calls = new ArrayList<>();
    for (Aggregation.Call call : aggregation.calls) {
      List<Integer> arguments = new ArrayList<>();
      for (RexNode argument : call.arguments()) {
        if (call.function().getKind() == SqlKind.GROUPING && !keys.contains(argument)) {
          throw new EngineException(
              ErrorCode.GROUPING_ERROR,
              "arguments to GROUPING must be grouping expressions of the associated query level");
        }
        arguments.add(column(columns, argument));
      }
      SqlAggFunction function = call.function();
      List<RelFieldCollation> collation = new ArrayList<>();
      List<AggregateOrder> order = new ArrayList<>();
      for (Windowing.Key key : call.order()) {
        int column = column(columns, key.expression());
        if (function instanceof AggregateOperator) {
          arguments.add(column);
          order.add(new AggregateOrder(key.descending(), key.nullsFirst()));
        } else {
          collation.add(new SortOrder(column, key.descending(), key.nullsFirst()).collation());
        }
      }
      if (function instanceof AggregateOperator operator && !order.isEmpty()) {
        function = operator.ordered(order);
      }
      RexNode filter = call.filter();
      int filterColumn =
          filter == null
              ? -1
              : column(
                  columns,
                  context.rex.makeCall(
                      org.apache.calcite.sql.fun.SqlStdOperatorTable.IS_TRUE, filter));
      calls.add(
          AggregateCall.create(
              function,
              call.distinct(),
              false,
              false,
              List.of(),
              arguments,
              filterColumn,
              null,
              RelCollations.of(collation),
              call.type(),
              null));
    }
    if (columns.isEmpty()) {
      columns.add(context.rex.makeLiteral(true));
    }
    if (keys.isEmpty() && calls.isEmpty()) {
      // Algebra's rows have columns.
      calls.add(
          AggregateCall.create(
              SqlStdOperatorTable.COUNT,
              false,
              false,
              false,
              List.of(),
              List.of(),
              -1,
              null,
              RelCollations.EMPTY,
              context.types.of(TypeOid.INT8, false),
              null));
    }
    List<String> names = new ArrayList<>();
    for (int i = 0; i < columns.size(); i++) {
      names.add("g" + i);
    }
    RelNode project =
        org.apache.calcite.rel.logical.LogicalProject.create(
            input, List.of(), columns, names, scope.correlations());
    ImmutableBitSet all = ImmutableBitSet.range(keys.size());
    List<RelNode> layers = new ArrayList<>();
    for (List<ImmutableBitSet> layer : layers()) {
      layers.add(LogicalAggregate.create(project, List.of(), all, layer, calls));
    }
    RelNode aggregate = layers.size() == 1 ? layers.getFirst() : LogicalUnion.create(layers, true);
    groupedType = aggregate.getRowType();
    return aggregate;
  }

  /// The grouping sets, each at most once per layer, in the order that Calcite wants.
  private List<List<ImmutableBitSet>> layers() {
    List<List<ImmutableBitSet>> layers = new ArrayList<>();
    List<ImmutableBitSet> wanted = new ArrayList<>();
    if (sets == null) {
      wanted.add(ImmutableBitSet.range(keys.size()));
    } else {
      for (Set<RexNode> set : sets) {
        wanted.add(ImmutableBitSet.of(set.stream().map(keys::indexOf).toList()));
      }
    }
    for (ImmutableBitSet set : wanted) {
      List<ImmutableBitSet> free =
          layers.stream().filter(layer -> !layer.contains(set)).findFirst().orElse(null);
      if (free == null) {
        free = new ArrayList<>();
        layers.add(free);
      }
      free.add(set);
    }
    for (List<ImmutableBitSet> layer : layers) {
      layer.sort(ImmutableBitSet.COMPARATOR);
    }
    return layers;
  }

  private static int column(List<RexNode> columns, RexNode expression) {
    int known = columns.indexOf(expression);
    if (known >= 0) {
      return known;
    }
    columns.add(expression);
    return columns.size() - 1;
  }

  /// The expression over the aggregation's output.
  RexNode rewrite(RexNode expression) {
    return expression.accept(new Rewrite());
  }

  private final class Rewrite extends RexShuttle {
    @Override
    public RexNode visitCall(org.apache.calcite.rex.RexCall call) {
      int key = keys.indexOf(call);
      return key >= 0 ? reference(key) : super.visitCall(call);
    }

    @Override
    public RexNode visitInputRef(RexInputRef reference) {
      return reference(keys.indexOf(reference));
    }

    @Override
    public RexNode visitLocalRef(RexLocalRef aggregate) {
      return reference(keys.size() + aggregate.getIndex());
    }

    @Override
    public RexNode visitSubQuery(RexSubQuery subQuery) {
      int key = keys.indexOf(subQuery);
      if (key >= 0) {
        return reference(key);
      }
      RexNode mapped = super.visitSubQuery(subQuery);
      if (!correlated || !(mapped instanceof RexSubQuery sub)) {
        return mapped;
      }
      return sub.clone(redirected(sub));
    }

    private RexNode reference(int index) {
      RelDataType type = Objects.requireNonNull(groupedType);
      return context.rex.makeInputRef(type.getFieldList().get(index).getType(), index);
    }
  }

  /// References of a subquery to the ungrouped row become references to the group's key, those to this query's aggregates references to
  /// what they are of the group.
  private final class Redirect extends RexShuttle {
    @Override
    public RexNode visitFieldAccess(RexFieldAccess access) {
      if (!(access.getReferenceExpr() instanceof RexCorrelVariable variable)
          || !scope.correlations().contains(variable.id)) {
        return access;
      }
      RelDataType type = Objects.requireNonNull(groupedType);
      int aggregate = NameResolver.outerAggregate(access, scope);
      if (aggregate >= 0) {
        return context.rex.makeFieldAccess(
            context.rex.makeCorrel(type, variable.id), keys.size() + aggregate);
      }
      int key =
          keys.indexOf(context.rex.makeInputRef(access.getType(), access.getField().getIndex()));
      if (key < 0) {
        throw context.error(
            ErrorCode.GROUPING_ERROR,
            "subquery uses ungrouped column \""
                + SelectBinder.columnName(scope, access.getField().getIndex())
                + "\" from outer query",
            new org.apache.calcite.sql.SqlIdentifier(
                "", org.apache.calcite.sql.parser.SqlParserPos.ZERO));
      }
      return context.rex.makeFieldAccess(context.rex.makeCorrel(type, variable.id), key);
    }

    @Override
    public RexNode visitSubQuery(RexSubQuery subQuery) {
      RexNode mapped = super.visitSubQuery(subQuery);
      return mapped instanceof RexSubQuery sub ? sub.clone(redirected(sub)) : mapped;
    }
  }

  private RelNode redirected(RexSubQuery subquery) {
    return BottomUp.rewrite(subquery.rel, each -> each.accept(new Redirect()));
  }
}
