package dev.kakehashi.requests;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Numbers of the commands of one transaction whose clients count each for itself.
///
/// To the engine a greater number is a later command, which sees what those before it have changed. Two clients know nothing of each
/// other's numbers: so what one of them does after the other is moved behind all that the other has done. Commands of one client stay in
/// its own order, also where an earlier one sends a request later.
///
/// As long as one client alone counts, its numbers are those of the transaction. Not thread-safe.
final class CommandNumbers {
  /// Stretches kept for each client. A command of before the oldest (a cursor, while the others have come in between so often) may see
  /// changes that it should not.
  static final int MAX_STRETCHES = 1000;

  private @Nullable Counter last;
  private long highest;
  private final List<Counter> counters = new ArrayList<>(1);

  /// Where a client's numbers have been moved to: those of `first` and above, by `offset`.
  private record Stretch(long first, long offset) {}

  private static final class Counter {
    final Object client;
    final ArrayList<Stretch> stretches = new ArrayList<>(1);
    long newest;

    Counter(Object client) {
      this.client = client;
    }

    long moved(long command) {
      for (int i = stretches.size() - 1; i > 0; i--) {
        if (stretches.get(i).first() <= command) {
          return command + stretches.get(i).offset();
        }
      }
      return command + stretches.getFirst().offset();
    }
  }

  /// @param client who counts; equal objects are one
  /// @param command number (unsigned) of its command, not 0
  /// @param begins whether it is the first request of a statement: those that only read may all have the number of the client's newest
  ///     command, and each sees what others have done before it
  /// @return number (unsigned) of the command in the transaction
  int of(Object client, int command, boolean begins) {
    long number = Integer.toUnsignedLong(command);
    Counter counter = counter(client);
    if (number > counter.newest) {
      if (last != counter) {
        // Behind all others, with room for commands in between that have not sent anything yet.
        move(counter, counter.newest + 1);
      }
      counter.newest = number;
      highest = counter.moved(number);
    } else if (begins && number == counter.newest && last != counter) {
      move(counter, number);
      highest = counter.moved(number);
    }
    return (int) counter.moved(number);
  }

  private void move(Counter counter, long first) {
    if (counter.stretches.size() >= MAX_STRETCHES) {
      counter.stretches.removeFirst();
    }
    counter.stretches.add(new Stretch(first, highest + 1 - first));
    last = counter;
  }

  private Counter counter(Object client) {
    if (last != null && last.client.equals(client)) {
      return last;
    }
    for (Counter counter : counters) {
      if (counter.client.equals(client)) {
        return counter;
      }
    }
    Counter counter = new Counter(client);
    counters.add(counter);
    return counter;
  }
}
