package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.HandlerSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcedureSignature;
import dev.kakehashi.engine.api.application.ApplicationDefinition.Jar;
import dev.kakehashi.engine.api.application.ApplicationDefinition.VersionDefinition;
import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.api.application.ApplicationSystem.JarContent;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.DeployedApplication;
import dev.kakehashi.engine.catalog.DeployedApplication.OfFunction;
import dev.kakehashi.engine.catalog.DeployedApplication.OfProcedure;
import dev.kakehashi.engine.catalog.DeployedApplication.Version;
import dev.kakehashi.engine.catalog.Permissions;
import dev.kakehashi.engine.catalog.Queue;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.rights.RoleSet;
import dev.kakehashi.engine.sql.lexer.Lexer;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.parser.ApplicationStatement;
import dev.kakehashi.engine.sql.parser.ApplicationStatement.Change;
import dev.kakehashi.engine.txn.TableLocks.Mode;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.registry.Aggregates;
import dev.kakehashi.engine.type.registry.Functions;
import dev.kakehashi.engine.type.registry.RowFunctions;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.value.PgTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Statements about applications: names, versions, jars, limits. The code has been looked at before. Whether somebody may is looked at
/// here, too.
final class ApplicationPlanner {
  /// Names of the engine's own functions, which applications cannot have.
  private static final Set<String> BUILT_IN =
      Stream.of(
              Functions.all().stream().map(each -> each.name()),
              Aggregates.all().stream().map(each -> each.name()),
              RowFunctions.all().stream().map(each -> each.name()))
          .flatMap(names -> names)
          .collect(Collectors.toUnmodifiableSet());

  private final DefinitionPlan plan;
  private final @Nullable Deployment deployment;

  /// @param deployment code that the statement brings; null: none
  ApplicationPlanner(DefinitionPlan plan, @Nullable Deployment deployment) {
    this.plan = plan;
    this.deployment = deployment;
  }

  // ---- before the code is looked at ----

  /// Whether somebody may bring the code of a statement: asked before anything is read.
  ///
  /// @throws EngineException INSUFFICIENT_PRIVILEGE, UNDEFINED_SCHEMA, UNDEFINED_OBJECT, DUPLICATE_OBJECT
  static void mayDeploy(
      ApplicationStatement.Deploying statement, CatalogSnapshot catalog, Definer definer) {
    String schema = DefinitionPlanner.schema(statement.name());
    if (!catalog.hasSchema(schema)) {
      throw DefinitionPlanner.noSchema(schema);
    }
    DefinitionPlanner.refuseSystem(schema);
    Permissions permissions = new Permissions(catalog, definer.role());
    permissions.requireOnSchema(schema, Privilege.CREATE);
    if (!permissions.has(RoleSet.DEPLOY)) {
      throw new EngineException(
              ErrorCode.INSUFFICIENT_PRIVILEGE, "permission denied to deploy applications")
          .withDetail("Superusers and members of role kakehashi_deploy may.");
    }
    DeployedApplication present = present(statement, catalog);
    if (statement instanceof ApplicationStatement.CreateApplication create) {
      if (present != null && !create.ifNotExists()) {
        throw exists(present.name());
      }
    } else if (present == null) {
      throw missing(statement.name());
    } else {
      permissions.requireOwner(present.rights(), "application", present.name());
    }
    // Wrong options are refused before anything is read, too.
    ApplicationOptions ignored =
        ApplicationOptionReader.with(ApplicationOptions.DEFAULT, statement.options(), true);
  }

  /// Whether the statement has nothing to do.
  static boolean isThere(ApplicationStatement.Deploying statement, CatalogSnapshot catalog) {
    return statement instanceof ApplicationStatement.CreateApplication
        && present(statement, catalog) != null;
  }

  static @Nullable DeployedApplication present(
      ApplicationStatement.Deploying statement, CatalogSnapshot catalog) {
    return catalog
        .applications()
        .find(DefinitionPlanner.schema(statement.name()), statement.name().name());
  }

  // ---- statements ----

  void plan(ApplicationStatement statement) {
    switch (statement) {
      case ApplicationStatement.CreateApplication create -> create(create);
      case ApplicationStatement.ReplaceApplication replace -> replace(replace);
      case ApplicationStatement.AlterApplication alter -> {
        DeployedApplication application = owned(alter.name(), alter.ifExists());
        if (application != null) {
          alter(application, alter.change());
        }
      }
      case ApplicationStatement.DropApplication drop -> drop(drop);
    }
  }

  private void create(ApplicationStatement.CreateApplication create) {
    mayDeploy(create, plan.state(), plan.definer());
    if (isThere(create, plan.state())) {
      return;
    }
    String schema = DefinitionPlanner.schema(create.name());
    ApplicationOptions options =
        ApplicationOptionReader.with(ApplicationOptions.DEFAULT, create.options(), true);
    long id = plan.newObjectId();
    Version version = newVersion(create, 1);
    DeployedApplication application =
        new DeployedApplication(
            id,
            schema,
            create.name().name(),
            1,
            List.of(version),
            options,
            null,
            plan.made(ObjectKind.APPLICATION, schema),
            Map.of());
    checkMembers(application);
    plan.change(CatalogSnapshot.put(application));
  }

  private void replace(ApplicationStatement.ReplaceApplication replace) {
    mayDeploy(replace, plan.state(), plan.definer());
    DeployedApplication present = present(replace, plan.state());
    if (present == null) {
      throw missing(replace.name());
    }
    int number = present.versions().getLast().definition().number() + 1;
    List<Version> versions = new ArrayList<>(present.versions());
    versions.add(newVersion(replace, number));
    while (versions.size() > DeployedApplication.KEPT_VERSIONS + 1) {
      versions.removeFirst();
    }
    ApplicationOptions options =
        ApplicationOptionReader.with(present.options(), replace.options(), true);
    become(present, present.withVersions(versions, number).withOptions(options));
  }

  /// Notes the jars of the code that has been looked at.
  private Version newVersion(ApplicationStatement.Deploying statement, int number) {
    Deployment code = deployment;
    if (code == null) {
      // It was there when the statement began, and is gone.
      throw missing(statement.name());
    }
    List<Jar> jars = new ArrayList<>();
    for (JarContent content : code.jars()) {
      Jar jar = Deployment.jar(content);
      jars.add(jar);
      if (plan.state().applications().jar(jar.sha256()) == null) {
        plan.change(CatalogSnapshot.putJar(jar.sha256(), content.bytes()));
      }
    }
    return new Version(
        new VersionDefinition(plan.newObjectId(), number, code.isolation(), jars, code.contents()),
        PgTime.fromInstant(Instant.now()));
  }

  /// The application gets another form; jars that no version needs any more go.
  private void become(DeployedApplication before, DeployedApplication after) {
    checkMembers(after);
    refuseUsed(before, after);
    Set<String> gone = new HashSet<>();
    before.contents().functions().forEach(each -> gone.add(each.name()));
    before.contents().procedures().forEach(each -> gone.add(each.name()));
    after.contents().functions().forEach(each -> gone.remove(each.name()));
    after.contents().procedures().forEach(each -> gone.remove(each.name()));
    DeployedApplication next = after;
    for (String name : gone) {
      next = next.withGranted(name, after.rights().effective(ObjectKind.APPLICATION));
    }
    plan.change(CatalogSnapshot.put(next));
    forgetJars(before);
  }

  private void forgetJars(DeployedApplication before) {
    Set<String> used = new HashSet<>();
    for (DeployedApplication each : plan.state().applications().all()) {
      addJars(each, used);
    }
    Set<String> candidates = new HashSet<>();
    addJars(before, candidates);
    candidates.removeAll(used);
    candidates.forEach(sha256 -> plan.change(CatalogSnapshot.removeJar(sha256)));
  }

  private static void addJars(DeployedApplication application, Set<String> into) {
    for (Version version : application.versions()) {
      version.definition().jars().forEach(jar -> into.add(jar.sha256()));
    }
  }

  // ---- what an application offers ----

  private void checkMembers(DeployedApplication application) {
    ApplicationContents contents = application.contents();
    String schema = application.schema();
    CatalogSnapshot state = plan.state();
    Set<String> signatures = new HashSet<>();
    for (FunctionSignature function : contents.functions()) {
      refuseBuiltIn(function.name());
      if (!signatures.add("f " + signature(function.name(), function.parameters()))) {
        throw twice("function", signature(function.name(), function.parameters()));
      }
      for (OfFunction other : state.applications().functions(schema, function.name())) {
        refuseOther(application, other.application(), "function", function.name());
      }
    }
    for (ProcedureSignature procedure : contents.procedures()) {
      refuseBuiltIn(procedure.name());
      if (!signatures.add("p " + signature(procedure.name(), procedure.parameters()))) {
        throw twice("procedure", signature(procedure.name(), procedure.parameters()));
      }
      for (OfProcedure other : state.applications().procedures(schema, procedure.name())) {
        refuseOther(application, other.application(), "procedure", procedure.name());
      }
    }
    for (HandlerSignature handler : contents.handlers()) {
      checkHandler(application, handler);
    }
  }

  private static String signature(String name, List<Field> parameters) {
    return name
        + parameters.stream()
            .map(each -> Types.name(each.typeOid()))
            .collect(Collectors.joining(", ", "(", ")"));
  }

  private static void refuseBuiltIn(String name) {
    if (BUILT_IN.contains(name)) {
      throw new EngineException(
          ErrorCode.DUPLICATE_OBJECT, "\"" + name + "\" is the name of a built-in function");
    }
  }

  private static EngineException twice(String noun, String signature) {
    return new EngineException(
        ErrorCode.DUPLICATE_OBJECT, "%s %s is defined twice".formatted(noun, signature));
  }

  private static void refuseOther(
      DeployedApplication own, DeployedApplication other, String noun, String name) {
    if (own.applicationId() != other.applicationId()) {
      throw new EngineException(
              ErrorCode.DUPLICATE_OBJECT,
              "%s \"%s\" already exists in schema \"%s\"".formatted(noun, name, own.schema()))
          .withDetail("It belongs to application " + other.name() + ".");
    }
  }

  /// Its owner takes tasks from the queue.
  private void checkHandler(DeployedApplication application, HandlerSignature handler) {
    TokenReader in = new TokenReader(handler.queue(), Lexer.tokenize(handler.queue()), 0);
    QualifiedName name = in.name();
    in.expectEnd();
    CatalogSnapshot state = plan.state();
    // A name without a schema is looked for in the application's, then in public.
    Queue own = name.schema() == null ? state.queue(application.schema(), name.name()) : null;
    Queue queue = own != null ? own : state.queue(DefinitionPlanner.schema(name), name.name());
    if (queue == null) {
      throw new EngineException(
          ErrorCode.UNDEFINED_OBJECT,
          "queue \"%s\" of a handler does not exist".formatted(handler.queue()));
    }
    if (!handler.group().isEmpty() && queue.group(handler.group()) == null) {
      throw new EngineException(
          ErrorCode.UNDEFINED_OBJECT,
          "subscription group \"%s\" of queue \"%s\" does not exist"
              .formatted(handler.group(), queue.name()));
    }
    Permissions owner = new Permissions(state, application.rights().owner());
    if (state.roles().isUsed()
        && (owner.on(ObjectKind.QUEUE, queue.rights()) & Privilege.UPDATE.bit()) == 0) {
      throw Permissions.denied("queue", queue.name());
    }
  }

  // ---- dependencies ----

  /// Refuses the change if a table calls a function that goes, or comes back with other types.
  private void refuseUsed(DeployedApplication before, @Nullable DeployedApplication after) {
    Set<String> changed = new HashSet<>();
    for (FunctionSignature function : before.contents().functions()) {
      boolean same =
          after != null
              && after.schema().equals(before.schema())
              && after.contents().functions().stream().anyMatch(each -> fits(each, function));
      if (!same) {
        changed.add(function.name());
      }
    }
    List<FunctionUses.Use> uses = FunctionUses.of(plan.state(), before.schema(), changed);
    if (uses.isEmpty()) {
      return;
    }
    FunctionUses.Use first = uses.getFirst();
    throw new EngineException(
            ErrorCode.DEPENDENT_OBJECTS_EXIST,
            "cannot %s application %s because other objects depend on it"
                .formatted(after == null ? "drop" : "alter", before.name()))
        .withDetail("%s depends on function %s".formatted(first.what(), first.function()))
        .withHint("Change or drop what depends on it first.");
  }

  /// Whether a function can stand for another one in a text that was bound to that.
  private static boolean fits(FunctionSignature next, FunctionSignature present) {
    return next.name().equals(present.name())
        && next.kind() == present.kind()
        && types(next.parameters()).equals(types(present.parameters()))
        && types(next.result()).equals(types(present.result()))
        && next.volatility().compareTo(present.volatility()) <= 0;
  }

  private static List<Integer> types(List<Field> fields) {
    return fields.stream().map(Field::typeOid).toList();
  }

  // ---- alter ----

  private void alter(DeployedApplication application, Change change) {
    switch (change) {
      case Change.SetLimits set ->
          put(
              application.withOptions(
                  ApplicationOptionReader.with(application.options(), set.options(), false)));
      case Change.ResetLimits reset ->
          put(
              application.withOptions(
                  ApplicationOptionReader.without(application.options(), reset.names())));
      case Change.RenameApplication rename -> {
        plan.permissions().requireOnSchema(application.schema(), Privilege.CREATE);
        refuseTaken(application.schema(), rename.to());
        put(application.named(application.schema(), rename.to()));
      }
      case Change.ToSchema move -> {
        plan.requireSchema(move.schema());
        plan.permissions().requireOnSchema(move.schema(), Privilege.CREATE);
        if (!move.schema().equals(application.schema())) {
          refuseTaken(move.schema(), application.name());
          become(application, application.named(move.schema(), application.name()));
        }
      }
      case Change.ToVersion to -> {
        if (application.version(to.number()) == null) {
          throw new EngineException(
                  ErrorCode.UNDEFINED_OBJECT,
                  "version %d of application \"%s\" does not exist"
                      .formatted(to.number(), application.name()))
              .withHint(
                  "There are "
                      + application.versions().stream()
                          .map(each -> Integer.toString(each.definition().number()))
                          .collect(Collectors.joining(", "))
                      + ".");
        }
        become(application, application.withVersions(application.versions(), to.number()));
      }
    }
  }

  private void put(DeployedApplication application) {
    plan.change(CatalogSnapshot.put(application));
  }

  private void refuseTaken(String schema, String name) {
    if (plan.state().applications().find(schema, name) != null) {
      throw exists(name);
    }
  }

  // ---- names ----

  static EngineException exists(String name) {
    return new EngineException(
        ErrorCode.DUPLICATE_OBJECT, "application \"" + name + "\" already exists");
  }

  static EngineException missing(QualifiedName name) {
    return new EngineException(
            ErrorCode.UNDEFINED_OBJECT, "application \"" + name.name() + "\" does not exist")
        .withPosition(name.position());
  }

  /// The application of a name; null: it does not exist, and need not.
  static @Nullable DeployedApplication find(
      DefinitionPlan plan, QualifiedName name, boolean ifExists) {
    String schema = DefinitionPlanner.schema(name);
    if (name.schema() != null && plan.state().hasSchema(schema)) {
      plan.permissions().requireOnSchema(schema, Privilege.USAGE);
    }
    DeployedApplication found = plan.state().applications().find(schema, name.name());
    if (found == null && !ifExists) {
      throw missing(name);
    }
    return found;
  }

  private @Nullable DeployedApplication owned(QualifiedName name, boolean ifExists) {
    DeployedApplication found = find(plan, name, ifExists);
    if (found != null) {
      plan.permissions().requireOwner(found.rights(), "application", found.name());
    }
    return found;
  }

  // ---- drop ----

  private void drop(ApplicationStatement.DropApplication drop) {
    List<DeployedApplication> gone = new ArrayList<>();
    for (QualifiedName name : drop.names()) {
      DeployedApplication found = find(plan, name, drop.ifExists());
      if (found != null && !gone.contains(found)) {
        if (!plan.permissions().owns(plan.state().access().schema(found.schema()))) {
          plan.permissions().requireOwner(found.rights(), "application", found.name());
        }
        gone.add(found);
      }
    }
    gone.forEach(this::drop);
  }

  /// The application goes, with all its versions.
  ///
  /// @throws EngineException DEPENDENT_OBJECTS_EXIST
  void drop(DeployedApplication application) {
    refuseUsed(application, null);
    plan.lock(application.applicationId(), Mode.EXCLUSIVE);
    plan.change(CatalogSnapshot.remove(application));
    forgetJars(application);
  }

  List<DeployedApplication> inSchema(String schema) {
    return plan.state().applications().all().stream()
        .filter(each -> each.schema().equals(schema))
        .toList();
  }
}
