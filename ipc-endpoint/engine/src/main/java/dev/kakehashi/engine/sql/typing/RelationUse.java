package dev.kakehashi.engine.sql.typing;

import dev.kakehashi.engine.catalog.Needs;
import dev.kakehashi.engine.rights.Privilege;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/// Use of one table or view that a statement names: the privileges that it needs. Confined to one thread, filled while the statement is
/// bound.
public final class RelationUse {
  private final long id;
  private final @Nullable Long asRole;
  private int required;
  private boolean changing;
  private boolean wholeRow;
  private final BitSet read = new BitSet();
  private final BitSet inserted = new BitSet();
  private final BitSet updated = new BitSet();

  /// @param asRole whose rights count; null: those of who runs the statement
  RelationUse(long id, @Nullable Long asRole) {
    this.id = id;
    this.asRole = asRole;
  }

  /// It needs the privilege, for one column at least where nothing says for which.
  public RelationUse require(Privilege privilege) {
    required |= privilege.bit();
    return this;
  }

  /// It locks rows that somebody is about to change.
  public void lock() {
    changing = true;
  }

  /// A column is read.
  ///
  /// @param column its position; -1: something that belongs to no column
  public void read(int column) {
    require(Privilege.SELECT);
    if (column < 0) {
      wholeRow = true;
    } else {
      read.set(column);
    }
  }

  public void insert(int column) {
    require(Privilege.INSERT);
    inserted.set(column);
  }

  public void update(int column) {
    require(Privilege.UPDATE);
    updated.set(column);
  }

  Needs.Relation need() {
    BitSet columns = (BitSet) read.clone();
    int[] all = columns.stream().toArray();
    if (wholeRow) {
      all = new int[] {-1};
    }
    return new Needs.Relation(
        id,
        asRole,
        required,
        changing,
        all,
        inserted.stream().toArray(),
        updated.stream().toArray());
  }
}
