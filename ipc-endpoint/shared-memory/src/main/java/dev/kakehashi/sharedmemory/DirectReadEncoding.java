package dev.kakehashi.sharedmemory;

import dev.kakehashi.engine.api.DirectRead;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.messages.DirectReadEncoder;
import dev.kakehashi.protocol.messages.KeyFlagsEncoder;
import dev.kakehashi.protocol.messages.MessageHeaderEncoder;
import dev.kakehashi.protocol.messages.ValueKind;
import java.util.Arrays;
import org.agrona.concurrent.UnsafeBuffer;

/// Encodes what `Prepared` says about direct reads. Stateless.
final class DirectReadEncoding {
  private static final int LONGEST_GROUP_ENTRY_BYTES = 16;
  private static final int GROUP_HEADER_BYTES = 4;

  private DirectReadEncoding() {}

  static byte[] encode(DirectRead read) {
    int entries = read.keys().size() + read.columns().size();
    byte[] bytes =
        new byte
            [Protocol.MESSAGE_HEADER_BYTES
                + DirectReadEncoder.BLOCK_LENGTH
                + 2 * GROUP_HEADER_BYTES
                + LONGEST_GROUP_ENTRY_BYTES * entries];
    DirectReadEncoder encoder = new DirectReadEncoder();
    encoder
        .wrapAndApplyHeader(new UnsafeBuffer(bytes), 0, new MessageHeaderEncoder())
        .definitions(read.definitions())
        .tableCell(read.tableCell())
        .tableGeneration(read.tableGeneration())
        .indexCell(read.indexCell())
        .indexGeneration(read.indexGeneration())
        .pageRows(read.pageRows());
    DirectReadEncoder.KeysEncoder keys = encoder.keysCount(read.keys().size());
    boolean isFirst = true;
    for (DirectRead.Key key : read.keys()) {
      keys.next()
          .parameter(key.parameter())
          .column(key.column())
          .kind(kind(key.kind()))
          .dictionaryCell(key.dictionaryCell());
      keys.flags()
          .clear()
          .nullable(key.isNullable())
          .descending(key.isDescending())
          .ranged(isFirst && read.order() != null)
          .reverse(isFirst && read.order() == DirectRead.Order.REVERSE);
      use(key.use(), keys.flags());
      isFirst = false;
    }
    DirectReadEncoder.ColumnsEncoder columns = encoder.columnsCount(read.columns().size());
    for (DirectRead.Column column : read.columns()) {
      columns
          .next()
          .column(column.column())
          .kind(kind(column.kind()))
          .isMissingNull((short) (column.isMissingNull() ? 1 : 0))
          .dictionaryCell(column.dictionaryCell());
    }
    return Arrays.copyOf(bytes, Protocol.MESSAGE_HEADER_BYTES + encoder.encodedLength());
  }

  private static void use(DirectRead.Use use, KeyFlagsEncoder flags) {
    switch (use) {
      case EQUAL -> {}
      case LOWER -> flags.lower(true);
      case LOWER_EXCLUSIVE -> flags.lower(true).exclusive(true);
      case UPPER -> flags.upper(true);
      case UPPER_EXCLUSIVE -> flags.upper(true).exclusive(true);
      case UNBOUND -> flags.unbound(true);
    }
  }

  private static ValueKind kind(DirectRead.Kind kind) {
    return switch (kind) {
      case WORD -> ValueKind.WORD;
      case FLOAT4 -> ValueKind.FLOAT4;
      case FLOAT8 -> ValueKind.FLOAT8;
      case VARLENA -> ValueKind.VARLENA;
      case FIXED16 -> ValueKind.FIXED16;
      case PARAMETER -> ValueKind.PARAMETER;
    };
  }
}
