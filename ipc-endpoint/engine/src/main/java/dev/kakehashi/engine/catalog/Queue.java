package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueDefinition.Group;
import dev.kakehashi.engine.api.queue.QueueDefinition.Schedule;
import dev.kakehashi.engine.api.queue.QueueOptions;
import dev.kakehashi.engine.rights.Rights;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A durable queue as of one version of the catalogue. Immutable.
///
/// @param definition what the queue system knows of it
/// @param comment what COMMENT said, or null
/// @param rights whose it is, and what was granted on it
public record Queue(QueueDefinition definition, @Nullable String comment, Rights rights) {
  /// Number of the object.
  public long queueId() {
    return definition.queueId();
  }

  public String schema() {
    return definition.schema();
  }

  public String name() {
    return definition.name();
  }

  public QueueOptions options() {
    return definition.options();
  }

  /// The same queue under another name.
  public Queue named(String newSchema, String newName) {
    return with(
        new QueueDefinition(
            queueId(),
            newSchema,
            newName,
            options(),
            definition.groups(),
            definition.weights(),
            definition.schedules()));
  }

  public Queue withOptions(QueueOptions newOptions) {
    return with(
        new QueueDefinition(
            queueId(),
            schema(),
            name(),
            newOptions,
            definition.groups(),
            definition.weights(),
            definition.schedules()));
  }

  public Queue withGroups(List<Group> newGroups) {
    return with(
        new QueueDefinition(
            queueId(),
            schema(),
            name(),
            options(),
            newGroups,
            definition.weights(),
            definition.schedules()));
  }

  public Queue withWeights(Map<String, Double> newWeights) {
    return with(
        new QueueDefinition(
            queueId(),
            schema(),
            name(),
            options(),
            definition.groups(),
            newWeights,
            definition.schedules()));
  }

  public Queue withSchedules(List<Schedule> newSchedules) {
    return with(
        new QueueDefinition(
            queueId(),
            schema(),
            name(),
            options(),
            definition.groups(),
            definition.weights(),
            newSchedules));
  }

  private Queue with(QueueDefinition next) {
    return new Queue(next, comment, rights);
  }

  public Queue withComment(@Nullable String text) {
    return new Queue(definition, text, rights);
  }

  /// The same queue of another owner, or with other grants.
  public Queue withRights(Rights newRights) {
    return new Queue(definition, comment, newRights);
  }

  /// The subscription group of a name, or null.
  public @Nullable Group group(String groupName) {
    for (Group group : definition.groups()) {
      if (group.name().equals(groupName)) {
        return group;
      }
    }
    return null;
  }
}
