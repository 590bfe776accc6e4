package dev.kakehashi.client.direct;

import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.layout.StoreHeadLayout;
import dev.kakehashi.protocol.layout.StoreIndexLayout;
import dev.kakehashi.protocol.layout.StoreTableLayout;
import dev.kakehashi.protocol.messages.DirectReadDecoder;
import dev.kakehashi.protocol.messages.KeyFlagsDecoder;
import dev.kakehashi.protocol.messages.ValueKind;
import dev.kakehashi.transport.os.SharedMemory;
import java.lang.foreign.MemorySegment;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/// The message `DirectRead`, checked: a statement whose row a client may find by itself. Immutable.
public final class DirectTicket {
  private static final short LAST_KIND = ValueKind.PARAMETER.value();

  /// A column of the key.
  ///
  /// @param parameter that it equals, from 0
  /// @param column of the table's pages
  /// @param dictionaryCell offset of the cell of its shared values; 0: it has none
  record Key(
      int parameter,
      int column,
      ValueKind kind,
      boolean isNullable,
      boolean isDescending,
      long dictionaryCell) {}

  /// A column of the result.
  ///
  /// @param column of the table's pages; of the kind PARAMETER the parameter whose word it is, from 0
  /// @param isMissingNull whether it is null where a page has no place for it
  /// @param dictionaryCell offset of the cell of its shared values; 0: it has none
  record Column(int column, ValueKind kind, boolean isMissingNull, long dictionaryCell) {}

  private final long definitions;
  private final long tableGeneration;
  private final long indexGeneration;

  /// Offset of the table's cell.
  final long table;

  /// Offset of the index's cell.
  final long index;

  final long pageRows;
  final Key[] keys;
  final Column[] columns;

  private DirectTicket(DirectReadDecoder message, Key[] keys, Column[] columns) {
    definitions = message.definitions();
    table = message.tableCell();
    tableGeneration = message.tableGeneration();
    index = message.indexCell();
    indexGeneration = message.indexGeneration();
    pageRows = message.pageRows();
    this.keys = keys;
    this.columns = columns;
  }

  /// @param ticket a frame of its own
  /// @return null: there is none that this client understands, and requests answer the statement
  public static @Nullable DirectTicket decode(byte[] ticket, StoreMemory memory) {
    if (ticket.length < Protocol.MESSAGE_HEADER_BYTES) {
      return null;
    }
    UnsafeBuffer frame = new UnsafeBuffer(ticket);
    if (Frames.templateId(frame) != DirectReadDecoder.TEMPLATE_ID) {
      return null;
    }
    DirectReadDecoder message = Frames.wrap(new DirectReadDecoder(), frame);
    if (!memory.isCell(message.tableCell()) || !memory.isCell(message.indexCell())) {
      return null;
    }
    Key[] keys = keys(message.keys(), memory);
    Column[] columns = keys == null ? null : columns(message.columns(), memory);
    return keys == null || keys.length == 0 || columns == null
        ? null
        : new DirectTicket(message, keys, columns);
  }

  private static Key @Nullable [] keys(DirectReadDecoder.KeysDecoder group, StoreMemory memory) {
    Key[] keys = new Key[group.count()];
    for (int i = 0; i < keys.length; i++) {
      group.next();
      if (!isKind(group.kindRaw())
          || !isCellOrNone(memory, group.dictionaryCell())
          || isRange(group.flags())) {
        return null;
      }
      keys[i] =
          new Key(
              group.parameter(),
              group.column(),
              group.kind(),
              group.flags().nullable(),
              group.flags().descending(),
              group.dictionaryCell());
    }
    return keys;
  }

  /// Ranges are answered by requests here: one whole key finds one row.
  private static boolean isRange(KeyFlagsDecoder flags) {
    return flags.lower()
        || flags.upper()
        || flags.exclusive()
        || flags.unbound()
        || flags.ranged()
        || flags.reverse();
  }

  private static Column @Nullable [] columns(
      DirectReadDecoder.ColumnsDecoder group, StoreMemory memory) {
    Column[] columns = new Column[group.count()];
    for (int i = 0; i < columns.length; i++) {
      group.next();
      if (!isKind(group.kindRaw()) || !isCellOrNone(memory, group.dictionaryCell())) {
        return null;
      }
      columns[i] =
          new Column(
              group.column(), group.kind(), group.isMissingNull() != 0, group.dictionaryCell());
    }
    return columns;
  }

  private static boolean isKind(short kind) {
    return kind >= ValueKind.WORD.value() && kind <= LAST_KIND;
  }

  private static boolean isCellOrNone(StoreMemory memory, long cell) {
    return cell == 0 || memory.isCell(cell);
  }

  /// Columns of the result.
  public int columnCount() {
    return columns.length;
  }

  /// Whether it holds: tables, rights and roles are those that the statement was prepared for, table and index are there.
  public boolean holds(StoreMemory store) {
    MemorySegment memory = store.memory();
    return store.head(StoreHeadLayout.MAGIC_OFFSET) == StoreHeadLayout.MAGIC
        && store.head(StoreHeadLayout.DEFINITIONS_OFFSET) == definitions
        && generation(memory, table + StoreTableLayout.GENERATION_OFFSET) == tableGeneration
        && generation(memory, index + StoreIndexLayout.GENERATION_OFFSET) == indexGeneration;
  }

  /// The words on which it depends, as they are now: another ticket makes sense when they are others.
  ///
  /// @return never written to by this class again
  public long[] words(StoreMemory store) {
    MemorySegment memory = store.memory();
    return new long[] {
      store.head(StoreHeadLayout.MAGIC_OFFSET),
      store.head(StoreHeadLayout.DEFINITIONS_OFFSET),
      generation(memory, table + StoreTableLayout.GENERATION_OFFSET),
      generation(memory, index + StoreIndexLayout.GENERATION_OFFSET)
    };
  }

  private static long generation(MemorySegment memory, long offset) {
    return SharedMemory.getLongAcquire(memory, offset);
  }
}
