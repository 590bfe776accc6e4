package dev.kakehashi.engine.store.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.protocol.layout.StoreHeadLayout;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

/// Memory of a pool that another process finds in a file.
final class SharedAreaTest {
  private static final long LIMIT = 256 << 20;

  private final SharedArea area = new SharedArea(LIMIT);

  /// The word that another process reads at a place of the file.
  private long inFile(long offset) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile("/proc/self/fd/" + area.descriptor(), "r")) {
      ByteBuffer word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      assertEquals(Long.BYTES, file.getChannel().read(word, offset));
      return word.getLong(0);
    }
  }

  private long head(int offset) throws IOException {
    return inFile(offset);
  }

  @Test
  void shouldHaveBlocksAndNodesInTheFile() throws IOException {
    try (MemoryPool pool = new MemoryPool(LIMIT, area)) {
      StoreHead head = area.head();
      assertEquals(StoreHeadLayout.MAGIC, head(StoreHeadLayout.MAGIC_OFFSET));
      assertEquals(head.address(), head(StoreHeadLayout.BASE_OFFSET));
      long block = pool.allocate(1000);
      Native.putLong(block, 4711);
      assertEquals(4711, inFile(block - head.address()));
      long node = pool.allocateNode();
      Native.putLong(node + 8, 4712);
      assertEquals(4712, inFile(node + 8 - head.address()));
      assertTrue(node - head.address() < head(StoreHeadLayout.FILE_BYTES_OFFSET));
      // Longer ones are nobody else's.
      long large = pool.allocate(MemoryPool.LARGEST_CLASS + 1);
      long offset = large - head.address();
      assertFalse(offset >= 0 && offset < head(StoreHeadLayout.RESERVED_BYTES_OFFSET));
    }
  }

  @Test
  void shouldSayThatMemoryOfNodesBecomesSomethingElse() throws IOException {
    try (MemoryPool pool = new MemoryPool(LIMIT, area)) {
      int nodes = 2 * Chunk.BYTES / MemoryPool.NODE_BYTES;
      long[] addresses = new long[nodes];
      for (int i = 0; i < nodes; i++) {
        addresses[i] = pool.allocateNode();
      }
      long before = head(StoreHeadLayout.MOVED_OFFSET);
      for (long address : addresses) {
        pool.freeNode(address);
      }
      assertTrue(pool.tidy());
      assertNotEquals(before, head(StoreHeadLayout.MOVED_OFFSET));
    }
  }

  @Test
  void shouldGiveMemoryBackThatReadsAsZeros() throws IOException {
    try (MemoryPool pool = new MemoryPool(LIMIT, area)) {
      long[] blocks = new long[4000];
      for (int i = 0; i < blocks.length; i++) {
        blocks[i] = pool.allocate(MemoryPool.LARGEST_CLASS);
        Native.putLong(blocks[i], -1);
      }
      long full = pool.reservedBytes();
      for (long block : blocks) {
        pool.free(block, MemoryPool.LARGEST_CLASS);
      }
      pool.tidy();
      assertTrue(pool.reservedBytes() < full / 2, "given back");
      int zeros = 0;
      for (long block : blocks) {
        zeros += inFile(block - area.head().address()) == 0 ? 1 : 0;
      }
      assertTrue(zeros > blocks.length / 2, zeros + " of " + blocks.length + " blocks are zero");
    }
  }

  @Test
  void shouldKeepGenerationsOverOwners() {
    try (MemoryPool pool = new MemoryPool(LIMIT, area)) {
      StoreHead head = area.head();
      long cell = head.takeCell();
      assertFalse(StoreHead.isComplete(StoreHead.generation(cell)));
      StoreHead.complete(cell);
      long first = StoreHead.generation(cell);
      assertTrue(StoreHead.isComplete(first));
      head.freeCell(cell);
      long next = head.takeCell();
      assertEquals(cell, next, "it is used again");
      assertEquals(0, Native.getLong(next + Long.BYTES));
      StoreHead.complete(next);
      assertTrue(StoreHead.generation(next) > first);
      assertEquals(0, pool.usedBytes());
    }
  }
}
