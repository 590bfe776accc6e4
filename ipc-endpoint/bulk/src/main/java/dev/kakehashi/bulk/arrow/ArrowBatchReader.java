package dev.kakehashi.bulk.arrow;

import dev.kakehashi.bulk.arrow.ArrowShape.Layout;
import dev.kakehashi.bulk.format.FileInput;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.arrow.flatbuf.BodyCompression;
import org.apache.arrow.flatbuf.BodyCompressionMethod;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.CompressionType;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.RecordBatch;
import org.jspecify.annotations.Nullable;

/// Reads the buffers of a record batch that are needed: checks each offset and length against the body, each length against the rows, and
/// reserves memory before it takes it. Its memory is held until the close. Not thread-safe.
final class ArrowBatchReader implements AutoCloseable {
  private static final int MAX_ARRAY = Integer.MAX_VALUE - 16;

  /// A body of up to so many bytes is read at once, if half of it is needed.
  private static final long WHOLE_BYTES = 256L << 20;

  private final FileInput file;
  private final BulkContext context;
  private final ArrowBuffers codecs = new ArrowBuffers();
  private long reserved;
  private RecordBatch batch = new RecordBatch();
  private byte codec;
  private long bodyAt;
  private long bodyBytes;
  private byte @Nullable [] whole;
  private long readBytes;
  private int node;
  private int buffer;
  private int variadic;

  ArrowBatchReader(FileInput file, BulkContext context) {
    this.file = file;
    this.context = context;
  }

  /// Reads some fields of a record batch.
  ///
  /// @param needed indices of the fields
  /// @return in the order of the fields; null for those that are not needed
  /// @throws EngineException BAD_COPY_FILE_FORMAT, OUT_OF_MEMORY
  List<@Nullable ArrowColumnData> read(
      ArrowSource.Read message, RecordBatch record, List<ArrowShape> shapes, Set<Integer> needed) {
    return ArrowSource.guarded(
        file,
        () -> {
          begin(message, record, needed.size() * 2 >= shapes.size());
          int rows = rows(record.length());
          List<@Nullable ArrowColumnData> columns = new ArrayList<>();
          for (int i = 0; i < shapes.size(); i++) {
            if (needed.contains(i)) {
              columns.add(take(shapes.get(i), rows));
            } else {
              skip(shapes.get(i));
              columns.add(null);
            }
          }
          return columns;
        });
  }

  /// Rows of a record batch, checked.
  static int rows(long length) {
    if (length < 0 || length > MAX_ARRAY) {
      throw ArrowSource.bad("has a record batch of " + length + " rows");
    }
    return (int) length;
  }

  private void begin(ArrowSource.Read message, RecordBatch record, boolean most) {
    batch = record;
    bodyAt = message.bodyAt();
    bodyBytes = message.bodyBytes();
    node = 0;
    buffer = 0;
    variadic = 0;
    BodyCompression compression = record.compression();
    codec = -1;
    if (compression != null) {
      codec = compression.codec();
      boolean known = codec == CompressionType.LZ4_FRAME || codec == CompressionType.ZSTD;
      if (!known || compression.method() != BodyCompressionMethod.BUFFER) {
        throw ArrowSource.bad("has bodies of codec " + codec);
      }
    }
    whole = null;
    if (most && bodyBytes <= WHOLE_BYTES) {
      whole = taken((int) bodyBytes);
      file.read(bodyAt, MemorySegment.ofArray(whole));
      readBytes += bodyBytes;
    }
  }

  private byte[] taken(int bytes) {
    context.reserveMemory(bytes);
    reserved += bytes;
    return new byte[bytes];
  }

  private void skip(ArrowShape shape) {
    node++;
    buffer += shape.batchLayout().buffers;
    if (shape.batchLayout() == Layout.VIEW) {
      buffer += variadicCount();
    }
    if (!shape.hasDictionary()) {
      shape.children().forEach(this::skip);
    }
  }

  private int variadicCount() {
    if (variadic >= batch.variadicBufferCountsLength()) {
      throw ArrowSource.bad("has a record batch without counts of its buffers");
    }
    long count = batch.variadicBufferCounts(variadic++);
    if (count < 0 || count > batch.buffersLength()) {
      throw ArrowSource.bad("has a record batch of " + count + " data buffers");
    }
    return (int) count;
  }

  /// @param rows that the field must have at least; -1: as many as it says
  private ArrowColumnData take(ArrowShape shape, int rows) {
    if (node >= batch.nodesLength()) {
      throw ArrowSource.bad("has a record batch with fewer fields than its schema");
    }
    FieldNode field = ArrowSchemas.required(batch.nodes(node++));
    int length = rows(field.length());
    if (rows >= 0 && length != rows) {
      throw ArrowSource.bad("has a field of %d rows among %d".formatted(length, rows));
    }
    long nulls = field.nullCount();
    if (nulls < 0 || nulls > length) {
      throw ArrowSource.bad("has a field of %d nulls among %d rows".formatted(nulls, length));
    }
    Layout layout = shape.batchLayout();
    int count = layout.buffers + (layout == Layout.VIEW ? variadicCount() : 0);
    List<ArrowSlice> slices = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      slices.add(slice(buffer++));
    }
    check(shape, layout, length, nulls, slices);
    List<ArrowColumnData> children = new ArrayList<>();
    if (!shape.hasDictionary()) {
      for (ArrowShape child : shape.children()) {
        children.add(take(child, layout == Layout.STRUCT ? length : -1));
      }
    }
    checkChildren(shape, layout, length, children);
    return new ArrowColumnData(shape, length, nulls, slices, children);
  }

  private static void check(
      ArrowShape shape, Layout layout, int rows, long nulls, List<ArrowSlice> slices) {
    if (layout == Layout.NULL) {
      return;
    }
    if (nulls > 0) {
      need(shape, slices.getFirst(), (rows + 7L) / 8);
    }
    switch (layout) {
      case BITS -> need(shape, slices.get(1), (rows + 7L) / 8);
      case FIXED -> {
        long width = shape.hasDictionary() ? shape.indexWidth() : shape.width();
        need(shape, slices.get(1), width * rows);
      }
      case OFFSETS_32, LIST_32 -> need(shape, slices.get(1), rows == 0 ? 0 : 4 * (rows + 1L));
      case OFFSETS_64, LIST_64 -> need(shape, slices.get(1), rows == 0 ? 0 : 8 * (rows + 1L));
      case VIEW -> need(shape, slices.get(1), 16L * rows);
      default -> {
        // The children are checked.
      }
    }
  }

  private static void checkChildren(
      ArrowShape shape, Layout layout, int rows, List<ArrowColumnData> children) {
    if (layout == Layout.FIXED_LIST && children.getFirst().rows() < (long) rows * shape.width()) {
      throw tooShort(shape);
    }
  }

  private static void need(ArrowShape shape, ArrowSlice slice, long bytes) {
    if (slice.length() < bytes) {
      throw tooShort(shape);
    }
  }

  private static EngineException tooShort(ArrowShape shape) {
    return ArrowSource.bad("has too short a buffer for column \"" + shape.name() + "\"");
  }

  private ArrowSlice slice(int index) {
    if (index >= batch.buffersLength()) {
      throw ArrowSource.bad("has a record batch with fewer buffers than its schema");
    }
    Buffer at = ArrowSchemas.required(batch.buffers(index));
    long offset = at.offset();
    long length = at.length();
    if (offset < 0 || length < 0 || length > bodyBytes || offset > bodyBytes - length) {
      throw ArrowSource.bad(
          "has a buffer of %d bytes at %d of %d".formatted(length, offset, bodyBytes));
    }
    if (length == 0) {
      return ArrowSlice.EMPTY;
    }
    if (length > MAX_ARRAY) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED, "Arrow file has a buffer of " + length + " bytes");
    }
    ArrowSlice slice;
    if (whole != null) {
      slice = new ArrowSlice(whole, (int) offset, (int) length);
    } else {
      byte[] bytes = taken((int) length);
      file.read(bodyAt + offset, MemorySegment.ofArray(bytes));
      readBytes += length;
      slice = new ArrowSlice(bytes, 0, (int) length);
    }
    return codec < 0 ? slice : decompressed(slice);
  }

  private ArrowSlice decompressed(ArrowSlice in) {
    if (in.length() < ArrowBuffers.LENGTH_BYTES) {
      throw ArrowSource.bad("has a compressed buffer of " + in.length() + " bytes");
    }
    long length = ArrowBuffers.lengthOf(in.bytes(), in.start());
    int from = in.start() + ArrowBuffers.LENGTH_BYTES;
    int rest = in.length() - ArrowBuffers.LENGTH_BYTES;
    if (length == -1) {
      return new ArrowSlice(in.bytes(), from, rest);
    }
    if (length < 0 || length > MAX_ARRAY) {
      throw ArrowSource.bad("has a compressed buffer of " + length + " bytes");
    }
    if (length == 0) {
      return ArrowSlice.EMPTY;
    }
    context.checkCanceled();
    byte[] out = taken((int) length);
    codecs.decompress(codec, in.bytes(), from, rest, out);
    return new ArrowSlice(out, 0, out.length);
  }

  /// Bytes read so far.
  long readBytes() {
    return readBytes;
  }

  /// Gives the memory back; slices are of no use any more.
  @Override
  public void close() {
    whole = null;
    context.releaseMemory(reserved);
    reserved = 0;
  }
}
