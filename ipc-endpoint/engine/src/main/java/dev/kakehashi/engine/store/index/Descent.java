package dev.kakehashi.engine.store.index;

/// Results of a way down an [OrderedTree] besides the node. Confined to one thread at a time.
final class Descent {
  /// The nearest separator on the side of the scan's direction, if there is one: the node's bound.
  final KeyBuffer fence = new KeyBuffer(64);

  boolean fenced;

  /// Version of the node when it was reached: reads of the node are validated against it.
  long version;
}
