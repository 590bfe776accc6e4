package dev.kakehashi.os;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/// Finds functions of the C library. A caller keeps a handle as a constant (`static final`), which the JIT compiler inlines.
///
/// A caller vouches for the signature, and keeps memory that it passes until the call has ended. Stateless, thread-safe.
public final class LibC {
  private static final Linker LINKER = Linker.nativeLinker();
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
    return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), types, options);
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
