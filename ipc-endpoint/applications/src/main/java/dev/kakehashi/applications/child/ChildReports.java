package dev.kakehashi.applications.child;

import dev.kakehashi.applications.watch.ApplicationJournal;

/// Sends to the endpoint what an application logs, and what fails. Thread-safe; blocks until the endpoint has it.
public final class ChildReports {
  private final RemoteHost host;

  ChildReports(RemoteHost host) {
    this.host = host;
  }

  /// A journal whose entries go to the endpoint, too.
  public ApplicationJournal journal() {
    return new ApplicationJournal(
        failure ->
            host.failed(
                failure.member(),
                failure.call(),
                failure.sqlstate(),
                failure.message(),
                failure.stack()),
        line -> host.logged(line.call(), line.line()));
  }
}
