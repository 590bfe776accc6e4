package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.LiveTables;
import dev.kakehashi.engine.catalog.ShownSetting;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.exec.run.PlanRunner;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanEstimates;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.time.Zone;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import java.util.function.ToLongFunction;
import org.apache.calcite.avatica.util.Casing;
import org.apache.calcite.avatica.util.Quoting;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParseException;
import org.apache.calcite.sql.parser.SqlParser;
import org.apache.calcite.sql.parser.babel.SqlBabelParserImpl;
import org.apache.calcite.sql.validate.SqlConformanceEnum;
import org.jspecify.annotations.Nullable;

/// From text to physical plan. Stateless and thread-safe.
public final class SqlFront {
  private static final int MAX_IDENTIFIER = 1024;
  private static final String SYNTAX_ERROR = "syntax error";

  private static final SqlParser.Config PARSER =
      SqlParser.config()
          .withParserFactory(SqlBabelParserImpl.FACTORY)
          .withQuoting(Quoting.DOUBLE_QUOTE)
          .withUnquotedCasing(Casing.TO_LOWER)
          .withQuotedCasing(Casing.UNCHANGED)
          .withCaseSensitive(true)
          .withConformance(SqlConformanceEnum.BABEL)
          .withIdentifierMaxLength(MAX_IDENTIFIER);

  private SqlFront() {}

  /// A statement that can be executed.
  public sealed interface Prepared
      permits Planned,
          Measured,
          Definition,
          TransactionControl,
          SessionSetting,
          SetConstraints,
          Analyze {
    Statement.Kind kind();

    default int[] parameterOids() {
      return new int[0];
    }

    default List<Statement.Column> columns() {
      return List.of();
    }
  }

  /// A statement with a plan.
  ///
  /// @param reusable whether the plan may be executed again while the catalogue is the same
  /// @param zoned whether the plan is of the time zone that it was made with
  /// @param tables numbers of the tables that it uses, each once
  public record Planned(
      Statement.Kind kind,
      PhysicalPlan plan,
      int[] parameterOids,
      List<Statement.Column> columns,
      boolean reusable,
      boolean zoned,
      PlanEstimates estimates,
      long[] tables)
      implements Prepared {
    /// Whether an execution locks or changes rows.
    public boolean changesRows() {
      return plan.changesRows();
    }
  }

  /// EXPLAIN ANALYZE of a statement.
  public record Measured(
      Planned statement, PlanRunner.Report report, List<Statement.Column> columns)
      implements Prepared {
    @Override
    public Statement.Kind kind() {
      return statement.kind();
    }

    @Override
    public int[] parameterOids() {
      return statement.parameterOids();
    }
  }

  /// DDL.
  public record Definition(DdlStatement statement) implements Prepared {
    @Override
    public Statement.Kind kind() {
      return Statement.Kind.DDL;
    }
  }

  /// Parses, resolves and plans one statement.
  ///
  /// @param parameterOids given types of parameters, 0 to infer; may be shorter than their number
  /// @param rowCount estimated rows of a table
  /// @param zone of the session: literals of timestamptz without a zone are in it
  /// @throws EngineException for whatever PostgreSQL would refuse, with the position
  public static Prepared prepare(
      String sql,
      int[] parameterOids,
      CatalogSnapshot catalog,
      ToLongFunction<Table> rowCount,
      Zone zone) {
    List<Token> tokens = Lexer.tokenize(sql);
    if (tokens.size() == 1) {
      throw new EngineException(ErrorCode.SYNTAX_ERROR, "statement is empty");
    }
    TransactionControl control = TransactionControl.parse(sql, tokens);
    if (control != null) {
      return control;
    }
    SetConstraints constraints = SetConstraints.parse(sql, tokens);
    if (constraints != null) {
      return constraints;
    }
    List<ShownSetting> settings = rowCount instanceof LiveTables live ? live.settings() : List.of();
    Planned shown = Show.plan(sql, tokens, settings, zone);
    if (shown != null) {
      return shown;
    }
    SessionSetting setting = SessionSetting.parse(sql, tokens, settings);
    if (setting != null) {
      return setting;
    }
    Analyze analyze = Analyze.parse(sql, tokens);
    if (analyze != null) {
      return analyze;
    }
    if (DdlParser.accepts(tokens)) {
      return new Definition(DdlParser.parse(sql, tokens));
    }
    DdlStatement into = SelectInto.parse(sql, tokens);
    if (into != null) {
      return new Definition(into);
    }
    UnknownCommand.refuse(tokens);
    Explain explain = Explain.parse(sql, tokens);
    int from = explain == null ? 0 : explain.from();
    long began = System.nanoTime();
    try {
      ParsedStatement parsed = StatementParser.parse(sql, tokens, from);
      BindContext context = new BindContext(catalog, rowCount, parameterOids, zone);
      context.namesIdentities = RowIdentity.isIn(sql);
      Planned planned = new StatementPlanner(context).plan(parsed);
      return explain == null
          ? planned
          : explained(planned, explain, catalog, System.nanoTime() - began);
    } catch (EngineException refused) {
      throw SYNTAX_ERROR.equals(refused.getMessage()) ? nearToken(sql, tokens, refused) : refused;
    }
  }

  private static Prepared explained(
      Planned planned, Explain options, CatalogSnapshot catalog, long planningNanos) {
    ExplainedNode root = new PlanPrinter(catalog).explain(planned.plan());
    PlanEstimates estimates = planned.estimates();
    List<Statement.Column> columns =
        List.of(new Statement.Column("QUERY PLAN", ExplainOutput.typeOid(options), -1));
    if (options.analyze()) {
      return new Measured(
          planned,
          (profile, rows, nanos) ->
              new ExplainOutput(options, estimates, planningNanos, profile, rows, nanos).rows(root),
          columns);
    }
    PlanNode rows = new ExplainOutput(options, estimates, planningNanos, null, 0, 0).rows(root);
    return new Planned(
        Statement.Kind.QUERY,
        new PhysicalPlan.Query(rows),
        planned.parameterOids(),
        columns,
        false,
        false,
        new PlanEstimates(),
        new long[0]);
  }

  /// Checks the default of a column.
  ///
  /// @throws EngineException for an expression that is wrong or names columns
  public static void checkDefault(String text, SqlType type, CatalogSnapshot catalog) {
    Source source = Rewriter.rewriteExpression(text);
    BindContext context = new BindContext(catalog, table -> 0, new int[0]);
    context.source = source;
    Scope scope = new Scope(null);
    scope.clause = "DEFAULT expressions";
    ExpressionBinder expressions = new QueryBinder(context).expressions;
    RexNode bound = defaultExpression(expressions, parseExpression(source), scope);
    if (expressions.coercion.convert(bound, type, CastContext.ASSIGNMENT) == null) {
      throw new EngineException(
          ErrorCode.DATATYPE_MISMATCH,
          "default expression is of type "
              + Types.name(Coercion.oidOf(bound))
              + " but the column is of type "
              + Types.name(type.oid()));
    }
  }

  private static RexNode defaultExpression(
      ExpressionBinder expressions, SqlNode node, Scope scope) {
    RexNode bound;
    try {
      bound = expressions.bind(node, scope);
    } catch (EngineException refused) {
      throw refused.code() == ErrorCode.UNDEFINED_COLUMN
          ? inDefault("column reference", refused)
          : refused;
    }
    if (RexUtil.SubQueryFinder.find(bound) != null) {
      throw inDefault("subquery", null);
    }
    return bound;
  }

  private static EngineException inDefault(String what, @Nullable EngineException cause) {
    return new EngineException(
        ErrorCode.FEATURE_NOT_SUPPORTED, "cannot use " + what + " in DEFAULT expression", cause);
  }

  static SqlNode parse(Source source) {
    try {
      return SqlParser.create(new StatementReader(source.text()), PARSER).parseStmt();
    } catch (SqlParseException refused) {
      throw syntaxError(source, refused);
    }
  }

  static SqlNode parseExpression(Source source) {
    try {
      return SqlParser.create(new StatementReader(source.text()), PARSER).parseExpression();
    } catch (SqlParseException refused) {
      throw syntaxError(source, refused);
    }
  }

  private static EngineException syntaxError(Source source, SqlParseException refused) {
    // The parser takes whatever ends its reading for a mistake in the text.
    Interrupts.check();
    if (refused.getCause() instanceof StackOverflowError tooDeep) {
      throw tooDeep;
    }
    // The parser names all tokens that its lookahead took: the last one is where it gave up.
    boolean atEnd = String.valueOf(refused.getMessage()).contains("<EOF>\" at line");
    int position =
        atEnd || refused.getPos() == null
            ? source.end() + 1
            : source.position(refused.getPos().getColumnNum());
    return new EngineException(ErrorCode.SYNTAX_ERROR, SYNTAX_ERROR).withPosition(position);
  }

  /// Names the token that the parser stopped at, as PostgreSQL does.
  private static EngineException nearToken(String sql, List<Token> tokens, EngineException syntax) {
    for (Token token : tokens) {
      if (token.start() + 1 >= syntax.position()) {
        return TokenReader.syntaxErrorAt(sql, token);
      }
    }
    return TokenReader.syntaxErrorAt(sql, tokens.getLast());
  }
}
