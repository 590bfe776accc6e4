package dev.kakehashi.pgwire;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.pgwire.wire.ServerError;
import dev.kakehashi.pgwire.wire.WireConnection;
import dev.kakehashi.pgwire.wire.WireInput;
import dev.kakehashi.pgwire.wire.WireOutput;
import dev.kakehashi.pgwire.wire.WireStatements;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One series of messages that is sent at once, and its answers. For one thread, and one use.
///
/// After an error the server passes over the rest of the series.
final class WireExchange {
  private static final int[] NO_TYPES = {};

  /// Receiver of the answers. Its exceptions are thrown when the series has ended.
  interface Taker {
    /// A row of a command: the body of a DataRow.
    ///
    /// @param command place of its Execute in the series, from 0
    void row(int command, byte[] from, int at, int length);

    /// A command has ended, or its portal has given as many rows as were asked for.
    ///
    /// @param count of its tag; 0: there is none
    void ended(int command, boolean suspended, long count);

    /// Columns of a statement that was prepared by this series.
    void columns(List<Statement.Column> columns);
  }

  /// For commands that return nothing.
  static final Taker NOBODY =
      new Taker() {
        @Override
        public void row(int command, byte[] from, int at, int length) {}

        @Override
        public void ended(int command, boolean suspended, long count) {}

        @Override
        public void columns(List<Statement.Column> columns) {}
      };

  private static final int VOID = 2278;

  private record Parsed(String sql, int[] types, String zone) {}

  private final WireConnection connection;
  private final List<Parsed> parsed = new ArrayList<>(2);
  private int commands;

  WireExchange(WireConnection connection) {
    this.connection = connection;
  }

  /// Adds a command without parameters and rows.
  WireExchange command(String sql) {
    String name = statement(sql, NO_TYPES, false);
    connection.out().begin('B').put(0).putText(name).putShort(0).putShort(0).putShort(0).end();
    return execute("", 0);
  }

  /// Makes sure that a statement is prepared.
  ///
  /// @return its name
  String statement(String sql, int[] types, boolean described) {
    return statement(sql, types, "", described);
  }

  /// The same of a statement whose literals depend on the time zone.
  String statement(String sql, int[] types, String zone, boolean described) {
    WireStatements statements = connection.statements();
    String name = statements.name(connection.out(), sql, types, zone, described);
    if (statements.wasNew()) {
      parsed.add(new Parsed(sql, types, zone));
    }
    return name;
  }

  /// Adds an Execute of a portal.
  ///
  /// @param rows at most; 0: all
  WireExchange execute(String portal, int rows) {
    connection.out().begin('E').putText(portal).putInt(rows).end();
    commands++;
    return this;
  }

  /// Ends a portal.
  void close(String portal) {
    connection.out().begin('C').put('P').putText(portal).end();
  }

  WireOutput out() {
    return connection.out();
  }

  /// Commands so far.
  int commands() {
    return commands;
  }

  /// Sends the series, whose answers nobody waits for; it may not fail.
  void leave() {
    connection.sync();
    connection.send();
    connection.leaveUnread();
  }

  /// Sends the series and takes its answers.
  ///
  /// @throws ServerError the first error of the server; [#failedCommand()] says where
  /// @throws EngineException what the taker has thrown
  void run(Taker taker) {
    connection.sync();
    connection.send();
    int prepared = 0;
    int command = 0;
    ServerError error = null;
    EngineException refused = null;
    while (true) {
      char type = connection.next();
      WireInput in = connection.in();
      if (type == 'Z') {
        connection.ready();
        break;
      }
      if (type == 'E') {
        error = connection.error();
        failed = command;
        continue;
      }
      if (type == '1') {
        prepared++;
        continue;
      }
      if (refused != null) {
        continue;
      }
      try {
        switch (type) {
          case 'D' -> {
            int length = in.remaining();
            taker.row(command, in.array(), in.position(), length);
          }
          case 'C' -> taker.ended(command++, false, count(in.getText()));
          case 's' -> taker.ended(command++, true, 0);
          case 'I' -> taker.ended(command++, false, 0);
          case 'T' -> taker.columns(columns(in));
          default -> {}
        }
      } catch (EngineException e) {
        refused = e;
      }
    }
    if (error != null) {
      for (Parsed each : parsed.subList(prepared, parsed.size())) {
        connection.statements().forget(each.sql(), each.types(), each.zone());
      }
      throw error;
    }
    if (refused != null) {
      throw refused;
    }
  }

  private int failed = -1;

  /// Place of the command that has failed; -1: none has.
  int failedCommand() {
    return failed;
  }

  static List<Statement.Column> columns(WireInput in) {
    int count = in.getShort();
    List<Statement.Column> columns = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      String name = in.getText();
      in.skip(6);
      int type = in.getInt();
      in.skip(2);
      int modifier = in.getInt();
      in.skip(2);
      // A function without a result has an empty text, as in psql.
      columns.add(new Statement.Column(name, type == VOID ? TypeOid.TEXT : type, modifier));
    }
    return columns;
  }

  /// The number at the end of a tag such as `INSERT 0 5`.
  private static long count(@Nullable String tag) {
    if (tag == null) {
      return 0;
    }
    int end = tag.length();
    int start = end;
    while (start > 0 && tag.charAt(start - 1) >= '0' && tag.charAt(start - 1) <= '9') {
      start--;
    }
    return start == end ? 0 : Long.parseLong(tag, start, end, 10);
  }
}
