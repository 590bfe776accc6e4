package dev.kakehashi.engine.exec.run;

import dev.kakehashi.engine.exec.operator.Breaker;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.rows.PlanProfile;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/// The collecting side of a breaker, measured. Opened and closed is the breaker itself.
public final class ProfiledBreaker extends Breaker {
  private final Breaker breaker;
  private final PlanProfile.Node profile;

  ProfiledBreaker(Breaker breaker, PlanProfile.Node profile) {
    this.breaker = breaker;
    this.profile = profile;
  }

  private record Measured(Collector collector, PlanProfile.Node profile) implements Collector {
    @Override
    public void accept(VectorBatch batch) {
      long began = System.nanoTime();
      collector.accept(batch);
      profile.nanos.add(System.nanoTime() - began);
    }

    @Override
    public void finish() {
      long began = System.nanoTime();
      collector.finish();
      profile.nanos.add(System.nanoTime() - began);
    }
  }

  @Override
  public BitSet compactColumns() {
    return breaker.compactColumns();
  }

  @Override
  public Collector newCollector() {
    return new Measured(breaker.newCollector(), profile);
  }

  @Override
  public void complete(List<Collector> collectors) {
    completeShared(collectors, 1).forEach(Runnable::run);
  }

  @Override
  public List<Runnable> completeShared(List<Collector> collectors, int workers) {
    List<Collector> measured =
        collectors.stream().map(collector -> ((Measured) collector).collector).toList();
    List<Runnable> left = new ArrayList<>();
    measure(() -> left.addAll(breaker.completeShared(measured, workers)));
    return left.stream().<Runnable>map(work -> () -> measure(work)).toList();
  }

  private void measure(Runnable work) {
    long began = System.nanoTime();
    work.run();
    profile.nanos.add(System.nanoTime() - began);
  }

  @Override
  public boolean parallel() {
    return breaker.parallel();
  }

  @Override
  public void open(RunContext execution) {}

  @Override
  public void close() {}
}
