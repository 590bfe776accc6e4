package dev.kakehashi.pgwire;

import java.util.ArrayDeque;
import java.util.Deque;

/// A row of parameters that is being asked about. For the lane of its transaction.
final class RowPortal {
  /// As the server knows it.
  final String name;

  /// Rows that have come and were not handed over.
  final Deque<byte[]> backlog = new ArrayDeque<>();

  /// Whether it has no more rows.
  boolean complete;

  RowPortal(String name) {
    this.name = name;
  }
}
