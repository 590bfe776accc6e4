package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.View;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.sql.binder.ViewBinder;
import dev.kakehashi.engine.sql.parser.DdlStatement;
import dev.kakehashi.engine.txn.TableLocks.Mode;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// CREATE and DROP VIEW, and what other changes of the catalogue mean for views: a change that a view cannot be read after is refused, or
/// takes the view with it where the statement says CASCADE.
final class ViewPlanner {
  private final DefinitionPlan plan;

  ViewPlanner(DefinitionPlan plan) {
    this.plan = plan;
  }

  void create(String schema, DdlStatement.CreateView create) {
    String name = create.name().name();
    View present = create.orReplace() ? plan.state().view(schema, name) : null;
    if (present == null && create.orReplace() && plan.isTaken(schema, name)) {
      throw new EngineException(ErrorCode.WRONG_OBJECT_TYPE, "\"" + name + "\" is not a view");
    }
    if (present == null) {
      plan.refuseTaken(schema, name);
    }
    long id = present == null ? plan.newObjectId() : present.viewId();
    View view =
        ViewBinder.define(
            schema, name, id, create.text(), create.columns(), plan.state(), plan::mayName);
    if (present == null) {
      view = view.withRights(plan.made(ObjectKind.TABLE, schema));
    } else {
      refuseOtherColumns(present, view);
      view = withComments(view, present);
      plan.lock(id, Mode.EXCLUSIVE);
    }
    plan.change(CatalogSnapshot.put(view));
    if (present != null) {
      // It may read itself now.
      try {
        ViewBinder.check(view, plan.state());
      } catch (StackOverflowError endless) {
        throw new EngineException(
            ErrorCode.INVALID_RECURSION,
            "infinite recursion detected in rules for relation \"" + name + "\"",
            endless);
      }
    }
  }

  private static View withComments(View view, View present) {
    List<Column> columns = new ArrayList<>(view.columns());
    for (int i = 0; i < present.columns().size(); i++) {
      columns.set(
          i,
          columns
              .get(i)
              .withComment(present.columns().get(i).comment())
              .withAcl(present.columns().get(i).acl()));
    }
    return view.withColumns(columns).withComment(present.comment()).withRights(present.rights());
  }

  private static void refuseOtherColumns(View present, View next) {
    if (next.columns().size() < present.columns().size()) {
      throw invalid("cannot drop columns from view");
    }
    for (int i = 0; i < present.columns().size(); i++) {
      Column before = present.columns().get(i);
      Column after = next.columns().get(i);
      if (!before.name().equals(after.name())) {
        throw invalid(
            "cannot change name of view column \"%s\" to \"%s\""
                .formatted(before.name(), after.name()));
      }
      if (!before.type().equals(after.type())) {
        throw invalid("cannot change data type of view column \"" + before.name() + "\"");
      }
    }
  }

  private static EngineException invalid(String message) {
    return new EngineException(ErrorCode.INVALID_TABLE_DEFINITION, message);
  }

  void drop(String schema, String name, boolean ifExists) {
    View view = plan.state().view(schema, name);
    if (view != null) {
      remove(view);
      return;
    }
    if (plan.isTaken(schema, name)) {
      throw new EngineException(ErrorCode.WRONG_OBJECT_TYPE, "\"" + name + "\" is not a view");
    }
    if (!ifExists) {
      throw new EngineException(ErrorCode.UNDEFINED_TABLE, "view \"" + name + "\" does not exist");
    }
  }

  void dropAll(String schema) {
    for (View view : List.copyOf(plan.state().views())) {
      if (view.schema().equals(schema)) {
        remove(view);
      }
    }
  }

  private void remove(View view) {
    plan.lock(view.viewId(), Mode.EXCLUSIVE);
    plan.change(CatalogSnapshot.remove(view));
  }

  /// After all other changes of a statement: whether every view can still be read.
  void checkAll(DdlStatement statement, boolean cascade) {
    for (View view : List.copyOf(plan.state().views())) {
      EngineException unreadable = unreadable(view);
      if (unreadable == null) {
        continue;
      }
      if (!cascade) {
        throw new EngineException(
                ErrorCode.DEPENDENT_OBJECTS_EXIST,
                "cannot execute " + statement.command() + " because other objects depend on it",
                unreadable)
            .withDetail(
                "View %s could not be read any more: %s."
                    .formatted(view.name(), unreadable.getMessage()))
            .withHint("Drop the view first, or use CASCADE where it is allowed.");
      }
      remove(view);
    }
  }

  private @Nullable EngineException unreadable(View view) {
    try {
      ViewBinder.check(view, plan.state());
      return null;
    } catch (EngineException reason) {
      Interrupts.check(); // who is canceled drops no view
      return reason;
    }
  }
}
