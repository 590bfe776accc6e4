package dev.kakehashi.scheduler.platform;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/// Tells Linux that the calling thread works for long and nobody waits for its next microseconds. A thread that wakes takes its processor
/// at once, instead of after some milliseconds.
///
/// The thread keeps its share of the processors. It has a long slice, so it comes later than those who need little (`sched_setattr(2)`,
/// from Linux 6.12 on), and takes no processor from others when it wakes itself (SCHED_BATCH). Neither needs a privilege, and both are
/// taken back. Where the system does not allow it nothing happens, nor where somebody has given the thread another policy than the usual
/// one: that stays.
@SuppressWarnings("restricted") // functions of the C library, with their documented signatures
public final class BackgroundWork {
  private static final boolean IS_LINUX = System.getProperty("os.name").equals("Linux");
  private static final boolean IS_X86 = System.getProperty("os.arch").equals("amd64");

  private static final long SYS_SCHED_SETATTR = IS_X86 ? 314 : 274;
  private static final long SYS_SCHED_GETATTR = IS_X86 ? 315 : 275;
  private static final long THIS_THREAD = 0;
  private static final int SCHED_OTHER = 0;
  private static final int SCHED_BATCH = 3;

  /// Long beside the usual one of some 3 ms, but where very many want the processors it is a while until it comes again.
  private static final long SLICE_NANOS = 20_000_000;

  /// `struct sched_attr`, as it was first.
  private static final int BYTES = 48;

  private static final int POLICY = 4;
  private static final int RUNTIME = 24;

  /// Null where it is not offered.
  private static final @Nullable Calls CALLS =
      IS_LINUX && BackgroundWork.class.getModule().isNativeAccessEnabled() ? Calls.find() : null;

  private static final ThreadLocal<Attributes> ATTRIBUTES =
      ThreadLocal.withInitial(Attributes::new);

  private BackgroundWork() {}

  private record Calls(MethodHandle getAttributes, MethodHandle setAttributes) {
    static Calls find() {
      Linker linker = Linker.nativeLinker();
      MemorySegment syscall = linker.defaultLookup().findOrThrow("syscall");
      Linker.Option variadic = Linker.Option.firstVariadicArg(1);
      return new Calls(
          linker.downcallHandle(
              syscall,
              FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG),
              variadic),
          linker.downcallHandle(
              syscall,
              FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG),
              variadic));
    }
  }

  /// Scheduling attributes of a thread. Confined to it.
  private static final class Attributes {
    private final MemorySegment words = Arena.ofAuto().allocate(BYTES, 8);
    private boolean inBackground;

    /// Reads what the thread is now, its nice value among it, and changes only the policy and its slice.
    ///
    /// @return whether the thread had policy `from`, and has `to` now
    boolean change(Calls calls, int from, int to, long sliceNanos) {
      try {
        long unknown =
            (long)
                calls.getAttributes.invokeExact(
                    SYS_SCHED_GETATTR, THIS_THREAD, words, (long) BYTES, 0L);
        if (unknown != 0 || words.get(JAVA_INT, POLICY) != from) {
          return false;
        }
        words.set(JAVA_INT, POLICY, to);
        words.set(JAVA_LONG, RUNTIME, sliceNanos);
        long failed =
            (long) calls.setAttributes.invokeExact(SYS_SCHED_SETATTR, THIS_THREAD, words, 0L);
        return failed == 0;
      } catch (Throwable e) {
        throw new LinkageError("sched_setattr", e);
      }
    }
  }

  /// The calling thread lets others pass, until [#end()].
  ///
  /// @return false: it does so already, or the system does not offer it. Then it is not to be ended
  public static boolean begin() {
    Calls calls = CALLS;
    if (calls == null) {
      return false;
    }
    Attributes own = ATTRIBUTES.get();
    if (own.inBackground || !own.change(calls, SCHED_OTHER, SCHED_BATCH, SLICE_NANOS)) {
      return false;
    }
    own.inBackground = true;
    return true;
  }

  /// The calling thread is like others again. A policy that was set meanwhile stays.
  public static void end() {
    Calls calls = CALLS;
    Attributes own = ATTRIBUTES.get();
    if (calls != null && own.inBackground) {
      own.change(calls, SCHED_BATCH, SCHED_OTHER, 0);
      own.inBackground = false;
    }
  }
}
