package dev.kakehashi.pgtests.harness;

import dev.kakehashi.testsupport.PreloadedLibrary;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// Makes one allocation of a backend fail, by the library `allocation_faults.c`, which the backend loads. Used by one thread, while no
/// statement of the backend runs.
public final class AllocationFaults {
  private static final int FAIL_AT = 0;
  private static final int COUNTED = 8;
  private static final int FAILED = 16;
  private static final int BYTES = 4096;

  private final Path library;
  private final Path file;
  private final MappedByteBuffer control;

  /// Compiles the library for the staged server. Without a C compiler the test is skipped.
  ///
  /// @param directory that the server can read
  public AllocationFaults(Path directory) throws IOException {
    library =
        PreloadedLibrary.compile(
            Installation.checkout().resolve("pg-tests/src/test/c/allocation_faults.c"),
            directory,
            "-I" + headers());
    file = directory.resolve("allocations");
    try (var content = new RandomAccessFile(file.toFile(), "rw")) {
      content.setLength(BYTES);
      control = content.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, BYTES);
    }
    control.order(ByteOrder.nativeOrder());
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
  }

  private static String headers() {
    return OsProcess.runOk(
            List.of(
                Installation.postgresBinaries().resolve("pg_config").toString(),
                "--includedir-server"),
            Map.of(),
            Duration.ofSeconds(60))
        .strip();
  }

  /// Makes the function with which a backend loads the library.
  public void createFunction(Connection connection) throws SQLException {
    Sql.execute(
        connection,
        "CREATE FUNCTION allocation_faults(text) RETURNS void LANGUAGE C STRICT AS '"
            + library
            + "'");
  }

  /// From now on the allocations of this backend can be counted, and those of no other one.
  public void take(Connection connection) throws SQLException {
    failAt(0);
    Sql.execute(connection, "SELECT allocation_faults('" + file + "')");
  }

  /// The n-th allocation from now on fails, and no other one; 0: all succeed, and none is counted.
  public void failAt(long n) {
    control.putLong(COUNTED, 0);
    control.putLong(FAILED, 0);
    control.putLong(FAIL_AT, n);
  }

  /// Allocations since [#failAt].
  public long counted() {
    return control.getLong(COUNTED);
  }

  /// Whether one has failed since [#failAt].
  public boolean hasFailed() {
    return control.getLong(FAILED) != 0;
  }
}
