package dev.kakehashi.engine.plan;

import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.expr.Expr;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// How rows of files become rows of a table. Which columns the files have is known only when they are opened: for each of the others the
/// plan has a default. Immutable.
///
/// @param insert of rows that are complete; its source is none
/// @param columns that files may have, in the order in which they are asked for
/// @param positions of these in the table
/// @param listed whether the statement lists them
/// @param defaults of all columns of the table, with their exact types, over no columns; of generated ones null
/// @param where over the columns of the table, or null
/// @param rowsMeet whether one row of the files can be the reason why another one is refused
public record LoadPlan(
    PhysicalPlan.Insert insert,
    List<LoadColumn> columns,
    int[] positions,
    boolean listed,
    List<Expr> defaults,
    @Nullable Expr where,
    boolean rowsMeet) {
  public PhysicalPlan.Target target() {
    return insert.target();
  }

  /// Whether the table has a foreign key that references itself.
  public boolean referencesItself() {
    return rules().stream().anyMatch(rule -> rule.referenced().tableId() == target().tableId());
  }

  /// Foreign keys of the table.
  public List<References.Rule> rules() {
    References references = target().references();
    return references == null ? List.of() : references.of(target().tableId());
  }
}
