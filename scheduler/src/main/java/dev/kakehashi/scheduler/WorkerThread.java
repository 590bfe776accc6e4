package dev.kakehashi.scheduler;

/// A worker's thread; its class is how a submitter is recognised as a worker, cheaper than a thread local.
final class WorkerThread extends Thread {
  final Worker worker;

  WorkerThread(Worker worker, String name) {
    super(null, worker, name, 0, false);
    this.worker = worker;
    setDaemon(true);
  }
}
