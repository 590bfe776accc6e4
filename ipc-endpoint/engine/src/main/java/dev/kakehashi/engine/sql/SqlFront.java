package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.bulk.BulkAccess;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.LiveTables;
import dev.kakehashi.engine.catalog.ShownSetting;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.plan.LoadPlan;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanEstimates;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.binder.ExpressionBinder;
import dev.kakehashi.engine.sql.binder.QueryBinder;
import dev.kakehashi.engine.sql.binder.RowIdentityColumn;
import dev.kakehashi.engine.sql.binder.Scope;
import dev.kakehashi.engine.sql.call.CallBinder;
import dev.kakehashi.engine.sql.call.CallStatement;
import dev.kakehashi.engine.sql.dml.LoadBinder;
import dev.kakehashi.engine.sql.explain.ExplainOutput;
import dev.kakehashi.engine.sql.explain.ExplainedNode;
import dev.kakehashi.engine.sql.explain.PlanPrinter;
import dev.kakehashi.engine.sql.lexer.Lexer;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.parser.CopyParser;
import dev.kakehashi.engine.sql.parser.CopyStatement;
import dev.kakehashi.engine.sql.parser.DdlParser;
import dev.kakehashi.engine.sql.parser.DdlStatement;
import dev.kakehashi.engine.sql.parser.Explain;
import dev.kakehashi.engine.sql.parser.ParsedStatement;
import dev.kakehashi.engine.sql.parser.SelectInto;
import dev.kakehashi.engine.sql.parser.StatementParser;
import dev.kakehashi.engine.sql.parser.UnknownCommand;
import dev.kakehashi.engine.sql.spelling.CalciteParser;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.engine.sql.spelling.SpellingTranslator;
import dev.kakehashi.engine.sql.statement.AlterSystem;
import dev.kakehashi.engine.sql.statement.Analyze;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.sql.statement.RoleSetting;
import dev.kakehashi.engine.sql.statement.SessionSetting;
import dev.kakehashi.engine.sql.statement.SetConstraints;
import dev.kakehashi.engine.sql.statement.Show;
import dev.kakehashi.engine.sql.statement.TransactionControl;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.valuetext.time.Zone;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/// From text to physical plan. Stateless and thread-safe.
public final class SqlFront {
  private SqlFront() {}

  /// Parses, resolves and plans one statement.
  ///
  /// @param parameterOids given types of parameters, 0 to infer; may be shorter than their number
  /// @param rowCount estimated rows of a table
  /// @param zone of the session: literals of timestamptz without a zone are in it
  /// @param asRole who is told what is wrong with the statement, as far as the role may look into its schemas; what the plan itself needs
  ///     is not looked at
  /// @throws EngineException for whatever PostgreSQL would refuse, with the position
  public static Prepared prepare(
      String sql,
      int[] parameterOids,
      CatalogSnapshot catalog,
      ToLongFunction<Table> rowCount,
      Zone zone,
      long asRole) {
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
    Prepared.Planned shown = Show.plan(sql, tokens, settings, zone);
    if (shown != null) {
      return shown;
    }
    RoleSetting role = RoleSetting.parse(sql, tokens);
    if (role != null) {
      return role;
    }
    SessionSetting setting = SessionSetting.parse(sql, tokens, settings);
    if (setting != null) {
      return setting;
    }
    Analyze analyze = Analyze.parse(sql, tokens);
    if (analyze != null) {
      return analyze;
    }
    AlterSystem system = AlterSystem.parse(sql, tokens);
    if (system != null) {
      return system;
    }
    if (DdlParser.accepts(tokens)) {
      return new Prepared.Definition(DdlParser.parse(sql, tokens));
    }
    DdlStatement into = SelectInto.parse(sql, tokens);
    if (into != null) {
      return new Prepared.Definition(into);
    }
    CopyStatement copy = CopyParser.parse(sql, tokens);
    if (copy != null) {
      return copy(sql, tokens, copy, parameterOids, catalog, rowCount, zone, asRole);
    }
    CallStatement call = CallStatement.parse(sql, tokens);
    if (call != null) {
      return call(call, new BindContext(catalog, rowCount, parameterOids, zone), asRole);
    }
    UnknownCommand.refuse(tokens);
    Explain explain = Explain.parse(sql, tokens);
    int from = explain == null ? 0 : explain.from();
    long began = System.nanoTime();
    BindContext context = new BindContext(catalog, rowCount, parameterOids, zone);
    Prepared.Planned planned =
        planned(sql, tokens, context, () -> StatementParser.parse(sql, tokens, from), asRole);
    return explain == null
        ? planned
        : explained(planned, explain, catalog, System.nanoTime() - began);
  }

  private static Prepared.Planned planned(
      String sql,
      List<Token> tokens,
      BindContext context,
      Supplier<ParsedStatement> statement,
      long asRole) {
    try {
      ParsedStatement parsed = statement.get();
      context.namesIdentities = RowIdentityColumn.isIn(sql);
      return new StatementPlanner(context).plan(parsed);
    } catch (EngineException refused) {
      context.needs().checkSchemas(context.catalog, asRole);
      throw CalciteParser.SYNTAX_ERROR.equals(refused.getMessage())
          ? nearToken(sql, tokens, refused)
          : refused;
    } finally {
      context.applications.close();
    }
  }

  private static Prepared.Call call(CallStatement call, BindContext context, long asRole) {
    try {
      return new CallBinder(context).bind(call);
    } catch (EngineException refused) {
      context.needs().checkSchemas(context.catalog, asRole);
      throw refused;
    } finally {
      context.applications.close();
    }
  }

  private static Prepared copy(
      String sql,
      List<Token> tokens,
      CopyStatement copy,
      int[] parameterOids,
      CatalogSnapshot catalog,
      ToLongFunction<Table> rowCount,
      Zone zone,
      long asRole) {
    BulkAccess files = rowCount instanceof LiveTables live ? live.bulkAccess() : BulkAccess.NONE;
    CopyToPlanner planner =
        new CopyToPlanner(
            catalog,
            files,
            text -> prepare(text, parameterOids, catalog, rowCount, zone, asRole),
            query ->
                planned(
                    sql,
                    tokens,
                    new BindContext(catalog, rowCount, parameterOids, zone),
                    () -> query,
                    asRole));
    return switch (copy) {
      case CopyStatement.TableTo to -> planner.plan(to);
      case CopyStatement.QueryTo to -> planner.plan(to);
      case CopyStatement.From from ->
          load(from, files, new BindContext(catalog, rowCount, parameterOids, zone), asRole);
    };
  }

  private static Prepared.Load load(
      CopyStatement.From copy, BulkAccess files, BindContext context, long asRole) {
    try {
      LoadPlan plan = new LoadBinder(new QueryBinder(context)).bind(copy);
      return new Prepared.Load(
          plan,
          files.load(copy.request()),
          Prepared.Load.COLUMNS,
          context.zoneUsed,
          context.usedTables(),
          context.needs());
    } catch (EngineException refused) {
      context.needs().checkSchemas(context.catalog, asRole);
      throw refused;
    } finally {
      context.applications.close();
    }
  }

  private static Prepared explained(
      Prepared.Planned planned, Explain options, CatalogSnapshot catalog, long planningNanos) {
    ExplainedNode root = new PlanPrinter(catalog).explain(planned.plan());
    PlanEstimates estimates = planned.estimates();
    List<Statement.Column> columns =
        List.of(new Statement.Column("QUERY PLAN", ExplainOutput.typeOid(options), -1));
    if (options.analyze()) {
      return new Prepared.Measured(
          planned,
          (profile, rows, nanos) ->
              new ExplainOutput(options, estimates, planningNanos, profile, rows, nanos).rows(root),
          columns);
    }
    PlanNode rows = new ExplainOutput(options, estimates, planningNanos, null, 0, 0).rows(root);
    return new Prepared.Planned(
        Statement.Kind.QUERY,
        new PhysicalPlan.Query(rows),
        planned.parameterOids(),
        columns,
        false,
        false,
        new PlanEstimates(),
        new long[0],
        planned.needs());
  }

  /// Checks the default of a column.
  ///
  /// @throws EngineException for an expression that is wrong or names columns
  public static void checkDefault(String text, SqlType type, CatalogSnapshot catalog) {
    Source source = SpellingTranslator.translateExpression(text);
    BindContext context = new BindContext(catalog, table -> 0, new int[0]);
    context.source = source;
    Scope scope = new Scope(null, "DEFAULT expressions");
    ExpressionBinder expressions = new QueryBinder(context).expressions;
    RexNode bound = defaultExpression(expressions, CalciteParser.parseExpression(source), scope);
    if (expressions.coercion.convert(bound, type, CastContext.ASSIGNMENT) == null) {
      throw new EngineException(
          ErrorCode.DATATYPE_MISMATCH,
          "default expression is of type "
              + Types.name(PgType.oidOf(bound))
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
