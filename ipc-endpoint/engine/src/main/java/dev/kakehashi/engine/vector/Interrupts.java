package dev.kakehashi.engine.vector;

import org.jspecify.annotations.Nullable;

/// Where long loops ask whether the statement that their thread works for is to end: those of functions and of the planner, which do not
/// know it, call [#check()] after each millisecond of work or less.
///
/// The task that plans the statement or runs a part of it sets the thread's [Source], for as long as it runs on the thread. Elsewhere
/// `check()` does nothing.
public final class Interrupts {
  /// Bytes or other cheap steps between two looks: less than a millisecond.
  public static final int STEPS = 1 << 16;

  /// Bytes of a value from which on whoever reads or copies values looks before each: a batch of shorter ones takes a millisecond or two.
  public static final int LONG_BYTES = 2 << 10;

  private static final ThreadLocal<@Nullable Source> CURRENT = new ThreadLocal<>();

  private Interrupts() {}

  /// Work that knows whether its statement is to end.
  @FunctionalInterface
  public interface Source {
    /// @throws RuntimeException when it is, with the reason
    void checkCanceled();

    /// The statement, if this is a part of one.
    default Source statement() {
      return this;
    }
  }

  /// Says what the calling thread works for from now on.
  ///
  /// @return what it worked for before, to be given to [#leave]
  public static @Nullable Source enter(Source source) {
    Source before = CURRENT.get();
    CURRENT.set(source);
    return before;
  }

  /// Goes back to what the thread worked for before.
  public static void leave(@Nullable Source before) {
    CURRENT.set(before);
  }

  /// Source that the calling thread works for; null: nothing that can be canceled.
  public static @Nullable Source current() {
    return CURRENT.get();
  }

  /// Works for somebody meanwhile.
  public static void during(Source source, Runnable work) {
    Source before = enter(source);
    try {
      work.run();
    } finally {
      leave(before);
    }
  }

  /// Ends the work of the calling thread if its statement is to end. Costs some nanoseconds.
  ///
  /// @throws RuntimeException QUERY_CANCELED, ...
  public static void check() {
    Source source = CURRENT.get();
    if (source != null) {
      source.checkCanceled();
    }
  }
}
