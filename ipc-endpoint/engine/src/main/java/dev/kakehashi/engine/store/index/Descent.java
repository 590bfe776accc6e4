package dev.kakehashi.engine.store.index;

/// What a way down an [OrderedTree] has found besides the node. Confined to one thread at a time.
final class Descent {
  /// The nearest separator on the side of the scan's direction, if there is one: the node's bound.
  final KeyBuffer fence = new KeyBuffer(64);

  boolean fenced;

  /// Of the node, when it was reached: what is read of it is to be validated against this.
  long version;
}
