package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.api.queue.QueueDefinition;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.pcollections.PSortedMap;
import org.pcollections.TreePMap;

/// The queues of one version of the catalogue, by number and by name. Immutable; versions share what they have in common. A lookup by name
/// takes the logarithm of their number.
final class QueueSet {
  static final QueueSet EMPTY = new QueueSet(TreePMap.empty(), TreePMap.empty());

  /// No name of a schema has this character.
  private static final char SEPARATOR = '\0';

  private final PSortedMap<Long, Queue> byId;
  private final PSortedMap<String, Long> byName;

  /// Made when it is asked for; any thread makes the same.
  private volatile @Nullable List<QueueDefinition> definitions;

  private QueueSet(PSortedMap<Long, Queue> byId, PSortedMap<String, Long> byName) {
    this.byId = byId;
    this.byName = byName;
  }

  /// A queue of its number goes.
  QueueSet plus(Queue queue) {
    PSortedMap<String, Long> names = byName;
    Queue before = byId.get(queue.queueId());
    if (before != null) {
      names = names.minus(key(before.schema(), before.name()));
    }
    return new QueueSet(
        byId.plus(queue.queueId(), queue),
        names.plus(key(queue.schema(), queue.name()), queue.queueId()));
  }

  QueueSet minus(long queueId) {
    Queue gone = byId.get(queueId);
    return gone == null
        ? this
        : new QueueSet(byId.minus(queueId), byName.minus(key(gone.schema(), gone.name())));
  }

  @Nullable Queue get(long queueId) {
    return byId.get(queueId);
  }

  @Nullable Queue find(String schema, String name) {
    Long id = byName.isEmpty() ? null : byName.get(key(schema, name));
    return id == null ? null : byId.get(id);
  }

  /// In the order of their numbers.
  Collection<Queue> all() {
    return byId.values();
  }

  List<QueueDefinition> definitions() {
    List<QueueDefinition> made = definitions;
    if (made == null) {
      made = byId.values().stream().map(Queue::definition).toList();
      definitions = made;
    }
    return made;
  }

  private static String key(String schema, String name) {
    return schema + SEPARATOR + name;
  }
}
