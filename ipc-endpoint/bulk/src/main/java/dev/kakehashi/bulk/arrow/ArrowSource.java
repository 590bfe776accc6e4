package dev.kakehashi.bulk.arrow;

import dev.kakehashi.bulk.format.FileInput;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.ArrowEncoder;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.arrow.flatbuf.Footer;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.Schema;
import org.jspecify.annotations.Nullable;

/// The messages of an Arrow file or stream. Immutable; thread-safe.
///
/// The metadata of a message is a buffer of its own, whose reader checks each access: what lies outside of it cannot be reached.
final class ArrowSource {
  private static final int PREFIX_BYTES = 8;
  private static final int MAX_METADATA_BYTES = 64 << 20;
  private static final int TRAILER_BYTES = 4 + ArrowRowsOutput.MAGIC.length;
  private static final int BLOCK_BYTES = 24;
  private static final int MAX_ENTRIES = 100;
  private static final ValueLayout.OfInt I32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /// A message.
  ///
  /// @param bodyAt where its body begins in the file
  /// @param end where the next message begins
  record Read(Message message, long bodyAt, long bodyBytes, long end) {}

  private final FileInput file;
  private final List<ArrowShape> shapes;
  private final Map<String, String> metadata;

  /// Whether it is a file: then it has blocks.
  private final boolean isFile;

  /// Offsets of messages.
  private final long[] dictionaries;

  private final long[] batches;

  /// Where the first message of a stream after the schema is.
  private final long firstAt;

  private ArrowSource(
      FileInput file,
      Schema schema,
      boolean isFile,
      long[] dictionaries,
      long[] batches,
      long firstAt) {
    this.file = file;
    this.shapes = ArrowSchemas.shapes(schema);
    this.metadata = ArrowSchemas.metadata(schema);
    this.isFile = isFile;
    this.dictionaries = dictionaries;
    this.batches = batches;
    this.firstAt = firstAt;
  }

  /// Reads a file's footer, or the schema of a stream.
  ///
  /// @throws EngineException BAD_COPY_FILE_FORMAT, FEATURE_NOT_SUPPORTED
  static ArrowSource open(FileInput file) {
    byte[] magic = ArrowRowsOutput.MAGIC;
    byte[] begin = new byte[magic.length];
    if (file.sizeBytes() >= begin.length) {
      file.read(0, MemorySegment.ofArray(begin));
    }
    return guarded(file, () -> Arrays.equals(begin, magic) ? openFile(file) : openStream(file));
  }

  private static ArrowSource openFile(FileInput file) {
    long size = file.sizeBytes();
    if (size < 2L * PREFIX_BYTES + TRAILER_BYTES) {
      throw bad("is cut off");
    }
    byte[] trailer = new byte[TRAILER_BYTES];
    file.read(size - TRAILER_BYTES, MemorySegment.ofArray(trailer));
    if (!Arrays.equals(trailer, 4, TRAILER_BYTES, ArrowRowsOutput.MAGIC, 0, TRAILER_BYTES - 4)) {
      throw bad("is cut off: it has no footer");
    }
    int length = MemorySegment.ofArray(trailer).get(I32, 0);
    if (length <= 0
        || length > MAX_METADATA_BYTES
        || length > size - TRAILER_BYTES - PREFIX_BYTES) {
      throw bad("has a footer of " + length + " bytes");
    }
    Footer footer = Footer.getRootAsFooter(buffer(file, size - TRAILER_BYTES - length, length));
    checkVersion(footer.version());
    long[] dictionaries = new long[checkedCount(footer.dictionariesLength(), length)];
    for (int i = 0; i < dictionaries.length; i++) {
      dictionaries[i] = ArrowSchemas.required(footer.dictionaries(i)).offset();
    }
    long[] batches = new long[checkedCount(footer.recordBatchesLength(), length)];
    for (int i = 0; i < batches.length; i++) {
      batches[i] = ArrowSchemas.required(footer.recordBatches(i)).offset();
    }
    Schema schema = ArrowSchemas.required(footer.schema());
    return new ArrowSource(file, schema, true, dictionaries, batches, PREFIX_BYTES);
  }

  private static int checkedCount(int blocks, int footerBytes) {
    if (blocks < 0 || blocks > footerBytes / BLOCK_BYTES) {
      throw bad("has a footer of " + blocks + " record batches");
    }
    return blocks;
  }

  private static ArrowSource openStream(FileInput file) {
    Read first = read(file, 0);
    if (first == null || first.message().headerType() != MessageHeader.Schema) {
      throw bad("is neither an Arrow file nor an Arrow stream");
    }
    Schema schema = ArrowSchemas.required((Schema) first.message().header(new Schema()));
    return new ArrowSource(file, schema, false, new long[0], new long[0], first.end());
  }

  private static void checkVersion(short version) {
    if (version != MetadataVersion.V4 && version != MetadataVersion.V5) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          "Arrow metadata of version %d cannot be read".formatted(version + 1));
    }
  }

  /// Reads a message of the file.
  ///
  /// @return null at the end of a stream
  /// @throws EngineException BAD_COPY_FILE_FORMAT
  @Nullable Read read(long at) {
    return guarded(file, () -> read(file, at));
  }

  private static @Nullable Read read(FileInput file, long at) {
    long size = file.sizeBytes();
    if (at < 0 || at > size - 4) {
      // A stream may end without its mark, but then nobody knows whether it is whole.
      throw bad("is cut off");
    }
    byte[] prefix = new byte[(int) Math.min(PREFIX_BYTES, size - at)];
    file.read(at, MemorySegment.ofArray(prefix));
    int length = MemorySegment.ofArray(prefix).get(I32, 0);
    long metadataAt = at + 4;
    if (length == -1) {
      if (prefix.length < PREFIX_BYTES) {
        throw bad("is cut off");
      }
      length = MemorySegment.ofArray(prefix).get(I32, 4);
      metadataAt = at + PREFIX_BYTES;
    }
    if (length == 0) {
      return null;
    }
    if (length < 0 || length > MAX_METADATA_BYTES || length > size - metadataAt) {
      throw bad("is cut off, or has a message of " + length + " bytes");
    }
    Message message = Message.getRootAsMessage(buffer(file, metadataAt, length));
    checkVersion(message.version());
    refuseBrokenOff(message);
    long bodyAt = metadataAt + length;
    long bodyBytes = message.bodyLength();
    if (bodyBytes < 0 || bodyBytes > size - bodyAt) {
      throw bad("is cut off, or has a body of " + bodyBytes + " bytes");
    }
    return new Read(message, bodyAt, bodyBytes, bodyAt + bodyBytes);
  }

  /// Streams that we send end with the reason, if there was an error.
  private static void refuseBrokenOff(Message message) {
    for (int i = 0; i < Math.min(message.customMetadataLength(), MAX_ENTRIES); i++) {
      KeyValue entry = message.customMetadata(i);
      if (entry != null && ArrowEncoder.ERROR_KEY.equals(entry.key())) {
        throw bad("was broken off by an error").withDetail("It says: " + entry.value());
      }
    }
  }

  private static ByteBuffer buffer(FileInput file, long at, int length) {
    byte[] bytes = new byte[length];
    file.read(at, MemorySegment.ofArray(bytes));
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /// Runs what reads metadata: what a buffer throws for places outside of it means a broken file.
  static <T extends @Nullable Object> T guarded(FileInput file, Supplier<T> reading) {
    try {
      return reading.get();
    } catch (IndexOutOfBoundsException
        | BufferUnderflowException
        | IllegalArgumentException
        | ArithmeticException
        | NegativeArraySizeException e) {
      throw new EngineException(
          ErrorCode.BAD_COPY_FILE_FORMAT,
          "file \"" + file.name() + "\" has broken Arrow metadata",
          e);
    } catch (EngineException e) {
      throw e.detail().isEmpty() ? e.withDetail("In \"" + file.name() + "\".") : e;
    }
  }

  /// The file is broken.
  static EngineException bad(String what) {
    return new EngineException(ErrorCode.BAD_COPY_FILE_FORMAT, "Arrow file " + what);
  }

  FileInput file() {
    return file;
  }

  List<ArrowShape> shapes() {
    return shapes;
  }

  Map<String, String> metadata() {
    return metadata;
  }

  boolean isFile() {
    return isFile;
  }

  long[] dictionaries() {
    return dictionaries;
  }

  long[] batches() {
    return batches;
  }

  long firstAt() {
    return firstAt;
  }
}
