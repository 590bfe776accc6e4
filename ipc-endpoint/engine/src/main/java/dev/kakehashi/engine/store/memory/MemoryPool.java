package dev.kakehashi.engine.store.memory;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import org.jspecify.annotations.Nullable;

/// All native memory of one store: pages, index nodes, undo records and values. Thread-safe.
///
/// Chunks ([ChunkSource]) are cut into blocks of one size class each ([SizeClass]). A chunk without a
/// block in use goes back and can become anything, so freed memory serves every size as soon as it is a whole chunk. Blocks that are freed
/// in between serve their own size, and at the limit smaller ones, too. Blocks larger than the largest class are mapped and unmapped one by
/// one.
///
/// **At the limit** a part of it, the reserve, is left for callers that make room: [#allocateToMakeRoom] and the first node of a tree.
/// Their blocks have chunks of their own, so that nobody else takes the room that they leave free there.
///
/// Nothing is freed while it might be read: the caller that frees vouches for that. Nodes are the exception, see [#nodeReaders()]. The
/// limit counts chunks, not blocks in use.
public final class MemoryPool implements Blocks, AutoCloseable {
  /// Bytes of a node of an index.
  public static final int NODE_BYTES = 8 << 10;

  /// Longest block that is part of a chunk. Its memory stays mapped when it is freed, until the pool is closed.
  public static final int LARGEST_CLASS = 32 << 10;

  private static final int STEP = 8;
  private static final int LINEAR_LIMIT = 256;

  /// Above the limit: classes of a doubling, and how many doublings there are.
  private static final int PARTS = 8;

  private static final int DOUBLINGS = 7;
  private static final int CLASSES = LINEAR_LIMIT / STEP + DOUBLINGS * PARTS;

  /// Numbers of classes: of blocks for everybody, and those of the reserve; nodes, and those of the reserve.
  private static final int RESERVE = CLASSES;

  private static final int NODES = 2 * CLASSES;
  private static final int RESERVE_NODES = 2 * CLASSES + 1;

  private final Readers nodeReaders = new Readers();
  private final @Nullable StoreHead head;
  private final int sharedMemory;
  private final ChunkSource chunks;
  private final SizeClass[] classes = new SizeClass[2 * CLASSES + 2];

  /// Memory that nobody else has.
  public MemoryPool(long limitBytes) {
    this(limitBytes, new PrivateArea(), null, -1);
  }

  /// Memory that other processes may map, but for blocks above [#LARGEST_CLASS].
  ///
  /// @param area belongs to the pool from now on
  public MemoryPool(long limitBytes, SharedArea area) {
    this(limitBytes, area, area.head(), area.descriptor());
  }

  private MemoryPool(long limitBytes, MemoryArea area, @Nullable StoreHead head, int sharedMemory) {
    this.head = head;
    this.sharedMemory = sharedMemory;
    chunks = new ChunkSource(limitBytes, nodeReaders, area);
    for (int i = 0; i < CLASSES; i++) {
      classes[i] = new SizeClass(chunks, i, classBytes(i), 0, false);
      classes[RESERVE + i] = new SizeClass(chunks, RESERVE + i, classBytes(i), 0, true);
    }
    if (classBytes(CLASSES - 1) != LARGEST_CLASS) {
      throw new AssertionError("size classes do not end at " + LARGEST_CLASS);
    }
    classes[NODES] = new SizeClass(chunks, NODES, NODE_BYTES, Long.BYTES, false);
    classes[RESERVE_NODES] = new SizeClass(chunks, RESERVE_NODES, NODE_BYTES, Long.BYTES, true);
  }

  @Override
  public long allocate(long bytes) {
    if (bytes > LARGEST_CLASS) {
      return allocateLarge(bytes);
    }
    int index = classIndex((int) bytes);
    long address = classes[index].allocate();
    if (address == 0) {
      address = allocateAtLimit(index);
    }
    if (address == 0) {
      throw full(bytes);
    }
    return address;
  }

  /// Like [#allocate(long)], for what lasts no longer than its transaction and makes room: at the limit it takes of the reserve.
  ///
  /// @param bytes not more than [#LARGEST_CLASS]
  public long allocateToMakeRoom(int bytes) {
    int index = classIndex(bytes);
    long address = classes[index].allocate();
    if (address == 0) {
      address = classes[RESERVE + index].allocate();
    }
    if (address == 0) {
      address = allocateAtLimit(index);
    }
    if (address == 0) {
      throw full(bytes)
          .withHint(
              "Delete fewer rows at a time, use TRUNCATE, end transactions that keep old versions alive, or raise the setting memory.");
    }
    return address;
  }

  /// After no chunk was left: looks for one that is kept without need, and for room in larger blocks; 0 if there is none.
  private long allocateAtLimit(int index) {
    trimClasses();
    long address = classes[index].allocate();
    for (int larger = index + 1; address == 0 && larger < CLASSES; larger++) {
      address = classes[larger].allocateHere();
    }
    return address;
  }

  private void trimClasses() {
    for (SizeClass each : classes) {
      each.trim();
    }
  }

  private EngineException full(long bytes) {
    return new EngineException(ErrorCode.OUT_OF_MEMORY, "store is out of memory")
        .withDetail(chunks.describe(bytes))
        .withHint(
            "Raise the setting memory, delete rows, or end transactions that keep old versions alive.");
  }

  int classCount() {
    return CLASSES;
  }

  /// The first of `count` blocks of a class that lie side by side, together not more than a chunk.
  long allocateNeighbours(int index, int count) {
    long address = classes[index].allocateNeighbours(count);
    if (address == 0) {
      trimClasses();
      address = classes[index].allocateNeighbours(count);
    }
    if (address == 0) {
      throw full((long) count * classBytes(index));
    }
    return address;
  }

  /// Frees a block.
  ///
  /// @param bytes what it was allocated with
  public void free(long address, long bytes) {
    if (bytes > LARGEST_CLASS) {
      chunks.giveLarge(address);
    } else {
      classes[Chunk.sizeClass(address)].free(address);
    }
  }

  private long allocateLarge(long bytes) {
    long size = (bytes + 4095) & ~4095L;
    long address = chunks.takeLarge(size);
    if (address == 0) {
      trimClasses();
      address = chunks.takeLarge(size);
    }
    if (address == 0) {
      throw full(bytes);
    }
    return address;
  }

  /// A node of [#NODE_BYTES]. Its memory stays that of a node until all have left that entered [#nodeReaders()] before it was freed. Its
  /// first word survives (0 at first): a late optimistic reader reads a version number there, whatever happened.
  public long allocateNode() {
    long address = classes[NODES].allocate();
    if (address == 0) {
      trimClasses();
      address = classes[NODES].allocate();
    }
    if (address == 0) {
      throw full(NODE_BYTES);
    }
    return address;
  }

  /// Like [#allocateNode()], for the one node of an empty tree: at the limit it takes of the reserve, so that a table can be emptied by
  /// TRUNCATE.
  public long allocateFirstNode() {
    long address = classes[NODES].allocate();
    if (address == 0) {
      address = classes[RESERVE_NODES].allocate();
    }
    return address != 0 ? address : allocateNode();
  }

  public void freeNode(long address) {
    classes[Chunk.sizeClass(address)].free(address);
  }

  /// Descriptor of the file that the memory is, until the pool is closed; -1: it is nobody else's.
  public int sharedMemory() {
    return sharedMemory;
  }

  /// Words for readers in other processes; null: there are none.
  public @Nullable StoreHead head() {
    return head;
  }

  /// Readers of nodes: a thread that follows pointers to nodes enters before the first one.
  public Readers nodeReaders() {
    return nodeReaders;
  }

  /// Takes over chunks of freed nodes that nobody reads any more, and gives memory that nobody uses to the system, if it is much.
  ///
  /// @return whether no such node is left
  public boolean tidy() {
    boolean left = chunks.leaveLate();
    chunks.trim();
    return left;
  }

  /// Memory that the system has given; not more than the limit but after recovery, which nothing limits, and if that was lowered.
  public long reservedBytes() {
    return chunks.heldBytes();
  }

  /// Part of the reserved memory that blocks in use have.
  public long usedBytes() {
    long used = chunks.largeBytes();
    for (SizeClass each : classes) {
      used += each.usedBytes();
    }
    return used;
  }

  public long limitBytes() {
    return chunks.limitBytes();
  }

  /// Changes the limit. If more is in use, nobody gets any until it is less.
  public void limitBytes(long bytes) {
    chunks.limit(bytes);
  }

  /// Whether the limit counts, as it does at first.
  public void limited(boolean isLimited) {
    chunks.limited(isLimited);
  }

  /// Returns all memory to the system. Nobody may read it any more.
  @Override
  public void close() {
    chunks.close();
  }

  /// Memory that a block takes that is asked for with `bytes`.
  public static long blockBytes(long bytes) {
    return bytes > LARGEST_CLASS ? (bytes + 4095) & ~4095L : classBytes(classIndex((int) bytes));
  }

  static int classIndex(int bytes) {
    if (bytes <= LINEAR_LIMIT) {
      return Math.max(0, (bytes - 1) / STEP);
    }
    // Eight classes per doubling: the three bits below the leading one choose among them.
    int shift = 28 - Integer.numberOfLeadingZeros(bytes - 1);
    return LINEAR_LIMIT / STEP + (shift - 5) * PARTS + (((bytes - 1) >>> shift) & (PARTS - 1));
  }

  static int classBytes(int index) {
    int linear = LINEAR_LIMIT / STEP;
    if (index < linear) {
      return (index + 1) * STEP;
    }
    int part = (LINEAR_LIMIT / PARTS) << ((index - linear) / PARTS);
    return part * (PARTS + 1 + (index - linear) % PARTS);
  }
}
