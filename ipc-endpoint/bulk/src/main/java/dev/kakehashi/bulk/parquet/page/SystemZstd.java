package dev.kakehashi.bulk.parquet.page;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Compresses by the system's libzstd, which is some four times as fast as the one in Java. Only our own pages go in. Not thread-safe.
@SuppressWarnings("restricted") // functions of the C library, with their documented signatures
final class SystemZstd implements AutoCloseable {
  /// The garbage collector waits while an array is compressed: for some milliseconds.
  static final int MOST_BYTES = 2 << 20;

  /// Compression level, the fastest of 1 to 22.
  private static final int LEVEL = 1;

  private static final String LIBRARY = "libzstd.so.1";
  private static final @Nullable Functions FUNCTIONS = find();

  private record Functions(
      MethodHandle create, MethodHandle free, MethodHandle compress, MethodHandle isError) {}

  private final Functions functions;
  private MemorySegment context;

  private SystemZstd(Functions functions, MemorySegment context) {
    this.functions = functions;
    this.context = context;
  }

  private static @Nullable Functions find() {
    SymbolLookup library;
    try {
      library = SymbolLookup.libraryLookup(LIBRARY, Arena.global());
    } catch (IllegalArgumentException absent) {
      return null;
    }
    FunctionDescriptor compress =
        FunctionDescriptor.of(JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_INT);
    return new Functions(
        function(library, "ZSTD_createCCtx", FunctionDescriptor.of(ADDRESS)),
        function(library, "ZSTD_freeCCtx", FunctionDescriptor.of(JAVA_LONG, ADDRESS)),
        function(library, "ZSTD_compressCCtx", compress, Linker.Option.critical(true)),
        function(library, "ZSTD_isError", FunctionDescriptor.of(JAVA_INT, JAVA_LONG)));
  }

  private static MethodHandle function(
      SymbolLookup library, String name, FunctionDescriptor types, Linker.Option... options) {
    return Linker.nativeLinker().downcallHandle(library.findOrThrow(name), types, options);
  }

  /// A compressor, to be closed; null: there is no such library, or it has no memory.
  static @Nullable SystemZstd open() {
    Functions present = FUNCTIONS;
    if (present == null) {
      return null;
    }
    try {
      MemorySegment made = (MemorySegment) present.create.invokeExact();
      return made.address() == 0 ? null : new SystemZstd(present, made);
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  /// Compresses up to [#MOST_BYTES].
  ///
  /// @return bytes in `out`
  /// @throws EngineException INTERNAL_ERROR, if they have no room there for instance
  int compress(byte[] in, int from, int count, byte[] out) {
    Objects.checkFromIndexSize(from, count, in.length);
    long length;
    int isError;
    try {
      length =
          (long)
              functions.compress.invokeExact(
                  context,
                  MemorySegment.ofArray(out),
                  (long) out.length,
                  MemorySegment.ofArray(in).asSlice(from, count),
                  (long) count,
                  LEVEL);
      isError = (int) functions.isError.invokeExact(length);
    } catch (Throwable e) {
      throw failed(e);
    }
    if (isError != 0) {
      throw new EngineException(
          ErrorCode.INTERNAL_ERROR, "zstd could not compress %d bytes".formatted(count));
    }
    return Math.toIntExact(length);
  }

  private static EngineException failed(Throwable cause) {
    if (cause instanceof Error error) {
      throw error;
    }
    return new EngineException(ErrorCode.INTERNAL_ERROR, "zstd failed: " + cause, cause);
  }

  @Override
  public void close() {
    MemorySegment freed = context;
    context = MemorySegment.NULL;
    if (freed.address() != 0) {
      try {
        long ignored = (long) functions.free.invokeExact(freed);
      } catch (Throwable e) {
        throw failed(e);
      }
    }
  }
}
