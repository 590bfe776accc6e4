package dev.kakehashi.engine.embedded.activity;

import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcedureSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.RouteSignature;
import dev.kakehashi.engine.api.application.ApplicationDefinition.Jar;
import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.api.application.ApplicationSystem;
import dev.kakehashi.engine.catalog.ApplicationTables;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.DeployedApplication;
import dev.kakehashi.engine.catalog.Permissions;
import dev.kakehashi.engine.rights.Role;
import dev.kakehashi.engine.type.Types;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Rows of the system tables about native applications. Everybody sees what there is, as functions of PostgreSQL; what applications have
/// done their owners see, and superusers.
public final class ApplicationTableRows {
  private static final long EPOCH_MILLIS = 946_684_800_000L;
  private static final long MICROS = 1_000;
  private static final double NANOS_PER_MILLI = 1e6;

  private final CatalogSnapshot catalog;
  private final @Nullable ApplicationSystem system;
  private final Permissions permissions;
  private final long role;
  private final List<@Nullable Object[]> rows = new ArrayList<>();

  private ApplicationTableRows(
      CatalogSnapshot catalog, @Nullable ApplicationSystem system, long role) {
    this.catalog = catalog;
    this.system = system;
    this.permissions = new Permissions(catalog, role);
    this.role = role;
  }

  /// @param tableId of [ApplicationTables]
  /// @param system null: none runs here
  public static List<@Nullable Object[]> of(
      int tableId, CatalogSnapshot catalog, @Nullable ApplicationSystem system, long role) {
    ApplicationTableRows all = new ApplicationTableRows(catalog, system, role);
    switch (tableId) {
      case ApplicationTables.APPLICATIONS -> all.each(all::addApplication);
      case ApplicationTables.APPLICATION_VERSIONS -> all.each(all::addVersions);
      case ApplicationTables.FUNCTIONS -> all.each(all::addFunctions);
      case ApplicationTables.FUNCTION_PARAMETERS -> all.each(all::addParameters);
      case ApplicationTables.APPLICATION_ROUTES -> all.each(all::addRoutes);
      case ApplicationTables.APPLICATION_CALLS -> all.addCalls();
      case ApplicationTables.APPLICATION_ERRORS -> all.addErrors();
      default -> all.addLog();
    }
    return all.rows;
  }

  private void each(java.util.function.Consumer<DeployedApplication> add) {
    catalog.applications().all().forEach(add);
  }

  private static long micros(long wallMillis) {
    return (wallMillis - EPOCH_MILLIS) * MICROS;
  }

  // ---- what there is ----

  private void addApplication(DeployedApplication application) {
    Role owner = catalog.roles().role(application.rights().owner());
    DeployedApplication.Version version = application.version();
    ApplicationContents contents = application.contents();
    ApplicationOptions options = application.options();
    rows.add(
        new @Nullable Object[] {
          application.schema(),
          application.name(),
          owner == null ? null : owner.name(),
          (long) application.current(),
          isolation(version),
          version.deployedMicros(),
          (long) application.versions().size(),
          (long) contents.functions().size(),
          (long) contents.procedures().size(),
          (long) contents.routes().size(),
          (long) contents.handlers().size(),
          (long) contents.processes().size(),
          Duration.ofMillis(options.timeLimitMillis()),
          options.maxRows(),
          options.maxBytes(),
          (long) options.maxCalls(),
          (long) options.maxWaiting(),
          options.maxStackBytes(),
          options.memoryBytes(),
          Duration.ofMillis(options.functionTimeMillis()),
          application.comment()
        });
  }

  private static String isolation(DeployedApplication.Version version) {
    return word(version.definition().isolation());
  }

  private static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private void addVersions(DeployedApplication application) {
    for (DeployedApplication.Version version : application.versions()) {
      for (Jar jar : version.definition().jars()) {
        rows.add(
            new @Nullable Object[] {
              application.schema(),
              application.name(),
              (long) version.definition().number(),
              version.definition().number() == application.current(),
              isolation(version),
              version.deployedMicros(),
              jar.name(),
              jar.sha256(),
              jar.bytes()
            });
      }
    }
  }

  /// Takes a member, and its number among those of its name.
  private interface Members {
    void function(FunctionSignature function, long number);

    void procedure(ProcedureSignature procedure, long number);
  }

  private static void members(DeployedApplication application, Members members) {
    Map<String, Long> numbers = new HashMap<>();
    for (FunctionSignature function : application.contents().functions()) {
      members.function(function, numbers.merge(function.name(), 1L, Long::sum));
    }
    for (ProcedureSignature procedure : application.contents().procedures()) {
      members.procedure(procedure, numbers.merge(procedure.name(), 1L, Long::sum));
    }
  }

  private void addFunctions(DeployedApplication application) {
    Map<String, String> disabled = system == null ? Map.of() : system.disabled();
    members(
        application,
        new Members() {
          @Override
          public void function(FunctionSignature function, long number) {
            rows.add(
                new @Nullable Object[] {
                  application.schema(),
                  function.name(),
                  number,
                  application.name(),
                  word(function.kind()),
                  word(function.volatility()),
                  function.strict(),
                  function.cost(),
                  function.rows(),
                  null,
                  null,
                  disabled.get(application.schema() + "." + function.name())
                });
          }

          @Override
          public void procedure(ProcedureSignature procedure, long number) {
            long limit = procedure.timeLimitMillis();
            rows.add(
                new @Nullable Object[] {
                  application.schema(),
                  procedure.name(),
                  number,
                  application.name(),
                  "procedure",
                  null,
                  null,
                  null,
                  null,
                  word(procedure.transaction()),
                  limit == 0 ? null : Duration.ofMillis(limit),
                  null
                });
          }
        });
  }

  private void addParameters(DeployedApplication application) {
    String schema = application.schema();
    members(
        application,
        new Members() {
          @Override
          public void function(FunctionSignature function, long number) {
            addFields(schema, function.name(), number, "in", function.parameters());
            addFields(schema, function.name(), number, "out", function.result());
          }

          @Override
          public void procedure(ProcedureSignature procedure, long number) {
            addFields(schema, procedure.name(), number, "in", procedure.parameters());
            addFields(schema, procedure.name(), number, "out", procedure.result());
          }
        });
  }

  private void addFields(String schema, String name, long number, String mode, List<Field> fields) {
    for (int i = 0; i < fields.size(); i++) {
      Field field = fields.get(i);
      rows.add(
          new @Nullable Object[] {
            schema,
            name,
            number,
            mode,
            i + 1L,
            field.name().isEmpty() ? null : field.name(),
            Integer.toUnsignedLong(field.typeOid()),
            Types.format(Types.of(field.typeOid())),
            field.nullable()
          });
    }
  }

  private void addRoutes(DeployedApplication application) {
    for (RouteSignature route : application.contents().routes()) {
      rows.add(
          new @Nullable Object[] {
            application.schema(),
            application.name(),
            route.method(),
            route.path(),
            word(route.procedure().transaction())
          });
    }
  }

  // ---- what they have done ----

  /// Names of the applications whose doings the viewer may see; null: all.
  private @Nullable Set<String> seen() {
    if (permissions.isSuperuser()) {
      return null;
    }
    Set<String> names = new HashSet<>();
    for (DeployedApplication application : catalog.applications().all()) {
      if (application.rights().owner() == role) {
        names.add(application.name());
        names.add(application.schema() + "." + application.name());
      }
    }
    return names;
  }

  private void addCalls() {
    Set<String> seen = seen();
    for (ApplicationSystem.CallState call :
        system == null ? List.<ApplicationSystem.CallState>of() : system.calls()) {
      if (seen == null || seen.contains(call.application())) {
        rows.add(
            new @Nullable Object[] {
              call.application(),
              (long) call.version(),
              call.member(),
              (long) call.running(),
              call.calls(),
              call.failures(),
              call.nanos() / NANOS_PER_MILLI
            });
      }
    }
  }

  private void addErrors() {
    if (system == null) {
      return;
    }
    Set<String> seen = seen();
    for (ApplicationSystem.ApplicationFailure failure : system.failures()) {
      if (seen == null || seen.contains(failure.application())) {
        rows.add(
            new @Nullable Object[] {
              micros(failure.wallMillis()),
              failure.application(),
              (long) failure.version(),
              failure.member(),
              failure.call(),
              failure.sqlstate(),
              failure.message(),
              failure.stack()
            });
      }
    }
  }

  private void addLog() {
    if (system == null) {
      return;
    }
    Set<String> seen = seen();
    for (ApplicationSystem.LogLine line : system.log()) {
      if (seen == null || seen.contains(line.application())) {
        rows.add(
            new @Nullable Object[] {
              micros(line.wallMillis()),
              line.application(),
              (long) line.version(),
              line.call(),
              line.line()
            });
      }
    }
  }
}
