package dev.kakehashi.requests;

import dev.kakehashi.engine.api.ClientSession;
import dev.kakehashi.engine.api.Viewer;
import java.time.Instant;

/// One client, as its interface knows it. Thread-safe, must not block.
public interface RequestClient {
  /// Value of [#uid()]: the interface does not know one.
  int NO_UID = -1;

  /// Number that the endpoint has given it.
  long id();

  /// Kind of program, as the table of sessions shows it.
  String kind();

  /// Role of the engine, as which it was authenticated.
  String userName();

  /// OS user that it runs as, if the kernel says so; else [#NO_UID], and then the interface has proved who it is by itself.
  int uid();

  /// Whose prepared transactions it may decide on, and by what others of its kind are told apart; empty: everybody's.
  String principal();

  /// For whom it works before it has said anything.
  Viewer firstViewer();

  /// Whether it may cancel what others run.
  boolean mayCancelAll();

  /// Whether it ends its transactions by itself before it goes, so that one that it leaves open is lost, whoever else works in it: a
  /// backend of PostgreSQL, whose server has rolled back what it has changed elsewhere.
  default boolean endsItsTransactions() {
    return false;
  }

  /// As it calls itself.
  String applicationName();

  /// As it sees itself; 0: it has none here.
  long processId();

  /// Where it has that number: inode of its PID namespace; 0: unknown.
  long pidNamespace();

  /// Name of its OS user; empty: unknown.
  String osUserName();

  Instant attachedAt();

  /// Traffic that it has been sent.
  ClientSession.Traffic traffic();
}
