package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.bulk.value.FileType.Storage;
import dev.kakehashi.bulk.value.FileValues;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Arrays;

/// Rows of a column of lists. Elements are copied out of their pages, because a row may have several.
final class ListReader implements ColumnReader {
  private static final int BLOCK = 1024;
  private static final int MAX_ELEMENTS = 1 << 27;

  /// Bytes of memory for an element: a level, and a long or a start and a length, and the list's copy of that.
  private static final int ELEMENT_BYTES = 2 * Long.BYTES + 1;

  private final LeafPages pages;
  private final int maxDefinition;
  private final int listDefinition;
  private final BulkContext context;
  private final byte[] definitions = new byte[BLOCK];
  private final byte[] repetitions = new byte[BLOCK];

  /// Levels of the block, and the next one.
  private int blockCount;

  private int blockNext;

  /// Values of levels that were taken, but not read yet.
  private int pending;

  /// 1: an element that is there, 0: one that is null.
  private byte[] present = {};

  private int elements;
  private long[] longs = {};
  private int[] starts = {};
  private int[] lengths = {};

  /// Elements that are there.
  private int there;

  private final ReadSpace bytes;
  private int byteCount;
  private long reserved;

  ListReader(LeafPages pages, int maxDefinition, int listDefinition, BulkContext context) {
    this.pages = pages;
    this.maxDefinition = maxDefinition;
    this.listDefinition = listDefinition;
    this.context = context;
    this.bytes = new ReadSpace(context);
  }

  @Override
  public int ready(int wanted) {
    return wanted;
  }

  @Override
  public void read(int rows, FileValues into) {
    into.begin(rows);
    elements = 0;
    there = 0;
    byteCount = 0;
    boolean marked = false;
    for (int row = 0; row < rows; row++) {
      if (!hasLevel()) {
        throw Damage.of("a column ends before its rows");
      }
      if (repetitions[blockNext] != 0) {
        throw Damage.of("a list goes on before it begins");
      }
      int definition = definitions[blockNext++];
      boolean isNull = definition < listDefinition;
      if (isNull && !marked) {
        Arrays.fill(into.markNulls(), 0, row, (byte) 1);
        marked = true;
      }
      if (marked) {
        into.present()[row] = (byte) (isNull ? 0 : 1);
      }
      into.starts()[row] = elements;
      if (definition > listDefinition) {
        add(definition);
        while (hasLevel() && repetitions[blockNext] != 0) {
          add(definitions[blockNext++]);
        }
      }
      into.lengths()[row] = elements - into.starts()[row];
    }
    readPending();
    spread(into.items());
  }

  /// Takes an element.
  private void add(int definition) {
    if (definition <= listDefinition) {
      throw Damage.of("a list goes on without an element");
    }
    if (elements == present.length) {
      grow();
    }
    boolean isThere = definition == maxDefinition;
    present[elements++] = (byte) (isThere ? 1 : 0);
    pending += isThere ? 1 : 0;
  }

  private void grow() {
    if (elements >= MAX_ELEMENTS) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED, "lists of more than " + MAX_ELEMENTS + " elements");
    }
    int size = Math.max(BLOCK, 2 * elements);
    long more = (long) ELEMENT_BYTES * (size - present.length);
    context.reserveMemory(more);
    reserved += more;
    present = Arrays.copyOf(present, size);
    if (pages.isPieces()) {
      starts = Arrays.copyOf(starts, size);
      lengths = Arrays.copyOf(lengths, size);
    } else {
      longs = Arrays.copyOf(longs, size);
    }
  }

  /// Whether there is a next level; reads it then.
  private boolean hasLevel() {
    if (blockNext < blockCount) {
      return true;
    }
    if (pages.left() == 0) {
      readPending();
      if (!pages.hasMore()) {
        return false;
      }
      pages.nextPage();
    }
    blockCount = Math.min(BLOCK, pages.left());
    blockNext = 0;
    pages.repetitions(repetitions, 0, blockCount);
    pages.definitions(definitions, 0, blockCount);
    return true;
  }

  /// Reads values before their page is gone.
  private void readPending() {
    int count = pending;
    pending = 0;
    if (count == 0) {
      return;
    }
    if (pages.type().storage() == Storage.NONE) {
      throw Damage.of("a column of nulls has a value");
    }
    if (!pages.isPieces()) {
      pages.longs(longs, there, count);
      there += count;
      return;
    }
    pages.pieces(starts, lengths, there, count);
    byte[] source = pages.bytes();
    long total = byteCount;
    for (int i = there; i < there + count; i++) {
      total += lengths[i];
    }
    byte[] target = bytes.room(total, byteCount);
    for (int i = there; i < there + count; i++) {
      System.arraycopy(source, starts[i], target, byteCount, lengths[i]);
      starts[i] = byteCount;
      byteCount += lengths[i];
    }
    there += count;
  }

  /// Puts the elements at their places between the nulls.
  private void spread(FileValues items) {
    items.begin(elements);
    boolean hasNulls = there < elements;
    if (hasNulls) {
      System.arraycopy(present, 0, items.markNulls(), 0, elements);
    }
    int next = 0;
    if (pages.isPieces()) {
      items.setBytes(bytes.bytes());
      for (int i = 0; i < elements; i++) {
        boolean isThere = present[i] != 0;
        items.starts()[i] = isThere ? starts[next] : 0;
        items.lengths()[i] = isThere ? lengths[next] : 0;
        next += isThere ? 1 : 0;
      }
    } else if (pages.type().storage() == Storage.NONE) {
      // All of them are null, which is marked.
      return;
    } else if (!hasNulls) {
      System.arraycopy(longs, 0, items.longs(), 0, elements);
    } else {
      for (int i = 0; i < elements; i++) {
        boolean isThere = present[i] != 0;
        items.longs()[i] = isThere ? longs[next] : 0;
        next += isThere ? 1 : 0;
      }
    }
  }

  @Override
  public long readBytes() {
    return pages.readBytes();
  }

  /// Gives its memory back.
  @Override
  public void close() {
    pages.close();
    bytes.close();
    context.releaseMemory(reserved);
    reserved = 0;
  }
}
