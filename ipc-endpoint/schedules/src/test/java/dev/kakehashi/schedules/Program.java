package dev.kakehashi.schedules;

import java.util.ArrayList;
import java.util.List;

/// A small program of several threads with an invariant. Each run begins from nothing, and ends with all of its threads.
@FunctionalInterface
public interface Program {
  /// Runs once.
  ///
  /// @throws Exception or an Error, if the invariant does not hold
  void run() throws Exception;

  /// Runs the parts on a thread each, to their ends. Fray reports it if one throws.
  static void together(Part... parts) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (Part part : parts) {
      threads.add(new Thread(() -> part.runUnchecked()));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
  }

  /// The work of one thread.
  @FunctionalInterface
  interface Part {
    /// @throws Exception reported as the failure of the program
    void run() throws Exception;

    /// The same, as a thread wants it.
    default void runUnchecked() {
      try {
        run();
      } catch (RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
