package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.Preparation;
import dev.kakehashi.engine.store.durable.StoreImage;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.log.StoreKeys;
import dev.kakehashi.engine.store.version.ReadSet;
import dev.kakehashi.protocol.ErrorCode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.List;

/// A prepared transaction in the durable image: an entry for the transaction with its [Preparation] and what it has read if it is
/// serializable, and one for each row that it changed, with the row as it will be, or nothing for a row that it deleted. Row locks are in
/// entries of their own, see [PreparedLocks].
public final class PreparedCodec {
  private static final int FORMAT = 2;

  /// Format of versions that did not note row locks.
  private static final int FORMAT_WITHOUT_LOCKS = 1;

  private PreparedCodec() {}

  /// A transaction's entry, decoded.
  ///
  /// @param withLocks whether its row locks are noted
  record Header(
      Preparation preparation,
      @org.jspecify.annotations.Nullable ReadSet reads,
      boolean withLocks) {}

  static void encode(
      Preparation preparation, @org.jspecify.annotations.Nullable ReadSet reads, LogRecord record) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(FORMAT);
      out.writeUTF(preparation.globalId());
      out.writeUTF(preparation.owner());
      out.writeUTF(preparation.userName());
      out.writeLong(preparation.reference());
      out.writeLong(preparation.preparedMicros());
      out.writeBoolean(reads != null);
      if (reads != null) {
        encodeReads(reads, out);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    record.put(StoreKeys.prepared(preparation.globalId()), bytes.toByteArray());
  }

  private static void encodeReads(ReadSet reads, DataOutputStream out) throws IOException {
    List<Long> tables = reads.tables();
    out.writeInt(tables.size());
    for (long table : tables) {
      out.writeLong(table);
    }
    List<Long> ranged = reads.rangedTables();
    out.writeInt(ranged.size());
    for (long table : ranged) {
      List<ReadSet.Range> ranges = reads.ranges(table);
      out.writeLong(table);
      out.writeInt(ranges.size());
      for (ReadSet.Range range : ranges) {
        out.writeLong(range.indexId());
        writeBytes(out, range.from());
        byte[] to = range.to();
        out.writeBoolean(to != null);
        if (to != null) {
          writeBytes(out, to);
        }
      }
    }
  }

  private static void writeBytes(DataOutputStream out, byte[] bytes) throws IOException {
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  public static Header decode(ByteBuffer value) {
    byte[] bytes = StoreImage.bytes(value);
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      int format = in.readUnsignedByte();
      if (format != FORMAT && format != FORMAT_WITHOUT_LOCKS) {
        throw corrupted("format " + format);
      }
      Preparation preparation =
          new Preparation(in.readUTF(), in.readUTF(), in.readUTF(), in.readLong(), in.readLong());
      return new Header(
          preparation, in.readBoolean() ? decodeReads(in) : null, format != FORMAT_WITHOUT_LOCKS);
    } catch (IOException e) {
      throw corrupted(String.valueOf(e.getMessage()));
    }
  }

  /// Description of a prepared transaction alone.
  ///
  /// @param value of its entry
  public static Preparation preparation(ByteBuffer value) {
    return decode(value).preparation();
  }

  private static ReadSet decodeReads(DataInputStream in) throws IOException {
    ReadSet reads = new ReadSet();
    for (int tables = in.readInt(); tables > 0; tables--) {
      reads.addTable(in.readLong());
    }
    for (int tables = in.readInt(); tables > 0; tables--) {
      long table = in.readLong();
      for (int ranges = in.readInt(); ranges > 0; ranges--) {
        long indexId = in.readLong();
        byte[] from = readBytes(in);
        reads.addRange(
            table, new ReadSet.Range(indexId, from, in.readBoolean() ? readBytes(in) : null));
      }
    }
    return reads;
  }

  private static byte[] readBytes(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > in.available()) {
      throw new IOException("a key of " + length + " bytes is not there");
    }
    return in.readNBytes(length);
  }

  public static EngineException corrupted(String what) {
    return new EngineException(
            ErrorCode.DATA_CORRUPTED,
            "store is corrupted: a prepared transaction cannot be read: " + what)
        .withHint("Restore the data directory from a backup.");
  }
}
