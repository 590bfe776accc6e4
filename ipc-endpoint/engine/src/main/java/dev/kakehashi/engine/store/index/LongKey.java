package dev.kakehashi.engine.store.index;

import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Native;
import java.util.function.LongSupplier;

/// The form that a key too long for a node has in it: its beginning, and where the rest is, in blocks that have the memory of nodes.
/// Stateless.
///
/// ```
/// first bytes of the key (PREFIX_BYTES) · i4 bytes of the key · i8 address of each block, all with the most significant byte first
/// a block: i8 version · BLOCK_BYTES of the key, fewer in the last one
/// ```
///
/// A block is written before the form is put into a node, never changes, and is freed after the form has been taken out of its only node. A
/// reader reads an address out of a node, and finds the node's version even and unchanged afterwards. Then it may read the block: its
/// memory stays that of a node as long as the reader is among [MemoryPool#nodeReaders()]. If the memory has become another node or block
/// meanwhile, the version of the node with the address has changed. A block has a version, odd while it is written, for late readers of the
/// node that its memory was.
final class LongKey {
  /// Most keys of a node differ in these.
  static final int PREFIX_BYTES = 128;

  static final int BLOCK_BYTES = IndexNode.BYTES - Long.BYTES;
  private static final int MAX_BLOCKS = 128;

  /// The longest key.
  static final int MAX_BYTES = PREFIX_BYTES + MAX_BLOCKS * BLOCK_BYTES;

  private LongKey() {}

  /// Blocks that a key needs; 0: it is not too long for a node.
  static int blocks(int keyLength) {
    return keyLength <= IndexNode.MAX_KEY_BYTES
        ? 0
        : Math.ceilDiv(keyLength - PREFIX_BYTES, BLOCK_BYTES);
  }

  /// Bytes of the form in a node.
  static int bytes(int keyLength) {
    int blocks = blocks(keyLength);
    return blocks == 0 ? keyLength : PREFIX_BYTES + Integer.BYTES + blocks * Long.BYTES;
  }

  /// Writes the blocks of a long key.
  ///
  /// @param nodes gives memory of nodes, at least as much as the key needs
  /// @param form receives what goes into a node
  static void write(KeyBuffer key, LongSupplier nodes, KeyBuffer form) {
    form.set(key.bytes, 0, PREFIX_BYTES);
    form.putInt(key.length);
    for (int from = PREFIX_BYTES; from < key.length; from += BLOCK_BYTES) {
      long block = nodes.getAsLong();
      NodeLatch.latch(block);
      int count = Math.min(BLOCK_BYTES, key.length - from);
      Native.copyFromArray(key.bytes, from, block + Long.BYTES, count);
      NodeLatch.unlatch(block);
      form.putLong(block);
    }
  }

  /// Frees the blocks of a form that is in no node any more.
  ///
  /// @return how many
  static int free(KeyBuffer form, MemoryPool pool) {
    int count = 0;
    for (int at = PREFIX_BYTES + Integer.BYTES; at < form.length; at += Long.BYTES) {
      pool.freeNode(KeyBuffer.longAt(form.bytes, at));
      count++;
    }
    return count;
  }

  /// Bytes of the key whose form is at an address.
  static int keyLength(long form) {
    // With the first half of the first address.
    return (int) (Long.reverseBytes(Native.getLongUnaligned(form + PREFIX_BYTES)) >>> Integer.SIZE);
  }

  /// Address of a block of the form at an address.
  static long block(long form, int index) {
    return Long.reverseBytes(
        Native.getLongUnaligned(form + PREFIX_BYTES + Integer.BYTES + (long) index * Long.BYTES));
  }
}
