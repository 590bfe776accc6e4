package dev.kakehashi.pgwire.wire;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.protocol.value.PgInterval;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;

/// Parameter rows in the wire's formats. Not thread-safe.
///
/// A value is checked as it is read: the memory may change meanwhile.
public final class WireParameters {
  private static final int SPECIAL = 0xC000;

  private static final int VERSION_OF_JSONB = 1;

  private final int[] types;
  private final WireForm[] forms;
  private final RowBatchReader reader = new RowBatchReader();
  private final int rows;

  /// @param typeOids types of the parameters, all of which cross the bridge
  /// @throws dev.kakehashi.protocol.MalformedFrameException it is no batch of such rows
  public WireParameters(ParameterBatch batch, int[] typeOids) {
    types = typeOids.clone();
    forms = new WireForm[typeOids.length];
    for (int i = 0; i < typeOids.length; i++) {
      forms[i] = WireForm.of(typeOids[i]);
    }
    if (batch.batch().equals(MemorySegment.NULL)) {
      rows = typeOids.length == 0 ? Math.max(1, batch.rowCount()) : 0;
    } else {
      reader.wrap(batch.batch());
      rows = batch.rowCount();
    }
  }

  /// How often the statement is to run.
  public int rows() {
    return rows;
  }

  /// Whether types cross the bridge.
  public static boolean areKnown(int[] typeOids) {
    for (int oid : typeOids) {
      if (!WireForm.isKnown(oid)) {
        return false;
      }
    }
    return true;
  }

  /// Whether values of all types have a binary format.
  public static boolean canCopy(int[] typeOids) {
    for (int oid : typeOids) {
      WireForm form = WireForm.of(oid);
      // The binary format of documents is their text.
      if (form == WireForm.TEXT && oid != TypeOid.JSON && oid != TypeOid.JSONB) {
        return false;
      }
    }
    return true;
  }

  /// Whether a type crosses the bridge.
  public static boolean isKnown(int typeOid) {
    return WireForm.isKnown(typeOid);
  }

  /// Writes a Bind.
  ///
  /// @param columns types of the result's columns
  /// @return bytes of its values
  public long bind(WireOutput out, String portal, String statement, int row, int[] columns) {
    out.begin('B').putText(portal).putText(statement).putShort(forms.length);
    for (WireForm form : forms) {
      out.putShort(form.format());
    }
    long bytes = values(out, row, false);
    formats(out, columns);
    out.end();
    return bytes;
  }

  /// Writes a row as COPY has it in its binary format.
  ///
  /// @return bytes of its values
  public long copy(WireOutput out, int row) {
    return values(out, row, true);
  }

  /// Writes a Bind of arrays, one for each parameter, of several rows. All have a binary format.
  ///
  /// @param columns types of the result's columns
  public void bindArrays(
      WireOutput out, String portal, String statement, int first, int count, int[] columns) {
    out.begin('B').putText(portal).putText(statement).putShort(1).putShort(1);
    out.putShort(forms.length);
    for (int column = 0; column < forms.length; column++) {
      int lengthAt = out.position();
      out.putInt(0).putInt(1); // dimensions
      int nullsAt = out.position();
      out.putInt(0).putInt(types[column]).putInt(count).putInt(1);
      for (int row = first; row < first + count; row++) {
        if (value(out, row, column, true) < 0) {
          out.setInt(nullsAt, 1);
        }
      }
      out.setInt(lengthAt, out.position() - lengthAt - 4);
    }
    formats(out, columns);
    out.end();
  }

  private static void formats(WireOutput out, int[] columns) {
    out.putShort(columns.length);
    for (int column : columns) {
      out.putShort(WireForm.of(column).format());
    }
  }

  private long values(WireOutput out, int row, boolean binary) {
    out.putShort(forms.length);
    long bytes = 0;
    for (int column = 0; column < forms.length; column++) {
      bytes += Math.max(0, value(out, row, column, binary));
    }
    return bytes;
  }

  /// Writes a value behind its length.
  ///
  /// @return the length; below 0: null
  private int value(WireOutput out, int row, int column, boolean binary) {
    if (reader.isNull(row, column)) {
      out.putInt(-1);
      return -1;
    }
    int lengthAt = out.position();
    out.putInt(0);
    if (binary && types[column] == TypeOid.JSONB) {
      out.put(VERSION_OF_JSONB);
    }
    value(out, forms[column], row, column);
    int length = out.position() - lengthAt - 4;
    out.setInt(lengthAt, length);
    return length;
  }

  private void value(WireOutput out, WireForm form, int row, int column) {
    switch (form) {
      case BOOL -> out.put(reader.getBoolean(row, column) ? 1 : 0);
      case INT2 -> out.putShort(reader.getShort(row, column));
      case INT4, FLOAT4 -> out.putInt(reader.getInt(row, column));
      case INT8 -> out.putLong(reader.getLong(row, column));
      case UUID -> {
        UUID uuid = reader.getUuid(row, column);
        out.putLong(uuid.getMostSignificantBits()).putLong(uuid.getLeastSignificantBits());
      }
      case INTERVAL -> {
        PgInterval interval = reader.getInterval(row, column);
        out.putLong(interval.micros()).putInt(interval.days()).putInt(interval.months());
      }
      case NUMERIC ->
          numeric(
              out, ByteBuffer.wrap(reader.getBytes(row, column)).order(ByteOrder.LITTLE_ENDIAN));
      case BYTES, TEXT -> out.putBytes(reader.getBytes(row, column));
    }
  }

  /// See PgNumeric for the form in memory. The server checks the digits.
  private static void numeric(WireOutput out, ByteBuffer from) {
    if (from.remaining() < 2) {
      throw new MalformedFrameException("numeric of " + from.remaining() + " bytes");
    }
    int header = from.getShort() & 0xFFFF;
    int weight = 0;
    int sign;
    int scale = 0;
    if ((header & SPECIAL) == SPECIAL) {
      sign = header & 0xF000;
      from.position(from.limit());
    } else if ((header & 0x8000) != 0) {
      sign = (header & 0x2000) != 0 ? 0x4000 : 0;
      scale = header >>> 7 & 0x3F;
      weight = (header & 0x40) != 0 ? (header & 0x3F) | ~0x3F : header & 0x3F;
    } else {
      if (from.remaining() < 2) {
        throw new MalformedFrameException("numeric without its weight");
      }
      sign = header & 0x4000;
      scale = header & 0x3FFF;
      weight = from.getShort();
    }
    int digits = from.remaining() / 2;
    out.putShort(digits).putShort(weight).putShort(sign).putShort(scale);
    for (int i = 0; i < digits; i++) {
      out.putShort(from.getShort());
    }
  }
}
