package dev.kakehashi.engine.catalog;

import java.util.List;

/// System tables about queues; their rows are made of the running engine's state.
public final class QueueTables {
  public static final int QUEUES = -40;
  public static final int QUEUE_GROUPS = -41;
  public static final int TASKS = -42;
  public static final int LEASES = -43;

  static final List<Table> TABLES =
      List.of(
          SystemTableForm.table(
              QUEUES,
              SystemTables.CATALOG_SCHEMA,
              "queues",
              "queue_schema text",
              "queue_name text",
              "owner text",
              "paused bool",
              "ready int8",
              "delayed int8",
              "leased int8",
              "dead int8",
              "done int8",
              "canceled int8",
              "enqueued int8",
              "oldest_ready interval",
              "oldest_lease interval",
              "rate float8",
              "enforced_rate float8",
              "waiting int8",
              "missed_wakeups int8",
              "bytes int8",
              "lease interval",
              "max_attempts int4",
              "min_backoff interval",
              "max_backoff interval",
              "max_doublings int4",
              "age_limit interval",
              "dead_letter text",
              "bucket_size int4",
              "max_concurrent int4",
              "key_rate float8",
              "key_bucket_size int4",
              "key_max_concurrent int4",
              "order text",
              "aging interval",
              "push_target text",
              "push_deadline interval",
              "jitter float8",
              "dead_letters int8"),
          SystemTableForm.table(
              QUEUE_GROUPS,
              SystemTables.CATALOG_SCHEMA,
              "queue_groups",
              "queue_schema text",
              "queue_name text",
              "group_name text",
              "ready int8",
              "delayed int8",
              "leased int8",
              "dead int8",
              "done int8",
              "canceled int8",
              "enqueued int8",
              "oldest_ready interval",
              "oldest_lease interval",
              "enforced_rate float8",
              "waiting int8",
              "missed_wakeups int8",
              "bytes int8",
              "dead_letters int8"),
          SystemTableForm.table(
              TASKS,
              SystemTables.CATALOG_SCHEMA,
              "tasks",
              "queue_schema text",
              "queue_name text",
              "group_name text",
              "task_id int8",
              "position int8",
              "state text",
              "attempts int4",
              "key text",
              "fair text",
              "priority int4",
              "enqueued_at timestamptz",
              "run_at timestamptz",
              "last_error text",
              "payload jsonb",
              "payload_bytes int4"),
          SystemTableForm.table(
              LEASES,
              SystemTables.CATALOG_SCHEMA,
              "leases",
              "queue_schema text",
              "queue_name text",
              "group_name text",
              "task_id int8",
              "position int8",
              "attempt int4",
              "key text",
              "holder text",
              "lease_until timestamptz"));

  private QueueTables() {}

  static boolean isOf(long tableId) {
    return tableId <= QUEUES && tableId >= LEASES;
  }
}
