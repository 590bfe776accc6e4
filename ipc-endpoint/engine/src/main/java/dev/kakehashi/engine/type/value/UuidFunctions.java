package dev.kakehashi.engine.type.value;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.time.Clock;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/// Version and time of UUIDs, and making those of version 7. Making others belongs to the volatile functions.
public final class UuidFunctions {
  private static final long UNIX_EPOCH_MICROS = 946_684_800_000_000L;
  private static final long MICROS_PER_MILLI = 1_000;
  private static final int NANOS_PER_MICRO = 1_000;
  private static final long NANOS_PER_MILLI = 1_000_000;

  /// Milliseconds of version 7.
  private static final int MILLIS_BITS = 48;

  /// Parts of a millisecond that version 7 tells apart here.
  private static final int FRACTION_BITS = 12;

  /// The least difference of two times of version 7, so that their UUIDs differ in the order of the calls.
  private static final long LEAST_STEP_NANOS = (NANOS_PER_MILLI >> FRACTION_BITS) + 1;

  private static final long FRACTION_MASK = (1L << FRACTION_BITS) - 1;

  /// Microseconds of version 1 from 1582-10-15 to 2000-01-01, its unit being a tenth of one.
  private static final long GREGORIAN_MICROS = 13_165_977_600_000_000L;

  /// Nanoseconds since 1970 that were used last; all threads, each of which raises it.
  private static final AtomicLong LAST_NANOS = new AtomicLong();

  private UuidFunctions() {}

  public static void register(FunctionSet set) {
    set.add(
        "uuid_extract_version",
        TypeOid.INT2,
        (a, _, c) -> isRfc(a[0]) ? version(a[0]) : c.nullResult(),
        TypeOid.UUID);
    set.add(
        "uuid_extract_timestamp", TypeOid.TIMESTAMPTZ, (a, _, c) -> time(a[0], c), TypeOid.UUID);
  }

  private static boolean isRfc(long uuid) {
    return RawMemory.getLongBigEndian(uuid + 8) >>> 62 == 2;
  }

  private static long version(long uuid) {
    return RawMemory.getLongBigEndian(uuid) >>> FRACTION_BITS & 15;
  }

  private static long time(long uuid, FunctionContext context) {
    if (!isRfc(uuid)) {
      return context.nullResult();
    }
    long high = RawMemory.getLongBigEndian(uuid);
    return switch ((int) version(uuid)) {
      case 1 -> {
        long tenths = (high & 0xFFF) << 48 | (high >>> 16 & 0xFFFF) << 32 | high >>> 32;
        yield tenths / 10 - GREGORIAN_MICROS;
      }
      case 7 -> (high >>> 16) * MICROS_PER_MILLI - UNIX_EPOCH_MICROS;
      default -> context.nullResult();
    };
  }

  /// Moves a time, in microseconds since 2000-01-01.
  @FunctionalInterface
  public interface Shift {
    long of(long micros);
  }

  /// A UUID of version 7: later calls give greater ones.
  ///
  /// @param shift of its time
  /// @throws EngineException DATETIME_OVERFLOW for a time that version 7 does not have
  public static long version7(Shift shift, FunctionContext context) {
    long now = (Clock.now() + UNIX_EPOCH_MICROS) * NANOS_PER_MICRO;
    long nanos = LAST_NANOS.updateAndGet(last -> Math.max(now, last + LEAST_STEP_NANOS));
    long micros =
        shift.of(Math.floorDiv(nanos, NANOS_PER_MICRO) - UNIX_EPOCH_MICROS) + UNIX_EPOCH_MICROS;
    long millis = Math.floorDiv(micros, MICROS_PER_MILLI);
    if (millis < 0 || millis >>> MILLIS_BITS != 0) {
      throw new EngineException(
              ErrorCode.DATETIME_OVERFLOW, "timestamp out of range for UUID version 7")
          .withDetail(
              "UUID version 7 supports timestamps from 1970-01-01 to approximately year 10889.");
    }
    long rest =
        Math.floorMod(micros, MICROS_PER_MILLI) * NANOS_PER_MICRO
            + Math.floorMod(nanos, NANOS_PER_MICRO);
    long fraction = (rest << FRACTION_BITS) / NANOS_PER_MILLI & FRACTION_MASK;
    long address = context.heap.allocate(16);
    RawMemory.putLongBigEndian(address, millis << 16 | 7L << FRACTION_BITS | fraction);
    // The variant's two bits, and 62 that are random.
    RawMemory.putLongBigEndian(address + 8, UUID.randomUUID().getLeastSignificantBits());
    return address;
  }
}
