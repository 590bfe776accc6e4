package dev.kakehashi.bulk.arrow;

import dev.kakehashi.bulk.format.RowOrigin;
import dev.kakehashi.bulk.format.RowsPart;
import dev.kakehashi.bulk.value.ColumnInput;
import dev.kakehashi.bulk.value.FileType;
import dev.kakehashi.bulk.value.FileValues;
import dev.kakehashi.bulk.value.RowsFill;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.arrow.flatbuf.RecordBatch;
import org.jspecify.annotations.Nullable;

/// One record batch. Its buffers are read at the first rows, and decoded a few thousand rows at a time.
final class ArrowRowsPart implements RowsPart {
  private static final int CHUNK_ROWS = 4096;

  private final ArrowRowsFile.Plan plan;
  private final ArrowSource.Read message;
  private final RecordBatch record;
  private final Map<Long, FileValues> dictionaries;
  private final ArrowBatchReader reader;
  private final List<ArrowDecoder> decoders = new ArrayList<>();
  private final List<FileValues> values = new ArrayList<>();
  private final RowsFill fill;
  private List<ArrowColumnData> data = List.of();
  private int rowCount = -1;

  /// Rows of the record batch that have been decoded, and the first one of the decoded ones that waits.
  private int decodedEnd;

  private int waiting;
  private int decoded;
  private long rows;

  ArrowRowsPart(
      ArrowRowsFile.Plan plan,
      ArrowSource.Read message,
      RecordBatch record,
      Map<Long, FileValues> dictionaries) {
    this.plan = plan;
    this.message = message;
    this.record = record;
    this.dictionaries = dictionaries;
    this.reader = new ArrowBatchReader(plan.source().file(), plan.context());
    for (FileType type : plan.types()) {
      FileValues each = new FileValues(type);
      values.add(each);
      decoders.add(new ArrowDecoder(each, plan.context()));
    }
    this.fill = new RowsFill(plan.types(), plan.columns(), plan.options(), plan.context());
  }

  /// @throws dev.kakehashi.engine.api.error.EngineException DATATYPE_MISMATCH
  static void checkTypes(ArrowRowsFile.Plan plan) {
    for (int i = 0; i < plan.columns().size(); i++) {
      ColumnInput.of(plan.types().get(i), plan.columns().get(i), plan.options(), plan.context())
          .close();
    }
  }

  @Override
  public @Nullable MemorySegment next(BadRows badRows) {
    if (rowCount < 0) {
      open();
    }
    while (waiting < decoded || decodedEnd < rowCount) {
      plan.context().checkCanceled();
      if (waiting == decoded) {
        ArrowSource.guarded(plan.source().file(), this::decode);
      }
      MemorySegment batch = fill.next(values, waiting, decoded - waiting, rows, badRows);
      waiting += fill.taken();
      rows += fill.taken();
      if (batch != null) {
        return batch;
      }
    }
    return null;
  }

  private void open() {
    List<ArrowShape> shapes = plan.source().shapes();
    List<@Nullable ArrowColumnData> all =
        reader.read(message, record, shapes, Set.copyOf(plan.sources()));
    data = plan.sources().stream().map(index -> ArrowSchemas.required(all.get(index))).toList();
    rowCount = data.getFirst().rows();
  }

  /// @return rows that are decoded now
  private int decode() {
    int count = Math.min(CHUNK_ROWS, rowCount - decodedEnd);
    for (int i = 0; i < data.size(); i++) {
      ArrowColumnData each = data.get(i);
      FileValues dictionary =
          each.shape().hasDictionary() ? dictionaries.get(each.shape().dictionary()) : null;
      decoders.get(i).decode(each, decodedEnd, count, dictionary);
    }
    decodedEnd += count;
    decoded = count;
    waiting = 0;
    return count;
  }

  @Override
  public void rewind() {
    decodedEnd = 0;
    decoded = 0;
    waiting = 0;
    rows = 0;
  }

  @Override
  public RowOrigin origin(int row) {
    return fill.origin(row);
  }

  @Override
  public long rows() {
    return rows;
  }

  @Override
  public long readBytes() {
    return reader.readBytes();
  }

  @Override
  public void close() {
    fill.close();
    decoders.forEach(ArrowDecoder::close);
    reader.close();
  }
}
