package dev.kakehashi.server;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// A history of transactions that append unique values to lists and read them, and what it says about isolation.
///
/// The final lists give the order of all versions, every read says which version it saw: so the dependencies between transactions are known
/// without a guess (Adya 1999; Kingsbury, Alvaro, "Elle", 2020). Not thread-safe.
final class History {
  /// Outcome of a transaction.
  enum Outcome {
    COMMITTED,
    ABORTED,
    /// Nobody was told.
    UNKNOWN
  }

  /// A key's list as a transaction saw it.
  record Read(long key, List<Long> values) {}

  /// A value that a transaction appended.
  record Append(long key, long value) {}

  /// @param name for messages
  record Transaction(String name, Outcome outcome, List<Read> reads, List<Append> appends) {}

  private final List<Transaction> transactions = new ArrayList<>();

  void add(Transaction transaction) {
    transactions.add(transaction);
  }

  int size() {
    return transactions.size();
  }

  /// Finds what contradicts the isolation level.
  ///
  /// @param finals every list at the end
  /// @param serializable whether no cycle at all is allowed; otherwise snapshot isolation, which allows cycles with two reads overtaken in
  ///     a row
  /// @return one line for each finding
  List<String> check(Map<Long, List<Long>> finals, boolean serializable) {
    return new Check(finals, serializable).run();
  }

  private final class Check {
    private final Map<Long, List<Long>> finals;
    private final boolean serializable;
    private final List<String> findings = new ArrayList<>();
    private final Map<Long, Integer> writers = new HashMap<>();
    private final List<Set<Integer>> seen = new ArrayList<>();
    private final List<Set<Integer>> overtaken = new ArrayList<>();

    Check(Map<Long, List<Long>> finals, boolean serializable) {
      this.finals = finals;
      this.serializable = serializable;
    }

    List<String> run() {
      for (int i = 0; i < transactions.size(); i++) {
        seen.add(new HashSet<>());
        overtaken.add(new HashSet<>());
        for (Append append : transactions.get(i).appends()) {
          writers.put(append.value(), i);
        }
      }
      for (int i = 0; i < transactions.size(); i++) {
        checkPresence(i);
      }
      if (findings.isEmpty()) {
        addWriteOrder();
        for (int i = 0; i < transactions.size(); i++) {
          if (isEffective(i)) {
            addReads(i);
          }
        }
        checkCycles();
      }
      return findings;
    }

    private List<Long> list(long key) {
      return finals.getOrDefault(key, List.of());
    }

    /// Committed, or unknown and in fact committed.
    private boolean isEffective(int i) {
      Transaction transaction = transactions.get(i);
      return transaction.outcome() == Outcome.COMMITTED
          || (transaction.outcome() == Outcome.UNKNOWN
              && !transaction.appends().isEmpty()
              && isPresent(transaction.appends().getFirst()));
    }

    private boolean isPresent(Append append) {
      return list(append.key()).contains(append.value());
    }

    private void checkPresence(int i) {
      Transaction transaction = transactions.get(i);
      long present = transaction.appends().stream().filter(this::isPresent).count();
      int all = transaction.appends().size();
      boolean right =
          switch (transaction.outcome()) {
            case COMMITTED -> present == all;
            case ABORTED -> present == 0;
            case UNKNOWN -> present == 0 || present == all;
          };
      if (!right) {
        findings.add(
            transaction + ": " + present + " of its " + all + " values are in the final lists");
      }
    }

    private void addWriteOrder() {
      finals.forEach((key, values) -> {
        if (new HashSet<>(values).size() != values.size()) {
          findings.add("list " + key + " has a value twice: " + values);
        }
        for (int i = 1; i < values.size(); i++) {
          edge(seen, writers.get(values.get(i - 1)), writers.get(values.get(i)));
        }
      });
    }

    private void addReads(int reader) {
      for (Read read : transactions.get(reader).reads()) {
        List<Long> order = list(read.key());
        int length = read.values().size();
        if (length > order.size() || !order.subList(0, length).equals(read.values())) {
          findings.add(
              transactions.get(reader).name()
                  + " read "
                  + read
                  + ", which never was a version of "
                  + order);
          continue;
        }
        if (length > 0) {
          edge(seen, writers.get(order.get(length - 1)), reader);
        }
        if (length < order.size()) {
          edge(overtaken, reader, writers.get(order.get(length)));
        }
      }
    }

    private void edge(
        List<Set<Integer>> edges,
        @org.jspecify.annotations.Nullable Integer from,
        @org.jspecify.annotations.Nullable Integer to) {
      if (from == null || to == null) {
        findings.add("a list has a value that nobody appended");
      } else if (!from.equals(to)) {
        edges.get(from).add(to);
      }
    }

    private void checkCycles() {
      for (int i = 0; i < transactions.size(); i++) {
        // A cycle of what was seen alone, or with one read overtaken, is forbidden by both levels;
        // with more of them by serializability.
        for (int next : seen.get(i)) {
          report(next, i, serializable, "");
        }
        for (int next : overtaken.get(i)) {
          report(next, i, serializable, " (overtaken)");
        }
      }
    }

    /// Looks for a way from one transaction back to another.
    private void report(int from, int to, boolean throughOvertaken, String how) {
      Map<Integer, Integer> cameFrom = new HashMap<>();
      List<Integer> queue = new ArrayList<>(List.of(from));
      cameFrom.put(from, -1);
      for (int at = 0; at < queue.size(); at++) {
        int current = queue.get(at);
        if (current == to) {
          StringBuilder cycle = new StringBuilder(transactions.get(to).name()).append(how);
          int step = to;
          while (step >= 0) {
            cycle.append(" <- ").append(transactions.get(step));
            step = cameFrom.getOrDefault(step, -1);
          }
          findings.add("cycle: " + cycle);
          return;
        }
        List<Integer> next = new ArrayList<>(seen.get(current));
        if (throughOvertaken) {
          next.addAll(overtaken.get(current));
        }
        for (int each : next) {
          if (cameFrom.putIfAbsent(each, current) == null) {
            queue.add(each);
          }
        }
      }
    }
  }
}
