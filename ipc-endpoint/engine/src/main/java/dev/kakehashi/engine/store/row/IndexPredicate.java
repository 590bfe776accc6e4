package dev.kakehashi.engine.store.row;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.IndexCondition;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.index.KeyCodec;
import dev.kakehashi.engine.store.index.ValueCodec;
import dev.kakehashi.engine.store.index.VarlenaLengths;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.CompactWord;
import dev.kakehashi.engine.vector.VectorBatch;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/// Which rows an index has: those that fulfil all its conditions. Values are compared as those of keys are. Immutable, thread-safe.
final class IndexPredicate {
  /// @param stored position of the column in the rows
  /// @param number the value of a column of kind INTEGER
  /// @param key the value of another column, encoded
  @SuppressWarnings("ArrayRecordComponent") // never compared with each other
  private record Term(
      IndexCondition condition, int stored, ColumnKind kind, long number, byte[] key) {

    /// @param stored whether the word is the store's
    boolean holds(long word, boolean isNull, boolean stored) {
      IndexCondition.Operator operator = condition.operator();
      if (isNull || condition.value() == null) {
        return operator
            == (isNull ? IndexCondition.Operator.IS_NULL : IndexCondition.Operator.IS_NOT_NULL);
      }
      int order = compare(word, stored);
      return switch (operator) {
        case EQUAL -> order == 0;
        case NOT_EQUAL -> order != 0;
        case LESS -> order < 0;
        case LESS_OR_EQUAL -> order <= 0;
        case GREATER -> order > 0;
        case GREATER_OR_EQUAL -> order >= 0;
        case IS_NULL, IS_NOT_NULL -> throw new IllegalStateException(operator + " has a value");
      };
    }

    private int compare(long word, boolean stored) {
      if (kind == ColumnKind.INTEGER) {
        return Long.compare(word, number);
      }
      KeyBuffer encoded = new KeyBuffer(32);
      if (stored) {
        KeyCodec.appendStoredValue(encoded, kind, word);
      } else {
        KeyCodec.appendValue(encoded, kind, word);
      }
      return Arrays.compareUnsigned(encoded.bytes, 0, encoded.length, key, 0, key.length);
    }
  }

  private final Term[] terms;

  /// @param pool lends memory for the time of the call
  IndexPredicate(TableDefinition table, List<IndexCondition> conditions, MemoryPool pool) {
    terms = conditions.stream().map(condition -> term(table, condition, pool)).toArray(Term[]::new);
  }

  private static Term term(TableDefinition table, IndexCondition condition, MemoryPool pool) {
    ColumnKind kind = table.columns().get(condition.column());
    int stored = table.placement().position(condition.column());
    ByteBuffer value = condition.value();
    if (value == null) {
      return new Term(condition, stored, kind, 0, new byte[0]);
    }
    long word = ValueCodec.decodeValue(kind, value.duplicate(), pool);
    if (!kind.byReference() || CompactWord.isCompact(word)) {
      KeyBuffer encoded = encode(kind, word);
      return new Term(condition, stored, kind, word, Arrays.copyOf(encoded.bytes, encoded.length));
    }
    try {
      KeyBuffer encoded = encode(kind, word);
      return new Term(condition, stored, kind, 0, Arrays.copyOf(encoded.bytes, encoded.length));
    } finally {
      pool.free(word, VarlenaLengths.bytes(kind, word));
    }
  }

  private static KeyBuffer encode(ColumnKind kind, long word) {
    KeyBuffer encoded = new KeyBuffer(32);
    KeyCodec.appendStoredValue(encoded, kind, word);
    return encoded;
  }

  /// Stored columns that it needs.
  int[] columns() {
    return Arrays.stream(terms).mapToInt(Term::stored).toArray();
  }

  boolean holds(RowVersion version) {
    for (Term term : terms) {
      if (!term.holds(version.word(term.stored), version.isNull(term.stored), true)) {
        return false;
      }
    }
    return true;
  }

  /// @param batch with the columns of the table
  boolean holds(VectorBatch batch, int row, List<IndexCondition> present) {
    for (int i = 0; i < terms.length; i++) {
      // The position in the table is that of the present definition: columns may have been dropped.
      ColumnVector column = batch.columns[present.get(i).column()];
      boolean isNull = column.isNull(row);
      if (!terms[i].holds(isNull ? 0 : column.words[row], isNull, false)) {
        return false;
      }
    }
    return true;
  }
}
