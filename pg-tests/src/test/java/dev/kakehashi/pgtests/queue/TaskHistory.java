package dev.kakehashi.pgtests.queue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Observations that clients report: `sent ID`, `got ID ATTEMPT`, `done ID`, `failed …`. Thread-safe.
final class TaskHistory {
  private final Set<Long> sent = new HashSet<>();
  private final Set<String> deliveries = new HashSet<>();
  private final Set<Long> done = new HashSet<>();
  private final List<String> wrong = new ArrayList<>();

  /// @param line of one client's output; what is none of the words counts for nothing
  synchronized void line(String client, String line) {
    String[] words = line.strip().split(" ", -1);
    switch (words[0]) {
      case "sent" -> sent.add(Long.parseLong(words[1]));
      case "got" -> {
        if (!deliveries.add(words[1] + " " + words[2])) {
          wrong.add(client + " got task " + words[1] + " as attempt " + words[2] + " once more");
        }
      }
      case "done" -> {
        if (!done.add(Long.parseLong(words[1]))) {
          wrong.add(client + " has completed task " + words[1] + " for a second time");
        }
      }
      case "failed" -> wrong.add(client + ": " + line);
      default -> {}
    }
  }

  synchronized int doneCount() {
    return done.size();
  }

  synchronized int deliveryCount() {
    return deliveries.size();
  }

  synchronized Set<Long> sent() {
    return new HashSet<>(sent);
  }

  synchronized Set<Long> done() {
    return new HashSet<>(done);
  }

  synchronized List<String> wrong() {
    return List.copyOf(wrong);
  }
}
