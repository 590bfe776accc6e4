package dev.kakehashi.sharedmemory;

import dev.kakehashi.engine.api.DirectRead;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.messages.DirectReadEncoder;
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
    for (DirectRead.Key key : read.keys()) {
      keys.next()
          .parameter(key.parameter())
          .column(key.column())
          .kind(kind(key.kind()))
          .dictionaryCell(key.dictionaryCell());
      keys.flags().clear().nullable(key.isNullable()).descending(key.isDescending());
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
