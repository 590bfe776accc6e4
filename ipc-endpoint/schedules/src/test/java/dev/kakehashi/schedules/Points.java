package dev.kakehashi.schedules;

import org.pastalab.fray.runtime.Runtime;

/// Calls that [MemoryPoints] puts into our classes: another thread may go on here.
public final class Points {
  private static final Object MEMORY = new Object();
  private static final Object HANDLES = new Object();

  private Points() {}

  /// Before native memory is read.
  public static void read(long address) {
    Runtime.onUnsafeReadVolatile(MEMORY, address);
  }

  /// Before native memory is written.
  public static void write(long address) {
    Runtime.onUnsafeWriteVolatile(MEMORY, address);
  }

  /// Before an access by a `VarHandle`.
  public static void handle() {
    Runtime.onUnsafeWriteVolatile(HANDLES, 0);
  }

  /// In a loop that waits for another thread.
  public static void pause() {
    Runtime.onYield();
  }
}
