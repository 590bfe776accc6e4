package dev.kakehashi.engine.store.memory;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/// Anonymous mappings of the operating system. Not [java.lang.foreign.Arena]: that counts against the limit of direct memory, touches every
/// page by zeroing it, and stops all threads for each block that it frees.
final class SystemMemory {
  private static final int PROT_READ_WRITE = 1 | 2;
  private static final int MAP_PRIVATE_ANONYMOUS_NORESERVE = 0x02 | 0x20 | 0x4000;
  private static final MethodHandle MMAP =
      downcall(
          "mmap",
          FunctionDescriptor.of(
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_LONG));
  private static final MethodHandle MUNMAP =
      downcall(
          "munmap",
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));

  private SystemMemory() {}

  /// Zeroed memory that becomes resident when it is touched.
  static long map(long bytes) {
    long address;
    try {
      address =
          (long)
              MMAP.invokeExact(0L, bytes, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS_NORESERVE, -1, 0L);
    } catch (Throwable e) {
      throw new AssertionError("mmap cannot be called", e);
    }
    if (address == -1) {
      throw new EngineException(
          ErrorCode.OUT_OF_MEMORY, "could not map %d bytes of memory".formatted(bytes));
    }
    return address;
  }

  static void unmap(long address, long bytes) {
    int result;
    try {
      result = (int) MUNMAP.invokeExact(address, bytes);
    } catch (Throwable e) {
      throw new AssertionError("munmap cannot be called", e);
    }
    if (result != 0) {
      throw new AssertionError("munmap refused " + Long.toHexString(address));
    }
  }

  @SuppressWarnings(
      "restricted") // two functions of the C library, with their documented signatures
  private static MethodHandle downcall(String name, FunctionDescriptor descriptor) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().find(name).orElseThrow(), descriptor);
  }
}
