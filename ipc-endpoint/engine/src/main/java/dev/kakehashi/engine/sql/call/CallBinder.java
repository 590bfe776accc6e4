package dev.kakehashi.engine.sql.call;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcedureSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.RouteSignature;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.DeployedApplication;
import dev.kakehashi.engine.catalog.DeployedApplication.OfProcedure;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.sql.algebra.ExprTranslator;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.binder.ExpressionBinder;
import dev.kakehashi.engine.sql.binder.QueryBinder;
import dev.kakehashi.engine.sql.binder.Scope;
import dev.kakehashi.engine.sql.spelling.CalciteParser;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.registry.Functions;
import dev.kakehashi.engine.type.registry.Overloads;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlNode;

/// Finds the procedure or route that CALL means, and its arguments.
public final class CallBinder {
  private static final int PARTS_OF_ROUTE = 3;

  private final BindContext context;
  private final ExpressionBinder expressions;

  public CallBinder(BindContext context) {
    this.context = context;
    this.expressions = new QueryBinder(context).expressions;
  }

  /// Procedure or route that is called.
  private record Target(
      DeployedApplication application, boolean route, int index, ProcedureSignature signature) {}

  /// @throws EngineException UNDEFINED_FUNCTION, AMBIGUOUS_FUNCTION, WRONG_OBJECT_TYPE, and what is wrong with the arguments
  public Prepared.Call bind(CallStatement statement) {
    Scope scope = new Scope(null, "CALL arguments");
    List<SqlNode> nodes = new ArrayList<>();
    List<RexNode> bound = new ArrayList<>();
    for (Source text : statement.arguments()) {
      SqlNode node = CalciteParser.parseExpression(text);
      nodes.add(node);
      bound.add(context.within(text, () -> argument(node, scope)));
    }
    Target target = target(statement, bound.stream().mapToInt(PgType::oidOf).toArray());
    List<Field> parameters = target.signature.parameters();
    List<RexNode> converted = new ArrayList<>();
    for (int i = 0; i < bound.size(); i++) {
      int number = i;
      converted.add(
          context.within(
              statement.arguments().get(i),
              () ->
                  expressions.calls.argument(
                      bound.get(number), parameters.get(number).typeOid(), nodes.get(number))));
    }
    return new Prepared.Call(
        target.application.definition(context.catalog.access().roles()),
        target.route,
        target.index,
        target.signature,
        ExprTranslator.translate(converted),
        context.parameterOids(),
        target.signature.result().stream()
            .map(field -> new Statement.Column(field.name(), field.typeOid(), -1))
            .toList(),
        context.zoneUsed,
        context.usedTables(),
        context.needs());
  }

  private RexNode argument(SqlNode node, Scope scope) {
    RexNode bound = expressions.bind(node, scope);
    if (RexUtil.SubQueryFinder.find(bound) != null) {
      throw context.error(
          ErrorCode.FEATURE_NOT_SUPPORTED, "cannot use subquery in CALL argument", node);
    }
    return bound;
  }

  private Target target(CallStatement statement, int[] oids) {
    List<String> name = statement.name();
    if (name.size() == PARTS_OF_ROUTE) {
      return route(statement, oids);
    }
    String member = name.getLast();
    String schema = name.size() == 1 ? CatalogSnapshot.DEFAULT_SCHEMA : name.getFirst();
    context.useSchema(name.size() == 1 ? null : schema, member, statement.position());
    OfProcedure found;
    try {
      found =
          Overloads.resolve(
              member,
              context.catalog.applications().procedures(schema, member),
              each -> oids(each.signature().parameters()),
              oids);
    } catch (EngineException ambiguous) {
      throw ambiguous.withPosition(statement.position());
    }
    if (found == null) {
      throw undefined(statement, schema, member, oids);
    }
    context.useMember(found.application().applicationId(), ObjectKind.PROCEDURE, member);
    return new Target(found.application(), false, found.index(), found.signature());
  }

  private static int[] oids(List<Field> fields) {
    return fields.stream().mapToInt(Field::typeOid).toArray();
  }

  private EngineException undefined(
      CallStatement statement, String schema, String member, int[] oids) {
    String call = described(String.join(".", statement.name()), oids);
    boolean function =
        Functions.all().stream().anyMatch(each -> each.name().equals(member))
            || !context.catalog.applications().functions(schema, member).isEmpty();
    return function && context.catalog.applications().procedures(schema, member).isEmpty()
        ? new EngineException(ErrorCode.WRONG_OBJECT_TYPE, call + " is not a procedure")
            .withHint("To call a function, use SELECT.")
            .withPosition(statement.position())
        : new EngineException(ErrorCode.UNDEFINED_FUNCTION, "procedure " + call + " does not exist")
            .withHint(
                "No procedure matches the given name and argument types. You might need to add explicit type casts.")
            .withPosition(statement.position());
  }

  private static String described(String name, int[] oids) {
    int[] known = oids.clone();
    for (int i = 0; i < known.length; i++) {
      known[i] = known[i] == 0 ? Types.UNKNOWN : known[i];
    }
    return Functions.describe(name, known);
  }

  private Target route(CallStatement statement, int[] oids) {
    List<String> name = statement.name();
    context.useSchema(name.getFirst(), name.get(1), statement.position());
    DeployedApplication application =
        context.catalog.applications().find(name.getFirst(), name.get(1));
    if (application != null) {
      List<RouteSignature> routes = application.contents().routes();
      for (int i = 0; i < routes.size(); i++) {
        RouteSignature route = routes.get(i);
        if (name.getLast().equals(route.method() + " " + route.path())
            && route.procedure().parameters().size() == oids.length) {
          context.useMember(application.applicationId(), ObjectKind.APPLICATION, name.getLast());
          return new Target(application, true, i, route.procedure());
        }
      }
    }
    throw new EngineException(
            ErrorCode.UNDEFINED_FUNCTION,
            "route " + described(String.join(".", name), oids) + " does not exist")
        .withPosition(statement.position());
  }
}
