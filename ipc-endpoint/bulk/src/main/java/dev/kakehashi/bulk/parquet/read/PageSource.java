package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.bulk.format.FileInput;
import dev.kakehashi.bulk.parquet.page.PageDecompressor;
import dev.kakehashi.bulk.parquet.page.ParquetCodec;
import dev.kakehashi.bulk.parquet.thrift.ChunkMeta;
import dev.kakehashi.bulk.parquet.thrift.CompactReader;
import dev.kakehashi.bulk.parquet.thrift.PageMeta;
import dev.kakehashi.bulk.parquet.thrift.Physical;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32;

/// The pages of a chunk, one after the other. Not thread-safe.
final class PageSource implements AutoCloseable {
  /// Bytes of a header that are read first; most headers have a few dozen.
  private static final int HEADER_BYTES = 256;

  /// Longest header, which may have statistics.
  private static final int MAX_HEADER_BYTES = 1 << 20;

  /// Shorter pages may shrink as much as they like.
  private static final int SMALL_PAGE_BYTES = 1 << 20;

  private final FileInput file;
  private final ParquetCodec codec;
  private final BulkContext context;
  private final PageDecompressor decompressor;
  private final long end;
  private final PageMeta meta = new PageMeta();
  private final CRC32 crc = new CRC32();

  /// Shared by the columns of a part.
  private final ReadSpace compressed;

  private final ReadSpace page;
  private long at;
  private long readBytes;

  /// Bytes of levels and values in `page`.
  private int length;

  PageSource(
      FileInput file,
      ChunkMeta chunk,
      BulkContext context,
      PageDecompressor decompressor,
      ReadSpace compressed) {
    this.file = file;
    this.codec = ParquetCodec.of(chunk.codec());
    this.context = context;
    this.decompressor = decompressor;
    this.compressed = compressed;
    this.page = new ReadSpace(context);
    this.at = chunk.begin();
    this.end = at + chunk.compressedBytes();
  }

  PageMeta meta() {
    return meta;
  }

  /// The page: levels, then values.
  byte[] bytes() {
    return page.bytes();
  }

  int length() {
    return length;
  }

  long readBytes() {
    return readBytes;
  }

  /// Reads the next page that has values or is a dictionary.
  ///
  /// @throws EngineException BAD_COPY_FILE_FORMAT when there is none
  void next() {
    do {
      context.checkCanceled();
      readHeader();
      if (meta.compressedBytes() > end - at) {
        throw Damage.of("a page leaves its column");
      }
      if (meta.kind() == Physical.INDEX_PAGE || meta.kind() > Physical.DATA_PAGE_V2) {
        at += meta.compressedBytes();
      }
    } while (meta.kind() == Physical.INDEX_PAGE || meta.kind() > Physical.DATA_PAGE_V2);
    readBody();
  }

  private void readHeader() {
    int window = HEADER_BYTES;
    while (true) {
      int taken = (int) Math.min(window, end - at);
      if (taken <= 0) {
        throw Damage.of("a column ends before its rows");
      }
      byte[] bytes = compressed.room(taken);
      file.read(at, MemorySegment.ofArray(bytes).asSlice(0, taken));
      CompactReader in = new CompactReader(bytes, 0, taken);
      try {
        meta.read(in);
        at += in.position();
        readBytes += in.position();
        return;
      } catch (EngineException e) {
        // Either damaged, or longer than the window.
        if (taken < window || window >= MAX_HEADER_BYTES) {
          throw e;
        }
      }
      window *= 8;
    }
  }

  private void readBody() {
    int packed = meta.compressedBytes();
    int wanted = meta.uncompressedBytes();
    checkLengths(packed, wanted);
    byte[] out = page.room(wanted);
    boolean plain = codec == ParquetCodec.UNCOMPRESSED || isUncompressedV2();
    byte[] in = plain ? out : compressed.room(packed);
    file.read(at, MemorySegment.ofArray(in).asSlice(0, packed));
    at += packed;
    readBytes += packed;
    if (meta.hasCrc()) {
      crc.reset();
      crc.update(in, 0, packed);
      if ((int) crc.getValue() != meta.crc()) {
        throw Damage.of("the checksum of a page is wrong");
      }
    }
    if (!plain) {
      int levels = levelBytes();
      System.arraycopy(in, 0, out, 0, levels);
      decompressor.decompress(codec, in, levels, packed - levels, out, levels, wanted - levels);
    }
    length = wanted;
  }

  private boolean isUncompressedV2() {
    return meta.kind() == Physical.DATA_PAGE_V2 && !meta.isCompressed();
  }

  /// Bytes before the values that are not compressed.
  private int levelBytes() {
    return meta.kind() == Physical.DATA_PAGE_V2
        ? meta.definitionBytes() + meta.repetitionBytes()
        : 0;
  }

  /// Refuses what no compressor makes, before memory is taken for it.
  private void checkLengths(int packed, int wanted) {
    if (codec == ParquetCodec.UNCOMPRESSED || isUncompressedV2()) {
      if (packed != wanted) {
        throw Damage.of("a page without compression has two lengths");
      }
      return;
    }
    if (wanted > SMALL_PAGE_BYTES && wanted / maxRatio() > packed) {
      throw Damage.of("a page of " + packed + " bytes is to become " + wanted);
    }
  }

  private int maxRatio() {
    return switch (codec) {
      case UNCOMPRESSED -> 1;
      case SNAPPY -> 64;
      case LZ4_HADOOP, LZ4_RAW -> 256;
      case GZIP -> 1_100;
      case ZSTD -> 1 << 16;
    };
  }

  /// Gives its memory back.
  @Override
  public void close() {
    page.close();
  }
}
