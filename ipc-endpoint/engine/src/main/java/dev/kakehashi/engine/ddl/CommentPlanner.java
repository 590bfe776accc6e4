package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.DeployedApplication;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Queue;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.View;
import dev.kakehashi.engine.sql.parser.DdlStatement;
import dev.kakehashi.engine.sql.parser.DdlStatement.Commented;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// COMMENT. A comment is part of the form of what it is about: it goes where that goes.
final class CommentPlanner {
  private final DefinitionPlan plan;

  CommentPlanner(DefinitionPlan plan) {
    this.plan = plan;
  }

  void plan(DdlStatement.Comment comment) {
    CatalogSnapshot state = plan.state();
    String name = comment.name().name();
    String text = comment.text();
    if (comment.kind() == Commented.ROLE) {
      new RolePlanner(plan).comment(name, text);
      return;
    }
    if (comment.kind() == Commented.SCHEMA) {
      if (!state.hasSchema(name)) {
        throw new EngineException(
            ErrorCode.UNDEFINED_SCHEMA, "schema \"" + name + "\" does not exist");
      }
      DefinitionPlanner.refuseSystem(name);
      plan.change(CatalogSnapshot.putSchema(name, text));
      return;
    }
    String schema = DefinitionPlanner.schema(comment.name());
    if (!state.hasSchema(schema)) {
      throw new EngineException(
          ErrorCode.UNDEFINED_SCHEMA, "schema \"" + schema + "\" does not exist");
    }
    if (comment.kind() == Commented.APPLICATION) {
      DeployedApplication found =
          Objects.requireNonNull(ApplicationPlanner.find(plan, comment.name(), false));
      plan.permissions().requireOwner(found.rights(), "application", name);
      plan.change(CatalogSnapshot.put(found.withComment(text)));
      return;
    }
    if (!plan.isTaken(schema, name)) {
      throw new EngineException(
              ErrorCode.UNDEFINED_TABLE, "relation \"" + name + "\" does not exist")
          .withPosition(comment.name().position());
    }
    DefinitionPlanner.refuseSystem(schema);
    Table table = state.table(schema, name);
    View view = state.view(schema, name);
    Sequence sequence = state.sequence(schema, name);
    Queue queue = state.queue(schema, name);
    Table indexed = state.tableOfIndex(schema, name);
    boolean ofConstraint = comment.kind() == Commented.CONSTRAINT;
    String column = ofConstraint ? null : comment.part();
    if (ofConstraint && table != null) {
      plan.change(CatalogSnapshot.put(commented(table, comment)));
    } else if (comment.kind() == Commented.TABLE && table != null) {
      plan.change(CatalogSnapshot.put(table.withComment(text)));
    } else if (comment.kind() == Commented.VIEW && view != null) {
      plan.change(CatalogSnapshot.put(view.withComment(text)));
    } else if (comment.kind() == Commented.SEQUENCE && sequence != null) {
      plan.change(CatalogSnapshot.put(sequence.withComment(text)));
    } else if (comment.kind() == Commented.QUEUE && queue != null) {
      plan.change(CatalogSnapshot.put(queue.withComment(text)));
    } else if (comment.kind() == Commented.INDEX && indexed != null) {
      List<Index> indexes = new ArrayList<>(indexed.indexes());
      indexes.replaceAll(each -> each.name().equals(name) ? each.withComment(text) : each);
      plan.change(CatalogSnapshot.put(indexed.withIndexes(indexes)));
    } else if (column != null && table != null) {
      plan.change(CatalogSnapshot.put(table.withColumns(commented(table, column, text))));
    } else if (column != null && view != null) {
      plan.change(CatalogSnapshot.put(view.withColumns(commented(view.form(), column, text))));
    } else {
      throw new EngineException(
              ErrorCode.WRONG_OBJECT_TYPE,
              column != null
                  ? "cannot comment on a column of relation \"" + name + "\""
                  : "\"%s\" is not %s"
                      .formatted(name, ofConstraint ? "a table" : article(comment.kind())))
          .withPosition(comment.name().position());
    }
  }

  private static Table commented(Table table, DdlStatement.Comment comment) {
    String constraint = Objects.requireNonNull(comment.part());
    if (!table.hasConstraint(constraint)) {
      throw new EngineException(
          ErrorCode.UNDEFINED_OBJECT,
          "constraint \"%s\" for table \"%s\" does not exist".formatted(constraint, table.name()));
    }
    return table.withConstraintComment(constraint, comment.text());
  }

  private static List<Column> commented(Table table, String column, @Nullable String text) {
    int position = TableAlteration.position(table, column);
    List<Column> columns = new ArrayList<>(table.columns());
    columns.set(position, columns.get(position).withComment(text));
    return columns;
  }

  private static String article(Commented kind) {
    String word = kind.name().toLowerCase(Locale.ROOT);
    return (kind == Commented.INDEX ? "an " : "a ") + word;
  }
}
