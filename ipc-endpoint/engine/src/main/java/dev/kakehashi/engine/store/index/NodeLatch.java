package dev.kakehashi.engine.store.index;

import dev.kakehashi.engine.store.memory.Native;
import java.lang.invoke.VarHandle;

/// The version in the first word of a node, which is its latch: odd while a writer has the node, otherwise even, and greater after each
/// change. How a tree uses it is said in [OrderedTree]. Thread-safe, without any order but that of the node's own word.
final class NodeLatch {
  private NodeLatch() {}

  /// Even version of a node, waited for; acquire: what is read afterwards is not older than it.
  static long stableVersion(long node) {
    long version = Native.getLongAcquire(node);
    for (int spins = 0; (version & 1) != 0; spins++) {
      pause(spins);
      version = Native.getLongAcquire(node);
    }
    return version;
  }

  /// Whether nothing read since `version` was noted can have been torn.
  static boolean validate(long node, long version) {
    VarHandle.acquireFence();
    return Native.getLong(node) == version;
  }

  /// The same, after the release of a latch that is held: it may have changed nothing.
  static boolean validateStable(long node, long version) {
    VarHandle.acquireFence();
    return stableVersion(node) == version;
  }

  static boolean tryLatch(long node, long version) {
    if (!Native.compareAndSetLong(node, version, version + 1)) {
      return false;
    }
    // The odd version is visible before any change: a reader that sees a change fails to validate.
    VarHandle.storeStoreFence();
    return true;
  }

  static void latch(long node) {
    while (!tryLatch(node, stableVersion(node))) {
      Thread.onSpinWait();
    }
  }

  static void unlatch(long node) {
    Native.putLongRelease(node, Native.getLong(node) + 1);
  }

  /// Releases a latch under which nothing was changed: readers need not start again.
  static void unlatchUnchanged(long node) {
    Native.putLongRelease(node, Native.getLong(node) - 1);
  }

  @SuppressWarnings("ThreadPriorityCheck") // gives way, does not hope for an order
  private static void pause(int spins) {
    if (spins < 100) {
      Thread.onSpinWait();
    } else {
      Thread.yield();
    }
  }
}
