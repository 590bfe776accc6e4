package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.DirectRead;
import dev.kakehashi.engine.embedded.plans.StatementPlan;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.SharedIndex;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Which statements a client can answer by itself that has the store's memory mapped: columns of the one row whose whole unique key equals
/// parameters. Stateless.
final class DirectReads {
  /// Less than [PlanNode#ROW_ID].
  private static final int FIRST_PARAMETER = -1000;

  private DirectReads() {}

  /// @return null: requests alone answer the plan
  static @Nullable DirectRead of(StatementPlan plan, Store store) {
    if (store.sharedMemory() < 0
        || !(plan.prepared() instanceof Prepared.Planned planned)
        || !(planned.plan() instanceof PhysicalPlan.Query query)
        || query.changesRows()) {
      return null;
    }
    int[] output = null;
    PlanNode source = query.source();
    if (source instanceof PlanNode.Project project) {
      output = columnsOnly(project.expressions());
      source = project.input();
      if (output == null) {
        return null;
      }
    }
    return switch (source) {
      case PlanNode.IndexScan scan
          when scan.filter() == null
              && scan.anyOf() == null
              && scan.lower() == null
              && scan.upper() == null ->
          of(
              plan.catalogVersion(),
              store.findTable(scan.tableId()),
              scan.index(),
              parameters(scan.equals()),
              chosen(scan.columns(), output));
      // A scan of few rows is quicker for the engine.
      case PlanNode.TableScan scan when scan.filter() != null ->
          ofScan(plan.catalogVersion(), scan, chosen(scan.columns(), output), store);
      default -> null;
    };
  }

  /// The result: columns of the table, and parameters as negative numbers, from [#FIRST_PARAMETER] down.
  ///
  /// @param output columns of the scan that are the result's, and parameters; null: all columns
  private static int[] chosen(int[] columns, int @Nullable [] output) {
    return output == null
        ? columns
        : Arrays.stream(output).map(i -> i <= FIRST_PARAMETER ? i : columns[i]).toArray();
  }

  /// Numbers of parameters; null: not all are parameters.
  private static int @Nullable [] parameters(List<Expr> values) {
    int[] numbers = new int[values.size()];
    for (int i = 0; i < numbers.length; i++) {
      if (!(values.get(i) instanceof Expr.Parameter parameter)) {
        return null;
      }
      numbers[i] = parameter.index();
    }
    return numbers;
  }

  private static @Nullable DirectRead ofScan(
      long definitions, PlanNode.TableScan scan, int[] result, Store store) {
    Map<Integer, Integer> equal = equalities(Objects.requireNonNull(scan.filter()), scan.columns());
    TableStore table = store.findTable(scan.tableId());
    if (equal == null || table == null) {
      return null;
    }
    List<TableDefinition.IndexDefinition> indexes = table.definition().indexes();
    for (int i = 0; i < indexes.size(); i++) {
      List<Integer> key = indexes.get(i).columns();
      if (key.size() == equal.size() && equal.keySet().containsAll(key)) {
        int[] parameters = key.stream().mapToInt(equal::get).toArray();
        DirectRead found = of(definitions, table, i, parameters, result);
        if (found != null) {
          return found;
        }
      }
    }
    return null;
  }

  /// Parameters by the table's columns that equal them; null: the condition says something else, too.
  private static @Nullable Map<Integer, Integer> equalities(Expr condition, int[] columns) {
    Map<Integer, Integer> equal = new HashMap<>();
    for (Expr term : condition instanceof Expr.And and ? and.terms() : List.of(condition)) {
      if (!(term instanceof Expr.Call call)
          || !call.function().name().equals("=")
          || call.arguments().size() != 2) {
        return null;
      }
      Expr left = call.arguments().get(0);
      Expr right = call.arguments().get(1);
      boolean isSwapped = left instanceof Expr.Parameter;
      if (!((isSwapped ? right : left) instanceof Expr.Column column)
          || !((isSwapped ? left : right) instanceof Expr.Parameter parameter)
          || !haveSameForm(column.typeOid(), parameter.typeOid())
          || columns[column.index()] == PlanNode.ROW_ID
          || equal.put(columns[column.index()], parameter.index()) != null) {
        return null;
      }
    }
    return equal;
  }

  private static boolean haveSameForm(int a, int b) {
    return a == b || (isInteger(a) && isInteger(b));
  }

  private static boolean isInteger(int oid) {
    return oid == TypeOid.INT2 || oid == TypeOid.INT4 || oid == TypeOid.INT8;
  }

  /// @return null: there are others than columns and parameters
  private static int @Nullable [] columnsOnly(List<Expr> expressions) {
    int[] columns = new int[expressions.size()];
    for (int i = 0; i < columns.length; i++) {
      if (expressions.get(i) instanceof Expr.Column column) {
        columns[i] = column.index();
      } else if (expressions.get(i) instanceof Expr.Parameter parameter
          && isInteger(parameter.typeOid())) {
        columns[i] = FIRST_PARAMETER - parameter.index();
      } else {
        return null;
      }
    }
    return columns;
  }

  /// @param table null: it has been dropped since the plan was made
  /// @param parameters by which the index's columns are; null: they are something else
  /// @param result the table's columns
  private static @Nullable DirectRead of(
      long definitions,
      @Nullable TableStore table,
      int position,
      int @Nullable [] parameters,
      int[] result) {
    // So may be the index.
    if (table == null || position >= table.definition().indexes().size()) {
      return null;
    }
    TableDefinition definition = table.definition();
    SharedIndex shared = table.shared(position);
    TableDefinition.IndexDefinition index = definition.indexes().get(position);
    if (parameters == null
        || shared == null
        || !index.unique()
        || !index.predicate().isEmpty()
        || index.columns().size() != parameters.length) {
      return null;
    }
    List<DirectRead.Key> keys = new ArrayList<>();
    for (int i = 0; i < parameters.length; i++) {
      int column = index.columns().get(i);
      DirectRead.Kind kind = keyKind(definition.columns().get(column));
      if (kind == null) {
        return null;
      }
      keys.add(
          new DirectRead.Key(
              parameters[i],
              shared.positions()[column],
              kind,
              !definition.notNull().get(column),
              index.descending().get(i),
              shared.dictionaryCells()[column]));
    }
    List<DirectRead.Column> columns = new ArrayList<>();
    for (int column : result) {
      if (column <= FIRST_PARAMETER) {
        columns.add(
            new DirectRead.Column(FIRST_PARAMETER - column, DirectRead.Kind.PARAMETER, false, 0));
        continue;
      }
      DirectRead.Kind kind =
          column == PlanNode.ROW_ID ? null : kind(definition.columns().get(column));
      if (kind == null) {
        return null;
      }
      columns.add(
          new DirectRead.Column(
              shared.positions()[column],
              kind,
              shared.missingNull()[column],
              shared.dictionaryCells()[column]));
    }
    return new DirectRead(
        definitions,
        shared.tableCell(),
        shared.tableGeneration(),
        shared.indexCell(),
        shared.indexGeneration(),
        shared.pageRows(),
        keys,
        columns);
  }

  /// Kinds of keys whose bytes the client makes as the index does.
  private static DirectRead.@Nullable Kind keyKind(ColumnKind kind) {
    return switch (kind) {
      case INTEGER -> DirectRead.Kind.WORD;
      case VARLENA -> DirectRead.Kind.VARLENA;
      case UUID -> DirectRead.Kind.FIXED16;
      default -> null;
    };
  }

  private static DirectRead.@Nullable Kind kind(ColumnKind kind) {
    return switch (kind) {
      case INTEGER -> DirectRead.Kind.WORD;
      case FLOAT4 -> DirectRead.Kind.FLOAT4;
      case FLOAT8 -> DirectRead.Kind.FLOAT8;
      case VARLENA, BPCHAR, NUMERIC -> DirectRead.Kind.VARLENA;
      case UUID, INTERVAL -> DirectRead.Kind.FIXED16;
      default -> null;
    };
  }
}
