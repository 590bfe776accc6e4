package dev.kakehashi.engine.api.bulk;

/// User that reads or writes files, with the locations that he may use.
public interface BulkUser {
  /// Role of the statement. Uploads belong to it.
  String name();

  /// Whether the role may read files of a location: by a privilege, or as a member of `pg_read_server_files`.
  boolean mayRead(String location);

  /// Whether the role may write files of a location: by a privilege, or as a member of `pg_write_server_files`.
  boolean mayWrite(String location);
}
