package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.plan.TouchedTables;
import dev.kakehashi.engine.sql.lexer.TableNames;
import dev.kakehashi.engine.store.api.StoreTransaction.LongArea;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Set;

/// Tables that a long transaction has declared, by tableId.
///
/// @param writes it may change these
/// @param includedReads it may read these alone, and `writes`; empty: it may read all
/// @param excludedReads it may not read these
public record DeclaredArea(Set<Long> writes, Set<Long> includedReads, Set<Long> excludedReads) {
  /// Area of a transaction that declares nothing.
  private static final DeclaredArea NONE = new DeclaredArea(Set.of(), Set.of(), Set.of());

  /// The area that the options name.
  ///
  /// @throws EngineException UNDEFINED_TABLE, INVALID_PARAMETER_VALUE if only a long transaction can have it, ...
  public static DeclaredArea of(BeginOptions options, CatalogSnapshot catalog) {
    BeginOptions.Areas areas = options.areas();
    if (options.kind() != BeginOptions.Kind.LTX) {
      if (!areas.equals(BeginOptions.Areas.NONE)) {
        throw new EngineException(
            ErrorCode.INVALID_PARAMETER_VALUE,
            "only a long transaction has write-preserve tables and read areas");
      }
      return NONE;
    }
    DeclaredArea area =
        new DeclaredArea(
            TableNames.resolve(areas.writePreserve(), catalog),
            TableNames.resolve(areas.readInclude(), catalog),
            TableNames.resolve(areas.readExclude(), catalog));
    for (long both : area.includedReads) {
      if (area.excludedReads.contains(both)) {
        throw new EngineException(
            ErrorCode.INVALID_PARAMETER_VALUE,
            "a table cannot be in the included and in the excluded read area");
      }
    }
    return area;
  }

  /// Area that the store keeps from others from the beginning.
  LongArea guarded(BeginOptions options) {
    boolean serializable = options.isolation() == BeginOptions.Isolation.SERIALIZABLE;
    return new LongArea(
        options.label(), options.priority(), writes, serializable ? includedReads : Set.of());
  }

  /// @throws EngineException UNDECLARED_TABLE if a statement goes beyond the area
  void check(TouchedTables tables, TransactionEnvironment environment) {
    for (long table : tables.changes()) {
      if (!writes.contains(table)) {
        throw outside(
            environment.tableName(table),
            "cannot change table \"%s\" in a long transaction that has not declared it",
            "Name it among the write-preserve tables of the transaction.");
      }
    }
    for (long table : tables.reads()) {
      boolean included =
          includedReads.isEmpty() || includedReads.contains(table) || writes.contains(table);
      if (!included || excludedReads.contains(table)) {
        throw outside(
            environment.tableName(table),
            "cannot read table \"%s\" outside of the read area of the long transaction",
            "Name it in the included read area, or take it out of the excluded one.");
      }
    }
  }

  private static EngineException outside(String table, String message, String hint) {
    return new EngineException(ErrorCode.UNDECLARED_TABLE, message.formatted(table)).withHint(hint);
  }
}
