package dev.kakehashi.engine.store.recovery;

import dev.kakehashi.engine.store.api.Preparation;
import dev.kakehashi.engine.store.durable.StoreImage;
import dev.kakehashi.engine.store.log.DurableLog;
import dev.kakehashi.engine.store.log.StoreKeys;
import dev.kakehashi.engine.store.transaction.PreparedCodec;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The transactions that a standby's primary has prepared and not decided, as far as readers see its log. Nothing else of them is in memory
/// before the promotion. Thread-safe.
final class FollowedPrepared {
  /// Bytes of a key before the global id.
  private static final int HEAD_BYTES = 2;

  /// By global id; replaced by the thread that applies.
  private volatile Map<String, Preparation> undecided = Map.of();

  /// Takes over what a log has when it is opened.
  void load(DurableLog log) {
    Map<String, Preparation> found = new LinkedHashMap<>();
    StoreImage.scanKind(
        log,
        StoreKeys.PREPARED,
        (key, value) -> {
          if (key.remaining() == HEAD_BYTES + (key.get(1) & 0xFF)) {
            Preparation preparation = PreparedCodec.preparation(value);
            found.put(preparation.globalId(), preparation);
          }
        });
    undecided = found;
  }

  List<Preparation> list() {
    return List.copyOf(undecided.values());
  }

  /// Changes of a group, until it is applied. Used by the thread that applies.
  final class Changes {
    /// Null: decided.
    private final Map<String, @Nullable Preparation> changed = new LinkedHashMap<>();

    /// One is prepared, if the key is that of its entry.
    void put(byte[] key, byte[] value) {
      if (isEntry(key)) {
        changed.put(globalId(key), PreparedCodec.preparation(ByteBuffer.wrap(value)));
      }
    }

    /// One is decided, if the range is all that belongs to it.
    void deleteRange(byte[] from) {
      if (from[0] == StoreKeys.PREPARED && isEntry(from)) {
        changed.put(globalId(from), null);
      }
    }

    /// Readers see the group.
    void applied() {
      if (changed.isEmpty()) {
        return;
      }
      Map<String, Preparation> next = new LinkedHashMap<>(undecided);
      changed.forEach((globalId, preparation) -> {
        if (preparation == null) {
          next.remove(globalId);
        } else {
          next.put(globalId, preparation);
        }
      });
      undecided = next;
    }

    private static boolean isEntry(byte[] key) {
      return key.length > 1 && key.length == HEAD_BYTES + (key[1] & 0xFF);
    }

    private static String globalId(byte[] key) {
      return new String(key, HEAD_BYTES, key.length - HEAD_BYTES, StandardCharsets.UTF_8);
    }
  }
}
