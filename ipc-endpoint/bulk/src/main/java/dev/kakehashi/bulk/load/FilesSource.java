package dev.kakehashi.bulk.load;

import dev.kakehashi.bulk.file.FilePublication;
import dev.kakehashi.bulk.file.FileVersion;
import dev.kakehashi.bulk.file.NewFile;
import dev.kakehashi.bulk.file.OpenedFile;
import dev.kakehashi.bulk.format.FileFormat;
import dev.kakehashi.bulk.format.RowsFile;
import dev.kakehashi.bulk.format.RowsPart;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.bulk.LoadCondition;
import dev.kakehashi.engine.api.bulk.LoadPart;
import dev.kakehashi.engine.api.bulk.LoadSource;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Rows of files, one after the other: a file is opened when its first part is drawn, and closed when its last one is. Thread-safe.
public final class FilesSource implements LoadSource {
  private static final int PIECE_BYTES = 1 << 18;

  /// Setup of a load.
  ///
  /// @param table for messages
  /// @param listed whether the columns are a column list
  /// @param conditions of rows; others may be left out
  public record Setup(
      FileFormat format,
      String table,
      List<LoadColumn> columns,
      boolean listed,
      List<LoadCondition> conditions,
      BulkContext context) {}

  private final List<SourceFile> files;
  private final Setup setup;
  private final RejectedRows rejected;
  private final Runnable atEnd;
  private final List<FileVersion> versions = new ArrayList<>();
  private final long totalBytes;
  private final AtomicLong readRows = new AtomicLong();
  private final AtomicLong readBytes = new AtomicLong();

  private int nextFile; // guarded by this
  private @Nullable OpenRows current; // guarded by this
  private final List<OpenRows> open = new ArrayList<>(); // guarded by this
  private long nextNumber; // guarded by this
  private boolean isClosed; // guarded by this
  private final int[] columns;

  /// A file that is open. Its fields are guarded by the source.
  static final class OpenRows {
    private final int index;
    private final OpenedFile file;
    private final RowsFile rows;
    private final AtomicLong readBytes = new AtomicLong();
    private int parts;
    private boolean isDrawn;

    private OpenRows(int index, OpenedFile file, RowsFile rows) {
      this.index = index;
      this.file = file;
      this.rows = rows;
    }

    String name() {
      return file.name();
    }

    private void close() {
      try (file) {
        rows.close();
      }
    }
  }

  private FilesSource(List<SourceFile> files, Setup setup, RejectedRows rejected, Runnable atEnd) {
    this.files = List.copyOf(files);
    this.setup = setup;
    this.rejected = rejected;
    this.atEnd = atEnd;
    long bytes = 0;
    for (SourceFile each : this.files) {
      setup.context.checkCanceled();
      try (OpenedFile opened = each.open()) {
        versions.add(FileVersion.of(opened));
        bytes += opened.sizeBytes();
      }
    }
    totalBytes = bytes;
    OpenRows first = openFile(0);
    current = first;
    nextFile = 1;
    columns = first.rows.columns();
  }

  /// Opens the first file, and looks at all.
  ///
  /// @param files at least one
  /// @param publication of the file of rejected rows, the source's from now on; null: there is none
  /// @param rejectFile the file
  /// @param atEnd runs once when the source is closed
  public static FilesSource open(
      List<SourceFile> files,
      Setup setup,
      RejectRules rules,
      @Nullable FilePublication publication,
      @Nullable NewFile rejectFile,
      Runnable atEnd) {
    RejectedRows rejected = new RejectedRows(rules, setup.context, publication, rejectFile);
    boolean done = false;
    try {
      FilesSource source = new FilesSource(files, setup, rejected, atEnd);
      done = true;
      return source;
    } finally {
      if (!done) {
        rejected.close();
      }
    }
  }

  RejectedRows rejected() {
    return rejected;
  }

  BulkContext context() {
    return setup.context;
  }

  private OpenRows openFile(int index) {
    SourceFile source = files.get(index);
    OpenedFile file = source.open();
    boolean done = false;
    try {
      if (!versions.get(index).isOf(file)) {
        throw changed(source.name());
      }
      RowsFile rows =
          setup.format.read(file, setup.columns, setup.listed, setup.conditions, setup.context);
      OpenRows opened = new OpenRows(index, file, rows);
      synchronized (this) {
        open.add(opened);
      }
      done = true;
      return opened;
    } catch (EngineException e) {
      throw FileErrors.named(e, source.name());
    } finally {
      if (!done) {
        file.close();
      }
    }
  }

  private static EngineException changed(String name) {
    return new EngineException(
            ErrorCode.NOT_IN_PREREQUISITE_STATE,
            "file \"" + name + "\" has changed while it was loaded")
        .withHint("Load it again when nobody writes to it.");
  }

  @Override
  public int[] columns() {
    return columns.clone();
  }

  @Override
  public synchronized @Nullable LoadPart next() {
    while (true) {
      OpenRows file = current;
      if (file == null) {
        if (isClosed || nextFile == files.size()) {
          return null;
        }
        file = openFile(nextFile++);
        current = file;
        checkColumns(file);
      }
      RowsPart part = nextPart(file);
      if (part != null) {
        file.parts++;
        return new FilesPart(this, file, nextNumber++, part);
      }
      file.isDrawn = true;
      current = null;
      closeIfDone(file);
    }
  }

  private static @Nullable RowsPart nextPart(OpenRows file) {
    try {
      return file.rows.next();
    } catch (EngineException e) {
      throw FileErrors.named(e, file.name());
    }
  }

  private void checkColumns(OpenRows file) {
    if (!Arrays.equals(file.rows.columns(), columns)) {
      throw new EngineException(
              ErrorCode.DATATYPE_MISMATCH,
              "file \"%s\" has other columns than \"%s\""
                  .formatted(file.name(), files.getFirst().name()))
          .withHint("Load files with the same columns in the same order together.");
    }
  }

  /// Holds the lock.
  private void closeIfDone(OpenRows file) {
    if (file.isDrawn && file.parts == 0 && open.remove(file)) {
      // Bytes of no part, as a footer, have been read, too.
      readBytes.addAndGet(file.file.sizeBytes() - file.readBytes.get());
      file.close();
    }
  }

  /// Counts what a part of a file has read.
  void read(OpenRows file, long rows, long bytes) {
    file.readBytes.addAndGet(bytes);
    readBytes.addAndGet(bytes);
    rejected.judge(readRows.addAndGet(rows), false);
  }

  /// A part is closed.
  ///
  /// @param rows that it has read
  void ended(OpenRows file, long number, long rows, PartRejects rejects) {
    try {
      rejected.ended(number, file.index, rows, rejects);
    } finally {
      synchronized (this) {
        file.parts--;
        closeIfDone(file);
      }
    }
  }

  @Override
  public byte[] digest() {
    MessageDigest digest = NewFile.sha256();
    setup.context.reserveMemory(PIECE_BYTES);
    try {
      byte[] piece = new byte[PIECE_BYTES];
      for (int i = 0; i < files.size(); i++) {
        try (OpenedFile file = files.get(i).open()) {
          if (!versions.get(i).isOf(file)) {
            throw changed(file.name());
          }
          // A file that a client has sent has a new name each time.
          String name = files.get(i).isNamed() ? file.name() : "";
          String head = name + "\0" + file.sizeBytes() + "\0";
          digest.update(head.getBytes(StandardCharsets.UTF_8));
          for (long at = 0; at < file.sizeBytes(); at += PIECE_BYTES) {
            setup.context.checkCanceled();
            int count = (int) Math.min(PIECE_BYTES, file.sizeBytes() - at);
            file.read(at, MemorySegment.ofArray(piece).asSlice(0, count));
            digest.update(piece, 0, count);
          }
        }
      }
    } finally {
      setup.context.releaseMemory(PIECE_BYTES);
    }
    if (!setup.conditions.isEmpty()) {
      // Rows that are left out count as read.
      digest.update(setup.conditions.toString().getBytes(StandardCharsets.UTF_8));
    }
    return digest.digest();
  }

  @Override
  public long totalBytes() {
    return totalBytes;
  }

  @Override
  public long readBytes() {
    return Math.min(readBytes.get(), totalBytes);
  }

  @Override
  public LoadSummary finish() {
    for (int i = 0; i < files.size(); i++) {
      setup.context.checkCanceled();
      checkUnchanged(i);
    }
    long rows = readRows.get();
    rejected.judge(rows, true);
    List<String> names = new ArrayList<>(files.size());
    files.forEach(each -> names.add(each.name()));
    String rejectFile = rejected.finish(names);
    return new LoadSummary(rows, rejected.count(), rejectFile);
  }

  private void checkUnchanged(int index) {
    SourceFile source = files.get(index);
    if (!source.isNamed()) {
      return;
    }
    try (OpenedFile file = source.open()) {
      if (versions.get(index).isOf(file)) {
        return;
      }
    } catch (EngineException e) {
      if (e.code() != ErrorCode.UNDEFINED_FILE) {
        throw e;
      }
    }
    throw changed(source.name());
  }

  @Override
  public void close() {
    List<OpenRows> left;
    synchronized (this) {
      if (isClosed) {
        return;
      }
      isClosed = true;
      current = null;
      left = List.copyOf(open);
      open.clear();
    }
    try {
      left.forEach(OpenRows::close);
    } finally {
      try {
        rejected.close();
      } finally {
        atEnd.run();
      }
    }
  }
}
