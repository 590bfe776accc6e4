package dev.kakehashi.bulk.csv;

import dev.kakehashi.bulk.csv.text.FileUtf8;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/// The first line of a file that names its columns.
final class CsvHeader {
  private CsvHeader() {}

  /// Which columns the file has.
  ///
  /// @param data the line from `from` to `to`
  /// @return indices into the columns
  /// @throws EngineException BAD_COPY_FILE_FORMAT, UNDEFINED_COLUMN, DUPLICATE_COLUMN
  static int[] read(
      CsvOptions options,
      LineEnd lineEnd,
      List<LoadColumn> columns,
      boolean listed,
      byte[] data,
      int from,
      int to,
      BulkContext context) {
    if (!options.header().hasNames()) {
      return IntStream.range(0, columns.size()).toArray();
    }
    boolean[] none = new boolean[0];
    try (RowFields fields = RowFields.of(options, lineEnd, columns.size(), none, none, context)) {
      fields.begin(data, from, to);
      int count = from == to ? 0 : fields.split();
      if (fields.failure != null) {
        throw fields.failure;
      }
      if (options.header().hasAllNames()) {
        match(options, columns, fields, count);
        return IntStream.range(0, count).toArray();
      }
      return byName(columns, listed, fields, count);
    }
  }

  private static void match(
      CsvOptions options, List<LoadColumn> columns, RowFields fields, int count) {
    if (count != columns.size()) {
      throw RowFields.bad(
          "wrong number of fields in header line: got %d, expected %d"
              .formatted(count, columns.size()));
    }
    for (int i = 0; i < count; i++) {
      String expected = columns.get(i).name();
      String what = "column name mismatch in header line field " + (i + 1);
      if ((fields.flags[i] & RowFields.NULL) != 0) {
        throw RowFields.bad(
            "%s: got null value (\"%s\"), expected \"%s\""
                .formatted(what, options.nullText(), expected));
      }
      String name = name(fields, i);
      if (!name.equals(expected)) {
        throw RowFields.bad("%s: got \"%s\", expected \"%s\"".formatted(what, name, expected));
      }
    }
  }

  private static String name(RowFields fields, int field) {
    return FileUtf8.text(fields.bytes(field), fields.from[field], fields.to[field]);
  }

  private static int[] byName(
      List<LoadColumn> columns, boolean listed, RowFields fields, int count) {
    Map<String, Integer> byName = new HashMap<>();
    for (int i = 0; i < columns.size(); i++) {
      byName.put(columns.get(i).name(), i);
    }
    int[] found = new int[Math.min(count, columns.size())];
    BitSet seen = new BitSet();
    // One field more than there are columns is kept, and has to be unknown or twice there.
    for (int i = 0; i < Math.min(count, columns.size() + 1); i++) {
      String name = name(fields, i);
      Integer index = byName.get(name);
      if (index == null) {
        throw new EngineException(
            ErrorCode.UNDEFINED_COLUMN,
            "column \"%s\" of the header line does not exist".formatted(name));
      }
      if (seen.get(index)) {
        throw new EngineException(
            ErrorCode.DUPLICATE_COLUMN,
            "column \"%s\" is more than once in the header line".formatted(name));
      }
      seen.set(index);
      found[i] = index;
    }
    if (listed && count < columns.size()) {
      throw new EngineException(
          ErrorCode.UNDEFINED_COLUMN,
          "column \"%s\" is not in the header line"
              .formatted(columns.get(seen.nextClearBit(0)).name()));
    }
    return Arrays.copyOf(found, count);
  }
}
