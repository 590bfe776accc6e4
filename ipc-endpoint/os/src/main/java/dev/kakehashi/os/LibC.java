package dev.kakehashi.os;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/// Finds functions of the C library. A caller keeps a handle as a constant (`static final`), which the JIT compiler inlines.
///
/// A caller vouches for the signature, and keeps memory that it passes until the call has ended. Stateless, thread-safe.
public final class LibC {
  private static final Linker LINKER = Linker.nativeLinker();

  @SuppressWarnings("restricted") // dlsym has this signature
  private static final MethodHandle DLSYM =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("dlsym"),
          FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.ADDRESS));

  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

  private LibC() {}

  /// A function.
  ///
  /// @param options as `critical` for a call that is short and never waits, `firstVariadicArg` for one with any arguments
  /// @throws java.util.NoSuchElementException the C library has no such function
  @SuppressWarnings("restricted") // the caller vouches for the signature
  public static MethodHandle function(
      String name, FunctionDescriptor types, Linker.Option... options) {
    return LINKER.downcallHandle(address(name), types, options);
  }

  /// A library that is preloaded comes before the C library, as for calls of the JVM itself: Java's own lookup passes it by.
  private static MemorySegment address(String name) {
    MemorySegment found;
    try (Arena arena = Arena.ofConfined()) {
      // It looks in all libraries of the process (RTLD_DEFAULT is 0), in their order.
      found = (MemorySegment) DLSYM.invokeExact(MemorySegment.NULL, arena.allocateFrom(name));
    } catch (Throwable e) {
      throw new AssertionError("dlsym cannot be called", e);
    }
    return found.address() == 0 ? LINKER.defaultLookup().findOrThrow(name) : found;
  }

  /// A function that fails with errno: its first argument, before those of `types`, is memory of [#errnoState], where a call leaves its
  /// errno.
  ///
  /// @throws java.util.NoSuchElementException the C library has no such function
  public static MethodHandle functionWithErrno(
      String name, FunctionDescriptor types, Linker.Option... options) {
    Linker.Option[] all = Arrays.copyOf(options, options.length + 1);
    all[options.length] = Linker.Option.captureCallState("errno");
    return function(name, types, all);
  }

  /// Memory for the errno of a call. One call at a time uses it.
  public static MemorySegment errnoState(SegmentAllocator allocator) {
    return allocator.allocate(STATE);
  }

  /// The result of a call that returns a negative number when it fails: then the negative errno.
  ///
  /// @param state that the call has had
  public static long result(long returned, MemorySegment state) {
    return returned < 0 ? -(int) ERRNO.get(state, 0L) : returned;
  }
}
