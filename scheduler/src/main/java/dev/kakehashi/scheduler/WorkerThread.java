package dev.kakehashi.scheduler;

/// A worker's thread; its class is how a submitter is recognised as a worker, cheaper than a thread local.
final class WorkerThread extends Thread {
  final Worker worker;
  private volatile boolean begun;

  WorkerThread(Worker worker, String name) {
    super(null, worker, name, 0, false);
    this.worker = worker;
    setDaemon(true);
  }

  @Override
  public void run() {
    begun = true;
    super.run();
  }

  /// Whether it has started: only then it can be joined.
  boolean begun() {
    return begun;
  }
}
