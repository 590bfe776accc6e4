package dev.kakehashi.engine.sql.typing;

import dev.kakehashi.engine.api.application.ApplicationContents.FunctionKind;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.DeployedApplication;
import dev.kakehashi.engine.catalog.DeployedApplication.OfFunction;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.type.AggregateFunction;
import dev.kakehashi.engine.type.RowFunction;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.application.ApplicationAggregate;
import dev.kakehashi.engine.type.application.ApplicationRowSource;
import dev.kakehashi.engine.type.application.ApplicationScalar;
import dev.kakehashi.engine.type.registry.Overloads;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/// Finds functions and procedures of native applications by name and argument types, where PostgreSQL's own are not meant. A name without
/// schema is one of the default schema.
public final class ApplicationCalls {
  private final BindContext context;

  public ApplicationCalls(BindContext context) {
    this.context = context;
  }

  /// The scalar function that a call means; null: none.
  ///
  /// @throws EngineException AMBIGUOUS_FUNCTION
  public @Nullable ScalarFunction scalar(SqlNode at, String name, int[] oids) {
    OfFunction found = function(at, name, FunctionKind.SCALAR, oids);
    return found == null
        ? null
        : new ApplicationScalar(
                found.application().definition(context.catalog.access().roles()),
                found.index(),
                shown(found.application(), name))
            .function();
  }

  /// The table function that a call means; null: none.
  ///
  /// @throws EngineException AMBIGUOUS_FUNCTION
  public @Nullable RowFunction rows(SqlNode at, String name, int[] oids) {
    OfFunction found = function(at, name, FunctionKind.TABLE, oids);
    return found == null
        ? null
        : new ApplicationRowSource(
                found.application().definition(context.catalog.access().roles()),
                found.index(),
                shown(found.application(), name))
            .function();
  }

  /// The aggregate that a call means; null: none.
  ///
  /// @throws EngineException AMBIGUOUS_FUNCTION
  public @Nullable AggregateFunction aggregate(SqlNode at, String name, int[] oids) {
    OfFunction found = function(at, name, FunctionKind.AGGREGATE, oids);
    return found == null
        ? null
        : new ApplicationAggregate(
                found.application().definition(context.catalog.access().roles()),
                found.index(),
                shown(found.application(), name))
            .function();
  }

  /// Whether a call has the name of an aggregate.
  public boolean isAggregate(SqlNode at, String name) {
    return candidates(at, name).stream()
        .anyMatch(each -> each.signature().kind() == FunctionKind.AGGREGATE);
  }

  /// Whether there is a procedure of the name of a call.
  public boolean isProcedure(SqlNode at, String name) {
    return !context.catalog.applications().procedures(orDefault(schema(at)), name).isEmpty();
  }

  private @Nullable OfFunction function(SqlNode at, String name, FunctionKind kind, int[] oids) {
    List<OfFunction> candidates =
        candidates(at, name).stream().filter(each -> each.signature().kind() == kind).toList();
    if (candidates.isEmpty()) {
      return null;
    }
    OfFunction found =
        resolve(
            at,
            () ->
                Overloads.resolve(
                    name,
                    candidates,
                    each ->
                        each.signature().parameters().stream()
                            .mapToInt(parameter -> parameter.typeOid())
                            .toArray(),
                    oids));
    if (found != null && found.signature().parameters().size() > ScalarFunction.MAX_ARGUMENTS) {
      throw context.error(
          ErrorCode.LIMIT_EXCEEDED,
          "cannot pass more than " + ScalarFunction.MAX_ARGUMENTS + " arguments to a function",
          at);
    }
    if (found != null) {
      context.useSchema(schema(at), name, context.position(at));
      context.useMember(found.application().applicationId(), ObjectKind.FUNCTION, name);
    }
    return found;
  }

  private List<OfFunction> candidates(SqlNode at, String name) {
    return context.catalog.applications().isEmpty()
        ? List.of()
        : context.catalog.applications().functions(orDefault(schema(at)), name);
  }

  private <T> @Nullable T resolve(SqlNode at, java.util.function.Supplier<@Nullable T> resolution) {
    try {
      return resolution.get();
    } catch (EngineException ambiguous) {
      throw ambiguous.withPosition(context.position(at));
    }
  }

  private static String orDefault(@Nullable String schema) {
    return schema == null ? CatalogSnapshot.DEFAULT_SCHEMA : schema;
  }

  /// The schema that a call names; null: none.
  private static @Nullable String schema(SqlNode at) {
    if (!(at instanceof SqlCall call)) {
      return null;
    }
    if (call.getKind() == SqlKind.FILTER
        || call.getKind() == SqlKind.WITHIN_GROUP
        || call.getKind() == SqlKind.OVER
        || call.getKind() == SqlKind.IGNORE_NULLS
        || call.getKind() == SqlKind.RESPECT_NULLS
        || call.getKind() == SqlKind.COLLECTION_TABLE) {
      return schema(call.operand(0));
    }
    SqlIdentifier name = call.getOperator().getNameAsId();
    return name.names.size() < 2 ? null : name.names.get(name.names.size() - 2);
  }

  /// As displays name it: with its schema unless names are looked for there.
  private static String shown(DeployedApplication application, String name) {
    return application.schema().equals(CatalogSnapshot.DEFAULT_SCHEMA)
        ? name
        : application.schema() + "." + name;
  }
}
