package dev.kakehashi.engine.sql.table;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.CheckConstraint;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.expr.ExprRewriter;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.sql.algebra.CatalogTable;
import dev.kakehashi.engine.sql.algebra.ExprTranslator;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.binder.QueryBinder;
import dev.kakehashi.engine.sql.binder.Scope;
import dev.kakehashi.engine.sql.lexer.Lexer;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.spelling.CalciteParser;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.engine.sql.spelling.SpellingTranslator;
import dev.kakehashi.engine.sql.spelling.TranslatedText;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexVisitorImpl;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/// Expressions that belong to a table: defaults, CHECK constraints, conversions of a column that gets another type. Stateless and
/// thread-safe.
public final class TableExpressions {
  /// A bound expression.
  ///
  /// @param columns positions of the columns that it names, ascending
  public record Bound(Expr expression, List<Integer> columns) {}

  private TableExpressions() {}

  /// Binds a CHECK constraint's condition.
  ///
  /// @throws EngineException for whatever PostgreSQL would refuse
  public static Bound check(String text, Table table, CatalogSnapshot catalog) {
    return check(text, table, queries(catalog));
  }

  /// Binds the condition of a partial index.
  ///
  /// @throws EngineException for whatever PostgreSQL would refuse
  static Expr indexPredicate(String text, Table table, CatalogSnapshot catalog) {
    QueryBinder queries = queries(catalog);
    Expr condition =
        bind(
                text,
                table,
                "index predicates",
                queries,
                (node, scope) ->
                    queries.expressions.bindCondition(node, scope, "argument of WHERE"))
            .expression();
    if (!isImmutable(condition)) {
      throw new EngineException(
          ErrorCode.INVALID_OBJECT_DEFINITION,
          "functions in index predicate must be marked IMMUTABLE");
    }
    return condition;
  }

  /// Expression that an index is over.
  ///
  /// @param column position of the column, if the expression is one; -1: it is more
  public record Indexed(SqlType type, int column) {}

  /// Looks at an expression that an index is to be over.
  ///
  /// @throws EngineException for whatever PostgreSQL would refuse
  public static Indexed indexExpression(String text, Table table, CatalogSnapshot catalog) {
    RexNode bound = indexed(text, table, catalog);
    if (!isImmutable(ExprTranslator.translate(bound))) {
      throw new EngineException(
          ErrorCode.INVALID_OBJECT_DEFINITION,
          "functions in index expression must be marked IMMUTABLE");
    }
    return new Indexed(
        PgType.of(bound.getType()),
        bound instanceof RexInputRef reference ? reference.getIndex() : -1);
  }

  /// Expressions that a table has indexes over, by the positions of the hidden columns that have their values; over the columns of the
  /// table.
  public static Map<Integer, RexNode> indexed(CatalogTable of) {
    Table table = of.table();
    return of.indexed(column ->
        indexed(
            Objects.requireNonNull(table.columns().get(column).generation()), table, of.catalog()));
  }

  private static RexNode indexed(String text, Table table, CatalogSnapshot catalog) {
    QueryBinder queries = queries(catalog);
    return bound(text, table, "index expressions", queries, queries.expressions::bindTyped);
  }

  /// CHECK constraints in the order of their names, which is the order in which they are looked at.
  static List<PhysicalPlan.Check> checks(Table table, QueryBinder queries) {
    List<PhysicalPlan.Check> checks = new ArrayList<>();
    table.checks().stream()
        .sorted(Comparator.comparing(CheckConstraint::name))
        .forEach(check ->
            checks.add(
                new PhysicalPlan.Check(
                    check.name(), check(check.text(), table, queries).expression())));
    return checks;
  }

  private static Bound check(String text, Table table, QueryBinder queries) {
    return bind(
        text,
        table,
        "check constraints",
        queries,
        (node, scope) -> queries.expressions.bindCondition(node, scope, "argument of CHECK"));
  }

  /// Binds the expression of a generated column, as an assignment to it.
  ///
  /// @throws EngineException for whatever PostgreSQL would refuse
  public static Bound generation(Table table, int column, CatalogSnapshot catalog) {
    return generation(table, column, queries(catalog));
  }

  private static Bound generation(Table table, int column, QueryBinder queries) {
    Column generated = table.columns().get(column);
    Bound bound =
        bind(
            Objects.requireNonNull(generated.generation()),
            table,
            "column generation expressions",
            queries,
            (node, scope) ->
                new AssignmentBinder(queries)
                    .converted(queries.expressions.bind(node, scope), generated, node));
    List<Integer> others =
        bound.columns().stream()
            .filter(used -> table.columns().get(used).generation() != null)
            .toList();
    if (generated.hidden() && !others.isEmpty()) {
      bound = inlined(bound, others, table, queries);
    } else if (!others.isEmpty()) {
      throw new EngineException(
              ErrorCode.INVALID_OBJECT_DEFINITION,
              "cannot use generated column \"%s\" in column generation expression"
                  .formatted(table.columns().get(others.getFirst()).name()))
          .withDetail("A generated column cannot reference another generated column.");
    }
    if (!isImmutable(bound.expression())) {
      throw new EngineException(
          ErrorCode.INVALID_OBJECT_DEFINITION, "generation expression is not immutable");
    }
    return bound;
  }

  /// An expression in terms of columns that are not generated.
  ///
  /// @param others the generated columns that it names
  /// @return which names them still among its columns, beside those that they are computed from
  private static Bound inlined(
      Bound bound, List<Integer> others, Table table, QueryBinder queries) {
    Map<Integer, Expr> computed = new HashMap<>();
    TreeSet<Integer> columns = new TreeSet<>(bound.columns());
    for (int other : others) {
      Bound generation = generation(table, other, queries);
      computed.put(other, generation.expression());
      columns.addAll(generation.columns());
    }
    Expr expression =
        new ExprRewriter() {
          @Override
          public Expr column(Expr.Column column) {
            Expr value = computed.get(column.index());
            return value == null ? column : value;
          }
        }.rewrite(bound.expression());
    return new Bound(expression, List.copyOf(columns));
  }

  /// Whether an expression depends on nothing but its columns.
  public static boolean isImmutable(Expr expression) {
    boolean[] immutable = {true};
    var _ =
        new ExprRewriter() {
          @Override
          public Expr.Call call(Expr.Call call) {
            immutable[0] &= call.function().immutable();
            return call;
          }
        }.rewrite(expression);
    return immutable[0];
  }

  /// Generated columns of the table, in their order.
  static List<PhysicalPlan.Generated> generations(Table table, QueryBinder queries) {
    List<PhysicalPlan.Generated> generated = new ArrayList<>();
    for (int i = 0; i < table.columns().size(); i++) {
      if (table.columns().get(i).generation() != null) {
        generated.add(new PhysicalPlan.Generated(i, generation(table, i, queries).expression()));
      }
    }
    return generated;
  }

  /// Whether every generated column of the table can be computed.
  ///
  /// @throws EngineException for whatever PostgreSQL would refuse
  public static void checkGenerations(Table table, CatalogSnapshot catalog) {
    generations(table, queries(catalog));
  }

  /// A name as an identifier in SQL.
  public static String quoted(String name) {
    return TranslatedText.quoted(name);
  }

  /// The value of a new column in rows that are there already.
  public static Expr defaultValue(Table table, int column, CatalogSnapshot catalog) {
    Column added = table.columns().get(column);
    String text = added.defaultText();
    QueryBinder queries = queries(catalog);
    Column.Owned identity = added.identity();
    if (identity != null) {
      Sequence sequence = Objects.requireNonNull(catalog.sequence(identity.sequenceId()));
      RexNode value =
          queries.expressions.coercion.convert(
              queries.expressions.sequences.next(sequence), added.type(), CastContext.ASSIGNMENT);
      return ExprTranslator.translate(Objects.requireNonNull(value));
    }
    if (text == null) {
      return Expr.Constant.nullOf(added.type().oid());
    }
    Table noColumns =
        new Table(table.schema(), table.name(), table.tableId(), List.of(), List.of());
    return bind(
            text,
            noColumns,
            "DEFAULT expressions",
            queries,
            (node, scope) ->
                new AssignmentBinder(queries)
                    .assigned(queries.expressions.bind(node, scope), table, column, node))
        .expression();
  }

  /// Whether text may call nextval, currval or setval.
  public static boolean mayUseSequence(String text) {
    return text.toLowerCase(Locale.ROOT).contains("val");
  }

  /// Whether a column's default uses a sequence.
  public static boolean usesSequence(Column column, long sequenceId, CatalogSnapshot catalog) {
    return sequences(List.of(column), catalog).contains(sequenceId);
  }

  /// Numbers of the sequences that the defaults of columns use.
  public static Set<Long> sequences(List<Column> columns, CatalogSnapshot catalog) {
    Set<Long> found = new HashSet<>();
    for (Column column : columns) {
      String text = column.defaultText();
      if (text != null && mayUseSequence(text)) {
        QueryBinder queries = queries(catalog);
        Table noColumns = new Table("", "", 0, List.of(), List.of());
        bind(text, noColumns, "DEFAULT expressions", queries, queries.expressions::bind);
        found.addAll(queries.context.objects);
      }
    }
    return found;
  }

  /// The value of a column that gets another type.
  ///
  /// @param using expression over the table; null: the column itself, cast
  public static Expr conversion(
      Table table, int column, SqlType type, @Nullable String using, CatalogSnapshot catalog) {
    QueryBinder queries = queries(catalog);
    Column present = table.columns().get(column);
    String quoted = quoted(present.name());
    return bind(
            using == null ? quoted : using,
            table,
            "transform expressions",
            queries,
            (node, scope) -> {
              RexNode value = queries.expressions.bind(node, scope);
              RexNode converted =
                  queries.expressions.coercion.convert(value, type, CastContext.ASSIGNMENT);
              if (converted == null) {
                throw new EngineException(
                        ErrorCode.DATATYPE_MISMATCH,
                        using == null
                            ? "column \"%s\" cannot be cast automatically to type %s"
                                .formatted(present.name(), Types.name(type.oid()))
                            : "result of USING clause for column \"%s\" cannot be cast automatically to type %s"
                                .formatted(present.name(), Types.name(type.oid())))
                    .withHint(
                        using == null
                            ? "You might need to specify \"USING %s::%s\"."
                                .formatted(quoted, Types.format(type))
                            : "You might need to add an explicit cast.");
              }
              return converted;
            })
        .expression();
  }

  /// Text with another name for a column.
  public static String renamed(String text, String from, String to) {
    List<Token> tokens = Lexer.tokenize(text);
    StringBuilder result = new StringBuilder();
    int copied = 0;
    for (int i = 0; i < tokens.size(); i++) {
      Token token = tokens.get(i);
      Token next = tokens.get(Math.min(i + 1, tokens.size() - 1));
      boolean names =
          token.isIdentifier()
              && token.text().equals(from)
              && !next.isOperator("(")
              && !next.isOperator(".")
              && next.kind() != Token.Kind.STRING
              && !(i > 0 && tokens.get(i - 1).isOperator("::"));
      if (names) {
        result.append(text, copied, token.start()).append(quoted(to));
        copied = token.end();
      }
    }
    return result.append(text.substring(copied)).toString();
  }

  private static QueryBinder queries(CatalogSnapshot catalog) {
    return new QueryBinder(new BindContext(catalog, table -> 0, new int[0]));
  }

  private interface Binding {
    RexNode bind(SqlNode node, Scope scope);
  }

  private static Bound bind(
      String text, Table table, String clause, QueryBinder queries, Binding binding) {
    RexNode bound = bound(text, table, clause, queries, binding);
    TreeSet<Integer> columns = new TreeSet<>();
    bound.accept(
        new RexVisitorImpl<Void>(true) {
          @Override
          public Void visitInputRef(RexInputRef reference) {
            columns.add(reference.getIndex());
            return null;
          }
        });
    return new Bound(ExprTranslator.translate(bound), List.copyOf(columns));
  }

  private static RexNode bound(
      String text, Table table, String clause, QueryBinder queries, Binding binding) {
    BindContext context = queries.context;
    Source source = SpellingTranslator.translateExpression(text);
    return context.withinStored(
        source,
        () -> {
          Scope scope = new Scope(null, clause);
          AssignmentBinder assignments = new AssignmentBinder(queries);
          for (int i = 0; i < table.columns().size(); i++) {
            scope.fields.add(assignments.field(table, table.name(), i, i));
          }
          scope.rowType = context.catalogTable(table).getRowType();
          RexNode bound = binding.bind(CalciteParser.parseExpression(source), scope);
          if (AssignmentBinder.hasSubquery(bound)) {
            throw new EngineException(
                ErrorCode.FEATURE_NOT_SUPPORTED,
                "cannot use subquery in "
                    + (clause.startsWith("check")
                            || clause.startsWith("column generation")
                            || clause.startsWith("index")
                        ? clause.substring(0, clause.length() - 1)
                        : clause));
          }
          return bound;
        });
  }
}
