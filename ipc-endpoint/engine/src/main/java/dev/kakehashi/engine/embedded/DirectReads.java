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
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Which statements a client can answer by itself that has the store's memory mapped: columns of the one row whose whole unique key equals
/// parameters, or of the rows in a range of an index. How long a range is the client finds out. Stateless.
final class DirectReads {
  private DirectReads() {}

  /// @return null: requests alone answer the plan
  static @Nullable DirectRead of(StatementPlan plan, Store store) {
    if (store.sharedMemory() < 0
        || !(plan.prepared() instanceof Prepared.Planned planned)
        || !(planned.plan() instanceof PhysicalPlan.Query query)
        || query.changesRows()) {
      return null;
    }
    DirectShape shape = DirectShape.of(query.source());
    if (shape == null) {
      return null;
    }
    long definitions = plan.catalogVersion();
    return switch (shape.scan()) {
      case PlanNode.IndexScan scan when scan.filter() == null && scan.anyOf() == null ->
          ofIndex(new Wanted(definitions, shape, scan.columns()), scan, store);
      // A scan of few rows is quicker for the engine.
      case PlanNode.TableScan scan when scan.filter() != null ->
          ofScan(new Wanted(definitions, shape, scan.columns()), scan, store);
      default -> null;
    };
  }

  /// @param columns of the table, which the scan has
  private record Wanted(long definitions, DirectShape shape, int[] columns) {}

  /// One condition over a column of a key.
  private record Condition(DirectRead.Use use, int parameter) {
    static final Condition NONE = new Condition(DirectRead.Use.UNBOUND, 0);
  }

  private static @Nullable Condition condition(DirectRead.Use use, Expr value) {
    return value instanceof Expr.Parameter parameter ? new Condition(use, parameter.index()) : null;
  }

  private static DirectRead.Use lower(boolean inclusive) {
    return inclusive ? DirectRead.Use.LOWER : DirectRead.Use.LOWER_EXCLUSIVE;
  }

  private static DirectRead.Use upper(boolean inclusive) {
    return inclusive ? DirectRead.Use.UPPER : DirectRead.Use.UPPER_EXCLUSIVE;
  }

  private static @Nullable DirectRead ofIndex(Wanted wanted, PlanNode.IndexScan scan, Store store) {
    List<@Nullable Condition> conditions = new ArrayList<>();
    scan.equals().forEach(value -> conditions.add(condition(DirectRead.Use.EQUAL, value)));
    PlanNode.Bound lower = scan.lower();
    PlanNode.Bound upper = scan.upper();
    if (lower != null) {
      conditions.add(condition(lower(lower.inclusive()), lower.value()));
    }
    if (upper != null) {
      conditions.add(condition(upper(upper.inclusive()), upper.value()));
    }
    return of(
        wanted,
        store.findTable(scan.tableId()),
        scan.index(),
        conditions,
        scan.reverse() ? DirectRead.Order.REVERSE : DirectRead.Order.FORWARD);
  }

  private static @Nullable DirectRead ofScan(Wanted wanted, PlanNode.TableScan scan, Store store) {
    Map<Integer, List<Condition>> asked =
        conditions(Objects.requireNonNull(scan.filter()), scan.columns());
    TableStore table = store.findTable(scan.tableId());
    if (asked == null || table == null) {
      return null;
    }
    DirectRead range = null;
    List<TableDefinition.IndexDefinition> indexes = table.definition().indexes();
    for (int i = 0; i < indexes.size(); i++) {
      List<Condition> conditions = ofKey(indexes.get(i).columns(), asked);
      DirectRead found =
          conditions == null ? null : of(wanted, table, i, conditions, DirectRead.Order.FORWARD);
      if (found != null && found.order() == null) {
        return found;
      }
      range = range == null ? found : range;
    }
    return range;
  }

  /// The conditions in the order of a key; null: not all are of columns that it begins with, or there is one behind a bound.
  private static @Nullable List<Condition> ofKey(
      List<Integer> key, Map<Integer, List<Condition>> asked) {
    List<Condition> conditions = new ArrayList<>();
    int columns = 0;
    boolean isBound = false;
    for (int column : key) {
      List<Condition> of = asked.get(column);
      if (of == null || isBound) {
        break;
      }
      isBound = of.getFirst().use() != DirectRead.Use.EQUAL;
      conditions.addAll(of);
      columns++;
    }
    return columns == asked.size() ? conditions : null;
  }

  /// By the table's columns: what they equal, or their bounds, the lower one first. Null: the condition says something else, too.
  private static @Nullable Map<Integer, List<Condition>> conditions(Expr condition, int[] columns) {
    Map<Integer, List<Condition>> asked = new HashMap<>();
    for (Expr term : condition instanceof Expr.And and ? and.terms() : List.of(condition)) {
      if (!(term instanceof Expr.Call call) || call.arguments().size() != 2) {
        return null;
      }
      Expr left = call.arguments().get(0);
      Expr right = call.arguments().get(1);
      boolean isSwapped = left instanceof Expr.Parameter;
      DirectRead.Use use = use(call.function().name(), isSwapped);
      if (use == null
          || !((isSwapped ? right : left) instanceof Expr.Column column)
          || !((isSwapped ? left : right) instanceof Expr.Parameter parameter)
          || !haveSameForm(column.typeOid(), parameter.typeOid())
          || columns[column.index()] == PlanNode.ROW_ID) {
        return null;
      }
      List<Condition> of = asked.computeIfAbsent(columns[column.index()], _ -> new ArrayList<>());
      of.add(new Condition(use, parameter.index()));
    }
    for (List<Condition> of : asked.values()) {
      of.sort(Comparator.comparing(Condition::use));
      if (!isOneRange(of)) {
        return null;
      }
    }
    return asked;
  }

  private static DirectRead.@Nullable Use use(String operator, boolean isSwapped) {
    return switch (operator) {
      case "=" -> DirectRead.Use.EQUAL;
      case ">", ">=" -> isSwapped ? upper(operator.length() > 1) : lower(operator.length() > 1);
      case "<", "<=" -> isSwapped ? lower(operator.length() > 1) : upper(operator.length() > 1);
      default -> null;
    };
  }

  /// Whether there is one condition, or one bound on each side.
  private static boolean isOneRange(List<Condition> sorted) {
    return sorted.size() == 1
        || (sorted.size() == 2
            && isLower(sorted.getFirst().use())
            && isUpper(sorted.getLast().use()));
  }

  private static boolean isLower(DirectRead.Use use) {
    return use == DirectRead.Use.LOWER || use == DirectRead.Use.LOWER_EXCLUSIVE;
  }

  private static boolean isUpper(DirectRead.Use use) {
    return use == DirectRead.Use.UPPER || use == DirectRead.Use.UPPER_EXCLUSIVE;
  }

  private static boolean haveSameForm(int a, int b) {
    return a == b || (DirectShape.isInteger(a) && DirectShape.isInteger(b));
  }

  /// @param table null: it has been dropped since the plan was made
  /// @param conditions of the columns that the index begins with; null: one is no parameter
  /// @param order of the rows, if there may be several and no other is wanted
  private static @Nullable DirectRead of(
      Wanted wanted,
      @Nullable TableStore table,
      int position,
      List<@Nullable Condition> conditions,
      DirectRead.Order order) {
    // So may be the index.
    if (table == null || position >= table.definition().indexes().size()) {
      return null;
    }
    TableDefinition definition = table.definition();
    SharedIndex shared = table.shared(position);
    TableDefinition.IndexDefinition index = definition.indexes().get(position);
    if (conditions.isEmpty() || shared == null || !index.predicate().isEmpty()) {
      return null;
    }
    List<DirectRead.Key> keys = keys(definition, index, shared, conditions);
    if (keys == null) {
      return null;
    }
    boolean isRow =
        index.unique() && keys.stream().allMatch(key -> key.use() == DirectRead.Use.EQUAL);
    int equal =
        (int) conditions.stream().filter(c -> c != null && c.use() == DirectRead.Use.EQUAL).count();
    boolean isBound = equal < conditions.size();
    DirectRead.Order rows =
        isRow ? null : wanted.shape.order(definition, index, wanted.columns, equal, isBound, order);
    if (!isRow && rows == null) {
      return null;
    }
    List<DirectRead.Column> columns = new ArrayList<>();
    for (int column : wanted.shape.result(wanted.columns)) {
      if (column <= DirectShape.FIRST_PARAMETER) {
        columns.add(
            new DirectRead.Column(
                DirectShape.FIRST_PARAMETER - column, DirectRead.Kind.PARAMETER, false, 0));
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
        wanted.definitions,
        shared.tableCell(),
        shared.tableGeneration(),
        shared.indexCell(),
        shared.indexGeneration(),
        shared.pageRows(),
        rows,
        keys,
        columns);
  }

  /// Null: a condition is no parameter, or bytes of the key are not known to the client, which has to tell a row's entries apart.
  private static @Nullable List<DirectRead.Key> keys(
      TableDefinition definition,
      TableDefinition.IndexDefinition index,
      SharedIndex shared,
      List<@Nullable Condition> conditions) {
    List<DirectRead.Key> keys = new ArrayList<>();
    int next = 0;
    for (int i = 0; i < index.columns().size(); i++) {
      int column = index.columns().get(i);
      DirectRead.Kind kind = keyKind(definition.columns().get(column));
      boolean isBound;
      do {
        Condition condition = next < conditions.size() ? conditions.get(next++) : Condition.NONE;
        if (condition == null || kind == null) {
          return null;
        }
        keys.add(
            new DirectRead.Key(
                condition.use(),
                condition.parameter(),
                shared.positions()[column],
                kind,
                !definition.notNull().get(column),
                index.descending().get(i),
                shared.dictionaryCells()[column]));
        isBound = isLower(condition.use()) && next < conditions.size();
      } while (isBound);
    }
    return keys;
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
