package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.sql.lexer.QualifiedName;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A parsed statement about durable queues.
public sealed interface QueueStatement {
  /// Name of the statement in errors.
  String command();

  /// `name = value` of WITH and SET.
  ///
  /// @param value as written, without quotes
  /// @param position of the name in the statement, from 1
  record Option(String name, String value, int position) {}

  record CreateQueue(QualifiedName name, boolean ifNotExists, List<Option> options)
      implements QueueStatement {
    public CreateQueue {
      options = List.copyOf(options);
    }

    @Override
    public String command() {
      return "CREATE QUEUE";
    }
  }

  record AlterQueue(QualifiedName name, boolean ifExists, Action action) implements QueueStatement {
    @Override
    public String command() {
      return "ALTER QUEUE";
    }
  }

  /// Action of ALTER QUEUE.
  sealed interface Action {
    record SetOptions(List<Option> options) implements Action {}

    /// RESET: the options get their defaults.
    record ResetOptions(List<String> names) implements Action {}

    record RenameQueue(String to) implements Action {}

    record MoveToSchema(String schema) implements Action {}

    record SetPaused(boolean paused) implements Action {}

    /// @param target null: tasks are received
    record PushTo(@Nullable String target) implements Action {}

    /// @param weight as written
    record SetWeight(String key, String weight) implements Action {}

    /// @param zone null: UTC
    record AddSchedule(String name, String cron, @Nullable String zone, String payload)
        implements Action {}

    record DropSchedule(String name) implements Action {}
  }

  record DropQueue(List<QualifiedName> names, boolean ifExists, boolean cascade)
      implements QueueStatement {
    @Override
    public String command() {
      return "DROP QUEUE";
    }
  }

  /// @param first whether it begins with the oldest task that is there
  record CreateGroup(String group, boolean ifNotExists, QualifiedName queue, boolean first)
      implements QueueStatement {
    @Override
    public String command() {
      return "CREATE SUBSCRIPTION GROUP";
    }
  }

  record DropGroup(String group, boolean ifExists, QualifiedName queue) implements QueueStatement {
    @Override
    public String command() {
      return "DROP SUBSCRIPTION GROUP";
    }
  }

  record Purge(QualifiedName queue, boolean dead) implements QueueStatement {
    @Override
    public String command() {
      return "PURGE QUEUE";
    }
  }

  /// @param max at most so many tasks
  /// @param error the last one of the tasks; empty: none; null: whatever it is
  /// @param rate at which they become ready, as the option `rate` is written; null: at once
  record Move(
      boolean dead,
      long max,
      QualifiedName from,
      QualifiedName to,
      @Nullable String error,
      @Nullable String rate)
      implements QueueStatement {
    @Override
    public String command() {
      return "MOVE";
    }
  }
}
