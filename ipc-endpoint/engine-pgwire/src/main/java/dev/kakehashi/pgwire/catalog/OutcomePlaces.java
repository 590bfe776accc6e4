package dev.kakehashi.pgwire.catalog;

import dev.kakehashi.engine.api.RecoveredOutcomes;
import dev.kakehashi.pgwire.wire.WireConnection;
import java.util.BitSet;

/// Rows that committing transactions write, see [Outcomes]. Each has a place that no other one has until its outcome is known. Thread-safe.
public final class OutcomePlaces {
  /// More than the commits of an earlier life that were on their way when it ended.
  private static final long GAP = 1 << 20;

  private final long endpoint;

  // Guarded by this.
  private final BitSet taken = new BitSet();
  private long lastNumber;

  private OutcomePlaces(long endpoint, long lastNumber) {
    this.endpoint = endpoint;
    this.lastNumber = lastNumber;
  }

  /// Places of a new life of an endpoint.
  public static OutcomePlaces of(WireConnection connection, long endpoint) {
    return new OutcomePlaces(endpoint, Outcomes.last(connection, endpoint) + GAP);
  }

  /// The row of a transaction that is about to commit; given back when its outcome is known, or nobody asks any more.
  ///
  /// @param reference see [dev.kakehashi.engine.api.EngineTransaction#reference(long)]; 0: none, so it gets a number, which is above those
  ///     that its place has had
  public synchronized Outcomes.Row take(long reference) {
    if (reference != 0) {
      return new Outcomes.Row(endpoint, RecoveredOutcomes.place(reference), reference);
    }
    int free = taken.nextClearBit(0);
    taken.set(free);
    return new Outcomes.Row(endpoint, Outcomes.PLACES + free, ++lastNumber);
  }

  /// The place of a row is free again.
  public synchronized void give(Outcomes.Row row) {
    if (row.place() >= Outcomes.PLACES) {
      taken.clear(row.place() - Outcomes.PLACES);
    }
  }
}
