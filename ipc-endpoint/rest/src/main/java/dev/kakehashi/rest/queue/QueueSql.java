package dev.kakehashi.rest.queue;

/// Statements of the routes. Their results have the columns of the engine's functions, under the same names.
final class QueueSql {
  private static final String TASK_OPTIONS =
      """
      , "key" => $3::text, fair => $4::text, priority => $5::int4, run_at => $6::timestamptz,
        unique_key => $7::text, unique_for => $8::interval) AS task_id\
      """;

  /// The payload is a JSON text, because `null` as a parameter would be SQL's.
  static final String ENQUEUE = "SELECT enqueue($1::text, $2::text::jsonb" + TASK_OPTIONS;

  static final String ENQUEUE_BYTES = "SELECT enqueue($1::text, $2::bytea" + TASK_OPTIONS;

  static final String LEASE =
      """
      SELECT token, task_id, attempt, "key", fair, priority, payload, body, enqueued_at, lease_until, last_error
      FROM receive($1::text, "max" => $2::int4, "wait" => $3::interval, lease => $4::interval, "group" => $5::text,
        hold => 'time')\
      """;

  static final String COMPLETE = "SELECT complete($1::text) AS completed";
  static final String COMPLETE_ALL = "SELECT complete($1::text[]) AS completed";
  static final String EXTEND = "SELECT extend($1::text, lease => $2::interval) AS lease_until";
  static final String FAIL =
      "SELECT fail($1::text, error => $2::text, retry_in => $3::interval) AS failed";
  static final String RELEASE = "SELECT release($1::text) AS released";
  static final String CANCEL = "SELECT cancel_task($1::text, $2::int8) AS canceled";

  static final String QUEUES = "SELECT * FROM kakehashi_catalog.queues ORDER BY 1, 2";
  static final String QUEUE =
      "SELECT * FROM kakehashi_catalog.queues WHERE queue_schema = $1::text AND queue_name = $2::text";

  private QueueSql() {}
}
