package dev.kakehashi.bulk.json;

import dev.kakehashi.bulk.format.FileOutput;
import dev.kakehashi.bulk.format.PieceStream;
import dev.kakehashi.bulk.format.RowsOutput;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.RowEncoder;
import dev.kakehashi.formats.coding.CodedOutput;
import dev.kakehashi.formats.coding.Coding;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchLayout;
import dev.kakehashi.protocol.TypeOid;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;

/// Writes rows as objects. Not thread-safe.
final class JsonObjectOutput implements RowsOutput {
  private static final ValueLayout.OfInt I32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final PieceStream file;
  private final List<LoadColumn> columns;
  private final boolean array;
  private final boolean hasPieces;
  private final CodedOutput coded;
  private final RowEncoder encoder;
  private long rowCount;
  private boolean isEnded;

  JsonObjectOutput(FileOutput file, List<LoadColumn> columns, boolean array, Coding coding) {
    this(new PieceStream(file), columns, array, coding);
  }

  private JsonObjectOutput(
      PieceStream file, List<LoadColumn> columns, boolean array, Coding coding) {
    this.file = file;
    this.columns = columns;
    this.array = array;
    this.hasPieces = coding == Coding.IDENTITY;
    this.coded = coding.encode(file, Coding.DEFAULT_LEVEL);
    this.encoder = RowEncoder.ofCopy(array);
    writing(() -> encoder.begin(columns.stream().map(JsonObjectOutput::described).toList(), coded));
  }

  private static Statement.Column described(LoadColumn column) {
    // Labels of enums are texts.
    return column.labels().isEmpty()
        ? new Statement.Column(column.name(), column.typeOid(), column.typeModifier())
        : new Statement.Column(column.name(), TypeOid.TEXT, -1);
  }

  /// Something that writes.
  private interface Writing {
    void run() throws IOException;
  }

  private static void writing(Writing writing) {
    try {
      writing.run();
    } catch (IOException e) {
      throw new EngineException(ErrorCode.IO_ERROR, "could not write file: " + e.getMessage(), e);
    }
  }

  /// Only without compression, which has its end where the file has it, and not of an array.
  @Override
  public RowsOutput another() {
    return new JsonObjectOutput(file.another(), columns, array, Coding.IDENTITY);
  }

  @Override
  public void rows(MemorySegment batch) {
    try {
      writing(() -> {
        encoder.rows(batch);
        rowCount += batch.get(I32, RowBatchLayout.ROW_COUNT_OFFSET);
        if (hasPieces) {
          encoder.flush();
          file.endPiece();
        }
      });
    } finally {
      // Another thread may go on.
      file.release();
    }
  }

  @Override
  public long rowCount() {
    return rowCount;
  }

  @Override
  public long estimatedBytes() {
    return file.position();
  }

  @Override
  public void end() {
    writing(() -> {
      encoder.end(rowCount);
      coded.close();
      file.end();
    });
    isEnded = true;
  }

  @Override
  public void close() {
    if (!isEnded) {
      coded.abort();
    }
    file.release();
  }
}
