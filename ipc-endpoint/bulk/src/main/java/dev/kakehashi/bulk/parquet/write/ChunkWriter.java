package dev.kakehashi.bulk.parquet.write;

import dev.kakehashi.bulk.parquet.page.PageCompressor;
import dev.kakehashi.bulk.parquet.page.ParquetCodec;
import dev.kakehashi.bulk.parquet.thrift.ChunkStatistics;
import dev.kakehashi.bulk.parquet.thrift.CompactWriter;
import dev.kakehashi.bulk.parquet.thrift.Physical;
import dev.kakehashi.engine.api.bulk.BulkContext;
import java.util.List;
import java.util.zip.CRC32;

/// Writes the leaves of a row group as chunks of pages into memory. Used for one after another; not thread-safe.
final class ChunkWriter implements AutoCloseable {
  private static final int PAGE_ROWS = 20_000;
  private static final int PAGE_BYTES = 1 << 20;

  /// Values that show whether differences are shorter.
  private static final int SAMPLE = 1 << 13;

  /// Least share of the values' bytes that a codec has to save to be worth its time, now and at each reading.
  private static final double LEAST_SAVING = 0.1;

  private final BulkContext context;
  private final ByteSpace out;
  private final PageCompressor compressor = new PageCompressor();
  private final DictionaryBuilder dictionary;
  private final DeltaEncoder deltas = new DeltaEncoder();
  private final ByteSpace page;
  private final ByteSpace levelSpace;
  private final ByteSpace compressed;
  private final CompactWriter header = new CompactWriter();
  private final CRC32 crc = new CRC32();
  private final PageIndex index = new PageIndex();
  private long uncompressedBytes;
  private long compressedBytes;

  ChunkWriter(BulkContext context) {
    this.context = context;
    this.out = new ByteSpace(context);
    this.dictionary = new DictionaryBuilder(context);
    this.page = new ByteSpace(context);
    this.levelSpace = new ByteSpace(context);
    this.compressed = new ByteSpace(context);
  }

  /// The chunks written so far. A caller that has taken them sets its length to 0.
  ByteSpace out() {
    return out;
  }

  /// Writes all values of a leaf.
  ///
  /// @param wanted codec
  /// @param always whether it is to be used also where it saves nothing
  WrittenChunk write(
      LeafValues leaf, Levels levels, List<String> path, ParquetCodec wanted, boolean always) {
    index.clear();
    uncompressedBytes = 0;
    compressedBytes = 0;
    int encoding = encoding(leaf);
    ParquetCodec codec =
        always || saves(leaf, encoding, wanted) ? wanted : ParquetCodec.UNCOMPRESSED;
    long dictionaryPage = -1;
    if (encoding == Physical.RLE_DICTIONARY) {
      dictionaryPage = out.length;
      writeDictionary(leaf, codec);
    }
    long dataPage = out.length;
    ValueRange range = writePages(leaf, levels, encoding, codec);
    int[] encodings =
        encoding == Physical.RLE_DICTIONARY
            ? new int[] {Physical.PLAIN, Physical.RLE, Physical.RLE_DICTIONARY}
            : new int[] {Physical.RLE, encoding};
    return new WrittenChunk(
        leaf.physical,
        path,
        codec,
        encodings,
        levels.count,
        uncompressedBytes,
        compressedBytes,
        dataPage,
        dictionaryPage,
        new ChunkStatistics(
            range.min(),
            range.max(),
            levels.count - (long) leaf.count,
            range.exactMin(),
            range.exactMax()),
        index.columnIndex(),
        index.places());
  }

  /// The encoding that makes the values shortest.
  private int encoding(LeafValues leaf) {
    if (leaf.physical == Physical.BOOLEAN || leaf.count == 0) {
      return Physical.PLAIN;
    }
    int best = Physical.PLAIN;
    long bytes = leaf.plainBytes(0, leaf.count);
    boolean narrow = leaf.physical == Physical.INT32;
    if (narrow || leaf.physical == Physical.INT64) {
      int sample = Math.min(SAMPLE, leaf.count);
      page.length = 0;
      deltas.put(page, leaf.longs, leaf.count - sample, leaf.count, narrow);
      long estimate = (long) page.length * leaf.count / sample;
      if (estimate < bytes) {
        best = Physical.DELTA_BINARY_PACKED;
        bytes = estimate;
      }
    }
    if (dictionary.build(leaf)) {
      int bits = LevelEncoder.bits(dictionary.entryCount - 1);
      long estimate = dictionary.dictionaryBytes(leaf) + (long) bits * leaf.count / 8;
      if (estimate < bytes) {
        best = Physical.RLE_DICTIONARY;
      }
    }
    return best;
  }

  /// Whether the codec makes a part of the values shorter.
  private boolean saves(LeafValues leaf, int encoding, ParquetCodec codec) {
    if (codec == ParquetCodec.UNCOMPRESSED || leaf.count == 0) {
      return true;
    }
    int values = Math.min(SAMPLE, leaf.count);
    page.length = 0;
    putValues(leaf, 0, values, encoding);
    double scale = (double) leaf.count / values;
    double before = page.length * scale;
    compress(codec);
    double after = compressed.length * scale;
    if (encoding == Physical.RLE_DICTIONARY) {
      int entries = Math.min(SAMPLE, dictionary.entryCount);
      putEntries(leaf, entries);
      scale = (double) dictionary.entryCount / entries;
      before += page.length * scale;
      compress(codec);
      after += compressed.length * scale;
    }
    return after <= before * (1 - LEAST_SAVING);
  }

  private void putEntries(LeafValues leaf, int count) {
    page.length = 0;
    for (int i = 0; i < count; i++) {
      leaf.putPlain(page, dictionary.entries[i]);
    }
  }

  private void writeDictionary(LeafValues leaf, ParquetCodec codec) {
    putEntries(leaf, dictionary.entryCount);
    compress(codec);
    header.reset();
    header.beginElement();
    beginHeader(Physical.DICTIONARY_PAGE);
    header.begin(7);
    header.i32(1, dictionary.entryCount);
    header.i32(2, Physical.PLAIN);
    header.end();
    header.end();
    writePage();
  }

  private void compress(ParquetCodec codec) {
    compressed.length = 0;
    compressed.need(compressor.maxBytes(codec, page.length));
    compressed.length = compressor.compress(codec, page.bytes, 0, page.length, compressed.bytes);
  }

  private void beginHeader(int kind) {
    crc.reset();
    crc.update(compressed.bytes, 0, compressed.length);
    header.i32(1, kind);
    header.i32(2, page.length);
    header.i32(3, compressed.length);
    header.i32(4, (int) crc.getValue());
  }

  private int writePage() {
    context.checkCanceled();
    out.put(header.bytes(), 0, header.length());
    out.put(compressed.bytes, 0, compressed.length);
    uncompressedBytes += header.length() + (long) page.length;
    compressedBytes += header.length() + (long) compressed.length;
    return header.length() + compressed.length;
  }

  private ValueRange writePages(LeafValues leaf, Levels levels, int encoding, ParquetCodec codec) {
    int level = 0;
    int value = 0;
    long row = 0;
    while (level < levels.count) {
      int endLevel = level;
      int endValue = value;
      int rows = 0;
      long bytes = 0;
      while (endLevel < levels.count) {
        boolean begins = !levels.hasLists() || levels.repetitions[endLevel] == 0;
        if (begins && (rows == PAGE_ROWS || bytes >= PAGE_BYTES)) {
          break;
        }
        rows += begins ? 1 : 0;
        if (levels.definitions[endLevel] == levels.max) {
          bytes += leaf.isLong ? Long.BYTES : leaf.ends[endValue] - leaf.start(endValue);
          endValue++;
        }
        endLevel++;
      }
      putLevels(levels, level, endLevel);
      putValues(leaf, value, endValue, encoding);
      long at = out.length;
      int written = writeDataPage(endLevel - level, encoding, codec);
      index.add(
          at,
          written,
          row,
          endValue - value,
          (long) (endLevel - level) - (endValue - value),
          ValueRange.of(leaf, value, endValue));
      row += rows;
      level = endLevel;
      value = endValue;
    }
    return ValueRange.of(leaf, 0, leaf.count);
  }

  private void putLevels(Levels levels, int from, int to) {
    page.length = 0;
    if (levels.hasLists()) {
      putLevels(levels.repetitions, from, to, 1);
    }
    putLevels(levels.definitions, from, to, LevelEncoder.bits(levels.max));
  }

  private void putLevels(byte[] levels, int from, int to, int bits) {
    levelSpace.length = 0;
    LevelEncoder.putLevels(levelSpace, levels, from, to, bits);
    page.putInt(levelSpace.length);
    page.put(levelSpace.bytes, 0, levelSpace.length);
  }

  private void putValues(LeafValues leaf, int from, int to, int encoding) {
    switch (encoding) {
      case Physical.RLE_DICTIONARY -> {
        int bits = Math.max(1, LevelEncoder.bits(dictionary.entryCount - 1));
        page.put(bits);
        LevelEncoder.put(page, dictionary.indices, from, to, bits);
      }
      case Physical.DELTA_BINARY_PACKED ->
          deltas.put(page, leaf.longs, from, to, leaf.physical == Physical.INT32);
      default -> leaf.putPlain(page, from, to);
    }
  }

  private int writeDataPage(int levels, int encoding, ParquetCodec codec) {
    compress(codec);
    header.reset();
    header.beginElement();
    beginHeader(Physical.DATA_PAGE);
    header.begin(5);
    header.i32(1, levels);
    header.i32(2, encoding);
    header.i32(3, Physical.RLE);
    header.i32(4, Physical.RLE);
    header.end();
    header.end();
    return writePage();
  }

  /// Gives its memory back.
  @Override
  public void close() {
    out.close();
    dictionary.close();
    page.close();
    levelSpace.close();
    compressed.close();
    compressor.close();
  }
}
