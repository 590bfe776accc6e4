package dev.kakehashi.scheduler;

/// A worker's thread; its class is how a submitter is recognised as a worker, cheaper than a thread local.
final class WorkerThread extends Thread {
  final Worker worker;
  private volatile boolean begun;

  /// @param stackBytes of memory that is reserved, not used
  WorkerThread(Worker worker, String name, long stackBytes) {
    super(null, worker, name, stackBytes, false);
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
