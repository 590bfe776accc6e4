package dev.kakehashi.engine.store.memory;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.layout.StoreHeadLayout;
import dev.kakehashi.protocol.layout.StoreIndexLayout;
import java.lang.invoke.VarHandle;

/// Words of a store that processes read which have mapped its memory, without a latch. Thread-safe.
///
/// A reader notes `moved` and the words of the cells that it uses, reads what it wants, and believes it only if they are still the same
/// after an acquire fence. One of them changes first, with a full fence behind it, before a piece of memory becomes something else:
///
/// | memory | word that changes before |
/// |---|---|
/// | node of an index, when another kind of block gets its place | `moved` |
/// | page, directory of pages, index: with its table | generation of the cell |
/// | directory of pages, when it grows | version of the cell |
///
/// Cells are 64 bytes, of which the first is a generation. It only grows, whoever has the cell, and is odd while nobody has it or its owner
/// is not complete.
public final class StoreHead {
  /// Address space of the head; pages of it are there when they are touched.
  public static final long BYTES = Chunk.REGION_BYTES;

  private static final long CELL_BYTES = StoreIndexLayout.CELL_BYTES;
  private static final long FIRST_CELL = StoreHeadLayout.HEAD_BYTES;

  private final long address;

  /// Guarded by `this`.
  private long nextCell = FIRST_CELL;

  /// Cell that was given back last; guarded by `this`. Each of these has the next one in its second word.
  private long freeCell;

  StoreHead(long address) {
    this.address = address;
  }

  /// Address of the first byte, which is that of the shared memory.
  public long address() {
    return address;
  }

  void begin(long reservedBytes, long fileBytes) {
    Native.putLong(address + StoreHeadLayout.BASE_OFFSET, address);
    Native.putLong(address + StoreHeadLayout.RESERVED_BYTES_OFFSET, reservedBytes);
    fileBytes(fileBytes);
    Native.putLongRelease(address + StoreHeadLayout.MAGIC_OFFSET, StoreHeadLayout.MAGIC);
  }

  void fileBytes(long bytes) {
    Native.putLongRelease(address + StoreHeadLayout.FILE_BYTES_OFFSET, bytes);
  }

  /// Nobody reads here any more: who has it mapped sees that, whatever comes.
  void close() {
    Native.putLongVolatile(address + StoreHeadLayout.MAGIC_OFFSET, 0);
  }

  // ---- words of all ----

  /// Commits up to here are durable.
  public void durable(long timestamp) {
    Native.putLongRelease(address + StoreHeadLayout.DURABLE_OFFSET, timestamp);
  }

  /// See [dev.kakehashi.engine.store.version.CommitClock#concernsAll].
  public void concernsAll(long timestamp) {
    Native.raiseLong(address + StoreHeadLayout.COMMON_OFFSET, timestamp);
  }

  /// Versions go that a state as of an earlier timestamp may have: before they go.
  public void collects(long timestamp) {
    Native.raiseLong(address + StoreHeadLayout.COLLECTED_OFFSET, timestamp);
  }

  /// Tables, rights, or roles have changed: statements that were prepared for another version are not believed any more.
  public void definitions(long version) {
    Native.putLongVolatile(address + StoreHeadLayout.DEFINITIONS_OFFSET, version);
  }

  /// Memory of nodes is about to become something else.
  void nodesMove() {
    Native.addLong(address + StoreHeadLayout.MOVED_OFFSET, 1);
    VarHandle.fullFence();
  }

  // ---- cells ----

  /// A cell, not complete, whose other words are 0.
  ///
  /// @return its address
  /// @throws EngineException LIMIT_EXCEEDED: there are too many tables and indexes
  public synchronized long takeCell() {
    long cell = freeCell;
    if (cell != 0) {
      freeCell = Native.getLong(cell + Long.BYTES);
    } else {
      if (nextCell + CELL_BYTES > BYTES) {
        throw new EngineException(
            ErrorCode.LIMIT_EXCEEDED, "store has too many tables and indexes");
      }
      cell = address + nextCell;
      nextCell += CELL_BYTES;
      Native.putLong(cell, 1);
    }
    Native.zero(cell + Long.BYTES, CELL_BYTES - Long.BYTES);
    return cell;
  }

  /// The owner of a cell is complete, after it was not: others may read.
  public static void complete(long cell) {
    Native.putLongVolatile(cell, Native.getLong(cell) + 1);
  }

  /// The owner of a cell goes, or changes as a whole: what was read through it is not believed from now on.
  public static void end(long cell) {
    if ((Native.getLong(cell) & 1) == 0) {
      Native.putLongVolatile(cell, Native.getLong(cell) + 1);
      VarHandle.fullFence();
    }
  }

  /// Gives a cell back.
  public synchronized void freeCell(long cell) {
    end(cell);
    Native.putLong(cell + Long.BYTES, freeCell);
    freeCell = cell;
  }

  public static boolean isComplete(long generation) {
    return (generation & 1) == 0;
  }

  public static long generation(long cell) {
    return Native.getLongAcquire(cell);
  }
}
