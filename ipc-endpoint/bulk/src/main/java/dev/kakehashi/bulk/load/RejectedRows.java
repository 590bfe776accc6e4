package dev.kakehashi.bulk.load;

import dev.kakehashi.bulk.file.FilePublication;
import dev.kakehashi.bulk.file.NewFile;
import dev.kakehashi.bulk.file.UnnamedFile;
import dev.kakehashi.bulk.format.RowOrigin;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Rows that a load rejects: counts them, and writes them into a file of CSV in the order of the files, in whatever order the parts end.
/// Thread-safe; closed by its owner.
final class RejectedRows implements AutoCloseable {
  private static final String HEADER = "file,line,byte_offset,column,sqlstate,message,raw_row\n";

  /// Memory of parts that have ended; what is more goes to the spill file.
  private static final int KEPT_BYTES = 1 << 22;

  /// A ratio of fewer rows says nothing.
  private static final long JUDGED_ROWS = 1_000;

  private final RejectRules rules;
  private final BulkContext context;
  private final @Nullable FilePublication publication;
  private final @Nullable NewFile file;
  private final AtomicLong count = new AtomicLong();
  private final Map<Long, EndedPart> parts = new TreeMap<>(); // guarded by this
  private long keptBytes; // guarded by this
  private @Nullable UnnamedFile spill; // guarded by this
  private boolean isClosed; // guarded by this

  /// @param rows of the part, null: it was not read
  private record EndedPart(int file, long rows, PartRejects rejects) {}

  /// @param publication that `file` is of, this one's; null: they are counted only
  RejectedRows(
      RejectRules rules,
      BulkContext context,
      @Nullable FilePublication publication,
      @Nullable NewFile file) {
    this.rules = rules;
    this.context = context;
    this.publication = publication;
    this.file = file;
  }

  long count() {
    return count.get();
  }

  /// Rejected rows of one part.
  PartRejects part() {
    return new PartRejects(context, this::spillFile);
  }

  private synchronized UnnamedFile spillFile() {
    UnnamedFile made = spill;
    if (made == null) {
      FilePublication owner = publication;
      NewFile beside = file;
      if (owner == null || beside == null) {
        throw new IllegalStateException("rejected rows are not kept");
      }
      made = owner.spill(beside.path());
      spill = made;
    }
    return made;
  }

  /// Counts a row, and keeps it.
  ///
  /// @throws EngineException when the load does not go on: the failure, or that there are too many
  void add(PartRejects part, RowOrigin origin, EngineException failure, String fileName) {
    if (!rules.tolerant() || !isOfData(failure)) {
      throw located(failure, origin, fileName);
    }
    long rejected = count.incrementAndGet();
    if (rejected > rules.limit()) {
      throw tooMany(
              "skipped more than REJECT_LIMIT (%d) rows due to errors".formatted(rules.limit()))
          .withDetail(
              "The last one: "
                  + located(failure, origin, fileName).getMessage()
                  + " "
                  + failure.detail());
    }
    part.count();
    if (file != null) {
      part.add(origin, failure);
    }
  }

  /// Rows that a part has rejected since a mark are not rejected yet.
  void takeBack(PartRejects part, PartRejects.Mark mark) {
    count.addAndGet(-part.takeBack(mark));
  }

  /// Whether it is a matter of the row: data exceptions, and violations of constraints.
  private static boolean isOfData(EngineException failure) {
    String state = failure.code().sqlstate();
    return state.startsWith("22") || state.startsWith("23");
  }

  /// Says in the detail where the row is.
  static EngineException located(EngineException failure, RowOrigin origin, String fileName) {
    StringBuilder where = new StringBuilder();
    if (!failure.detail().isEmpty()) {
      where.append(failure.detail()).append(' ');
    }
    where.append("File \"").append(fileName).append('"');
    where.append(origin.isLine() ? ", line " : ", row ").append(origin.line());
    if (!failure.columnName().isEmpty()) {
      where.append(", column ").append(failure.columnName());
    }
    if (origin.byteOffset() >= 0) {
      where.append(", byte ").append(origin.byteOffset());
    }
    return failure.withDetail(where.append('.').toString());
  }

  private static EngineException tooMany(String message) {
    return new EngineException(ErrorCode.INVALID_TEXT_REPRESENTATION, message);
  }

  /// Ends the load when too many of its rows have been rejected.
  ///
  /// @param rows read so far
  /// @param isEnd whether there will be no more
  void judge(long rows, boolean isEnd) {
    long rejected = count.get();
    if (rejected > 0 && (isEnd || rows >= JUDGED_ROWS) && rejected > rules.ratio() * rows) {
      throw tooMany(
          "%d of %d rows cannot be loaded, more than reject_ratio (%s)"
              .formatted(rejected, rows, rules.ratio()));
    }
  }

  /// Takes what a part has rejected.
  ///
  /// @param rows that it has read
  void ended(long number, int fileIndex, long rows, PartRejects rejects) {
    synchronized (this) {
      if (isClosed) {
        rejects.release();
        return;
      }
      parts.put(number, new EndedPart(fileIndex, rows, rejects));
      if (keptBytes + rejects.memoryBytes() <= KEPT_BYTES) {
        keptBytes += rejects.memoryBytes();
        return;
      }
    }
    rejects.spill();
  }

  /// Publishes the file, if there are any rows for it.
  ///
  /// @return as a location; null: there is none
  synchronized @Nullable String finish(List<String> fileNames) {
    NewFile out = file;
    FilePublication owner = publication;
    if (out == null || owner == null || count.get() == 0) {
      return null;
    }
    write(out, HEADER.getBytes(StandardCharsets.UTF_8));
    int currentFile = -1;
    long rowsBefore = 0;
    for (EndedPart part : parts.values()) {
      if (part.file != currentFile) {
        currentFile = part.file;
        rowsBefore = 0;
      }
      long before = rowsBefore;
      String name = fileNames.get(part.file);
      part.rejects.read(row -> write(out, name, row.isLine() ? 0 : before, row));
      rowsBefore += part.rows;
    }
    out.end();
    owner.publish(List.of(out), List.of());
    return out.path().toString();
  }

  private static void write(NewFile out, String name, long before, PartRejects.Rejected row) {
    field(out, name.getBytes(StandardCharsets.UTF_8));
    String numbers =
        ",%d,%s,".formatted(before + row.line(), row.byteOffset() < 0 ? "" : row.byteOffset());
    write(out, numbers.getBytes(StandardCharsets.US_ASCII));
    if (!row.column().isEmpty()) {
      field(out, row.column().getBytes(StandardCharsets.UTF_8));
    }
    write(out, ("," + row.sqlState() + ",").getBytes(StandardCharsets.US_ASCII));
    field(out, row.message());
    write(out, new byte[] {','});
    field(out, row.raw());
    write(out, new byte[] {'\n'});
  }

  /// A text in quotes.
  private static void field(NewFile out, byte[] text) {
    write(out, new byte[] {'"'});
    int from = 0;
    for (int i = 0; i < text.length; i++) {
      if (text[i] == '"') {
        // With the quote, which the next piece begins with again.
        out.write(text, from, i + 1 - from);
        from = i;
      }
    }
    out.write(text, from, text.length - from);
    write(out, new byte[] {'"'});
  }

  private static void write(NewFile out, byte[] bytes) {
    out.write(bytes, 0, bytes.length);
  }

  @Override
  public void close() {
    synchronized (this) {
      isClosed = true;
      parts.values().forEach(part -> part.rejects.release());
      parts.clear();
      if (spill != null) {
        spill.close();
        spill = null;
      }
    }
    if (publication != null) {
      publication.close();
    }
  }
}
