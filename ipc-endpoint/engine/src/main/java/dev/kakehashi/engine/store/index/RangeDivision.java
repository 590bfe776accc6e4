package dev.kakehashi.engine.store.index;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Keys that divide a range of an [OrderedTree] into parts of about the same size, and about how large it is. Immutable.
///
/// They are separators of the uppermost inner nodes that have enough of them within the range: no leaf is looked at. Changes of the tree
/// meanwhile or afterwards do not matter, because an entry lies between the same two keys as long as it lives.
///
/// @param keys ascending, all of them behind the beginning and before the end of the range; may be empty
/// @param leaves about as many as the range has, at least 1
public record RangeDivision(List<byte[]> keys, long leaves) {
  /// Children that an inner node is taken to have that was not looked at, if more than enough of them are to be had above.
  private static final int CHILDREN = 64;

  /// Divides the entries `[from, to)`.
  ///
  /// @param to null: to the end
  /// @param most parts wanted, at least 1
  static RangeDivision of(OrderedTree tree, KeyBuffer from, @Nullable KeyBuffer to, int most) {
    List<byte[]> found = List.of();
    int level = IndexNode.level(tree.root());
    while (level > 0) {
      found = separators(tree, level, from, to);
      if (level == 1 || found.size() >= most) {
        break;
      }
      level--;
    }
    long leaves = found.size() + 1L;
    for (int above = 1; above < level; above++) {
      leaves *= CHILDREN;
    }
    int children = found.size() + 1;
    int parts = Math.min(most, children);
    List<byte[]> keys = new ArrayList<>(parts - 1);
    for (int part = 1; part < parts; part++) {
      keys.add(found.get((int) ((long) part * children / parts) - 1));
    }
    return new RangeDivision(List.copyOf(keys), leaves);
  }

  /// The separators between nodes of the level below, in order.
  private static List<byte[]> separators(
      OrderedTree tree, int level, KeyBuffer from, @Nullable KeyBuffer to) {
    List<byte[]> found = new ArrayList<>();
    KeyBuffer position = new KeyBuffer(from.length);
    position.set(from);
    Descent way = new Descent();
    KeyBuffer key = new KeyBuffer(64);
    boolean more = true;
    while (more) {
      more = node(tree, level, position, to, way, key, found);
    }
    return found;
  }

  /// Adds the separators of the node that `position` leads to, and the one behind it.
  ///
  /// @return whether the range goes on behind it; then `position` is where
  private static boolean node(
      OrderedTree tree,
      int level,
      KeyBuffer position,
      @Nullable KeyBuffer to,
      Descent way,
      KeyBuffer key,
      List<byte[]> found) {
    int before = found.size();
    long head = position.head();
    while (true) {
      found.subList(before, found.size()).clear();
      long node = tree.descend(position, head, level, false, way);
      // A tree that has lost this level since has nothing to divide.
      boolean gone = IndexNode.level(node) < level;
      int first = IndexNode.position(node, position, head, true);
      int count = IndexNode.count(node);
      int last = to == null ? count : IndexNode.position(node, to, to.head(), false);
      for (int i = first; !gone && i < last; i++) {
        IndexNode.copyKey(node, i, key, 0);
        found.add(Arrays.copyOf(key.bytes, key.length));
      }
      if (!NodeLatch.validate(node, way.version)) {
        continue;
      }
      KeyBuffer fence = way.fence;
      if (gone
          || last < count
          || !way.fenced
          || (to != null && KeyBuffer.compare(fence, to) >= 0)) {
        return false;
      }
      found.add(Arrays.copyOf(fence.bytes, fence.length));
      position.set(fence);
      return true;
    }
  }
}
