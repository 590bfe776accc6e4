package dev.kakehashi.engine.sql.cost;

import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.plan.PlanNode.Bound;
import dev.kakehashi.engine.sql.algebra.ExprTranslator;
import dev.kakehashi.engine.sql.algebra.PgOperators;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.binder.RowIdentityColumn;
import dev.kakehashi.engine.sql.table.IndexConditions;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.rex.RexVisitorImpl;
import org.apache.calcite.sql.SqlKind;
import org.jspecify.annotations.Nullable;

/// Chooses how a table is read: all of it, or a range of an index.
///
/// An index is used when its first columns are bound by equality, or its first column by a range that few of the table's rows are expected
/// in; the pages are read several times as fast as rows in the order of an index. A range with two bounds is taken to be small where the
/// table is small, or the number of rows is not known. A range with a lone bound is not. A caller who wants the index's order gets it.
public final class AccessPath {
  /// Order that the rows are wanted in; positions in the table.
  ///
  /// @param nullsGreatest whether nulls come where they are in an index: behind all else, or before it when descending
  record WantedOrder(List<Integer> columns, boolean descending, boolean nullsGreatest) {}

  /// A comparison of a column with a value that is known before the scan; for IN with those of the conjunct.
  private record Term(int column, SqlKind kind, RexNode value, RexNode conjunct) {}

  private record Match(
      int index,
      List<Term> equals,
      @Nullable Term anyOf,
      @Nullable Term lower,
      @Nullable Term upper,
      boolean ordered,
      int score) {}

  private static final int SCORE_UNIQUE = 1000;
  private static final int SCORE_EQUAL = 10;
  private static final int SCORE_BOUND = 3;

  /// Several values for a column are worth less than one.
  private static final int SCORE_ANY = 4;

  /// For a range of which it does not matter how many rows it has: a lookup's, what a limit ends, or what is changed.
  private static final double UNKNOWN_ROWS = -1;

  /// A row that an index leads to costs as much as this many in a scan of the pages (`RangeBenchmark`, docs/measurements.md: 6 to 12 for
  /// narrow rows whose values are summed).
  private static final double INDEX_COST = 10;

  /// Number of rows below which all scans are short; a scan by an index conflicts with less in serializable transactions.
  private static final double SMALL_TABLE_ROWS = 10_000;

  private AccessPath() {}

  /// The scan of `columns` whose rows satisfy all the conjuncts, which are over those columns.
  public static PlanNode choose(
      Table table, int[] columns, List<RexNode> conjuncts, RexBuilder rex) {
    return choose(table, columns, conjuncts, rex, range -> UNKNOWN_ROWS);
  }

  /// The same, of a scan that may be large.
  ///
  /// @param rows of the table that satisfy some of the conjuncts, as expected
  public static PlanNode choose(
      Table table,
      int[] columns,
      List<RexNode> conjuncts,
      RexBuilder rex,
      ToDoubleFunction<List<RexNode>> rows) {
    PlanNode identified = identityScan(table, columns, conjuncts, rex);
    if (identified != null) {
      return identified;
    }
    Match best = null;
    List<Term> terms = terms(columns, conjuncts);
    for (int i = 0; i < table.indexes().size(); i++) {
      Match match = match(table, i, columns, conjuncts, terms, null);
      if (match != null
          && (best == null || match.score > best.score)
          && isWorthwhile(match, rows)) {
        best = match;
      }
    }
    return best == null
        ? tableScan(table, columns, conjuncts, rex)
        : indexScan(table, best, columns, conjuncts, false, rex, rows);
  }

  /// An index scan that gives the order, or null if no index does.
  ///
  /// @param rows of the table that satisfy some of the conjuncts, as expected; null: it does not matter
  static PlanNode.@Nullable IndexScan ordered(
      Table table,
      int[] columns,
      List<RexNode> conjuncts,
      WantedOrder order,
      RexBuilder rex,
      @Nullable ToDoubleFunction<List<RexNode>> rows) {
    List<Term> terms = terms(columns, conjuncts);
    Match best = null;
    for (int i = 0; i < table.indexes().size(); i++) {
      Match match = match(table, i, columns, conjuncts, terms, order);
      if (match != null && match.ordered && (best == null || match.score > best.score)) {
        best = match;
      }
    }
    if (best == null) {
      return null;
    }
    boolean reverse =
        order.descending != table.indexes().get(best.index).descending().get(best.equals.size());
    return indexScan(
        table, best, columns, conjuncts, reverse, rex, rows == null ? range -> UNKNOWN_ROWS : rows);
  }

  private static boolean isWorthwhile(Match match, ToDoubleFunction<List<RexNode>> rows) {
    if (!match.equals.isEmpty()) {
      return true;
    }
    double all = rows.applyAsDouble(List.of());
    if (all < SMALL_TABLE_ROWS) {
      return match.lower != null && match.upper != null;
    }
    Set<RexNode> range = new LinkedHashSet<>();
    if (match.lower != null) {
      range.add(match.lower.conjunct);
    }
    if (match.upper != null) {
      range.add(match.upper.conjunct);
    }
    return rows.applyAsDouble(List.copyOf(range)) * INDEX_COST <= all;
  }

  private static @Nullable Match match(
      Table table,
      int position,
      int[] columns,
      List<RexNode> conjuncts,
      List<Term> terms,
      @Nullable WantedOrder order) {
    Index index = table.indexes().get(position);
    if (!IndexConditions.isImplied(index, table, columns, conjuncts)) {
      return null;
    }
    List<Term> equals = new ArrayList<>();
    Term anyOf = null;
    while (equals.size() < index.columns().size()) {
      int column = index.columns().get(equals.size());
      Term term = find(terms, column, SqlKind.EQUALS);
      if (term == null && anyOf == null && order == null) {
        term = find(terms, column, SqlKind.IN);
        anyOf = term;
      }
      if (term == null) {
        break;
      }
      equals.add(term);
    }
    Term lower = null;
    Term upper = null;
    if (equals.size() < index.columns().size()) {
      int column = index.columns().get(equals.size());
      lower = find(terms, column, SqlKind.GREATER_THAN_OR_EQUAL, SqlKind.GREATER_THAN);
      upper = find(terms, column, SqlKind.LESS_THAN_OR_EQUAL, SqlKind.LESS_THAN);
    }
    boolean bounded = lower != null || upper != null;
    boolean ordered = order != null && matchesOrder(table, index, equals.size(), bounded, order);
    if (equals.isEmpty() && !bounded && !ordered) {
      return null;
    }
    int score =
        equals.size() * SCORE_EQUAL
            + (lower == null ? 0 : SCORE_BOUND)
            + (upper == null ? 0 : SCORE_BOUND)
            + (index.definition().unique() && equals.size() == index.columns().size()
                ? SCORE_UNIQUE
                : 0)
            - (anyOf == null ? 0 : SCORE_ANY);
    return new Match(position, equals, anyOf, lower, upper, ordered, score);
  }

  /// @param bounded whether the first column behind `skip` is compared with something: no null comes then, whose place in the order may be
  ///     another in the index
  private static boolean matchesOrder(
      Table table, Index index, int skip, boolean bounded, WantedOrder order) {
    if (skip + order.columns.size() > index.columns().size()) {
      return false;
    }
    boolean first = index.descending().get(skip);
    for (int i = 0; i < order.columns.size(); i++) {
      int column = index.columns().get(skip + i);
      if (column != order.columns.get(i)
          || index.descending().get(skip + i) != first
          || !(order.nullsGreatest
              || table.columns().get(column).notNull()
              || (i == 0 && bounded))) {
        return false;
      }
    }
    return true;
  }

  private static @Nullable Term find(List<Term> terms, int column, SqlKind... kinds) {
    for (SqlKind kind : kinds) {
      for (Term term : terms) {
        if (term.column == column && term.kind == kind) {
          return term;
        }
      }
    }
    return null;
  }

  private static List<Term> terms(int[] columns, List<RexNode> conjuncts) {
    List<Term> terms = new ArrayList<>();
    for (RexNode conjunct : conjuncts) {
      Term set = setTerm(columns, conjunct);
      if (set != null) {
        terms.add(set);
        continue;
      }
      if (!(conjunct instanceof RexCall call)
          || !SqlKind.COMPARISON.contains(call.getKind())
          || call.getKind() == SqlKind.NOT_EQUALS
          || call.getOperands().size() != 2) {
        continue;
      }
      RexNode left = call.getOperands().get(0);
      RexNode right = call.getOperands().get(1);
      if (column(left) != null && isFree(right) && sameKind(left, right)) {
        terms.add(new Term(columns[index(left)], call.getKind(), right, conjunct));
      } else if (column(right) != null && isFree(left) && sameKind(left, right)) {
        terms.add(new Term(columns[index(right)], call.getKind().reverse(), left, conjunct));
      }
    }
    return terms;
  }

  /// `column IN (values)` and `column = ANY (array)`; null for anything else.
  private static @Nullable Term setTerm(int[] columns, RexNode conjunct) {
    if (!(conjunct instanceof RexCall call) || !PgOperators.isSet(call)) {
      return null;
    }
    List<RexNode> operands = call.getOperands();
    RexNode column = operands.getFirst();
    boolean fits =
        column(column) != null
            && operands.stream().skip(1).allMatch(AccessPath::isFree)
            && (PgOperators.is(call, PgOperators.IN_ARRAY)
                || operands.stream().skip(1).allMatch(item -> sameKind(column, item)));
    return fits ? new Term(columns[index(column)], SqlKind.IN, column, conjunct) : null;
  }

  /// Value that a column of type text has to equal by one of the conjuncts, known before the scan; null: none.
  ///
  /// @param column of the table
  public static @Nullable RexNode equalText(int[] columns, List<RexNode> conjuncts, int column) {
    for (Term term : terms(columns, conjuncts)) {
      if (term.column == column
          && term.kind == SqlKind.EQUALS
          && PgType.oidOf(term.value) == TypeOid.TEXT) {
        return term.value;
      }
    }
    return null;
  }

  private static @Nullable RexInputRef column(RexNode node) {
    return node instanceof RexInputRef reference ? reference : null;
  }

  private static int index(RexNode node) {
    return ((RexInputRef) node).getIndex();
  }

  private static boolean sameKind(RexNode a, RexNode b) {
    ColumnKind kind = Types.kind(PgType.oidOf(a));
    return kind == Types.kind(PgType.oidOf(b));
  }

  /// Whether the value can be computed before the scan begins.
  private static boolean isFree(RexNode node) {
    boolean[] free = {RexUtil.isDeterministic(node)};
    node.accept(
        new RexVisitorImpl<@Nullable Void>(true) {
          @Override
          public @Nullable Void visitInputRef(RexInputRef reference) {
            free[0] = false;
            return null;
          }
        });
    return free[0];
  }

  /// The row with a certain identity; null if no conjunct says which.
  private static @Nullable PlanNode identityScan(
      Table table, int[] columns, List<RexNode> conjuncts, RexBuilder rex) {
    for (RexNode conjunct : conjuncts) {
      if (conjunct instanceof RexCall call && call.getKind() == SqlKind.EQUALS) {
        RexNode left = call.getOperands().get(0);
        RexNode right = call.getOperands().get(1);
        RexNode value =
            isIdentity(left, columns) ? right : isIdentity(right, columns) ? left : null;
        if (value != null && isInteger(value) && isFree(value)) {
          return new PlanNode.IdentityScan(
              table.tableId(),
              ExprTranslator.translate(value),
              columns,
              oids(table, columns),
              filter(conjuncts, Set.of(conjunct), rex));
        }
      }
    }
    return null;
  }

  /// Words of integers are the same in all widths.
  private static boolean isInteger(RexNode value) {
    int oid = PgType.oidOf(value);
    return oid == TypeOid.INT8 || oid == TypeOid.INT4 || oid == TypeOid.INT2;
  }

  private static boolean isIdentity(RexNode node, int[] columns) {
    int rowId = RowIdentityColumn.rowIdOf(node);
    return rowId >= 0 && columns[rowId] == PlanNode.ROW_ID;
  }

  private static PlanNode tableScan(
      Table table, int[] columns, List<RexNode> conjuncts, RexBuilder rex) {
    return new PlanNode.TableScan(
        table.tableId(), columns, oids(table, columns), filter(conjuncts, Set.of(), rex));
  }

  private static PlanNode.IndexScan indexScan(
      Table table,
      Match match,
      int[] columns,
      List<RexNode> conjuncts,
      boolean reverse,
      RexBuilder rex,
      ToDoubleFunction<List<RexNode>> rows) {
    Set<RexNode> used = new HashSet<>();
    List<Expr> equals = new ArrayList<>();
    for (Term term : match.equals) {
      used.add(term.conjunct);
      equals.add(
          term.kind == SqlKind.IN
              ? Expr.Constant.nullOf(table.columns().get(term.column).type().oid())
              : ExprTranslator.translate(term.value));
    }
    PlanNode.AnyOf anyOf =
        match.anyOf == null
            ? null
            : new PlanNode.AnyOf(
                match.equals.indexOf(match.anyOf), ExprTranslator.translate(match.anyOf.conjunct));
    Bound lower = bound(match.lower, used);
    Bound upper = bound(match.upper, used);
    return new PlanNode.IndexScan(
        table.tableId(),
        match.index,
        equals,
        anyOf,
        lower,
        upper,
        reverse,
        columns,
        oids(table, columns),
        filter(conjuncts, used, rex),
        rows.applyAsDouble(conjuncts.stream().filter(used::contains).toList()));
  }

  private static @Nullable Bound bound(@Nullable Term term, Set<RexNode> used) {
    if (term == null) {
      return null;
    }
    used.add(term.conjunct);
    boolean inclusive =
        term.kind == SqlKind.GREATER_THAN_OR_EQUAL || term.kind == SqlKind.LESS_THAN_OR_EQUAL;
    return new Bound(ExprTranslator.translate(term.value), inclusive);
  }

  private static @Nullable Expr filter(List<RexNode> conjuncts, Set<RexNode> used, RexBuilder rex) {
    List<RexNode> rest = conjuncts.stream().filter(c -> !used.contains(c)).toList();
    return rest.isEmpty() ? null : ExprTranslator.translate(RexUtil.composeConjunction(rex, rest));
  }

  private static int[] oids(Table table, int[] columns) {
    int[] oids = new int[columns.length];
    for (int i = 0; i < columns.length; i++) {
      oids[i] =
          columns[i] == PlanNode.ROW_ID
              ? TypeOid.INT8
              : table.columns().get(columns[i]).type().oid();
    }
    return oids;
  }
}
