package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.sql.algebra.WorkTableRows;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.engine.sql.spelling.Traversal;
import dev.kakehashi.engine.sql.typing.BoundQuery;
import dev.kakehashi.engine.sql.typing.RelationUse;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/// Names that an expression may use: the columns of a FROM clause, and those of the enclosing queries.
public final class Scope {
  /// A column that can be named.
  ///
  /// @param alias of its FROM entry; null for a column merged by USING
  /// @param schema of its table when it has no alias of its own, else null
  /// @param expression over the scope's input
  /// @param merged hidden behind a merged column: only `alias.name` reaches it
  /// @param row the only column of a function's rows, which the alias names as well
  /// @param optional whether its row may be missing, behind an outer join
  /// @param system a column that is there besides those of the table, and is meant by its name only
  /// @param origin the column of a table or view that it is, or null
  public record Field(
      @Nullable String alias,
      @Nullable String schema,
      String name,
      RexNode expression,
      boolean merged,
      boolean row,
      boolean optional,
      boolean system,
      @Nullable Origin origin) {
    /// Notes that the statement reads it.
    void markRead() {
      if (origin != null) {
        origin.use().read(origin.column());
      }
    }

    /// Whether it is there for the expression of an index, and nothing names it.
    boolean hidden() {
      return name.startsWith("\0");
    }

    public Field(
        @Nullable String alias,
        @Nullable String schema,
        String name,
        RexNode expression,
        boolean merged) {
      this(alias, schema, name, expression, merged, false, false, false, null);
    }

    /// The same behind a name of its own, by which alone it is reached.
    Field named(String other) {
      return new Field(other, null, name, expression, true, false, optional, system, origin);
    }

    Field asRow() {
      return new Field(alias, schema, name, expression, merged, true, optional, system, origin);
    }

    Field with(RexNode other) {
      return new Field(alias, schema, name, other, merged, row, optional, system, origin);
    }

    Field withMerged(boolean hidden) {
      return new Field(alias, schema, name, expression, hidden, row, optional, system, origin);
    }

    Field asOptional() {
      return new Field(alias, schema, name, expression, merged, row, true, system, origin);
    }

    Field asSystem() {
      return new Field(alias, schema, name, expression, merged, row, optional, true, origin);
    }

    /// The same column of a table or view.
    public Field of(@Nullable Origin from) {
      return new Field(alias, schema, name, expression, merged, row, optional, system, from);
    }
  }

  /// A column of a table or view that a statement names.
  ///
  /// @param column its position; -1: what belongs to no column
  public record Origin(RelationUse use, int column) {}

  public final @Nullable Scope parent;
  public final List<Field> fields = new ArrayList<>();

  /// Row type of the scope's input; correlated subqueries refer to its fields.
  public @Nullable RelDataType rowType;

  /// Whether FROM names a recursive query whose recursive term this is.
  boolean recursive;

  /// How the subquery that is being bound names this scope; null until it refers to it.
  @Nullable CorrelationId correlation;

  private Set<CorrelationId> correlations = new LinkedHashSet<>();

  private Clause clause;

  /// A clause whose expressions are bound, and what collects that which is computed for more than a row of its input.
  ///
  /// @param name as messages have it, for example "aggregate functions are not allowed in WHERE"
  /// @param aggregation takes aggregates; null: they are not allowed
  /// @param windowing takes window functions; null: they are not allowed
  /// @param rowCalls takes functions that return rows; null: they are not allowed
  record Clause(
      String name,
      @Nullable Aggregation aggregation,
      @Nullable Windowing windowing,
      @Nullable RowCalls rowCalls) {
    /// One whose expressions are of one row each.
    static Clause ofRows(String name) {
      return new Clause(name, null, null, null);
    }
  }

  /// In RETURNING of MERGE what `merge_action()` is, else null.
  public @Nullable RexNode mergeAction;

  /// Named queries of WITH.
  public final List<CommonTable> commonTables = new ArrayList<>();

  /// Query or statement that WITH gives a name to.
  sealed interface CommonTable {
    String name();

    /// Names of its first columns.
    List<String> columns();
  }

  /// A query of WITH; bound anew wherever it is named, unless its rows are kept (see [dev.kakehashi.engine.sql.typing.CommonTables]).
  ///
  /// @param source text of the query
  /// @param kept its rows, or null
  record CommonQuery(
      String name,
      SqlNode query,
      Source source,
      List<String> columns,
      Scope scope,
      @Nullable Recursion recursion,
      @Nullable KeptRows kept)
      implements CommonTable {
    CommonQuery kept(KeptRows rows) {
      return new CommonQuery(name, query, source, columns, scope, recursion, rows);
    }
  }

  /// Rows of a query of WITH that are made once.
  ///
  /// @param number of their work table
  record KeptRows(BoundQuery query, int number) {
    /// The rows for one place that names them.
    BoundQuery read() {
      return new BoundQuery(new WorkTableRows(query.rel(), number), query.names());
    }
  }

  /// A statement of WITH that changes rows.
  ///
  /// @param returned what it returns, or null
  /// @param binding whether it is the statement that is being bound
  public record CommonChange(
      String name, List<String> columns, @Nullable BoundQuery returned, boolean binding)
      implements CommonTable {}

  /// State of a recursive query of WITH.
  static final class Recursion {
    /// SEARCH and CYCLE, or null.
    final @Nullable Traversal traversal;

    Recursion(@Nullable Traversal traversal) {
      this.traversal = traversal;
    }

    /// The rows before, while the recursive term is bound; null outside of it.
    @Nullable BoundQuery work;

    /// Whether the non-recursive term is being bound.
    boolean binding;

    /// Where the recursive term that is being bound names the query; 0: nowhere so far.
    int reference;
  }

  /// A base table of the FROM clause.
  ///
  /// @param lock how its rows are locked; their identifier follows its columns then
  record BaseTable(Table table, int firstField, RowLocks.@Nullable Lock lock) {
    BaseTable moved(int by) {
      return new BaseTable(table, firstField + by, lock);
    }
  }

  /// Tables of the FROM clause whose rows are to be locked, or null.
  @Nullable RowLocks locks;

  final List<BaseTable> baseTables = new ArrayList<>();

  public Scope(@Nullable Scope parent) {
    this(parent, "WHERE");
  }

  /// @param clause the first whose expressions are bound
  public Scope(@Nullable Scope parent, String clause) {
    this.parent = parent;
    this.clause = Clause.ofRows(clause);
  }

  /// A scope for a part of what is bound with another: what its subqueries refer to is noted there.
  public static Scope beside(Scope other, String clause) {
    Scope scope = new Scope(other.parent, clause);
    scope.correlations = other.correlations;
    return scope;
  }

  /// From now on expressions of this clause are bound, whose subqueries have names of their own for this scope.
  public void begin(String name) {
    clause = Clause.ofRows(name);
    correlations = new LinkedHashSet<>();
  }

  /// Binds something in a clause, whose subqueries' names for this scope are added to those that there are.
  <T> T within(Clause other, Supplier<T> binding) {
    Clause around = clause;
    clause = other;
    try {
      return binding.get();
    } finally {
      clause = around;
    }
  }

  /// The clause that is being bound.
  Clause clause() {
    return clause;
  }

  /// Names under which subqueries of the clause that is being bound refer to this scope.
  public Set<CorrelationId> correlations() {
    return correlations;
  }

  @Nullable CommonTable commonTable(String name) {
    for (Scope scope = this; scope != null; scope = scope.parent) {
      for (CommonTable table : scope.commonTables) {
        if (table.name().equals(name)) {
          return table;
        }
      }
    }
    return null;
  }

  boolean hasAlias(String alias) {
    return fields.stream().anyMatch(field -> alias.equals(field.alias()));
  }
}
