package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.bulk.parquet.thrift.PageMeta;
import dev.kakehashi.bulk.parquet.thrift.Physical;
import dev.kakehashi.bulk.parquet.thrift.SchemaNode;
import dev.kakehashi.bulk.value.FileType;
import dev.kakehashi.bulk.value.FileType.Kind;
import dev.kakehashi.bulk.value.FileType.Storage;
import dev.kakehashi.engine.api.bulk.BulkContext;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Levels and values of a leaf in a row group, through its pages. Not thread-safe.
final class LeafPages implements AutoCloseable {
  private static final int HALF_BYTES = 2;
  private final PageSource source;
  private final SchemaNode node;
  private final FileType type;
  private final BulkContext context;
  private final boolean isLong;
  private final int width;
  private final @Nullable LevelDecoder definitions;
  private final @Nullable LevelDecoder repetitions;
  private final ValueDecoders decoders;

  /// Decoder of the page's values.
  private ValueDecoder values;

  private boolean begun;
  private int[] pieceStarts = {};
  private int[] pieceLengths = {};

  /// Levels that are left of the page.
  private int left;

  /// Levels that are left in later pages.
  private long later;

  /// @param type of the values
  /// @param levels of the chunk
  LeafPages(
      PageSource source,
      SchemaNode node,
      FileType type,
      int maxDefinition,
      boolean repeated,
      long levels,
      BulkContext context) {
    this.source = source;
    this.node = node;
    this.type = type;
    this.context = context;
    this.isLong =
        node.physical() != Physical.BYTE_ARRAY
            && node.physical() != Physical.FIXED
            && node.physical() != Physical.INT96;
    this.width = LeafTypes.width(node);
    this.definitions = maxDefinition > 0 ? new LevelDecoder(maxDefinition) : null;
    this.repetitions = repeated ? new LevelDecoder(1) : null;
    this.decoders = new ValueDecoders(node, type, context);
    this.values = decoders.plain();
    this.later = levels;
  }

  FileType type() {
    return type;
  }

  long readBytes() {
    return source.readBytes();
  }

  /// Levels that are left of the page; 0: [#nextPage()] is to be called.
  int left() {
    return left;
  }

  /// How many values of the page may be read at once, so that their bytes do not become too many.
  int mostAtOnce() {
    return values.mostAtOnce();
  }

  /// Whether there are levels after the page's.
  boolean hasMore() {
    return later > 0;
  }

  /// Reads the next page that has values. The bytes of the last values are gone.
  void nextPage() {
    while (true) {
      if (later == 0) {
        throw Damage.of("column \"" + node.name() + "\" ends before its rows");
      }
      source.next();
      PageMeta page = source.meta();
      if (page.kind() == Physical.DICTIONARY_PAGE) {
        readDictionary(page);
      } else {
        begun = true;
        if (page.values() > later) {
          throw Damage.of("a page has more values than its column");
        }
        if (page.values() > 0) {
          open(page);
          return;
        }
      }
    }
  }

  private void readDictionary(PageMeta page) {
    boolean sane =
        !begun
            && !decoders.hasDictionary()
            && (page.encoding() == Physical.PLAIN || page.encoding() == Physical.PLAIN_DICTIONARY)
            && node.physical() != Physical.BOOLEAN;
    if (!sane) {
      throw Damage.of("a dictionary at the wrong place");
    }
    int least = width > 0 ? width : Integer.BYTES;
    if (page.values() > source.length() / least) {
      throw Damage.shortPage();
    }
    byte[] bytes =
        isLong ? source.bytes() : Arrays.copyOf(source.bytes(), source.length() + ReadSpace.SLACK);
    PlainDecoder plain = decoders.plain();
    plain.open(bytes, 0, source.length(), page.values());
    Dictionary dictionary =
        new Dictionary(plain, isLong, page.values(), isLong ? new byte[0] : bytes, context);
    decoders.setDictionary(dictionary);
    if (isLong) {
      fix(dictionary.longs, 0, dictionary.count);
    }
  }

  private void open(PageMeta page) {
    byte[] bytes = source.bytes();
    int at = 0;
    int end = source.length();
    left = page.values();
    later -= left;
    if (page.kind() == Physical.DATA_PAGE_V2) {
      int definitionsAt = page.repetitionBytes();
      at = definitionsAt + page.definitionBytes();
      if (repetitions != null) {
        repetitions.open(bytes, 0, definitionsAt);
      }
      if (definitions != null) {
        definitions.open(bytes, definitionsAt, at);
      }
    } else {
      at = openLevels(repetitions, page.repetitionEncoding(), bytes, at, end);
      at = openLevels(definitions, page.definitionEncoding(), bytes, at, end);
    }
    values = decoders.of(page.encoding());
    values.open(bytes, at, end, left);
  }

  private int openLevels(
      @Nullable LevelDecoder levels, int encoding, byte[] bytes, int at, int end) {
    if (levels == null) {
      return at;
    }
    return switch (encoding) {
      case Physical.RLE -> levels.openWithLength(bytes, at, end);
      case Physical.BIT_PACKED -> levels.openPacked(bytes, at, end, left);
      default -> throw Damage.of("levels of encoding " + encoding);
    };
  }

  /// Reads the next levels of the page, which are taken as read then: after the repetitions.
  ///
  /// @return how many values are there
  int definitions(byte[] into, int from, int count) {
    left -= count;
    return definitions == null ? count : definitions.read(into, from, count);
  }

  void repetitions(byte[] into, int from, int count) {
    if (repetitions != null) {
      repetitions.read(into, from, count);
    }
  }

  boolean hasDefinitions() {
    return definitions != null;
  }

  /// Reads the next values of the page that are there.
  void longs(long[] into, int from, int count) {
    if (count == 0) {
      return;
    }
    if (!isLong) {
      halves(into, from, count);
      return;
    }
    values.longs(into, from, count);
    if (!values.areTyped()) {
      fix(into, from, count);
    }
  }

  private void halves(long[] into, int from, int count) {
    if (type.kind() != Kind.FLOAT || width != HALF_BYTES) {
      throw new IllegalStateException("values are pieces");
    }
    if (pieceStarts.length < count) {
      pieceStarts = new int[count];
      pieceLengths = new int[count];
    }
    values.pieces(pieceStarts, pieceLengths, 0, count);
    byte[] bytes = values.bytes();
    for (int i = 0; i < count; i++) {
      int at = pieceStarts[i];
      short half = (short) ((bytes[at] & 0xFF) | (bytes[at + 1] << 8));
      into[from + i] = Double.doubleToRawLongBits(Float.float16ToFloat(half));
    }
  }

  /// Makes of what is in the file what the type has.
  private void fix(long[] values, int from, int count) {
    int to = from + count;
    if (type.kind() == Kind.FLOAT && node.physical() == Physical.FLOAT) {
      for (int i = from; i < to; i++) {
        values[i] = Double.doubleToRawLongBits(Float.intBitsToFloat((int) values[i]));
      }
    } else if (type.kind() == Kind.UINT && type.bits() < Long.SIZE) {
      long mask = (1L << type.bits()) - 1;
      for (int i = from; i < to; i++) {
        values[i] &= mask;
      }
    } else if (type.kind() == Kind.INT && type.bits() < Integer.SIZE) {
      int shift = Long.SIZE - type.bits();
      for (int i = from; i < to; i++) {
        values[i] = values[i] << shift >> shift;
      }
    }
  }

  /// Reads the next values of the page that are there, as pieces of [#bytes()].
  void pieces(int[] starts, int[] sizes, int from, int count) {
    if (count > 0) {
      values.pieces(starts, sizes, from, count);
    }
  }

  byte[] bytes() {
    return values.bytes();
  }

  boolean isPieces() {
    return type.storage() == Storage.BYTES;
  }

  /// Gives its memory back.
  @Override
  public void close() {
    source.close();
    decoders.close();
  }
}
