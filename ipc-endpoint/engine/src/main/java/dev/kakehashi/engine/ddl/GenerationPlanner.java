package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.sql.parser.DdlStatement.Alteration;
import dev.kakehashi.engine.sql.table.TableExpressions;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Changes of ALTER TABLE to generated columns and to the columns that they are computed from.
final class GenerationPlanner {
  private final DefinitionPlan plan;

  GenerationPlanner(DefinitionPlan plan) {
    this.plan = plan;
  }

  /// Names of the generated columns that are computed from the column at a position.
  List<String> from(Table table, int position) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < table.columns().size(); i++) {
      if (table.columns().get(i).generation() != null && usesColumn(table, i, position)) {
        names.add(table.columns().get(i).name());
      }
    }
    return names;
  }

  private boolean usesColumn(Table table, int generated, int position) {
    return TableExpressions.generation(table, generated, plan.state()).columns().contains(position);
  }

  /// The table with another name of a column in the expressions of the generated columns that are computed from it.
  Table renamed(Table table, List<String> generated, String from, String to) {
    List<Column> columns = new ArrayList<>(table.columns());
    for (String name : generated) {
      int position = table.columnIndex(name);
      String text = Objects.requireNonNull(columns.get(position).generation());
      columns.set(
          position, columns.get(position).withGeneration(TableExpressions.renamed(text, from, to)));
    }
    Table next = table.withColumns(columns);
    for (String name : generated) {
      if (!usesColumn(next, next.columnIndex(name), next.columnIndex(to))) {
        throw new EngineException(
            ErrorCode.FEATURE_NOT_SUPPORTED,
            "cannot rename a column within the expression of generated column \"" + name + "\"");
      }
    }
    return next;
  }

  /// DROP EXPRESSION.
  static Table dropped(Table table, Alteration.DropExpression drop, int position) {
    List<Column> columns = new ArrayList<>(table.columns());
    Column column = columns.get(position);
    if (column.generation() == null && !drop.ifExists()) {
      throw TableAlteration.refusal(
          ErrorCode.NOT_IN_PREREQUISITE_STATE,
          table,
          drop.column(),
          "is not a stored generated column");
    }
    columns.set(position, column.withGeneration(null));
    return table.withColumns(columns);
  }

  /// @param hint what to do instead, or null
  static void refuse(Table table, Column column, @Nullable String hint) {
    if (column.generation() != null) {
      EngineException refused =
          TableAlteration.refusal(
              ErrorCode.SYNTAX_ERROR, table, column.name(), "is a generated column");
      throw hint == null ? refused : refused.withHint(hint);
    }
  }

  /// Failure when a column is dropped without the columns that are computed from it.
  static EngineException dependent(Table table, String column, String generated) {
    return new EngineException(
            ErrorCode.DEPENDENT_OBJECTS_EXIST,
            "cannot drop column %s of table %s because other objects depend on it"
                .formatted(column, table.name()))
        .withDetail(
            "column %s of table %s depends on column %s of table %s"
                .formatted(generated, table.name(), column, table.name()))
        .withHint("Use DROP ... CASCADE to drop the dependent objects too.");
  }

  /// Refuses another type for a column that others are computed from, and USING for a generated one.
  void refuseTypeChange(Table table, int position, Alteration.SetType set) {
    Column column = table.columns().get(position);
    List<String> generated = new ArrayList<>(from(table, position));
    generated.removeIf(name -> table.columns().get(table.columnIndex(name)).hidden());
    if (!generated.isEmpty()) {
      throw new EngineException(
              ErrorCode.FEATURE_NOT_SUPPORTED,
              "cannot alter type of a column used by a generated column")
          .withDetail(
              "Column \"%s\" is used by generated column \"%s\"."
                  .formatted(column.name(), generated.getFirst()));
    }
    if (column.generation() != null && set.using() != null) {
      throw new EngineException(
              ErrorCode.INVALID_COLUMN_DEFINITION,
              "cannot specify USING when altering type of generated column")
          .withDetail("Column \"" + column.name() + "\" is a generated column.");
    }
  }
}
