package dev.kakehashi.bulk.dump;

import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.BatchView;
import dev.kakehashi.formats.Output;
import dev.kakehashi.formats.PlainText;
import dev.kakehashi.formats.ValueForm;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// Values of the columns that a dump is partitioned by, and the directories that they name: `column=value`, as Hive has them. Not
/// thread-safe.
final class PartitionKey {
  /// Value of null in the name of a directory.
  private static final String NULL = "__HIVE_DEFAULT_PARTITION__";

  /// Longest name of a directory.
  private static final int MAX_NAME_BYTES = 255;

  private final List<LoadColumn> columns;
  private final int[] indices;
  private final int columnCount;
  private final BatchView view = new BatchView();

  /// Length of each column's values on the heap: 0 for a varlena, -1 for a value in the word.
  private final int[] fixedBytes;

  /// @param names of columns, each is there
  PartitionKey(List<LoadColumn> all, List<String> names) {
    columns = new ArrayList<>();
    indices = new int[names.size()];
    fixedBytes = new int[names.size()];
    columnCount = all.size();
    for (int i = 0; i < indices.length; i++) {
      indices[i] = indexOf(all, names.get(i));
      LoadColumn column = all.get(indices[i]);
      columns.add(column);
      fixedBytes[i] = RowBatchReader.fixedBytes(column.typeOid());
      // Refuses types without a text.
      ValueForm ignored = ValueForm.of(column.typeOid());
    }
  }

  private static int indexOf(List<LoadColumn> all, String name) {
    for (int i = 0; i < all.size(); i++) {
      if (all.get(i).name().equals(name)) {
        return i;
      }
    }
    throw new EngineException(
        ErrorCode.UNDEFINED_COLUMN, "column \"" + name + "\" of partition_by does not exist");
  }

  void wrap(MemorySegment batch) {
    view.wrap(batch, columnCount);
  }

  int rowCount() {
    return view.rowCount();
  }

  /// Whether two rows of the batch belong into one directory.
  boolean isSame(int left, int right) {
    long leftAt = view.rowAt(left);
    long rightAt = view.rowAt(right);
    for (int i = 0; i < indices.length; i++) {
      boolean isNull = view.isNull(leftAt, indices[i]);
      if (isNull != view.isNull(rightAt, indices[i])) {
        return false;
      }
      if (!isNull
          && !isSame(
              view.word(leftAt, indices[i]), view.word(rightAt, indices[i]), fixedBytes[i])) {
        return false;
      }
    }
    return true;
  }

  private boolean isSame(long left, long right, int fixed) {
    if (fixed < 0 || left == right) {
      return left == right;
    }
    long leftAt = fixed > 0 ? view.fixedAt(left, fixed) : view.payloadAt(left);
    long rightAt = fixed > 0 ? view.fixedAt(right, fixed) : view.payloadAt(right);
    int leftBytes = fixed > 0 ? fixed : view.payloadBytes(left);
    int rightBytes = fixed > 0 ? fixed : view.payloadBytes(right);
    return leftBytes == rightBytes
        && MemorySegment.mismatch(
                view.memory(),
                leftAt,
                leftAt + leftBytes,
                view.memory(),
                rightAt,
                rightAt + rightBytes)
            < 0;
  }

  /// Names of the directories of a row.
  List<String> directories(int row) {
    List<String> names = new ArrayList<>(indices.length);
    long rowAt = view.rowAt(row);
    for (int i = 0; i < indices.length; i++) {
      String value =
          view.isNull(rowAt, indices[i])
              ? NULL
              : escaped(text(columns.get(i), view.word(rowAt, indices[i])));
      String name = escaped(columns.get(i).name()) + "=" + value;
      if (name.length() > MAX_NAME_BYTES) {
        throw new EngineException(
                ErrorCode.INVALID_PARAMETER_VALUE,
                "a value of column \"%s\" is too long for the name of a directory"
                    .formatted(columns.get(i).name()))
            .withColumn(columns.get(i).name());
      }
      names.add(name);
    }
    return names;
  }

  private String text(LoadColumn column, long word) {
    try {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      Output out = new Output(bytes);
      PlainText.put(out, ValueForm.of(column.typeOid()), view, word);
      out.flush();
      return bytes.toString(StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("memory cannot be written to", e);
    }
  }

  /// Percent escapes for all but letters, digits and a few, so that a name is one name, and says its value. The name of an empty text is
  /// `column=`.
  static String escaped(String text) {
    StringBuilder name = new StringBuilder();
    for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (each & 0xff);
      boolean isPlain =
          (c >= 'a' && c <= 'z')
              || (c >= 'A' && c <= 'Z')
              || (c >= '0' && c <= '9')
              || "-_.+@ ,".indexOf(c) >= 0;
      if (isPlain) {
        name.append(c);
      } else {
        name.append('%');
        name.append(Character.toUpperCase(Character.forDigit(c >> 4, 16)));
        name.append(Character.toUpperCase(Character.forDigit(c & 15, 16)));
      }
    }
    return name.toString();
  }
}
