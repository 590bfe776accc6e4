package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.bulk.parquet.thrift.Physical;
import dev.kakehashi.bulk.parquet.thrift.SchemaNode;
import dev.kakehashi.bulk.value.FileType;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import org.jspecify.annotations.Nullable;

/// The decoders of a column's values, by encoding; each is made when a page has its encoding. Not thread-safe.
final class ValueDecoders implements AutoCloseable {
  private final SchemaNode node;
  private final int width;
  private final int maxBytes;
  private final BulkContext context;
  private final PlainDecoder plain;

  /// By number of the encoding. Both that mean a dictionary have one, at RLE_DICTIONARY.
  private final @Nullable ValueDecoder[] made =
      new @Nullable ValueDecoder[Physical.BYTE_STREAM_SPLIT + 1];

  /// @param type of the values
  ValueDecoders(SchemaNode node, FileType type, BulkContext context) {
    this.node = node;
    this.width = LeafTypes.width(node);
    this.maxBytes = LeafTypes.maxBytes(type);
    this.context = context;
    this.plain = new PlainDecoder(node.physical(), width, maxBytes);
    made[Physical.PLAIN] = plain;
  }

  /// The decoder of plain values, which are those of a dictionary too.
  PlainDecoder plain() {
    return plain;
  }

  /// The dictionary of pages to come, which has its memory until [#close()].
  void setDictionary(Dictionary dictionary) {
    made[Physical.RLE_DICTIONARY] = new IndexDecoder(dictionary);
  }

  boolean hasDictionary() {
    return made[Physical.RLE_DICTIONARY] != null;
  }

  /// The decoder of an encoding, to be opened.
  ///
  /// @throws EngineException BAD_COPY_FILE_FORMAT: values of the column have no such encoding, or there is no dictionary
  ValueDecoder of(int encoding) {
    int index = encoding == Physical.PLAIN_DICTIONARY ? Physical.RLE_DICTIONARY : encoding;
    ValueDecoder decoder = index >= 0 && index < made.length ? made[index] : null;
    if (decoder == null) {
      decoder = newDecoder(index);
      if (decoder == null) {
        throw new EngineException(
            ErrorCode.BAD_COPY_FILE_FORMAT,
            "Parquet column \""
                + node.name()
                + "\" has values of the unknown encoding "
                + encoding);
      }
      made[index] = decoder;
    }
    return decoder;
  }

  /// Null: the column's values have no such encoding.
  private @Nullable ValueDecoder newDecoder(int encoding) {
    int physical = node.physical();
    boolean isInteger = physical == Physical.INT32 || physical == Physical.INT64;
    boolean isBytes = physical == Physical.BYTE_ARRAY;
    return switch (encoding) {
      case Physical.RLE_DICTIONARY -> throw Damage.of("a page without its dictionary");
      case Physical.DELTA_BINARY_PACKED ->
          isInteger ? new DeltaLongs(physical == Physical.INT32) : null;
      case Physical.DELTA_LENGTH_BYTE_ARRAY -> isBytes ? pieces(false) : null;
      case Physical.DELTA_BYTE_ARRAY -> isBytes || physical == Physical.FIXED ? pieces(true) : null;
      case Physical.BYTE_STREAM_SPLIT ->
          width > 0 && physical != Physical.INT96 ? new SplitDecoder(width, context) : null;
      case Physical.RLE -> physical == Physical.BOOLEAN ? new RunBooleans() : null;
      default -> null;
    };
  }

  private DeltaPieces pieces(boolean prefixed) {
    return new DeltaPieces(prefixed, width, maxBytes, context);
  }

  /// Gives the memory of all back.
  @Override
  public void close() {
    for (ValueDecoder decoder : made) {
      if (decoder != null) {
        decoder.close();
      }
    }
  }
}
