package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.api.application.ApplicationDefinition.Jar;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.rights.Acl;
import dev.kakehashi.engine.rights.AclItem;
import dev.kakehashi.engine.rights.Membership;
import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.rights.RoleSet;
import dev.kakehashi.engine.store.api.SequencePosition;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.check.CheckListener;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/// Compares the catalogue of a store with the tables that the store has.
public final class CatalogCheck {
  private CatalogCheck() {}

  /// @param entries of the catalogue
  /// @param stored definitions of the store's tables
  /// @param positions of the sequences, by the numbers of their states
  /// @return the catalogue as far as its entries can be read
  public static CatalogSnapshot run(
      Map<String, byte[]> entries,
      Map<Long, TableDefinition> stored,
      Map<Long, SequencePosition> positions,
      CheckListener report) {
    Map<Long, Table> tables = new TreeMap<>();
    Map<String, byte[]> readable = new TreeMap<>();
    entries.forEach((key, value) -> {
      try {
        CatalogSnapshot one = CatalogSnapshot.of(Map.of(key, value));
        if (key.startsWith(CatalogSnapshot.TABLE_KEY)) {
          one.tables().stream()
              .filter(table -> !table.isSystem())
              .forEach(table -> tables.put(table.tableId(), table));
        }
        readable.put(key, value);
      } catch (EngineException e) {
        report.problem(String.valueOf(e.getMessage()));
      }
    });
    CatalogSnapshot catalog = CatalogSnapshot.of(readable);
    tables.forEach((tableId, table) -> {
      TableDefinition definition = stored.get(tableId);
      if (definition == null) {
        report.problem("%s: the store has no table %d".formatted(name(table), tableId));
      } else if (!definition.equals(table.definition().withPlacement(definition.placement()))) {
        report.problem(
            "%s: the catalogue says %s, the store %s"
                .formatted(name(table), table.definition(), definition));
      }
    });
    stored.keySet().stream()
        .filter(tableId -> !tables.containsKey(tableId))
        .forEach(tableId ->
            report.problem("table %d of the store is not in the catalogue".formatted(tableId)));
    checkSchemas(catalog, report);
    checkSequences(catalog, positions, report);
    checkForeignKeys(catalog, report);
    checkApplications(catalog, report);
    checkRights(catalog, report);
    report.checked(
        "catalogue: %d entries, %d tables, %d sequences, %d views, %d queues, %d applications"
            .formatted(
                entries.size(),
                tables.size(),
                catalog.sequences().size(),
                catalog.views().size(),
                catalog.queues().size(),
                catalog.applications().all().size()));
    return catalog;
  }

  private static void checkSchemas(CatalogSnapshot catalog, CheckListener report) {
    Set<String> names = new HashSet<>();
    List<String[]> relations = new ArrayList<>();
    catalog.tables().stream()
        .filter(table -> !table.isSystem())
        .forEach(table -> {
          relations.add(new String[] {table.schema(), table.name()});
          table
              .indexes()
              .forEach(index -> relations.add(new String[] {table.schema(), index.name()}));
        });
    catalog.sequences().forEach(each -> relations.add(new String[] {each.schema(), each.name()}));
    catalog.queues().forEach(each -> relations.add(new String[] {each.schema(), each.name()}));
    catalog.views().forEach(each -> relations.add(new String[] {each.schema(), each.name()}));
    for (String[] relation : relations) {
      String quoted = "\"%s\".\"%s\"".formatted(relation[0], relation[1]);
      if (!catalog.hasSchema(relation[0])) {
        report.problem("relation %s is in a schema that does not exist".formatted(quoted));
      }
      if (!names.add(quoted)) {
        report.problem("there are two relations %s".formatted(quoted));
      }
    }
  }

  /// Whether each version has its jars, unchanged, and each jar a version.
  private static void checkApplications(CatalogSnapshot catalog, CheckListener report) {
    Set<String> left = new HashSet<>(catalog.applications().jars());
    Set<String> names = new HashSet<>();
    for (DeployedApplication each : catalog.applications().all()) {
      String what = "application \"%s\".\"%s\"".formatted(each.schema(), each.name());
      if (!catalog.hasSchema(each.schema())) {
        report.problem(what + " is in a schema that does not exist");
      }
      if (!names.add(what)) {
        report.problem("there are two of " + what);
      }
      for (DeployedApplication.Version version : each.versions()) {
        for (Jar jar : version.definition().jars()) {
          left.remove(jar.sha256());
          byte[] bytes = catalog.applications().jar(jar.sha256());
          if (bytes == null) {
            report.problem(
                "%s: jar \"%s\" of version %d is missing"
                    .formatted(what, jar.name(), version.definition().number()));
          } else if (bytes.length != jar.bytes() || !JarDigest.of(bytes).equals(jar.sha256())) {
            report.problem(
                "%s: jar \"%s\" of version %d has not the bytes that were deployed"
                    .formatted(what, jar.name(), version.definition().number()));
          }
        }
      }
    }
    left.forEach(sha256 -> report.problem("jar %s is of no application".formatted(sha256)));
  }

  /// Whether all roles are there that own something, or were granted it.
  private static void checkRights(CatalogSnapshot catalog, CheckListener report) {
    RoleSet roles = catalog.roles();
    Access access = catalog.access();
    checkRights("the database", access.database(), roles, report);
    catalog
        .schemas()
        .forEach(schema ->
            checkRights("schema \"" + schema + "\"", access.schema(schema), roles, report));
    List<Table> forms = new ArrayList<>(catalog.tables());
    catalog.views().forEach(view -> forms.add(view.form()));
    for (Table form : forms) {
      checkRights(name(form), form.rights(), roles, report);
      form.columns().forEach(column -> checkAcl(name(form), column.acl(), roles, report));
    }
    catalog
        .sequences()
        .forEach(each ->
            checkRights(
                "sequence \"%s\".\"%s\"".formatted(each.schema(), each.name()),
                each.rights(),
                roles,
                report));
    catalog
        .queueObjects()
        .forEach(each ->
            checkRights(
                "queue \"%s\".\"%s\"".formatted(each.schema(), each.name()),
                each.rights(),
                roles,
                report));
    for (DeployedApplication each : catalog.applications().all()) {
      String what = "application \"%s\".\"%s\"".formatted(each.schema(), each.name());
      checkRights(what, each.rights(), roles, report);
      each.granted().values().forEach(acl -> checkAcl(what, acl, roles, report));
    }
    for (Access.Default said : access.defaults()) {
      checkRole("default privileges", said.role(), roles, report);
      checkAcl("default privileges", said.granted(), roles, report);
    }
    for (Membership each : roles.memberships()) {
      checkRole("a membership", each.role(), roles, report);
      checkRole("a membership", each.member(), roles, report);
      if (roles.isMember(/* member= */ each.role(), /* role= */ each.member())) {
        report.problem("role \"%s\" is a member of itself".formatted(roles.name(each.role())));
      }
    }
  }

  private static void checkRights(String what, Rights rights, RoleSet roles, CheckListener report) {
    checkRole(what, rights.owner(), roles, report);
    Acl acl = rights.acl();
    if (acl != null) {
      checkAcl(what, acl, roles, report);
    }
  }

  private static void checkAcl(String what, Acl acl, RoleSet roles, CheckListener report) {
    for (AclItem item : acl.items()) {
      checkRole(what, item.grantor(), roles, report);
      if (item.grantee() != Acl.PUBLIC) {
        checkRole(what, item.grantee(), roles, report);
      }
    }
  }

  /// The superuser of the beginning has no entry before the first role is made.
  private static void checkRole(String what, long role, RoleSet roles, CheckListener report) {
    if (role != RoleSet.SUPERUSER && roles.role(role) == null) {
      report.problem("%s: names role %d, which does not exist".formatted(what, role));
    }
  }

  private static void checkForeignKeys(CatalogSnapshot catalog, CheckListener report) {
    for (Table table : catalog.tables()) {
      for (ForeignKey key : table.foreignKeys()) {
        Table referenced = catalog.table(key.referencedId());
        if (referenced == null || referenced.uniqueIndex(key.referencedColumns()) == null) {
          report.problem(
              "%s: foreign key \"%s\" references a key that does not exist"
                  .formatted(name(table), key.name()));
        }
      }
    }
  }

  private static void checkSequences(
      CatalogSnapshot catalog, Map<Long, SequencePosition> positions, CheckListener report) {
    Map<Long, String> owners = new HashMap<>();
    for (Table table : catalog.tables()) {
      for (Column column : table.columns()) {
        Column.Owned owned = column.sequence();
        if (owned == null) {
          continue;
        }
        if (catalog.sequence(owned.sequenceId()) == null) {
          report.problem(
              "%s: column \"%s\" has a sequence that does not exist"
                  .formatted(name(table), column.name()));
        }
        String before = owners.put(owned.sequenceId(), name(table));
        if (before != null) {
          report.problem("%s and %s own the same sequence".formatted(before, name(table)));
        }
      }
    }
    for (Sequence sequence : catalog.sequences()) {
      SequencePosition position = positions.get(sequence.definition().stateId());
      if (position != null
          && (position.last() < sequence.definition().min()
              || position.last() > sequence.definition().max())) {
        report.problem(
            "sequence \"%s\".\"%s\": %d is not between %d and %d"
                .formatted(
                    sequence.schema(),
                    sequence.name(),
                    position.last(),
                    sequence.definition().min(),
                    sequence.definition().max()));
      }
    }
  }

  /// Name of a table in a report.
  public static String name(Table table) {
    return "table \"%s\".\"%s\"".formatted(table.schema(), table.name());
  }
}
