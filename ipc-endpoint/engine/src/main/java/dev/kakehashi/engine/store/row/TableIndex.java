package dev.kakehashi.engine.store.row;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.index.KeyCodec;
import dev.kakehashi.engine.store.index.OrderedTree;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.stream.IntStream;

/// An index: entries are the encoded key followed by the row identifier (8 bytes), for every version of the row that somebody may still
/// read.
///
/// An entry alone says nothing: a reader that finds it looks for the version of the row that it can see, and whether that version has the
/// entry's key. A row with versions of different keys has an entry for each, and a reader takes the row at exactly one of them. A version
/// that does not fulfil the predicate of a partial index has no key, and no entry.
///
/// Two writers that make the same unique key at once must not overlook each other. The version is in the page before the entry is made, and
/// checking the other rows of the key and making the entry happens under a lock that all writers of that key share (`stripes`): so the
/// second one finds the first one's entry, and behind it its version.
public final class TableIndex {
  private static final int STRIPES = 64;

  /// Replaced when the index gets another name, by the thread that has the table for itself.
  public volatile IndexDefinition definition;

  public final KeyCodec codec;
  public final OrderedTree tree;

  /// Stored columns of the key and the predicate.
  public final int[] keyColumns;

  private final IndexPredicate predicate;

  private final Object[] stripes;

  /// Guarded by the collector's lock.
  private boolean freed;

  public TableIndex(TableDefinition table, IndexDefinition definition, MemoryPool pool) {
    this.definition = definition;
    this.codec = new KeyCodec(table, definition);
    this.predicate = new IndexPredicate(table, definition.predicate(), pool);
    this.keyColumns =
        IntStream.concat(
                definition.columns().stream().mapToInt(table.placement()::position),
                IntStream.of(predicate.columns()))
            .distinct()
            .toArray();
    this.tree = new OrderedTree(pool);
    this.stripes = new Object[definition.unique() ? STRIPES : 0];
    java.util.Arrays.setAll(stripes, i -> new Object());
  }

  /// Gives the index the name, and the positions in the table, of a definition that is otherwise the same.
  void describe(IndexDefinition renamed) {
    definition = renamed;
  }

  /// Frees the nodes of an index that no running transaction may know. Called by the collector, or by the thread that has the table for
  /// itself.
  public void free() {
    freed = true;
    tree.free();
  }

  /// Whether its nodes are gone: the collector may still have entries of it to drop, of a transaction that took changes back beside one
  /// that made the index, when that was rolled back before this one ended.
  public boolean isFreed() {
    return freed;
  }

  /// Encodes the key of a version; of one that has no entry, for the index is partial, nothing.
  ///
  /// @return whether the key is unique whatever the others are: a column of it is null, and nulls are distinct, or there is no key
  public boolean encode(RowVersion version, KeyBuffer to) {
    to.length = 0;
    if (!predicate.holds(version)) {
      return true;
    }
    boolean anyNull = false;
    for (int i = 0; i < codec.keyColumns(); i++) {
      int column = codec.column(i);
      boolean isNull = version.isNull(column);
      anyNull |= isNull;
      codec.appendStored(to, i, version.word(column), isNull);
    }
    return anyNull && !definition.nullsNotDistinct();
  }

  /// Whether the index has a row.
  ///
  /// @param batch with the columns of the table
  public boolean covers(VectorBatch batch, int row) {
    return predicate.holds(batch, row, definition.predicate());
  }

  /// Appends the row identifier to a key.
  public void complete(KeyBuffer key, long rowId) {
    checkLength(key);
    key.putLong(rowId);
  }

  /// @throws EngineException LIMIT_EXCEEDED if the key is too long for the index
  public void checkLength(KeyBuffer key) {
    if (key.length + 8 > OrderedTree.MAX_ENTRY_BYTES) {
      throw new EngineException(
              ErrorCode.LIMIT_EXCEEDED,
              "index row size %d exceeds maximum %d for index \"%s\""
                  .formatted(key.length, OrderedTree.MAX_ENTRY_BYTES - 8, definition.name()))
          .withHint("Consider an index over md5() of the value.");
    }
  }

  /// Does something while nobody checks or makes unique keys.
  public void withAllStripes(Runnable action) {
    withStripes(0, action);
  }

  private void withStripes(int from, Runnable action) {
    if (from == stripes.length) {
      action.run();
      return;
    }
    synchronized (stripes[from]) {
      withStripes(from + 1, action);
    }
  }

  /// The lock of all keys equal to the first `length` bytes.
  public Object stripe(KeyBuffer key, int length) {
    int hash = 1;
    for (int i = 0; i < length; i++) {
      hash = 31 * hash + key.bytes[i];
    }
    hash ^= hash >>> 16;
    return stripes[hash & (STRIPES - 1)];
  }
}
