package dev.kakehashi.scheduler.process;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/// Up to three processes of a [dev.kakehashi.scheduler.RandomProgram] that send a number round, one less at each hop, until the shutdown
/// asks them to end. Checks I9.
public final class ProcessRing {
  /// Where a broken invariant is told.
  public interface Claims {
    void claim(boolean holds, String invariant);
  }

  private final Processes processes;
  private final Claims claims;
  private final List<Hop> hops = new ArrayList<>();

  public ProcessRing(Processes processes, SplittableRandom random, Claims claims) {
    this.processes = processes;
    this.claims = claims;
    for (int i = random.nextInt(4); i > 0; i--) {
      hops.add(new Hop());
    }
    for (Hop hop : hops) {
      hop.pid = processes.spawn(hop, "hop", null);
    }
    for (int i = 0; i < hops.size(); i++) {
      hops.get(i).next = hops.get((i + 1) % hops.size()).pid;
    }
    if (!hops.isEmpty()) {
      processes.send(requireNonNull(hops.get(0).pid), 20 + random.nextInt(20));
    }
  }

  /// Steps that ran, and those that a shutdown discarded.
  public long tasks() {
    return hops.stream().mapToLong(hop -> hop.tasks).sum();
  }

  /// How many processes there were; each has closed.
  public int closed() {
    claims.claim(hops.stream().allMatch(hop -> hop.closes == 1), "I9: close once");
    return hops.size();
  }

  public boolean canceled() {
    return hops.stream().anyMatch(hop -> !hop.done);
  }

  /// Its fields are plain: the steps of a process are ordered.
  private final class Hop implements Process {
    volatile @Nullable Pid pid;
    volatile @Nullable Pid next;
    private boolean inside;
    private int tasks;
    private int closes;
    private boolean done;

    @Override
    public Step step(Events events, StepOutput output) {
      claims.claim(!inside, "I9: two steps at once");
      inside = true;
      tasks++;
      for (Event event = events.poll(); event != null; event = events.poll()) {
        if (event.kind() == Event.Kind.CANCEL) {
          done = true;
        } else {
          int left = (Integer) requireNonNull(event.data());
          Pid to = next;
          if (left > 0 && to != null) {
            processes.send(to, left - 1);
          }
        }
      }
      inside = false;
      return done ? Step.DONE : Step.IDLE;
    }

    @Override
    public void close() {
      closes++;
      tasks += done ? 0 : 1; // discarded
    }
  }
}
