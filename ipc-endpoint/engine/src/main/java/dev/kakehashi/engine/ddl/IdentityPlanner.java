package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.sql.parser.DdlStatement.Alteration;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Changes of ALTER TABLE to identity columns and their sequences.
final class IdentityPlanner {
  private final DefinitionPlan plan;
  private final SequencePlanner sequences;

  IdentityPlanner(DefinitionPlan plan, SequencePlanner sequences) {
    this.plan = plan;
    this.sequences = sequences;
  }

  /// The column with an identity, whose sequence is made.
  Column added(Table table, Column column, Alteration.AddIdentity add) {
    SequencePlanner.requireSequenceType(column.type());
    if (!column.notNull()) {
      throw unready(table, column, "must be declared NOT NULL before identity can be added");
    }
    if (column.identity() != null) {
      throw unready(table, column, "is already an identity column");
    }
    if (column.defaultText() != null) {
      throw unready(table, column, "already has a default value");
    }
    sequences.refuseOwner(table, column);
    return sequences.withSequence(table.schema(), table.name(), column, add.sequence());
  }

  /// The column as SET GENERATED leaves it; changes its sequence.
  Column changed(Table table, Column column, Alteration.SetIdentity set) {
    Column.Owned identity = column.identity();
    if (identity == null) {
      throw noIdentity(table, column);
    }
    sequences.alter(sequence(identity), set.options());
    Column.Generated generated = set.generated();
    return generated == null
        ? column
        : column.withSequence(new Column.Owned(identity.sequenceId(), generated));
  }

  /// Whether there is an identity to drop.
  static boolean drops(Table table, Column column, boolean ifExists) {
    if (column.identity() == null && !ifExists) {
      throw noIdentity(table, column);
    }
    return column.identity() != null;
  }

  /// Before the column gets the type.
  void retype(Column column, SqlType type) {
    Column.Owned identity = column.identity();
    if (identity != null) {
      SequencePlanner.requireSequenceType(type);
      sequences.retype(sequence(identity), type.oid());
    }
  }

  /// @param hint what to do instead, or null
  static void refuse(Table table, Column column, @Nullable String hint) {
    if (column.identity() != null) {
      EngineException refused =
          TableAlteration.refusal(
              ErrorCode.SYNTAX_ERROR, table, column.name(), "is an identity column");
      throw hint == null ? refused : refused.withHint(hint);
    }
  }

  private Sequence sequence(Column.Owned owned) {
    return Objects.requireNonNull(plan.state().sequence(owned.sequenceId()));
  }

  private static EngineException noIdentity(Table table, Column column) {
    return unready(table, column, "is not an identity column");
  }

  private static EngineException unready(Table table, Column column, String what) {
    return TableAlteration.refusal(ErrorCode.NOT_IN_PREREQUISITE_STATE, table, column.name(), what);
  }
}
