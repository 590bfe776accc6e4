package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.application.ApplicationContents.FunctionSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcedureSignature;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Access;
import dev.kakehashi.engine.catalog.ApplicationSet;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.DeployedApplication;
import dev.kakehashi.engine.catalog.DeployedApplication.OfFunction;
import dev.kakehashi.engine.catalog.DeployedApplication.OfProcedure;
import dev.kakehashi.engine.catalog.Permissions;
import dev.kakehashi.engine.catalog.Queue;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.View;
import dev.kakehashi.engine.rights.Acl;
import dev.kakehashi.engine.rights.AclItem;
import dev.kakehashi.engine.rights.Granting;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.parser.RightsStatement;
import dev.kakehashi.engine.sql.parser.RightsStatement.Granted;
import dev.kakehashi.engine.sql.parser.RightsStatement.RoleName;
import dev.kakehashi.engine.sql.parser.RightsStatement.Word;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;

/// GRANT and REVOKE of privileges, with the rules of PostgreSQL's `aclchk.c`. Where PostgreSQL warns that not all or no privileges were
/// granted, nothing is said.
final class GrantPlanner {
  /// PostgreSQL's column of this name, on which nothing was granted.
  private static final Column EVERY_TABLES =
      new Column("tableoid", SqlType.of(TypeOid.INT4), false, null);

  private final DefinitionPlan plan;

  GrantPlanner(DefinitionPlan plan) {
    this.plan = plan;
  }

  /// Privileges that a statement grants or takes away, with numbers for the roles.
  ///
  /// @param privileges of the objects as a whole
  /// @param columns privileges of columns by their names
  private record Wanted(
      Granted said, List<Long> grantees, int privileges, Map<String, Integer> columns) {}

  void grant(RightsStatement.Grant grant) {
    Granted said = grant.granted();
    RoleName by = said.by();
    if (by != null && plan.role(by).id() != plan.definer().role()) {
      throw new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, "grantor must be current user");
    }
    List<Long> grantees = grantees(said, plan);
    Map<String, Integer> columns = new TreeMap<>();
    // A relation may be a sequence: what it has is known when it is found.
    int all =
        grant.kind() == ObjectKind.TABLE
            ? ObjectKind.TABLE.all() | ObjectKind.SEQUENCE.all()
            : grant.kind().all();
    int privileges = 0;
    boolean everything = false;
    for (Word word : said.privileges()) {
      if (word.columns().isEmpty()) {
        everything |= word.word().equals("all");
        privileges |= privileges(word, grant.kind(), all);
        continue;
      }
      if (grant.kind() != ObjectKind.TABLE) {
        throw invalid("column privileges are only valid for relations");
      }
      int each = privileges(word, ObjectKind.COLUMN, ObjectKind.COLUMN.all());
      word.columns().forEach(name -> columns.merge(name, each, (a, b) -> a | b));
    }
    Wanted wanted = new Wanted(said, grantees, privileges, columns);
    switch (grant.kind()) {
      case SCHEMA -> grant.names().forEach(name -> onSchema(name.name(), wanted));
      case DATABASE -> grant.names().forEach(name -> onDatabase(name.name(), wanted));
      case LOCATION -> grant.names().forEach(name -> onLocation(name.name(), wanted));
      case APPLICATION, FUNCTION, PROCEDURE ->
          grant.names().forEach(name -> onCode(name, grant, wanted));
      default -> {
        for (QualifiedName name : grant.names()) {
          if (grant.inSchemas()) {
            onAll(name.name(), grant.kind(), wanted, everything);
          } else {
            onRelation(name, grant.kind(), wanted, everything);
          }
        }
      }
    }
  }

  /// Numbers of those who are granted something.
  ///
  /// @throws EngineException UNDEFINED_OBJECT
  static List<Long> grantees(Granted said, DefinitionPlan plan) {
    List<Long> grantees = new ArrayList<>();
    for (RoleName each : said.grantees()) {
      boolean everybody = each.word() == RoleName.Special.PUBLIC;
      grantees.add(everybody ? Acl.PUBLIC : plan.role(each).id());
    }
    return grantees;
  }

  private static EngineException invalid(String message) {
    return new EngineException(ErrorCode.INVALID_GRANT_OPERATION, message);
  }

  /// The set that a word means.
  ///
  /// @param all what the objects may have
  static int privileges(Word word, ObjectKind kind, int all) {
    if (word.word().equals("all")) {
      return all;
    }
    Privilege privilege = Privilege.named(word.word());
    if (privilege == null
        || (kind != ObjectKind.LOCATION && (privilege.bit() & ObjectKind.LOCATION.all()) != 0)) {
      if (word.word().equals("execute") || word.word().equals("set")) {
        throw invalid(
            "invalid privilege type %s for %s"
                .formatted(word.word().toUpperCase(java.util.Locale.ROOT), kind.grantNoun()));
      }
      throw new EngineException(
          ErrorCode.SYNTAX_ERROR, "unrecognized privilege type \"" + word.word() + "\"");
    }
    if ((all & privilege.bit()) == 0) {
      throw invalid("invalid privilege type %s for %s".formatted(privilege, kind.grantNoun()));
    }
    return privilege.bit();
  }

  // ---- objects ----

  private void onSchema(String name, Wanted wanted) {
    CatalogSnapshot state = plan.state();
    if (!state.hasSchema(name)) {
      throw DefinitionPlanner.noSchema(name);
    }
    Rights rights = state.access().schema(name);
    Acl acl = granted(ObjectKind.SCHEMA, name, rights, wanted.privileges, wanted);
    plan.change(Access.putSchema(name, rights.with(acl, ObjectKind.SCHEMA)));
  }

  private void onDatabase(String name, Wanted wanted) {
    if (!name.equals(Access.DATABASE)) {
      throw new EngineException(
          ErrorCode.UNDEFINED_OBJECT, "database \"" + name + "\" does not exist");
    }
    Rights rights = plan.state().access().database();
    Acl acl = granted(ObjectKind.DATABASE, name, rights, wanted.privileges, wanted);
    plan.change(Access.putDatabase(rights.with(acl, ObjectKind.DATABASE)));
  }

  /// Privileges in a location that the settings have no longer can still be taken away.
  private void onLocation(String name, Wanted wanted) {
    Access access = plan.state().access();
    if (!plan.definer().locations().get().contains(name)
        && (wanted.said.grant() || !access.locations().contains(name))) {
      throw new EngineException(
          ErrorCode.UNDEFINED_OBJECT, "location \"" + name + "\" does not exist");
    }
    Rights rights = access.location(name);
    Acl acl = granted(ObjectKind.LOCATION, name, rights, wanted.privileges, wanted);
    plan.change(Access.putLocation(name, rights.with(acl, ObjectKind.LOCATION)));
  }

  private void onAll(String schema, ObjectKind kind, Wanted wanted, boolean everything) {
    CatalogSnapshot state = plan.state();
    if (!state.hasSchema(schema)) {
      throw DefinitionPlanner.noSchema(schema);
    }
    plan.permissions().requireOnSchema(schema, Privilege.USAGE);
    DefinitionPlanner.refuseSystem(schema);
    if (kind == ObjectKind.QUEUE) {
      for (Queue each : List.copyOf(state.queueObjects())) {
        if (each.schema().equals(schema)) {
          onQueue(each, wanted);
        }
      }
      return;
    }
    if (kind == ObjectKind.SEQUENCE) {
      for (Sequence each : List.copyOf(state.sequences())) {
        if (each.schema().equals(schema)) {
          onSequence(each, wanted);
        }
      }
      return;
    }
    state.tables(schema).forEach(table -> onTable(table, wanted, everything));
    for (View each : List.copyOf(state.views())) {
      if (each.schema().equals(schema)) {
        onTable(each.form(), wanted, everything);
      }
    }
  }

  private void onRelation(QualifiedName name, ObjectKind kind, Wanted wanted, boolean everything) {
    CatalogSnapshot state = plan.state();
    String schema = DefinitionPlanner.schema(name);
    if (!state.hasSchema(schema)) {
      throw DefinitionPlanner.noSchema(schema);
    }
    if (name.schema() != null) {
      plan.permissions().requireOnSchema(schema, Privilege.USAGE);
    }
    Queue queue = state.queue(schema, name.name());
    if (kind == ObjectKind.QUEUE && queue != null) {
      onQueue(queue, wanted);
      return;
    }
    if (kind == ObjectKind.QUEUE && !plan.isTaken(schema, name.name())) {
      throw new EngineException(
          ErrorCode.UNDEFINED_OBJECT, "queue \"" + name.name() + "\" does not exist");
    }
    if (kind == ObjectKind.QUEUE || queue != null) {
      throw new EngineException(
          ErrorCode.WRONG_OBJECT_TYPE,
          "\"%s\" is %s queue".formatted(name.name(), queue == null ? "not a" : "a"));
    }
    Table table = state.table(schema, name.name());
    View view = state.view(schema, name.name());
    Sequence sequence = state.sequence(schema, name.name());
    if (sequence != null) {
      if (!wanted.columns.isEmpty()) {
        throw invalid(
            "sequence \"%s\" only supports SELECT column privileges".formatted(name.name()));
      }
      onSequence(sequence, wanted);
      return;
    }
    if (table == null && view == null) {
      throw state.tableOfIndex(schema, name.name()) != null
          ? new EngineException(ErrorCode.WRONG_OBJECT_TYPE, "\"" + name.name() + "\" is an index")
          : new EngineException(
              ErrorCode.UNDEFINED_TABLE, "relation \"" + name.name() + "\" does not exist");
    }
    if (kind == ObjectKind.SEQUENCE) {
      throw new EngineException(
          ErrorCode.WRONG_OBJECT_TYPE, "\"" + name.name() + "\" is not a sequence");
    }
    DefinitionPlanner.refuseSystem(schema);
    onTable(
        table != null ? table : java.util.Objects.requireNonNull(view).form(), wanted, everything);
  }

  // ---- applications ----

  private void onCode(QualifiedName name, RightsStatement.Grant grant, Wanted wanted) {
    if (grant.inSchemas()) {
      onAllCode(name.name(), grant.kind(), wanted);
      return;
    }
    if (grant.kind() == ObjectKind.APPLICATION) {
      onApplication(Objects.requireNonNull(ApplicationPlanner.find(plan, name, false)), wanted);
      return;
    }
    String schema = DefinitionPlanner.schema(name);
    if (name.schema() != null && plan.state().hasSchema(schema)) {
      plan.permissions().requireOnSchema(schema, Privilege.USAGE);
    }
    ApplicationSet all = plan.state().applications();
    boolean function = grant.kind() == ObjectKind.FUNCTION;
    List<DeployedApplication> found =
        function
            ? all.functions(schema, name.name()).stream().map(OfFunction::application).toList()
            : all.procedures(schema, name.name()).stream().map(OfProcedure::application).toList();
    if (found.isEmpty()) {
      throw new EngineException(
              ErrorCode.UNDEFINED_FUNCTION,
              "%s \"%s\" of an application does not exist"
                  .formatted(grant.kind().noun(), name.name()))
          .withPosition(name.position());
    }
    onMember(found.getFirst(), name.name(), grant.kind(), wanted);
  }

  private void onAllCode(String schema, ObjectKind kind, Wanted wanted) {
    if (!plan.state().hasSchema(schema)) {
      throw DefinitionPlanner.noSchema(schema);
    }
    plan.permissions().requireOnSchema(schema, Privilege.USAGE);
    for (DeployedApplication each : List.copyOf(plan.state().applications().all())) {
      if (!each.schema().equals(schema)) {
        continue;
      }
      if (kind == ObjectKind.APPLICATION) {
        onApplication(each, wanted);
        continue;
      }
      List<String> names =
          kind == ObjectKind.FUNCTION
              ? each.contents().functions().stream().map(FunctionSignature::name).toList()
              : each.contents().procedures().stream().map(ProcedureSignature::name).toList();
      for (String name : new TreeSet<>(names)) {
        // As the change of the one before it has left it.
        onMember(
            Objects.requireNonNull(plan.state().applications().get(each.applicationId())),
            name,
            kind,
            wanted);
      }
    }
  }

  private void onMember(
      DeployedApplication application, String name, ObjectKind kind, Wanted wanted) {
    Acl acl = granted(kind, name, application.rightsOf(name), wanted.privileges, wanted);
    plan.change(CatalogSnapshot.put(application.withGranted(name, acl)));
  }

  /// A grant on the whole application is a grant on each of its members.
  private void onApplication(DeployedApplication application, Wanted wanted) {
    Rights rights = application.rights();
    ObjectKind kind = ObjectKind.APPLICATION;
    Acl acl = granted(kind, application.name(), rights, wanted.privileges, wanted);
    Map<String, Acl> members = new TreeMap<>(application.granted());
    members.replaceAll((name, of) ->
        granted(kind, name, new Rights(rights.owner(), of), wanted.privileges, wanted));
    members.values().removeIf(of -> of.isSameAs(acl));
    plan.change(CatalogSnapshot.put(application.with(rights.with(acl, kind), members)));
  }

  private void onQueue(Queue queue, Wanted wanted) {
    Rights rights = queue.rights();
    Acl acl = granted(ObjectKind.QUEUE, queue.name(), rights, wanted.privileges, wanted);
    plan.change(CatalogSnapshot.put(queue.withRights(rights.with(acl, ObjectKind.QUEUE))));
  }

  private void onSequence(Sequence sequence, Wanted wanted) {
    int privileges = wanted.privileges & ObjectKind.SEQUENCE.all();
    Acl acl = granted(ObjectKind.SEQUENCE, sequence.name(), sequence.rights(), privileges, wanted);
    int ofColumns = privileges & ObjectKind.COLUMN.all();
    if (!wanted.said.grant() && ofColumns != 0) {
      onColumn(
          sequence.name(), ObjectKind.SEQUENCE, sequence.rights(), EVERY_TABLES, ofColumns, wanted);
    }
    plan.change(
        CatalogSnapshot.put(sequence.withRights(sequence.rights().with(acl, ObjectKind.SEQUENCE))));
  }

  /// @param form the table, or the form of the view
  /// @param everything whether ALL was said, which is what the kind of the object has
  private void onTable(Table form, Wanted wanted, boolean everything) {
    if ((wanted.privileges & ~ObjectKind.TABLE.all()) != 0 && !everything) {
      throw invalid("invalid privilege type USAGE for table");
    }
    int privileges = wanted.privileges & ObjectKind.TABLE.all();
    Rights rights = form.rights();
    Table next = form;
    if (privileges != 0) {
      Acl acl = granted(ObjectKind.TABLE, form.name(), rights, privileges, wanted);
      next = next.withRights(rights.with(acl, ObjectKind.TABLE));
    }
    Map<String, Integer> columns = new TreeMap<>(wanted.columns);
    for (String name : wanted.columns.keySet()) {
      int position = form.columnIndex(name);
      if (position < 0) {
        throw new EngineException(
            ErrorCode.UNDEFINED_COLUMN,
            "column \"%s\" of relation \"%s\" does not exist".formatted(name, form.name()));
      }
    }
    if (!wanted.said.grant()) {
      int ofColumns = privileges & ObjectKind.COLUMN.all();
      if (ofColumns != 0) {
        // PostgreSQL begins with a column that every table has.
        onColumn(form.name(), ObjectKind.TABLE, rights, EVERY_TABLES, ofColumns, wanted);
      }
      // Privileges that are taken away from the whole are taken away from its columns.
      for (Column column : form.columns()) {
        if (!column.acl().items().isEmpty()) {
          columns.merge(column.name(), ofColumns, (a, b) -> a | b);
        }
      }
    }
    List<Column> changed = new ArrayList<>();
    for (Column column : next.columns()) {
      int each = columns.getOrDefault(column.name(), 0);
      changed.add(
          each == 0
              ? column
              : column.withAcl(
                  onColumn(form.name(), ObjectKind.TABLE, rights, column, each, wanted)));
    }
    put(next.withColumns(changed));
  }

  private void put(Table form) {
    View view = plan.state().view(form.tableId());
    plan.change(
        view == null
            ? CatalogSnapshot.put(form)
            : CatalogSnapshot.put(view.withColumns(form.columns()).withRights(form.rights())));
  }

  /// @param kind of the relation
  private Acl onColumn(
      String relation,
      ObjectKind kind,
      Rights rights,
      Column column,
      int privileges,
      Wanted wanted) {
    Acl both = rights.effective(kind).and(column.acl());
    Granting granting =
        Granting.of(plan.definer().role(), privileges, both, rights.owner(), plan.state().roles());
    if (granting.grantable() == 0) {
      Permissions grantor = new Permissions(plan.state(), granting.grantor());
      int any =
          grantor.on(kind, rights)
              | grantor.grantable(kind, rights)
              | grantor.on(column)
              | grantor.grantable(column);
      if ((any & ObjectKind.COLUMN.all()) == 0) {
        throw new EngineException(
            ErrorCode.INSUFFICIENT_PRIVILEGE,
            "permission denied for column \"%s\" of relation \"%s\""
                .formatted(column.name(), relation));
      }
    }
    return merged(
        column.acl(),
        granting.grantor(),
        rights.owner(),
        privileges & granting.grantable(),
        wanted);
  }

  /// A view is called a table here, as PostgreSQL does.
  private Acl granted(ObjectKind kind, String name, Rights rights, int privileges, Wanted wanted) {
    Acl acl = rights.effective(kind);
    Granting granting =
        Granting.of(plan.definer().role(), privileges, acl, rights.owner(), plan.state().roles());
    if (granting.grantable() == 0 && privileges != 0) {
      Permissions grantor = new Permissions(plan.state(), granting.grantor());
      if (grantor.on(kind, rights) == 0 && grantor.grantable(kind, rights) == 0) {
        throw Permissions.denied(kind.noun(), name);
      }
    }
    return merged(
        acl, granting.grantor(), rights.owner(), privileges & granting.grantable(), wanted);
  }

  private Acl merged(Acl acl, long grantor, long owner, int privileges, Wanted wanted) {
    return merged(acl, grantor, owner, privileges, wanted.said, wanted.grantees, plan);
  }

  /// A list after GRANT or REVOKE. REVOKE takes the right to grant with the privilege; GRANT OPTION FOR that right alone.
  static Acl merged(
      Acl acl,
      long grantor,
      long owner,
      int privileges,
      Granted said,
      List<Long> grantees,
      DefinitionPlan plan) {
    Acl next = acl;
    for (long grantee : grantees) {
      if (grantee == Acl.PUBLIC && said.grant() && said.option()) {
        throw invalid("grant options can only be granted to roles");
      }
      AclItem item =
          new AclItem(
              grantee,
              grantor,
              said.grant() || !said.option() ? privileges : 0,
              !said.grant() || said.option() ? privileges : 0);
      next =
          next.changed(
              new Acl.Change(item, owner, said.grant(), said.cascade(), plan.state().roles()));
    }
    return next;
  }
}
