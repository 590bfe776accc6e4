package dev.kakehashi.engine.store.memory;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.os.LibC;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Mappings of the operating system, anonymous ones and of files without a name. Not [java.lang.foreign.Arena]: that counts against the
/// limit of direct memory, touches every page by zeroing it, and stops all threads for each block that it frees.
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
  private static final int PROT_NONE = 0;
  private static final int MAP_SHARED_FIXED = 0x01 | 0x10;
  private static final int MFD_CLOEXEC = 1;
  private static final MethodHandle MEMFD_CREATE =
      LibC.function(
          "memfd_create",
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
  private static final MethodHandle FTRUNCATE =
      LibC.function(
          "ftruncate",
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));
  private static final MethodHandle CLOSE =
      LibC.function("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
  private static final int MADV_DONTNEED = 4;
  private static final int MADV_REMOVE = 9;
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
    long address = cut(map(bytes + alignment), bytes, alignment);
    adviseHuge(address, bytes);
    return address;
  }

  /// Unmaps what is mapped around the first aligned range.
  private static long cut(long raw, long bytes, long alignment) {
    long address = (raw + alignment - 1) & -alignment;
    if (address > raw) {
      unmap(raw, address - raw);
    }
    long rest = raw + bytes + alignment - (address + bytes);
    if (rest > 0) {
      unmap(address + bytes, rest);
    }
    return address;
  }

  private static void adviseHuge(long address, long bytes) {
    if (!advise(address, bytes, MADV_HUGEPAGE)) {
      // Systems without huge pages refuse; nothing depends on it.
      LOG.debug("system does not back memory with huge pages");
    }
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
    return map(0, bytes, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS_NORESERVE, -1, 0);
  }

  private static long map(
      long at, long bytes, int protection, int flags, int descriptor, long offset) {
    long address;
    try {
      address = (long) MMAP.invokeExact(at, bytes, protection, flags, descriptor, offset);
    } catch (Throwable e) {
      throw new AssertionError("mmap cannot be called", e);
    }
    if (address == -1) {
      throw new EngineException(
          ErrorCode.OUT_OF_MEMORY, "could not map %d bytes of memory".formatted(bytes));
    }
    return address;
  }

  // ---- memory of a file without a name ----

  /// Addresses at a multiple of `alignment`, behind which is nothing yet.
  static long reserve(long bytes, long alignment) {
    long raw = map(0, bytes + alignment, PROT_NONE, MAP_PRIVATE_ANONYMOUS_NORESERVE, -1, 0);
    return cut(raw, bytes, alignment);
  }

  /// A file that has memory and no name, and ends with the last process that has it.
  ///
  /// @param name for displays of the system
  static int anonymousFile(String name) {
    int descriptor;
    try (Arena arena = Arena.ofConfined()) {
      descriptor = (int) MEMFD_CREATE.invokeExact(arena.allocateFrom(name), MFD_CLOEXEC);
    } catch (Throwable e) {
      throw new AssertionError("memfd_create cannot be called", e);
    }
    if (descriptor < 0) {
      throw new EngineException(ErrorCode.OUT_OF_MEMORY, "could not make a file in memory");
    }
    return descriptor;
  }

  static void lengthen(int descriptor, long bytes) {
    int result;
    try {
      result = (int) FTRUNCATE.invokeExact(descriptor, bytes);
    } catch (Throwable e) {
      throw new AssertionError("ftruncate cannot be called", e);
    }
    if (result != 0) {
      throw new EngineException(
          ErrorCode.OUT_OF_MEMORY,
          "could not make a file in memory %d bytes long".formatted(bytes));
    }
  }

  /// Maps a part of a file at addresses that are reserved, for reading and writing.
  static void mapFile(long at, long bytes, int descriptor, long offset) {
    map(at, bytes, PROT_READ_WRITE, MAP_SHARED_FIXED, descriptor, offset);
    adviseHuge(at, bytes);
  }

  /// [#release] of memory that is a file's.
  static boolean punch(long address, long bytes) {
    return advise(address, bytes, MADV_REMOVE);
  }

  static void closeFile(int descriptor) {
    int result;
    try {
      result = (int) CLOSE.invokeExact(descriptor);
    } catch (Throwable e) {
      throw new AssertionError("close cannot be called", e);
    }
    if (result != 0) {
      LOG.warn("could not close the file of shared memory");
    }
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
