package dev.kakehashi.bulk.arrow;

import dev.kakehashi.bulk.value.FileType;
import dev.kakehashi.bulk.value.FileType.Storage;
import dev.kakehashi.bulk.value.FileValues;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.flatbuf.RecordBatch;
import org.jspecify.annotations.Nullable;

/// The dictionaries of a file as far as they have been read. A dictionary does not change any more once it has been given out: a
/// replacement or an addition makes a new one. Not thread-safe; what is given out is.
final class ArrowDictionaries implements AutoCloseable {
  private final ArrowSource source;
  private final BulkContext context;

  /// Fields whose dictionaries are needed, by their numbers.
  private final Map<Long, ArrowShape> needed = new HashMap<>();

  private final Map<Long, FileValues> dictionaries = new HashMap<>();
  private long reserved;

  ArrowDictionaries(ArrowSource source, List<ArrowShape> loaded, BulkContext context) {
    this.source = source;
    this.context = context;
    for (ArrowShape shape : loaded) {
      if (shape.hasDictionary()) {
        ArrowShape other = needed.putIfAbsent(shape.dictionary(), shape);
        boolean same =
            other == null
                || (ArrowSchemas.required(other.type()).equals(shape.type())
                    && other.layout() == shape.layout()
                    && other.width() == shape.width());
        if (!same) {
          throw ArrowSource.bad("has columns of different types with one dictionary");
        }
      }
    }
  }

  /// Current dictionaries, by their numbers.
  Map<Long, FileValues> current() {
    return Map.copyOf(dictionaries);
  }

  /// Reads the message of a dictionary.
  ///
  /// @throws EngineException BAD_COPY_FILE_FORMAT, FEATURE_NOT_SUPPORTED
  void add(ArrowSource.Read message) {
    ArrowSource.guarded(
        source.file(),
        () -> {
          DictionaryBatch batch =
              ArrowSchemas.required(
                  (DictionaryBatch) message.message().header(new DictionaryBatch()));
          ArrowShape shape = needed.get(batch.id());
          if (shape != null) {
            add(message, batch, shape);
          }
          return true;
        });
  }

  private void add(ArrowSource.Read message, DictionaryBatch batch, ArrowShape shape) {
    FileType type = ArrowSchemas.required(shape.type());
    if (type.storage() == Storage.LIST) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          "column \"" + shape.name() + "\" has a dictionary of lists, which cannot be read");
    }
    RecordBatch record = ArrowSchemas.required(batch.data());
    FileValues before = batch.isDelta() ? dictionaries.get(batch.id()) : null;
    ArrowShape plain =
        new ArrowShape(
            shape.name(),
            type,
            shape.typeName(),
            shape.layout(),
            shape.width(),
            shape.children(),
            ArrowShape.NO_DICTIONARY,
            0,
            true);
    int rows = ArrowBatchReader.rows(record.length());
    try (ArrowBatchReader reader = new ArrowBatchReader(source.file(), context)) {
      ArrowColumnData data =
          ArrowSchemas.required(reader.read(message, record, List.of(plain), Set.of(0)).getFirst());
      // The elements are checked against buffers, except for nulls, which have none.
      reserve(17L * rows);
      FileValues decoded = new FileValues(type);
      try (ArrowDecoder decoder = new ArrowDecoder(decoded, context)) {
        decoder.decode(data, 0, rows, null);
        dictionaries.put(batch.id(), joined(before, decoded));
      }
    }
  }

  private void reserve(long bytes) {
    context.reserveMemory(bytes);
    reserved += bytes;
  }

  /// One dictionary after the other, with bytes of its own.
  private FileValues joined(@Nullable FileValues before, FileValues added) {
    int first = before == null ? 0 : before.count();
    long bytes = bytes(before) + bytes(added);
    int count = Math.addExact(first, added.count());
    reserve(bytes + 17L * count);
    FileValues all = new FileValues(added.type());
    all.begin(count);
    boolean anyNull = added.hasNulls() || (before != null && before.hasNulls());
    byte[] present = anyNull ? all.markNulls() : new byte[0];
    byte[] joined = new byte[Math.toIntExact(bytes)];
    int filled = 0;
    for (int i = 0; i < count; i++) {
      FileValues from = before != null && i < first ? before : added;
      int at = from == before ? i : i - first;
      boolean isNull = from.isNull(at);
      if (anyNull) {
        present[i] = (byte) (isNull ? 0 : 1);
      }
      if (all.type().storage() == Storage.LONG) {
        all.longs()[i] = from.longs()[at];
      } else if (all.type().storage() == Storage.BYTES) {
        int length = isNull ? 0 : from.lengths()[at];
        if (length > 0) {
          System.arraycopy(from.bytes(), from.starts()[at], joined, filled, length);
        }
        all.starts()[i] = filled;
        all.lengths()[i] = length;
        filled += length;
      }
    }
    all.setBytes(joined);
    return all;
  }

  private static long bytes(@Nullable FileValues values) {
    if (values == null || values.type().storage() != Storage.BYTES) {
      return 0;
    }
    long bytes = 0;
    for (int i = 0; i < values.count(); i++) {
      bytes += values.isNull(i) ? 0 : values.lengths()[i];
    }
    return bytes;
  }

  @Override
  public void close() {
    dictionaries.clear();
    context.releaseMemory(reserved);
    reserved = 0;
  }
}
