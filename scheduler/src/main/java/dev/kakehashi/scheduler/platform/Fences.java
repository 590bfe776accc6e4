package dev.kakehashi.scheduler.platform;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// A full fence in two halves, for two sides: one passes its half all the time, the other seldom. Stores before [#light] are seen after the
/// other side's [#heavy], or the other side's stores before its [#heavy] are seen after [#light].
///
/// Where Linux offers `membarrier(2)` and the JVM allows native access to this module (`--enable-native-access`), the light half
/// costs nothing and the heavy one a system call: 1 us, and 2 to 3 us with an interrupt for each processor that runs another
/// thread of this process. Elsewhere both halves are full fences.
///
/// *Why the light half is enough.* Between the call of membarrier and its return every running thread of the process passes a
/// full fence, and one that is not running has passed one when it was taken off its processor. So it needs to hold only that the
/// light side's accesses are in program order in the machine code. Java's memory model has no such fence; in HotSpot (C1, C2,
/// Graal) a release fence is a barrier that no access is moved across by the compiler, in either direction, and on x86 no
/// instruction. `ProtocolStress.AsymmetricFences` tests that, and `BrokenStress.WithoutHeavyFence` that the test sees what
/// happens otherwise.
@SuppressWarnings("restricted")
public // asked for before it is used
final class Fences {
  private static final int REGISTER_PRIVATE_EXPEDITED = 1 << 4;
  private static final int PRIVATE_EXPEDITED = 1 << 3;
  private static final long SYS_MEMBARRIER =
      System.getProperty("os.arch").equals("aarch64") ? 283 : 324;

  private static final @Nullable MethodHandle MEMBARRIER = membarrier();

  /// Whether the light half is lighter than a full fence.
  static final boolean ASYMMETRIC = MEMBARRIER != null;

  private Fences() {}

  private static @Nullable MethodHandle membarrier() {
    if (!System.getProperty("os.name").equals("Linux")
        || !Fences.class.getModule().isNativeAccessEnabled()
        || "full".equals(System.getProperty("scheduler.fences"))) {
      return null;
    }
    switch (System.getProperty("os.arch")) {
      case "amd64", "aarch64" -> {}
      default -> {
        return null; // another number
      }
    }
    try {
      Linker linker = Linker.nativeLinker();
      MethodHandle syscall =
          linker.downcallHandle(
              linker.defaultLookup().findOrThrow("syscall"),
              FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT),
              Linker.Option.firstVariadicArg(1));
      boolean works =
          (long) syscall.invokeExact(SYS_MEMBARRIER, REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0
              && (long) syscall.invokeExact(SYS_MEMBARRIER, PRIVATE_EXPEDITED, 0, 0) == 0;
      return works ? syscall : null; // refused by an old kernel or a container
    } catch (Throwable t) {
      return null; // as if there were none
    }
  }

  /// The half of the side that passes all the time.
  public static void light() {
    if (ASYMMETRIC) {
      VarHandle.releaseFence();
    } else {
      VarHandle.fullFence();
    }
  }

  /// The half of the side that passes seldom.
  public static void heavy() {
    MethodHandle membarrier = MEMBARRIER;
    if (membarrier == null) {
      VarHandle.fullFence();
      return;
    }
    long result;
    try {
      result = (long) membarrier.invokeExact(SYS_MEMBARRIER, PRIVATE_EXPEDITED, 0, 0);
    } catch (Throwable t) {
      throw new AssertionError(t);
    }
    if (result != 0) {
      throw new AssertionError("membarrier was registered and is refused now");
    }
  }
}
