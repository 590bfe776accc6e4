package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.exec.ReferenceLookup;
import dev.kakehashi.engine.plan.References.Rule;
import dev.kakehashi.engine.store.ReadView;
import dev.kakehashi.engine.store.RowCursor;
import dev.kakehashi.engine.store.TableStore;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.scheduler.TaskContext;
import org.jspecify.annotations.Nullable;

/// Looks whether every row of a table fulfils a new foreign key. Nobody else has the two tables meanwhile.
final class ReferencePass implements TablePass {
  private final Rule rule;
  private final VectorBatch source;
  private @Nullable ReferenceLookup lookup;
  private @Nullable RowCursor cursor;

  ReferencePass(Rule rule) {
    this.rule = rule;
    this.source = new VectorBatch(rule.columns().length);
  }

  @Override
  public boolean run(StatementExecution execution, TaskContext task) {
    RowCursor rows = cursor;
    ReferenceLookup references = lookup;
    if (rows == null || references == null) {
      ReadView view = execution.transaction().beginLatest();
      TableStore table = execution.store().table(rule.tableId());
      rows = table.scan(view, 0, table.pageCount(), rule.columns(), false);
      references = new ReferenceLookup(rule, execution.store(), view);
      cursor = rows;
      lookup = references;
    }
    while (rows.next(source)) {
      references.requireAll(source);
      execution.scanned(source.size);
      execution.checkCancelled();
      if (task.shouldYield()) {
        return false;
      }
    }
    close();
    return true;
  }

  @Override
  public void close() {
    if (cursor != null) {
      cursor.close();
      cursor = null;
    }
    if (lookup != null) {
      lookup.close();
      lookup = null;
    }
    source.close();
  }
}
