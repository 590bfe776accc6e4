package dev.kakehashi.engine.sql.optimizer;

import dev.kakehashi.engine.sql.algebra.GuardedRows;
import dev.kakehashi.engine.sql.algebra.WindowedRows;
import dev.kakehashi.engine.vector.Interrupts;
import java.util.List;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.sql2rel.RelFieldTrimmer;
import org.apache.calcite.tools.RelBuilder;
import org.apache.calcite.util.ImmutableBitSet;
import org.apache.calcite.util.mapping.Mapping;
import org.apache.calcite.util.mapping.MappingType;
import org.apache.calcite.util.mapping.Mappings;

/// Calcite's removal of unused columns, through our own nodes, too. Public because Calcite finds the methods by reflection.
public final class FieldTrimmer extends RelFieldTrimmer {
  FieldTrimmer(RelBuilder builder) {
    super(null, builder);
  }

  /// Calcite's own also changes the names of outer columns in a result that defines some, by the mapping of its columns. Here only a
  /// correlate defines any, its own method has changed them, and a mapping of a project above it, which disappears where it is the
  /// identity, has nothing to do with them.
  @Override
  protected TrimResult result(RelNode rel, Mapping mapping) {
    return new TrimResult(rel, mapping);
  }

  /// Keeps all functions, and of the input's columns those that they or the consumer use.
  @Override
  public TrimResult trimFields(
      RelNode node, ImmutableBitSet fieldsUsed, Set<RelDataTypeField> extraFields) {
    Interrupts.check();
    if (node instanceof GuardedRows guarded) {
      TrimResult trimmed = trimChild(guarded, guarded.getInput(), fieldsUsed, extraFields);
      return result(guarded.copy(guarded.getTraitSet(), List.of(trimmed.left)), trimmed.right);
    }
    if (!(node instanceof WindowedRows windows)) {
      return super.trimFields(node, fieldsUsed, extraFields);
    }
    int inputs = windows.getInput().getRowType().getFieldCount();
    ImmutableBitSet needed =
        fieldsUsed.intersect(ImmutableBitSet.range(inputs)).union(windows.inputColumns());
    TrimResult trimmed = trimChild(windows, windows.getInput(), needed, extraFields);
    RelNode input = trimmed.left;
    Mapping below = trimmed.right;
    int[] to = new int[inputs];
    for (int i = 0; i < inputs; i++) {
      to[i] = below.getTargetOpt(i);
    }
    RelNode moved = windows.moved(input, to);
    int kept = input.getRowType().getFieldCount();
    Mapping mapping =
        Mappings.create(
            MappingType.INVERSE_SURJECTION,
            windows.getRowType().getFieldCount(),
            moved.getRowType().getFieldCount());
    for (int i = 0; i < inputs; i++) {
      if (to[i] >= 0) {
        mapping.set(i, to[i]);
      }
    }
    for (int i = 0; i < windows.calls.size(); i++) {
      mapping.set(inputs + i, kept + i);
    }
    return result(moved, mapping);
  }
}
