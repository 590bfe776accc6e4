package dev.kakehashi.transport.endpoint;

import dev.kakehashi.transport.os.MappedFile;
import dev.kakehashi.transport.os.SharedMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/// The words of a queue's table store (`metadata.cq4t`) that retention has to keep right. The library does that only for queues
/// open for writing, and opening one for writing would judge lock holders by a PID of another namespace.
final class QueueTable implements AutoCloseable {
  private static final int TABLE_BYTES = 4096;
  private static final int EVENT_NAME = 0xB9;
  private static final int PADDING_BYTE = 0x8F;
  private static final int PADDING = 0x8E;
  private static final int INT64 = 0xA7;
  private static final ValueLayout.OfInt I32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  private final MappedFile file;
  private final MemorySegment table;
  private final long lowestCycle;
  private final long modCount;

  private QueueTable(MappedFile file) {
    this.file = file;
    this.table = file.memory();
    this.lowestCycle = find("listing.lowestCycle");
    this.modCount = find("listing.modCount");
  }

  static QueueTable open(Path queueDirectory) {
    return new QueueTable(MappedFile.open(queueDirectory.resolve("metadata.cq4t"), 0, TABLE_BYTES));
  }

  /// Publishes that files below `cycle` are gone. Appenders of new files only lower the word below it when it is above, so ours is the only
  /// store upwards.
  void lowestCycle(long cycle) {
    SharedMemory.putLongRelease(table, lowestCycle, cycle);
    long ignored = (long) LONG.getAndAdd(table, modCount, 1L);
  }

  /// Offset of the value of `key`: a walk over the documents, whose layout the library decides.
  private long find(String key) {
    byte[] name = key.getBytes(StandardCharsets.ISO_8859_1);
    int at = 0;
    while (at < TABLE_BYTES - 4) {
      int header = table.get(I32, at);
      if (header == 0) {
        break;
      }
      int content = at + 4;
      if (u8(content) == EVENT_NAME && u8(content + 1) == name.length) {
        MemorySegment actual = table.asSlice(content + 2, name.length);
        if (actual.mismatch(MemorySegment.ofArray(name)) < 0) {
          return valueAt(content + 2 + name.length, key);
        }
      }
      at = (content + (header & 0x3FFF_FFFF) + 3) & ~3;
    }
    throw new IllegalStateException(file.path() + " has no \"" + key + "\"");
  }

  private long valueAt(int from, String key) {
    int at = from;
    while (true) {
      switch (u8(at)) {
        case PADDING_BYTE -> at++;
        case PADDING -> at += 5 + table.get(I32, at + 1);
        case INT64 -> {
          return at + 1L;
        }
        default ->
            throw new IllegalStateException(
                file.path() + " has an unknown code at " + at + " after \"" + key + "\"");
      }
    }
  }

  private int u8(int at) {
    return table.get(ValueLayout.JAVA_BYTE, at) & 0xFF;
  }

  @Override
  public void close() {
    file.close();
  }
}
