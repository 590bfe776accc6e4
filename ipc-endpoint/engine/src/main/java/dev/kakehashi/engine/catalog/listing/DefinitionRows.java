package dev.kakehashi.engine.catalog.listing;

import dev.kakehashi.engine.catalog.CatalogNames;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.CheckConstraint;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.ForeignKey;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.catalog.SystemTables;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.View;
import dev.kakehashi.engine.type.SequenceDefinition;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.text.Quoting;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Rows of `kakehashi_catalog.definitions`: statements that make the objects of the catalogue again on an engine that has none, in an order
/// in which each finds what it needs. Sequences begin at their start.
public final class DefinitionRows {
  private final CatalogSnapshot catalog;
  private final List<@Nullable Object[]> rows = new ArrayList<>();

  private DefinitionRows(CatalogSnapshot catalog) {
    this.catalog = catalog;
  }

  /// Statements that make all objects again, each after what it needs, with verifiers of passwords.
  public static List<String> statements(CatalogSnapshot catalog) {
    return of(catalog, true).stream().map(row -> String.valueOf(row[4])).toList();
  }

  /// In the order of ordinal_position, object_type, object_schema, object_name, definition.
  ///
  /// @param secrets whether verifiers of passwords are to be there
  static List<@Nullable Object[]> of(CatalogSnapshot catalog, boolean secrets) {
    DefinitionRows all = new DefinitionRows(catalog);
    List<Table> tables = catalog.tables().stream().filter(table -> !table.isSystem()).toList();
    RightsDefinitions rights = new RightsDefinitions(catalog, secrets, all::add);
    rights.addRoles();
    all.addSchemas();
    Set<Long> identities = all.identities(tables);
    catalog.sequences().stream()
        .filter(sequence -> !identities.contains(sequence.sequenceId()))
        .forEach(all::addSequence);
    // Handlers of applications are of queues, and tables and views may use their functions.
    QueueDefinitions.addAll(catalog, all::add);
    ApplicationDump.addAll(catalog, all::add);
    tables.forEach(all::addTable);
    tables.forEach(all::addOwners);
    tables.forEach(all::addIndexes);
    tables.forEach(all::addForeignKeys);
    catalog.views().forEach(all::addView);
    all.addComments();
    rights.addRights();
    return all.rows;
  }

  private void add(String type, String schema, String name, String definition) {
    rows.add(new @Nullable Object[] {rows.size() + 1L, type, schema, name, definition});
  }

  private void addSchemas() {
    for (String schema : catalog.schemas()) {
      if (!SystemTables.isSystemSchema(schema) && !schema.equals(CatalogSnapshot.DEFAULT_SCHEMA)) {
        add("schema", schema, schema, "CREATE SCHEMA " + Quoting.identifier(schema));
      }
    }
  }

  private Set<Long> identities(List<Table> tables) {
    Set<Long> found = new HashSet<>();
    for (Table table : tables) {
      for (Column column : table.columns()) {
        Column.Owned identity = column.identity();
        if (identity != null) {
          found.add(identity.sequenceId());
        }
      }
    }
    return found;
  }

  private void addSequence(Sequence sequence) {
    add(
        "sequence",
        sequence.schema(),
        sequence.name(),
        "CREATE SEQUENCE "
            + qualified(sequence.schema(), sequence.name())
            + " AS "
            + Types.name(sequence.typeOid())
            + numbers(sequence.definition()));
  }

  private static String numbers(SequenceDefinition sequence) {
    return " START WITH "
        + sequence.start()
        + " INCREMENT BY "
        + sequence.increment()
        + " MINVALUE "
        + sequence.min()
        + " MAXVALUE "
        + sequence.max()
        + " CACHE "
        + sequence.cache()
        + (sequence.cycles() ? " CYCLE" : "");
  }

  private void addTable(Table table) {
    List<String> parts = new ArrayList<>();
    table.columns().stream()
        .filter(column -> !column.hidden())
        .forEach(column -> parts.add(column(column)));
    for (CheckConstraint check : table.checks()) {
      if (check.validated()) {
        parts.add("CONSTRAINT " + Quoting.identifier(check.name()) + check(check));
      }
    }
    for (Index index : table.indexes()) {
      if (index.constraint()) {
        parts.add(
            "CONSTRAINT "
                + Quoting.identifier(index.name())
                + (index.primary() ? " PRIMARY KEY" : " UNIQUE")
                + (index.nullsNotDistinct() ? " NULLS NOT DISTINCT (" : " (")
                + columns(table, index.columns())
                + ")"
                + timing(index.timing()));
      }
    }
    String body = parts.isEmpty() ? " ()" : " (\n  " + String.join(",\n  ", parts) + "\n)";
    add("table", table.schema(), table.name(), "CREATE TABLE " + name(table) + body);
    // In CREATE TABLE it would be known to hold.
    for (CheckConstraint check : table.checks()) {
      if (!check.validated()) {
        add(
            "constraint",
            table.schema(),
            check.name(),
            "ALTER TABLE "
                + name(table)
                + " ADD CONSTRAINT "
                + Quoting.identifier(check.name())
                + check(check)
                + " NOT VALID");
      }
    }
  }

  private static String check(CheckConstraint check) {
    return " CHECK (" + check.text() + ")";
  }

  private String column(Column column) {
    StringBuilder text = new StringBuilder(Quoting.identifier(column.name()));
    text.append(' ').append(Types.format(column.type()));
    Column.Owned identity = column.identity();
    if (column.generation() != null) {
      text.append(" GENERATED ALWAYS AS (").append(column.generation()).append(") STORED");
    } else if (identity != null) {
      Sequence sequence = catalog.sequence(identity.sequenceId());
      text.append(" GENERATED ")
          .append(identity.generated() == Column.Generated.ALWAYS ? "ALWAYS" : "BY DEFAULT")
          .append(" AS IDENTITY");
      if (sequence != null) {
        text.append(" (").append(numbers(sequence.definition()).substring(1)).append(')');
      }
    } else if (column.defaultText() != null) {
      text.append(" DEFAULT ").append(column.defaultText());
    }
    return text.append(column.notNull() ? " NOT NULL" : "").toString();
  }

  private void addOwners(Table table) {
    for (Column column : table.columns()) {
      Column.Owned owned = column.sequence();
      Sequence sequence = owned == null ? null : catalog.sequence(owned.sequenceId());
      if (sequence != null && column.identity() == null) {
        add(
            "sequence",
            sequence.schema(),
            sequence.name(),
            "ALTER SEQUENCE "
                + qualified(sequence.schema(), sequence.name())
                + " OWNED BY "
                + name(table)
                + "."
                + Quoting.identifier(column.name()));
      }
    }
  }

  private void addIndexes(Table table) {
    for (Index index : table.indexes()) {
      if (!index.constraint()) {
        add("index", table.schema(), index.name(), index(table, index));
      }
    }
  }

  private static String index(Table table, Index index) {
    List<String> keys = new ArrayList<>();
    for (int k = 0; k < index.columns().size(); k++) {
      Column column = table.columns().get(index.columns().get(k));
      String key =
          column.hidden() ? "(" + column.generation() + ")" : Quoting.identifier(column.name());
      boolean descending = index.descending().get(k);
      boolean first = index.nullsFirst().get(k);
      keys.add(
          key
              + (descending ? " DESC" : "")
              + (first == descending ? "" : first ? " NULLS FIRST" : " NULLS LAST"));
    }
    String condition = IndexConditionText.of(table, index.predicate());
    return "CREATE "
        + (index.unique() ? "UNIQUE " : "")
        + "INDEX "
        + Quoting.identifier(index.name())
        + " ON "
        + name(table)
        + " ("
        + String.join(", ", keys)
        + ")"
        + (index.nullsNotDistinct() ? " NULLS NOT DISTINCT" : "")
        + (condition.isEmpty() ? "" : " WHERE " + condition);
  }

  private void addForeignKeys(Table table) {
    for (ForeignKey key : table.foreignKeys()) {
      Table referenced = catalog.table(key.referencedId());
      if (referenced != null) {
        add(
            "constraint",
            table.schema(),
            key.name(),
            "ALTER TABLE "
                + name(table)
                + " ADD CONSTRAINT "
                + Quoting.identifier(key.name())
                + foreignKey(table, key, referenced));
      }
    }
  }

  private static String foreignKey(Table table, ForeignKey key, Table referenced) {
    String set =
        key.setColumns().isEmpty() || key.setColumns().equals(key.columns())
            ? ""
            : " (" + columns(table, key.setColumns()) + ")";
    return " FOREIGN KEY ("
        + columns(table, key.columns())
        + ") REFERENCES "
        + name(referenced)
        + " ("
        + columns(referenced, key.referencedColumns())
        + ")"
        + (key.matchFull() ? " MATCH FULL" : "")
        + " ON UPDATE "
        + key.onUpdate().text()
        + " ON DELETE "
        + key.onDelete().text()
        + set
        + timing(key.timing())
        + (key.validated() ? "" : " NOT VALID");
  }

  private static String timing(ForeignKey.Timing timing) {
    return switch (timing) {
      case NOT_DEFERRABLE -> "";
      case INITIALLY_IMMEDIATE -> " DEFERRABLE";
      case INITIALLY_DEFERRED -> " DEFERRABLE INITIALLY DEFERRED";
    };
  }

  private void addView(View view) {
    String columns =
        String.join(", ", view.columns().stream().map(c -> Quoting.identifier(c.name())).toList());
    add(
        "view",
        view.schema(),
        view.name(),
        "CREATE VIEW "
            + qualified(view.schema(), view.name())
            + " ("
            + columns
            + ") AS "
            + view.text());
  }

  private void addComments() {
    for (@Nullable Object[] comment : CommentRows.of(new CatalogNames(catalog, null, null))) {
      String type = String.valueOf(comment[0]);
      String schema = String.valueOf(comment[1]);
      String name = String.valueOf(comment[2]);
      String object =
          switch (type) {
            case "schema" -> "SCHEMA " + Quoting.identifier(schema);
            case "column" ->
                "COLUMN "
                    + qualified(schema, name)
                    + "."
                    + Quoting.identifier(String.valueOf(comment[3]));
            case "constraint" ->
                "CONSTRAINT "
                    + Quoting.identifier(String.valueOf(comment[5]))
                    + " ON "
                    + qualified(schema, name);
            default -> type.toUpperCase(java.util.Locale.ROOT) + " " + qualified(schema, name);
          };
      add(
          "comment",
          schema,
          name,
          "COMMENT ON " + object + " IS " + Quoting.literal(String.valueOf(comment[4])));
    }
  }

  private static String columns(Table table, List<Integer> positions) {
    return String.join(
        ", ",
        positions.stream()
            .map(position -> Quoting.identifier(table.columns().get(position).name()))
            .toList());
  }

  private static String name(Table table) {
    return qualified(table.schema(), table.name());
  }

  private static String qualified(String schema, String name) {
    return Quoting.identifier(schema) + "." + Quoting.identifier(name);
  }
}
