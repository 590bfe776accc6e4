package dev.kakehashi.engine.store.durable;

import dev.kakehashi.engine.store.api.SequencePosition;
import dev.kakehashi.engine.store.log.DurableLog;
import dev.kakehashi.engine.store.log.StoreKeys;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/// Reads entries of the durable image, by their kinds; see [StoreKeys].
public final class StoreImage {
  private StoreImage() {}

  /// Where sequences stand, by the numbers of their states.
  public static Map<Long, SequencePosition> sequences(DurableLog log) {
    Map<Long, SequencePosition> positions = new TreeMap<>();
    scanKind(
        log,
        StoreKeys.SEQUENCE,
        (key, value) ->
            positions.put(key.getLong(1), new SequencePosition(value.getLong(), value.get() != 0)));
    return positions;
  }

  /// Entries of the catalogue.
  public static Map<String, byte[]> catalog(DurableLog log) {
    Map<String, byte[]> catalog = new TreeMap<>();
    scanKind(
        log,
        StoreKeys.CATALOG,
        (key, value) -> {
          key.position(1);
          catalog.put(StandardCharsets.UTF_8.decode(key).toString(), bytes(value));
        });
    return catalog;
  }

  /// Visits all entries of a kind, in the order of their keys.
  public static void scanKind(DurableLog log, int kind, DurableLog.Visitor visitor) {
    log.scan(StoreKeys.of(kind), StoreKeys.of(kind + 1), visitor);
  }

  public static byte[] bytes(ByteBuffer value) {
    byte[] bytes = new byte[value.remaining()];
    value.get(bytes);
    return bytes;
  }
}
