package dev.kakehashi.engine.store.index;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.memory.Blocks;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.store.memory.NativeInput;
import dev.kakehashi.engine.vector.CompactWord;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// A value in the durable image: INTEGER is a zigzag varint, FLOAT4 4 bytes, FLOAT8 8, UUID and INTERVAL 16, a varlena its payload's length
/// as varint and the payload.
///
/// Words of by-reference values are the store's: [CompactWord] or [StoredWord].
public final class ValueCodec {
  /// Bit that is set in each byte of a varint but the last.
  private static final long CONTINUED = 0x8080_8080_8080_8080L;

  private static final int HEADER_BYTES = 4;

  private ValueCodec() {}

  /// The word of a value of a by-reference kind, if it is compact.
  ///
  /// @param address of the value
  /// @return 0: it is not
  public static long compact(ColumnKind kind, long address) {
    return switch (kind) {
      case NUMERIC -> CompactWord.ofNumeric(address);
      case VARLENA, BPCHAR -> CompactWord.ofBytes(address);
      default -> 0;
    };
  }

  private static int payloadBytes(long word) {
    return CompactWord.isCompact(word)
        ? CompactWord.memoryBytes(word) - HEADER_BYTES
        : VarlenaLengths.bytes(StoredWord.address(word)) - HEADER_BYTES;
  }

  /// A value alone, for [dev.kakehashi.engine.store.api.Placement.Origin#added].
  ///
  /// @param word of a column of the kind; the address of the bytes of a by-reference value
  public static ByteBuffer value(ColumnKind kind, long word) {
    byte[] bytes = new byte[Math.toIntExact(bytes(kind, word))];
    encodeValue(kind, word, bytes, 0);
    return ByteBuffer.wrap(bytes).asReadOnlyBuffer();
  }

  /// Bytes that a value takes.
  public static long bytes(ColumnKind kind, long word) {
    return switch (kind) {
      case INTEGER -> LogRecord.varintBytes(word << 1 ^ word >> 63);
      case FLOAT4 -> 4;
      case FLOAT8 -> 8;
      case UUID, INTERVAL -> 16;
      default -> {
        int payload = payloadBytes(word);
        yield LogRecord.varintBytes(payload) + (long) payload;
      }
    };
  }

  /// Writes a value.
  ///
  /// @return where the next one begins
  public static int encodeValue(ColumnKind kind, long word, byte[] to, int from) {
    int at = from;
    switch (kind) {
      case INTEGER -> at = putVarint(word << 1 ^ word >> 63, to, at);
      case FLOAT4 -> {
        for (int i = 0; i < 4; i++) {
          to[at++] = (byte) (word >>> (8 * i));
        }
      }
      case FLOAT8 -> {
        for (int i = 0; i < 8; i++) {
          to[at++] = (byte) (word >>> (8 * i));
        }
      }
      case UUID, INTERVAL -> {
        Native.copyToArray(word, to, at, 16);
        at += 16;
      }
      default -> {
        int payload = payloadBytes(word);
        at = putVarint(payload, to, at);
        if (CompactWord.isCompact(word)) {
          at = CompactWord.write(word, to, at);
        } else {
          Native.copyToArray(StoredWord.address(word) + HEADER_BYTES, to, at, payload);
          at += payload;
        }
      }
    }
    return at;
  }

  /// @return behind the number
  public static int putVarint(long value, byte[] to, int from) {
    int at = from;
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      to[at++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    to[at++] = (byte) rest;
    return at;
  }

  /// Reads a value alone, a by-reference one in PostgreSQL's form.
  ///
  /// @return its word: of a by-reference value the address
  public static long decodeInMemory(ColumnKind kind, ByteBuffer value, Blocks blocks) {
    long word = decodeValue(kind, value, blocks);
    if (!kind.byReference() || !CompactWord.isCompact(word)) {
      return word;
    }
    long address = blocks.allocate(CompactWord.MOST_BYTES);
    CompactWord.write(word, address);
    return address;
  }

  /// Values that are in memory once for all rows.
  public interface SharedValues {
    /// The word of a value.
    ///
    /// @param bytes where the value is, without header
    /// @return a [StoredWord]; 0: the value is none of these
    long word(long bytes, int length);
  }

  /// Reads a value alone.
  public static long decodeValue(ColumnKind kind, ByteBuffer value, Blocks pool) {
    NativeInput input = NativeInput.of(value);
    try {
      return decodeValue(kind, input, pool, null);
    } finally {
      Reference.reachabilityFence(input);
    }
  }

  /// Reads the next value of a row.
  ///
  /// @param shared of the column
  /// @throws EngineException DATA_CORRUPTED
  public static long decodeValue(
      ColumnKind kind, NativeInput value, Blocks pool, @Nullable SharedValues shared) {
    return switch (kind) {
      case INTEGER -> {
        long zigzag = getVarint(value);
        yield zigzag >>> 1 ^ -(zigzag & 1);
      }
      case FLOAT4 -> {
        require(value, 4);
        yield value.nextInt() & 0xFFFF_FFFFL;
      }
      case FLOAT8 -> {
        require(value, 8);
        yield value.nextLong();
      }
      case UUID, INTERVAL -> copy(value, 16, 0, pool);
      default -> decodeVarlena(kind, value, pool, shared);
    };
  }

  private static long decodeVarlena(
      ColumnKind kind, NativeInput value, Blocks pool, @Nullable SharedValues shared) {
    int payload = payload(value);
    long word =
        kind == ColumnKind.NUMERIC
            ? CompactWord.ofNumeric(value.address(), payload)
            : CompactWord.ofBytes(value.address(), payload);
    if (word == 0 && shared != null) {
      word = shared.word(value.address(), payload);
    }
    if (word == 0) {
      return copy(value, payload, HEADER_BYTES, pool);
    }
    value.skip(payload);
    return word;
  }

  /// @throws EngineException DATA_CORRUPTED
  public static void skipValue(ColumnKind kind, NativeInput value) {
    int bytes =
        switch (kind) {
          case INTEGER -> {
            getVarint(value);
            yield 0;
          }
          case FLOAT4 -> 4;
          case FLOAT8 -> 8;
          case UUID, INTERVAL -> 16;
          default -> payload(value);
        };
    require(value, bytes);
    value.skip(bytes);
  }

  private static int payload(NativeInput value) {
    long payload = getVarint(value);
    if (payload < 0 || payload > value.remaining()) {
      throw corrupted("a value of %d bytes is not there".formatted(payload));
    }
    return (int) payload;
  }

  private static long copy(NativeInput value, int bytes, int headerBytes, Blocks pool) {
    require(value, bytes);
    long address = pool.allocate((long) bytes + headerBytes);
    if (headerBytes != 0) {
      Native.putInt(address, (bytes + headerBytes) << 2);
    }
    Native.copyApart(value.address(), address + headerBytes, bytes);
    value.skip(bytes);
    return address;
  }

  /// Without a loop, which would be inlined and nested in that over the columns: compiling it took a second of a start.
  public static long getVarint(NativeInput value) {
    long word = value.peekLong();
    long ends = ~word & CONTINUED;
    int bytes = ends == 0 ? Long.BYTES + 1 : (Long.numberOfTrailingZeros(ends) >>> 3) + 1;
    require(value, bytes);
    if (ends != 0) {
      value.skip(bytes);
      return joined(word & (-1L >>> (Long.SIZE - 8 * bytes)));
    }
    byte ninth = Native.getByte(value.address() + Long.BYTES);
    long result = joined(word) | (ninth & 0x7FL) << 56;
    if (ninth < 0) {
      require(value, ++bytes);
      byte tenth = Native.getByte(value.address() + Long.BYTES + 1);
      if (tenth < 0) {
        throw corrupted("a number has more than 10 bytes");
      }
      result |= (long) tenth << 63;
    }
    value.skip(bytes);
    return result;
  }

  /// The low 7 bits of each byte, side by side.
  private static long joined(long word) {
    long pairs = (word & 0x007F_007F_007F_007FL) | ((word & 0x7F00_7F00_7F00_7F00L) >>> 1);
    long fours = (pairs & 0x0000_3FFF_0000_3FFFL) | ((pairs & 0x3FFF_0000_3FFF_0000L) >>> 2);
    return (fours & 0x0FFF_FFFFL) | ((fours & 0x0FFF_FFFF_0000_0000L) >>> 4);
  }

  /// @throws EngineException DATA_CORRUPTED if there are fewer bytes
  public static void require(NativeInput value, int bytes) {
    if (value.remaining() < bytes) {
      throw corrupted("a row ends early");
    }
  }

  /// The error of a row that cannot be read.
  public static EngineException corrupted(String what) {
    return new EngineException(ErrorCode.DATA_CORRUPTED, "store is corrupted: " + what)
        .withHint("Restore the data directory from a backup.");
  }
}
