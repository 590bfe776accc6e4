package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.exec.reference.ReferenceLookup;
import dev.kakehashi.engine.plan.References.Rule;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Looks whether every row of a table fulfils a new foreign key. Nobody else has the two tables meanwhile.
final class ReferencePass extends BatchPass {
  private final Rule rule;
  private final VectorBatch source;
  private @Nullable ReferenceLookup lookup;

  ReferencePass(Rule rule) {
    this.rule = rule;
    this.source = new VectorBatch(rule.referencing().columns().length);
  }

  @Override
  RowCursor open(StatementExecution execution) {
    ReadView view = execution.transaction().beginLatest();
    TableStore table = execution.store().table(rule.referencing().tableId());
    lookup = new ReferenceLookup(rule, execution.store(), view);
    return table.scan(view, 0, table.pageCount(), rule.referencing().columns(), false);
  }

  @Override
  VectorBatch source() {
    return source;
  }

  @Override
  void accept(StatementExecution execution) {
    Objects.requireNonNull(lookup).requireAll(source);
  }

  @Override
  public void close() {
    if (lookup != null) {
      lookup.close();
      lookup = null;
    }
    super.close();
  }
}
