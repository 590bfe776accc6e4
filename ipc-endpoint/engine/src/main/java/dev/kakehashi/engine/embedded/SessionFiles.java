package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.bulk.BulkAccess;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.BulkUser;
import dev.kakehashi.engine.api.bulk.CopyRequest;
import dev.kakehashi.engine.bulk.StatementFiles;
import dev.kakehashi.engine.exec.rows.TempSpace;
import dev.kakehashi.engine.sql.parser.CopyParser;
import dev.kakehashi.engine.type.FileAccess;
import dev.kakehashi.engine.vector.Interrupts;

/// Files as one execution of a statement uses them. Immutable.
///
/// @param memoryBytes that the files of one call may hold
record SessionFiles(BulkAccess access, BulkUser user, long memoryBytes, TempSpace tempSpace)
    implements FileAccess {
  @Override
  public BulkContext newContext() {
    return StatementFiles.of(Interrupts::check, memoryBytes, tempSpace);
  }

  @Override
  public CopyRequest request(String location, String options) {
    return CopyParser.request(location, options);
  }
}
