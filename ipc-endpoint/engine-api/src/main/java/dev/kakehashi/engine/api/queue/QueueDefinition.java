package dev.kakehashi.engine.api.queue;

import java.util.List;
import java.util.Map;

/// A queue as of one version of the catalogue. Immutable.
///
/// @param queueId number of the object; never given twice
/// @param groups subscription groups: each sees every task once. A queue without any has one of number 0, without a name
/// @param weights of fair keys, greater than 0; those that are missing have 1
/// @param schedules tasks that are made again and again
public record QueueDefinition(
    long queueId,
    String schema,
    String name,
    QueueOptions options,
    List<Group> groups,
    Map<String, Double> weights,
    List<Schedule> schedules) {
  /// The group of a queue without groups.
  public static final long NO_GROUP = 0;

  public QueueDefinition {
    groups = List.copyOf(groups);
    weights = Map.copyOf(weights);
    schedules = List.copyOf(schedules);
  }

  /// A subscription group.
  ///
  /// @param groupId number of the object
  public record Group(long groupId, String name) {}

  /// A task that is made at the times of a cron expression.
  ///
  /// @param cron five fields: minute, hour, day, month, weekday
  /// @param zone time zone of the fields
  /// @param payload of each task
  public record Schedule(String name, String cron, String zone, Payload payload) {}
}
