package dev.kakehashi.engine.store.memory;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.os.LibC;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Anonymous mappings of the operating system. Not [java.lang.foreign.Arena]: that counts against the limit of direct memory, touches every
/// page by zeroing it, and stops all threads for each block that it frees.
final class SystemMemory {
  private static final int PROT_READ_WRITE = 1 | 2;
  private static final int MAP_PRIVATE_ANONYMOUS_NORESERVE = 0x02 | 0x20 | 0x4000;
  private static final MethodHandle MMAP =
      LibC.function(
          "mmap",
          FunctionDescriptor.of(
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_LONG));
  private static final int MADV_DONTNEED = 4;
  private static final int MADV_HUGEPAGE = 14;
  static final long HUGE_PAGE_BYTES = 2 << 20;
  private static final Logger LOG = LoggerFactory.getLogger(SystemMemory.class);
  private static final MethodHandle MADVISE =
      LibC.function(
          "madvise",
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT));
  private static final MethodHandle MUNMAP =
      LibC.function(
          "munmap",
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));

  private SystemMemory() {}

  /// Like [#map], where the system likes backed by huge pages: rows, values and index nodes are met at random, and
  /// with small pages every one of them costs a miss of the translation buffer as well.
  ///
  /// @param bytes a multiple of [#HUGE_PAGE_BYTES]
  static long mapHuge(long bytes) {
    return mapHuge(bytes, HUGE_PAGE_BYTES);
  }

  /// The same, at a multiple of `alignment`, which is one of [#HUGE_PAGE_BYTES].
  static long mapHuge(long bytes, long alignment) {
    long raw = map(bytes + alignment);
    long address = (raw + alignment - 1) & -alignment;
    if (address > raw) {
      unmap(raw, address - raw);
    }
    long rest = raw + bytes + alignment - (address + bytes);
    if (rest > 0) {
      unmap(address + bytes, rest);
    }
    if (!advise(address, bytes, MADV_HUGEPAGE)) {
      // Systems without huge pages refuse; nothing depends on it.
      LOG.debug("system does not back memory with huge pages");
    }
    return address;
  }

  /// Gives the memory behind addresses back; they stay mapped, and read as zeros until they are written again.
  ///
  /// @param address a multiple of 4096, as `bytes`
  /// @return false if the system refuses; then nothing has changed
  static boolean release(long address, long bytes) {
    return advise(address, bytes, MADV_DONTNEED);
  }

  private static boolean advise(long address, long bytes, int advice) {
    try {
      return (int) MADVISE.invokeExact(address, bytes, advice) == 0;
    } catch (Throwable e) {
      throw new AssertionError("madvise cannot be called", e);
    }
  }

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
}
