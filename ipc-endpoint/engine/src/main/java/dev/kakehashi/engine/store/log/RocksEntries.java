package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.store.memory.NativeInput;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.rocksdb.RocksIterator;

/// The entries under an iterator of RocksDB, through the C interface that its library for Java exports as well: the calls of
/// [RocksIterator] cost about as much as reading and checking the entries behind them, four for each of them.
///
/// C's `rocksdb_iterator_t` is a struct of one member, the pointer that is [RocksIterator]'s handle. Confined to one thread; the iterator
/// is the caller's.
final class RocksEntries implements AutoCloseable {
  private static final MethodHandle VALID =
      downcall(
          "rocksdb_iter_valid",
          FunctionDescriptor.of(ValueLayout.JAVA_BYTE, ValueLayout.JAVA_LONG),
          Linker.Option.critical(false));

  /// May read a file, so the collector of garbage must not wait for it.
  private static final MethodHandle NEXT =
      downcall("rocksdb_iter_next", FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG));

  private static final FunctionDescriptor BYTES =
      FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);
  private static final MethodHandle KEY =
      downcall("rocksdb_iter_key", BYTES, Linker.Option.critical(false));
  private static final MethodHandle VALUE =
      downcall("rocksdb_iter_value", BYTES, Linker.Option.critical(false));

  private final Arena arena = Arena.ofConfined();

  /// Address of the struct, and behind it of the length that is returned.
  private final long iterator;

  private final long length;
  private final NativeInput key = new NativeInput();
  private final NativeInput value = new NativeInput();

  /// @param positioned where the entries begin; the library is loaded
  RocksEntries(RocksIterator positioned) {
    MemorySegment frame = arena.allocate(ValueLayout.JAVA_LONG, 2);
    frame.setAtIndex(ValueLayout.JAVA_LONG, 0, positioned.getNativeHandle());
    iterator = frame.address();
    length = iterator + Long.BYTES;
  }

  boolean isValid() {
    try {
      return (byte) VALID.invokeExact(iterator) != 0;
    } catch (Throwable e) {
      throw new AssertionError("rocksdb_iter_valid cannot be called", e);
    }
  }

  void next() {
    try {
      NEXT.invokeExact(iterator);
    } catch (Throwable e) {
      throw new AssertionError("rocksdb_iter_next cannot be called", e);
    }
  }

  /// The key, until the next entry.
  NativeInput key() {
    long address;
    try {
      address = (long) KEY.invokeExact(iterator, length);
    } catch (Throwable e) {
      throw new AssertionError("rocksdb_iter_key cannot be called", e);
    }
    key.set(address, Native.getLong(length));
    return key;
  }

  /// The value, until the next entry.
  NativeInput value() {
    long address;
    try {
      address = (long) VALUE.invokeExact(iterator, length);
    } catch (Throwable e) {
      throw new AssertionError("rocksdb_iter_value cannot be called", e);
    }
    value.set(address, Native.getLong(length));
    return value;
  }

  @Override
  public void close() {
    arena.close();
  }

  @SuppressWarnings("restricted") // functions of RocksDB's c.h, with their documented signatures
  private static MethodHandle downcall(
      String name, FunctionDescriptor descriptor, Linker.Option... options) {
    return Linker.nativeLinker()
        .downcallHandle(SymbolLookup.loaderLookup().find(name).orElseThrow(), descriptor, options);
  }
}
