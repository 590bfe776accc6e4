package dev.kakehashi.engine.embedded.plans;

import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Plans by text and given parameter types. Thread-safe.
///
/// When it is full, everything that has not been asked for since the last time it was full goes (a clock with one hand for all).
final class PlanCache {
  private static final class Key {
    final String sql;
    final int[] parameterOids;
    final @Nullable String zone;

    Key(String sql, int[] parameterOids, @Nullable String zone) {
      this.sql = sql;
      this.parameterOids = parameterOids;
      this.zone = zone;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Key key
          && sql.equals(key.sql)
          && Objects.equals(zone, key.zone)
          && Arrays.equals(parameterOids, key.parameterOids);
    }

    @Override
    public int hashCode() {
      return sql.hashCode() * 31 + Arrays.hashCode(parameterOids);
    }
  }

  private static final class Entry {
    final StatementPlan plan;

    /// Plain writes by any reader: a lost one only makes a plan look idle.
    boolean used = true;

    Entry(StatementPlan plan) {
      this.plan = plan;
    }
  }

  private final ConcurrentHashMap<Key, Entry> plans = new ConcurrentHashMap<>();
  private final int capacity;

  PlanCache(int capacity) {
    this.capacity = capacity;
  }

  /// The plan of this catalogue version and of this time zone or of any, or null.
  @Nullable StatementPlan find(String sql, int[] parameterOids, long catalogVersion, String zone) {
    Entry entry = plans.get(new Key(sql, parameterOids, null));
    // A change of the catalogue may have made the text depend on the zone: its old plan stays until
    // the cache is full.
    if (entry == null || entry.plan.catalogVersion() != catalogVersion) {
      entry = plans.get(new Key(sql, parameterOids, zone));
    }
    if (entry == null || entry.plan.catalogVersion() != catalogVersion) {
      return null;
    }
    entry.used = true;
    return entry.plan;
  }

  void add(String sql, int[] parameterOids, StatementPlan plan) {
    if (plans.size() >= capacity) {
      plans
          .values()
          .removeIf(entry -> !entry.used || entry.plan.catalogVersion() != plan.catalogVersion());
      plans.values().forEach(entry -> entry.used = false);
      if (plans.size() >= capacity) {
        plans.clear();
      }
    }
    plans.put(new Key(sql, parameterOids.clone(), plan.zone()), new Entry(plan));
  }
}
