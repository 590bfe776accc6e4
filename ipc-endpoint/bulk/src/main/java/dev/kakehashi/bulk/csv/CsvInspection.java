package dev.kakehashi.bulk.csv;

import dev.kakehashi.bulk.csv.text.Eight;
import dev.kakehashi.bulk.csv.text.FileUtf8;
import dev.kakehashi.bulk.csv.text.TextBatch;
import dev.kakehashi.bulk.csv.text.TextColumn;
import dev.kakehashi.bulk.format.FileInput;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.InspectedItem;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Guesses of what the beginning of a file shows: delimiter, header, names and types of columns. A load guesses nothing: it is told.
final class CsvInspection {
  private static final int SAMPLE_BYTES = 1 << 20;
  private static final int MAX_COLUMNS = 10_000;
  private static final byte[] DELIMITERS = {',', ';', '\t', '|'};

  /// Types in the order in which they are tried.
  private static final List<LoadColumn> TYPES =
      List.of(
          type("bigint", TypeOid.INT8),
          type("numeric", TypeOid.NUMERIC),
          type("boolean", TypeOid.BOOL),
          type("date", TypeOid.DATE),
          type("timestamp without time zone", TypeOid.TIMESTAMP),
          type("timestamp with time zone", TypeOid.TIMESTAMPTZ),
          type("time without time zone", TypeOid.TIME),
          type("uuid", TypeOid.UUID));

  private final String name;
  private final BulkContext context;
  private final CsvOptions options;
  private final byte[] sample;
  private final int from;
  private final int to;
  private final LineEnd lineEnd;
  private final List<InspectedItem> items = new ArrayList<>();

  private static LoadColumn type(String name, int oid) {
    return new LoadColumn("", oid, -1, name, true, List.of());
  }

  CsvInspection(FileInput file, CsvOptions options, BulkContext context) {
    this.name = file.name();
    this.context = context;
    context.reserveMemory(SAMPLE_BYTES + Eight.PADDING);
    sample = new byte[SAMPLE_BYTES + Eight.PADDING];
    int read = -1;
    try (ByteSource source = new ByteSource(file, options.compression())) {
      read = source.read(sample, 0, SAMPLE_BYTES);
    } finally {
      if (read < 0) {
        context.releaseMemory(SAMPLE_BYTES + Eight.PADDING);
      }
    }
    boolean isWhole = read < SAMPLE_BYTES;
    from = read >= 3 && sample[0] == (byte) 0xEF && sample[1] == (byte) 0xBB ? 3 : 0;
    LineEnd found = new FirstLine(options, from).find(sample, read, isWhole);
    lineEnd = found == null ? LineEnd.LF : found;
    RowEnds ends = new RowEnds(options, lineEnd);
    ends.scan(sample, from, read, 0);
    // A row that is cut off says nothing.
    to = isWhole ? read : (int) Math.max(from, ends.rowEnd());
    this.options = options.isCsv() ? options.withDelimiter(delimiter(options)) : options;
    item("file", "format", options.isCsv() ? "csv" : "text");
    item("file", "bytes", Long.toString(file.sizeBytes()));
    item("file", "line end", lineEnd.name().toLowerCase(java.util.Locale.ROOT));
  }

  private void item(String kind, String itemName, String value) {
    items.add(new InspectedItem(name, kind, itemName, value));
  }

  /// Splits some rows with each delimiter: the one that gives most columns, in all rows the same number, is it.
  private byte delimiter(CsvOptions given) {
    byte best = given.delimiter();
    int most = 1;
    for (byte each : DELIMITERS) {
      int count = steadyCount(given.withDelimiter(each));
      if (count > most) {
        most = count;
        best = each;
      }
    }
    return best;
  }

  /// Columns of the first hundred rows; 0 if they have different numbers of them.
  private int steadyCount(CsvOptions tried) {
    try (RowFields fields = fields(tried)) {
      return steadyCount(fields);
    }
  }

  private RowFields fields(CsvOptions tried) {
    boolean[] none = new boolean[0];
    return RowFields.of(tried, lineEnd, MAX_COLUMNS, none, none, context);
  }

  private int steadyCount(RowFields fields) {
    fields.begin(sample, from, to);
    int count = -1;
    for (int row = 0; row < 100 && fields.at < to; row++) {
      int found = fields.split();
      if (fields.failure != null || (count >= 0 && found != count)) {
        return 0;
      }
      count = found;
    }
    return Math.max(count, 0);
  }

  List<InspectedItem> items() {
    try {
      guess();
      return items;
    } finally {
      context.releaseMemory(SAMPLE_BYTES + Eight.PADDING);
    }
  }

  private void guess() {
    try (RowFields fields = fields(options)) {
      guess(fields);
    }
  }

  private void guess(RowFields fields) {
    fields.begin(sample, from, to);
    int count = from == to ? 0 : Math.min(fields.split(), MAX_COLUMNS);
    List<String> names = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      names.add(
          new String(
              fields.bytes(i),
              fields.from[i],
              fields.to[i] - fields.from[i],
              StandardCharsets.UTF_8));
    }
    Candidates candidates = new Candidates(count);
    int rows = 0;
    while (fields.at < to) {
      context.checkCanceled();
      if (fields.split() == count && fields.failure == null) {
        rows++;
        candidates.see(fields);
      }
    }
    boolean isHeader = isHeader(names, candidates, rows);
    if (!isHeader && count > 0) {
      fields.begin(sample, from, to);
      fields.split();
      candidates.see(fields);
    }
    option("delimiter", new String(new byte[] {options.delimiter()}, StandardCharsets.US_ASCII));
    option("header", Boolean.toString(isHeader));
    Set<String> taken = new HashSet<>();
    for (int i = 0; i < count; i++) {
      String column = isHeader && !names.get(i).isEmpty() ? names.get(i) : "column" + (i + 1);
      while (!taken.add(column)) {
        column += "_" + (i + 1);
      }
      item("column", column, candidates.type(i));
    }
    candidates.close();
  }

  private void option(String optionName, String value) {
    item("option", optionName, value);
  }

  /// A first line of different names, none of which is of a type that its column has.
  private boolean isHeader(List<String> names, Candidates candidates, int rows) {
    if (names.isEmpty() || new HashSet<>(names).size() < names.size() || names.contains("")) {
      return false;
    }
    boolean anyTyped = false;
    for (int i = 0; i < names.size(); i++) {
      byte[] text = names.get(i).getBytes(StandardCharsets.UTF_8);
      byte[] padded = java.util.Arrays.copyOf(text, text.length + Eight.PADDING);
      if (!candidates.firstTypeOf(padded, text.length).equals("text")) {
        return false;
      }
      anyTyped |= !candidates.type(i).equals("text");
    }
    // With texts alone a first line looks like the others: names rather have no blanks.
    return anyTyped
        || rows == 0
        || names.stream().allMatch(each -> each.matches("[\\p{L}_][\\p{L}\\p{N}_]*"));
  }

  /// Which types the values of each column have so far.
  private final class Candidates implements AutoCloseable {
    private final BitSet[] possible;
    private final boolean[] seen;
    private final List<TextColumn> readers = new ArrayList<>();
    private final TextBatch batch = new TextBatch(1, context);

    private Candidates(int count) {
      possible = new BitSet[count];
      seen = new boolean[count];
      for (int i = 0; i < count; i++) {
        possible[i] = new BitSet();
        possible[i].set(0, TYPES.size());
      }
      TYPES.forEach(type -> readers.add(TextColumn.of(type, context)));
    }

    private void see(RowFields fields) {
      for (int i = 0; i < possible.length; i++) {
        if ((fields.flags[i] & RowFields.NULL) == 0) {
          seen[i] = true;
          BitSet types = possible[i];
          for (int type = types.nextSetBit(0); type >= 0; type = types.nextSetBit(type + 1)) {
            if (!isOf(type, fields.bytes(i), fields.from[i], fields.to[i])) {
              types.clear(type);
            }
          }
        }
      }
    }

    private boolean isOf(int type, byte[] bytes, int begin, int end) {
      batch.reset();
      batch.addRow();
      if (TYPES.get(type).typeOid() == TypeOid.BOOL && !isBoolWord(bytes, begin, end)) {
        return false;
      }
      try {
        readers.get(type).set(bytes, begin, end, batch, 0);
      } catch (EngineException e) {
        if (e.code() == ErrorCode.OUT_OF_MEMORY) {
          throw e;
        }
        return false;
      }
      // A date is no timestamp: both take the other's text.
      int length = end - begin;
      return switch (TYPES.get(type).typeOid()) {
        case TypeOid.DATE -> length <= 10;
        case TypeOid.TIMESTAMP -> length <= 10 || !hasZone(bytes, begin, end);
        default -> true;
      };
    }

    /// `0`, `1`, `on` and `no` may be something else.
    private static boolean isBoolWord(byte[] bytes, int begin, int end) {
      String text = FileUtf8.shown(bytes, begin, end);
      return Set.of("t", "f", "true", "false", "TRUE", "FALSE", "True", "False").contains(text);
    }

    private static boolean hasZone(byte[] bytes, int begin, int end) {
      for (int i = begin + 11; i < end; i++) {
        if (bytes[i] == '+' || bytes[i] == '-' || bytes[i] == 'Z' || bytes[i] == 'z') {
          return true;
        }
      }
      return false;
    }

    private String firstTypeOf(byte[] bytes, int length) {
      for (int type = 0; type < TYPES.size(); type++) {
        if (isOf(type, bytes, 0, length)) {
          return TYPES.get(type).typeName();
        }
      }
      return "text";
    }

    private String type(int column) {
      int type = seen[column] ? possible[column].nextSetBit(0) : -1;
      return type < 0 ? "text" : TYPES.get(type).typeName();
    }

    @Override
    public void close() {
      readers.forEach(TextColumn::close);
      batch.close();
    }
  }
}
