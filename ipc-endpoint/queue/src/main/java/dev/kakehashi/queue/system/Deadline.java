package dev.kakehashi.queue.system;

/// Something that is due at a time. A node of one [Deadlines] at most; guarded by the lock of the queue system.
public abstract class Deadline {
  /// Due time by the clock of its heap.
  public long due;

  /// Place in its heap; -1: in none.
  public int heapIndex = -1;

  /// Its time has come; it is in no heap any more.
  public abstract void reached();
}
