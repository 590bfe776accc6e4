package dev.kakehashi.bulk.csv;

import dev.kakehashi.bulk.csv.text.Eight;
import dev.kakehashi.bulk.format.FileInput;
import dev.kakehashi.bulk.format.RowsFile;
import dev.kakehashi.bulk.format.RowsPart;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// A file of CSV or text format, cut into parts at ends of rows. Thread-safe.
///
/// The thread that draws a part reads its bytes and scans them for row ends. That is a small part of the work; the rest of it is the part's
/// own. A part has the rows that end within some bytes of the (decompressed) file, so parts depend on nothing else.
final class CsvFile implements RowsFile {
  static final int PART_BYTES = 1 << 22;

  /// PostgreSQL's longest line.
  private static final int MAX_ROW_BYTES = 1 << 30;

  private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

  private final FileInput file;
  private final CsvOptions options;
  private final BulkContext context;
  private final int partBytes;
  private final ByteSource source;
  private final ReentrantLock lock = new ReentrantLock();

  /// Arrays and parsers of parts that are read.
  private final ArrayDeque<byte[]> buffers = new ArrayDeque<>();

  private final ArrayDeque<CsvRows> parsers = new ArrayDeque<>();
  private final List<LoadColumn> loaded;
  private final int[] columns;
  private final LineEnd lineEnd;
  private final RowEnds rowEnds;

  /// Bytes that were read behind the last part.
  private byte[] rest;

  private int restFrom;
  private int restTo;

  /// As far as it was scanned for row ends.
  private int scanned;

  /// Offset of the first byte of the rest, in the decompressed file.
  private long restOffset;

  private long restLine = 1;
  private long drawnBytes;
  private boolean isAtEnd;
  private boolean isClosed;

  /// @param partBytes at least 1
  CsvFile(
      FileInput file,
      CsvOptions options,
      List<LoadColumn> columns,
      boolean listed,
      int partBytes,
      BulkContext context) {
    this.file = file;
    this.options = options;
    this.partBytes = partBytes;
    this.context = context;
    this.source = new ByteSource(file, options.compression());
    this.rest = new byte[0];
    boolean done = false;
    try {
      rest = takeBuffer(0);
      readMore();
      while (restTo < BYTE_ORDER_MARK.length && !isAtEnd) {
        readMore();
      }
      if (Arrays.equals(rest, 0, Math.min(restTo, 3), BYTE_ORDER_MARK, 0, 3)) {
        restFrom = 3;
        restOffset = 3;
      }
      FirstLine first = new FirstLine(options, restFrom);
      this.lineEnd = readRow(first);
      this.rowEnds = new RowEnds(options, lineEnd);
      int headerLines = options.header().lines();
      if (headerLines == 0) {
        this.columns = IntStream.range(0, columns.size()).toArray();
      } else {
        this.columns =
            CsvHeader.read(options, lineEnd, columns, listed, rest, restFrom, first.end(), context);
        skipRow(first.end());
        for (int line = 1; line < headerLines && !hasEnded(); line++) {
          FirstLine next = new FirstLine(options, restFrom);
          LineEnd ignored = readRow(next);
          skipRow(next.end());
        }
      }
      this.scanned = restFrom;
      this.loaded = Arrays.stream(this.columns).mapToObj(columns::get).toList();
      done = true;
    } finally {
      if (!done) {
        close();
      }
    }
  }

  @Override
  public int[] columns() {
    return columns.clone();
  }

  /// Reads until the end of a row is there that begins with the rest.
  private LineEnd readRow(FirstLine row) {
    LineEnd found = row.find(rest, restTo, isAtEnd);
    while (found == null) {
      int before = restFrom;
      readMore();
      row.moved(before - restFrom);
      found = row.find(rest, restTo, isAtEnd);
    }
    return found;
  }

  /// Goes on behind a row of the header.
  private void skipRow(int end) {
    rowEnds.scan(rest, restFrom, end, restOffset - restFrom);
    restLine = 1 + Math.max(restLine, rowEnds.linesAtRowEnd());
    restOffset += end - restFrom;
    restFrom = end;
  }

  /// Whether the file, or what counts of it, has ended within the header.
  private boolean hasEnded() {
    return rowEnds.markerAt() >= 0 || (isAtEnd && restFrom == restTo);
  }

  /// Appends to the rest.
  private void readMore() {
    int wanted = partBytes;
    long needed = (long) restTo + wanted + Eight.PADDING;
    if (needed > rest.length) {
      if (restTo - restFrom > MAX_ROW_BYTES) {
        throw new EngineException(
                ErrorCode.LIMIT_EXCEEDED, "row is longer than " + MAX_ROW_BYTES + " bytes")
            .withDetail("It begins at byte %d of \"%s\".".formatted(restOffset, file.name()))
            .withHint("A quote may be missing at its end.");
      }
      byte[] longer = takeBuffer(2L * (restTo - restFrom));
      System.arraycopy(rest, restFrom, longer, 0, restTo - restFrom);
      freeBuffer(rest);
      rest = longer;
      scanned -= restFrom;
      restTo -= restFrom;
      restFrom = 0;
    }
    context.checkCanceled();
    int got = source.read(rest, restTo, wanted);
    restTo += got;
    isAtEnd = got < wanted;
  }

  @Override
  public @Nullable RowsPart next() {
    lock.lock();
    try {
      if (isClosed) {
        throw new IllegalStateException("file is closed");
      }
      return nextPart();
    } finally {
      lock.unlock();
    }
  }

  private @Nullable RowsPart nextPart() {
    if (rowEnds.markerAt() >= 0) {
      return null;
    }
    int end = -1;
    while (end < 0) {
      if (isAtEnd && scanned == restTo) {
        rowEnds.end();
        end = markerOr(restTo);
        break;
      }
      if (scanned == restTo) {
        readMore();
      }
      long base = restOffset - restFrom;
      rowEnds.scan(rest, scanned, restTo, base);
      scanned = restTo;
      long found = rowEnds.markerAt() >= 0 ? rowEnds.markerAt() : rowEnds.rowEnd();
      if (found > restOffset || rowEnds.markerAt() >= 0) {
        end = markerOr((int) (found - base));
      }
    }
    if (end == restFrom) {
      isAtEnd = true;
      return null;
    }
    return cut(end);
  }

  /// The place of the end-of-data marker if it came: then nothing is behind it. Otherwise the place given.
  private int markerOr(int place) {
    if (rowEnds.markerAt() < 0) {
      return place;
    }
    isAtEnd = true;
    int marker = (int) (rowEnds.markerAt() - restOffset + restFrom);
    restTo = marker;
    scanned = marker;
    return marker;
  }

  private RowsPart cut(int end) {
    CsvRows parser = parsers.isEmpty() ? newParser() : parsers.pop();
    byte[] data = rest;
    int from = restFrom;
    int left = restTo - end;
    rest = takeBuffer(left);
    System.arraycopy(data, end, rest, 0, left);
    CsvPart part =
        new CsvPart(
            this, parser, data, from, end, restOffset, restLine, source.position() - drawnBytes);
    drawnBytes = source.position();
    restOffset += end - from;
    // Behind the last part of a file that does not end with a line end nothing comes.
    restLine = 1 + rowEnds.linesAtRowEnd();
    scanned -= end;
    restFrom = 0;
    restTo = left;
    return part;
  }

  private CsvRows newParser() {
    return new CsvRows(options, lineEnd, loaded, context);
  }

  /// An array for a rest and what is read behind it.
  private byte[] takeBuffer(long least) {
    long length = Math.max(least, 0) + partBytes + Eight.PADDING;
    byte[] free = buffers.peek();
    if (free != null && free.length >= length) {
      return buffers.pop();
    }
    long rounded = Math.min(Integer.MAX_VALUE - 16, Math.max(length, partBytes + (1L << 16)));
    context.reserveMemory(rounded);
    return new byte[(int) rounded];
  }

  private void freeBuffer(byte[] buffer) {
    if (!isClosed && buffer.length <= 2L * partBytes + (1 << 17)) {
      buffers.push(buffer);
    } else {
      context.releaseMemory(buffer.length);
    }
  }

  /// Takes back what a part had.
  void free(byte[] data, CsvRows parser) {
    lock.lock();
    try {
      freeBuffer(data);
      if (isClosed) {
        parser.close();
      } else {
        parsers.push(parser);
      }
    } finally {
      lock.unlock();
    }
  }

  BulkContext context() {
    return context;
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (isClosed) {
        return;
      }
      isClosed = true;
      freeBuffer(rest);
      for (byte[] buffer : buffers) {
        context.releaseMemory(buffer.length);
      }
      buffers.clear();
      for (CsvRows parser : parsers) {
        parser.close();
      }
      parsers.clear();
      source.close();
    } finally {
      lock.unlock();
    }
  }
}
