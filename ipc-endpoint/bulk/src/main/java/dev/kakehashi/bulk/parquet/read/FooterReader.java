package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.bulk.format.FileInput;
import dev.kakehashi.bulk.parquet.thrift.ChunkMeta;
import dev.kakehashi.bulk.parquet.thrift.FileMeta;
import dev.kakehashi.bulk.parquet.thrift.FileMeta.GroupMeta;
import dev.kakehashi.bulk.parquet.thrift.SchemaNode;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/// Reads the footer of a file, and checks that it agrees with itself and the file's length.
final class FooterReader {
  private static final byte[] MAGIC = "PAR1".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] ENCRYPTED = "PARE".getBytes(StandardCharsets.US_ASCII);
  private static final int TAIL_BYTES = 8;
  private static final int MAX_FOOTER_BYTES = 16 << 20;

  /// Memory of what is made of a byte of the footer, at most.
  static final int BYTES_PER_BYTE = 16;

  private FooterReader() {}

  /// A footer that agrees with the file.
  ///
  /// @param footerBytes its length
  record Footer(FileMeta meta, ParquetSchema.Columns schema, int footerBytes) {}

  /// @throws EngineException BAD_COPY_FILE_FORMAT, FEATURE_NOT_SUPPORTED when it is encrypted
  static Footer read(FileInput file, BulkContext context) {
    long size = file.sizeBytes();
    if (size < MAGIC.length + TAIL_BYTES) {
      throw notParquet();
    }
    byte[] tail = new byte[TAIL_BYTES];
    file.read(size - TAIL_BYTES, MemorySegment.ofArray(tail));
    byte[] magic = Arrays.copyOfRange(tail, MAGIC.length, TAIL_BYTES);
    if (Arrays.equals(magic, ENCRYPTED)) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED, "encrypted Parquet files are not read");
    }
    if (!Arrays.equals(magic, MAGIC)) {
      throw notParquet();
    }
    byte[] head = new byte[MAGIC.length];
    file.read(0, MemorySegment.ofArray(head));
    if (!Arrays.equals(head, MAGIC)) {
      throw notParquet();
    }
    int length = (int) PlainDecoder.INTS.get(tail, 0);
    if (length <= 0 || length > MAX_FOOTER_BYTES || length > size - TAIL_BYTES - MAGIC.length) {
      throw Damage.of("a footer of " + Integer.toUnsignedString(length) + " bytes");
    }
    context.reserveMemory((long) BYTES_PER_BYTE * length);
    try {
      byte[] bytes = new byte[length];
      file.read(size - TAIL_BYTES - length, MemorySegment.ofArray(bytes));
      FileMeta meta = FileMeta.read(bytes);
      ParquetSchema.Columns schema = ParquetSchema.of(meta);
      check(meta, schema.leaves(), size - TAIL_BYTES - length);
      return new Footer(meta, schema, length);
    } catch (RuntimeException e) {
      context.releaseMemory((long) BYTES_PER_BYTE * length);
      throw e;
    }
  }

  private static EngineException notParquet() {
    return new EngineException(ErrorCode.BAD_COPY_FILE_FORMAT, "file is no Parquet file");
  }

  /// @param dataEnd where pages end at the latest
  private static void check(FileMeta meta, List<SchemaNode> leaves, long dataEnd) {
    long rows = 0;
    for (GroupMeta group : meta.groups()) {
      if (group.chunks().size() != leaves.size()) {
        throw Damage.of("a row group has " + group.chunks().size() + " columns");
      }
      if (group.rows() > Long.MAX_VALUE - rows) {
        throw Damage.of("row groups have too many rows");
      }
      rows += group.rows();
      for (int i = 0; i < leaves.size(); i++) {
        checkChunk(group.chunks().get(i), leaves.get(i), dataEnd);
      }
    }
    if (rows != meta.rows()) {
      throw Damage.of("row groups have " + rows + " rows instead of " + meta.rows());
    }
  }

  private static void checkChunk(ChunkMeta chunk, SchemaNode leaf, long dataEnd) {
    if (chunk.type() != leaf.physical()) {
      throw Damage.of("column \"" + leaf.name() + "\" has two types");
    }
    long begin = chunk.begin();
    if ((begin < MAGIC.length && chunk.compressedBytes() > 0)
        || begin > dataEnd
        || chunk.compressedBytes() > dataEnd - begin) {
      throw Damage.of("column \"" + leaf.name() + "\" leaves the file");
    }
  }
}
