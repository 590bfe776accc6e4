package dev.kakehashi.queue.order;

import java.util.Arrays;

/// Positions, smallest first: a binary heap. Not thread-safe.
final class LongHeap {
  private long[] heap = new long[4];
  private int size;

  boolean isEmpty() {
    return size == 0;
  }

  /// @return -1 if there is none
  long peek() {
    return size == 0 ? -1 : heap[0];
  }

  void push(long value) {
    if (size == heap.length) {
      heap = Arrays.copyOf(heap, size * 2);
    }
    int at = size++;
    while (at > 0) {
      int parent = (at - 1) >>> 1;
      if (heap[parent] <= value) {
        break;
      }
      heap[at] = heap[parent];
      at = parent;
    }
    heap[at] = value;
  }

  /// Takes the smallest; there is one.
  long pop() {
    long result = heap[0];
    long value = heap[--size];
    int at = 0;
    for (int child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && heap[child + 1] < heap[child]) {
        child++;
      }
      if (value <= heap[child]) {
        break;
      }
      heap[at] = heap[child];
      at = child;
    }
    if (size > 0) {
      heap[at] = value;
    }
    if (heap.length > 64 && size < heap.length / 4) {
      heap = Arrays.copyOf(heap, heap.length / 2);
    }
    return result;
  }
}
