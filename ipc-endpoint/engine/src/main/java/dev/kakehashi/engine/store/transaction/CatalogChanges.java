package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.store.api.SequencePosition;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.durable.DefinitionCodec;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.log.StoreKeys;
import dev.kakehashi.engine.store.row.TableIndex;
import dev.kakehashi.engine.store.table.RowTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/// The changes of the catalogue that one transaction has made, in order. Used by the thread that has the transaction.
///
/// Each step is effective in memory as soon as it is made, so that the transaction can use what it has defined; it knows how to undo it and
/// what becomes effective for others at the commit. The caller sees to it that others do not meet a step before: new tables have numbers
/// that nobody else knows, and a dropped table or index is the transaction's alone. Others may write while an index is made: they maintain
/// it from then on.
///
/// Steps and row writes are undone in reverse order of all together, so an index that is taken away finds no entry of a write that is still
/// there.
final class CatalogChanges {
  /// One change.
  ///
  /// @param writes row writes of the transaction that came before
  private record Step(
      CatalogChange change,
      int writes,
      Runnable undo,
      Consumer<LogRecord> encode,
      Runnable publish) {}

  private final RowTransaction transaction;
  private final StoreTransactions store;
  private final List<Step> steps = new ArrayList<>();

  CatalogChanges(RowTransaction transaction) {
    this.transaction = transaction;
    this.store = transaction.store;
  }

  private static void nothing() {}

  int size() {
    return steps.size();
  }

  List<CatalogChange> changes() {
    return steps.stream().map(Step::change).toList();
  }

  /// Row writes before the last step.
  int lastWrites() {
    return steps.getLast().writes();
  }

  void add(CatalogChange change) {
    switch (change) {
      case CatalogChange.Put put -> {
        byte[] value = put.value().clone();
        add(
            change,
            CatalogChanges::nothing,
            log -> log.put(StoreKeys.catalog(put.key()), value),
            CatalogChanges::nothing);
      }
      case CatalogChange.Remove remove -> {
        byte[] key = StoreKeys.catalog(remove.key());
        add(
            change,
            CatalogChanges::nothing,
            log -> log.delete(key, key.length),
            CatalogChanges::nothing);
      }
      case CatalogChange.CreateTable create -> createTable(create);
      case CatalogChange.DropTable drop -> dropTable(drop);
      case CatalogChange.CreateIndex create -> createIndex(create);
      case CatalogChange.DropIndex drop -> dropIndex(drop);
      case CatalogChange.ForgetSequence forget -> {
        byte[] key = StoreKeys.sequence(forget.stateId());
        add(
            change,
            CatalogChanges::nothing,
            log -> log.delete(key, key.length),
            () -> store.sequences().remove(forget.stateId()));
      }
      case CatalogChange.StartSequence start -> {
        // After a restart a prepared transaction's sequence is there with the values that it has
        // taken.
        if (store.sequences().get(start.stateId()) == null) {
          store.sequences().put(start.stateId(), new SequencePosition(start.first(), false));
        }
        add(
            change,
            () -> store.sequences().remove(start.stateId()),
            log ->
                log.put(
                    StoreKeys.sequence(start.stateId()),
                    Objects.requireNonNull(store.sequences().get(start.stateId())).encoded()),
            CatalogChanges::nothing);
      }
      case CatalogChange.Reshape reshape -> reshape(reshape);
      case CatalogChange.Redefine redefine -> {
        RowTable table = store.tables().require(redefine.definition().tableId());
        TableDefinition before = table.definition();
        table.beginFormChange();
        table.form.redefine(redefine.definition());
        add(
            change,
            () -> {
              table.form.redefine(before);
              table.endFormChange();
            },
            log -> putDefinition(table, log),
            table::endFormChange);
      }
    }
  }

  private void add(
      CatalogChange change, Runnable undo, Consumer<LogRecord> encode, Runnable publish) {
    steps.add(new Step(change, transaction.writes().size(), undo, encode, publish));
  }

  private static void putDefinition(RowTable table, LogRecord log) {
    log.put(StoreKeys.table(table.tableId()), DefinitionCodec.encode(table.definition()));
  }

  private void reshape(CatalogChange.Reshape reshape) {
    RowTable table = store.tables().require(reshape.definition().tableId());
    store.checkNotInUse(table);
    TableDefinition before = table.definition();
    TableDefinition next =
        reshape.origins().isEmpty() ? reshape.definition() : table.form.reshaped(reshape);
    table.beginFormChange();
    table.form.reshape(next);
    // A prepared transaction's rows have the columns where they are now.
    add(
        new CatalogChange.Reshape(next, List.of()),
        () -> {
          table.form.reshape(before);
          table.endFormChange();
        },
        log -> putDefinition(table, log),
        table::endFormChange);
  }

  private void createTable(CatalogChange.CreateTable create) {
    RowTable table = store.tables().add(create.definition());
    add(
        create,
        () -> {
          store.tables().forget(table.tableId());
          table.drop();
          freeWithTransaction(table::free);
        },
        log -> putDefinition(table, log),
        CatalogChanges::nothing);
  }

  private void dropTable(CatalogChange.DropTable drop) {
    long tableId = drop.tableId();
    RowTable table = store.tables().require(tableId);
    store.checkNotInUse(table);
    add(
        drop,
        CatalogChanges::nothing,
        log -> {
          byte[] key = StoreKeys.table(tableId);
          log.delete(key, key.length);
          log.deleteRange(StoreKeys.row(tableId, 0), StoreKeys.row(tableId + 1, 0));
        },
        () -> {
          store.tables().forget(tableId);
          table.drop();
          store.freeLater(table::free);
        });
  }

  private void createIndex(CatalogChange.CreateIndex create) {
    RowTable table = store.tables().require(create.tableId());
    IndexDefinition definition = create.index();
    if (table.form.indexById(definition.indexId()) != null) {
      throw new IllegalArgumentException("index %d exists".formatted(definition.indexId()));
    }
    TableIndex index = new TableIndex(table.definition(), definition, store.parts().pool());
    table.form.addIndex(index);
    boolean built = false;
    try {
      store
          .collector()
          .whileNothingIsFreed(horizon -> table.buildIndex(transaction, index, horizon));
      built = true;
    } finally {
      if (!built) {
        table.form.removeIndex(index);
        freeWithTransaction(index::free);
      }
    }
    add(
        create,
        () -> {
          table.form.removeIndex(index);
          freeWithTransaction(index::free);
        },
        log -> putDefinition(table, log),
        CatalogChanges::nothing);
  }

  /// Takes the index away at once: what the transaction writes from now on need not be unique in it. The collector may leave entries in it
  /// that lead to nothing, until it comes back; whoever finds an entry looks for a version with its key.
  private void dropIndex(CatalogChange.DropIndex drop) {
    RowTable table = store.tables().require(drop.tableId());
    int position = table.form.indexPosition(drop.indexId());
    TableIndex index = table.form.indexes()[position];
    table.beginFormChange();
    table.form.removeIndex(index);
    add(
        drop,
        () -> {
          table.form.addIndex(position, index);
          table.endFormChange();
        },
        log -> putDefinition(table, log),
        () -> {
          table.endFormChange();
          store.freeLater(index::free);
        });
  }

  /// Frees something with what the transaction's rolled back writes have left, after that: they may refer to it.
  private void freeWithTransaction(Runnable action) {
    transaction.garbage().addAction(action);
  }

  /// Whether a table has got another layout.
  boolean reshapes() {
    for (Step step : steps) {
      if (step.change() instanceof CatalogChange.Reshape) {
        return true;
      }
    }
    return false;
  }

  void undoLast() {
    steps.removeLast().undo().run();
  }

  /// Appends the changes to the record of the transaction's commit.
  void encode(LogRecord log) {
    steps.forEach(step -> step.encode().accept(log));
    store.catalog().reserveIds(log);
  }

  /// Appends the changes to the record of the transaction's preparation.
  ///
  /// @param key of the prepared transaction
  void encodePrepared(byte[] key, LogRecord log) {
    int number = 0;
    for (Step step : steps) {
      log.put(StoreKeys.preparedDefinition(key, number++), DefinitionCodec.encode(step.change()));
    }
    store.catalog().reserveIds(log);
  }

  /// Makes the changes effective for everybody.
  void publish() {
    steps.forEach(step -> step.publish().run());
    store.catalog().publish(changes());
  }
}
