package dev.kakehashi.queue.system;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Deadlines by their times: a binary heap whose nodes know their places, so that what is over leaves at once. Not thread-safe.
///
/// Times may wrap as those of [System#nanoTime] do: differences are compared.
final class Deadlines {
  private @Nullable Deadline[] heap = new Deadline[8];
  private int size;

  int size() {
    return size;
  }

  @Nullable Deadline first() {
    return size == 0 ? null : heap[0];
  }

  /// Adds it, or moves it to another time.
  void set(Deadline node, long due) {
    if (node.heapIndex < 0) {
      if (size == heap.length) {
        heap = Arrays.copyOf(heap, size * 2);
      }
      node.due = due;
      put(size, node);
      up(size++);
      return;
    }
    long before = node.due;
    node.due = due;
    if (due - before < 0) {
      up(node.heapIndex);
    } else {
      down(node.heapIndex);
    }
  }

  /// No effect if it is not in here.
  void remove(Deadline node) {
    int at = node.heapIndex;
    if (at < 0) {
      return;
    }
    node.heapIndex = -1;
    Deadline last = at(--size);
    heap[size] = null;
    if (at < size) {
      put(at, last);
      up(at);
      down(last.heapIndex);
    }
    if (heap.length > 64 && size < heap.length / 4) {
      heap = Arrays.copyOf(heap, heap.length / 2);
    }
  }

  /// Takes the first one whose time is `now` or earlier.
  @Nullable Deadline poll(long now) {
    Deadline first = first();
    if (first == null || first.due - now > 0) {
      return null;
    }
    remove(first);
    return first;
  }

  private Deadline at(int index) {
    return Objects.requireNonNull(heap[index]);
  }

  private void put(int index, Deadline node) {
    heap[index] = node;
    node.heapIndex = index;
  }

  private void up(int from) {
    int at = from;
    Deadline node = at(at);
    while (at > 0) {
      int parent = (at - 1) >>> 1;
      Deadline above = at(parent);
      if (above.due - node.due <= 0) {
        break;
      }
      put(at, above);
      at = parent;
    }
    put(at, node);
  }

  private void down(int from) {
    int at = from;
    Deadline node = at(at);
    for (; ; ) {
      int child = 2 * at + 1;
      if (child >= size) {
        break;
      }
      if (child + 1 < size && at(child + 1).due - at(child).due < 0) {
        child++;
      }
      Deadline below = at(child);
      if (node.due - below.due <= 0) {
        break;
      }
      put(at, below);
      at = child;
    }
    put(at, node);
  }
}
