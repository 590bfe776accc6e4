package dev.kakehashi.bulk;

import dev.kakehashi.bulk.file.LocationSettings;
import dev.kakehashi.bulk.file.UploadDirectory;
import dev.kakehashi.bulk.option.FileFormats;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.BulkUser;
import dev.kakehashi.engine.api.bulk.CopyRequest;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.bulk.LoadSource;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.time.Clock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/// Locations `in`, `out` and `both` with files, a user and a statement: what the server and the engine give to [BulkFiles].
public final class BulkDirectories implements BulkContext {
  public static final List<LoadColumn> COLUMNS =
      List.of(
          new LoadColumn("id", TypeOid.INT4, -1, "integer", false, List.of()),
          new LoadColumn("name", TypeOid.TEXT, -1, "text", true, List.of()));

  private static final long MEMORY = 256L << 20;

  public final Path in;
  public final Path out;
  public final Path both;
  public final Path data;
  public final AtomicLong clock = new AtomicLong(1_000_000_000_000L);
  public final Role user = new Role("anna");

  /// Memory that the statement has taken.
  public final AtomicLong memory = new AtomicLong();

  public volatile boolean isCanceled;
  private final Path runtime;

  /// A role, and the locations that it may not use.
  public static final class Role implements BulkUser {
    public final Set<String> denied = ConcurrentHashMap.newKeySet();
    private final String name;

    public Role(String name) {
      this.name = name;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public boolean mayRead(String location) {
      return !denied.contains("read " + location);
    }

    @Override
    public boolean mayWrite(String location) {
      return !denied.contains("write " + location);
    }
  }

  public BulkDirectories(Path root) throws IOException {
    in = Files.createDirectories(root.resolve("in"));
    out = Files.createDirectories(root.resolve("out"));
    both = Files.createDirectories(root.resolve("both"));
    data = Files.createDirectories(root.resolve("data"));
    runtime = Files.createDirectories(root.resolve("runtime"));
  }

  public UploadDirectory uploads(long space, long userSpace) throws IOException {
    return new UploadDirectory(
        data.resolve("uploads"),
        new UploadDirectory.Limits(space, userSpace, Duration.ofHours(1)),
        clock::get);
  }

  /// As a start of the endpoint makes them.
  public BulkFiles open() throws IOException {
    return new BulkFiles(
        LocationSettings.gate(
            List.of("in:" + in + ":read", "out:" + out + ":write", "both:" + both + ":readwrite"),
            List.of(data, runtime)),
        uploads(1 << 20, 1 << 20),
        new FileFormats());
  }

  public static CopyRequest.Option option(String name, String... values) {
    return new CopyRequest.Option(name, List.of(values), 1);
  }

  public static CopyRequest csv(String location, CopyRequest.Option... options) {
    List<CopyRequest.Option> all = new ArrayList<>(List.of(options));
    all.add(option("format", "csv"));
    return new CopyRequest(location, all);
  }

  public LoadSource load(BulkFiles files, CopyRequest request) {
    return files.load(request).open("public.t", COLUMNS, false, user, this);
  }

  @Override
  public void checkCanceled() {
    if (isCanceled) {
      throw new EngineException(ErrorCode.QUERY_CANCELED, "canceling statement");
    }
  }

  @Override
  public void reserveMemory(long bytes) {
    if (memory.addAndGet(bytes) > MEMORY) {
      memory.addAndGet(-bytes);
      throw new EngineException(ErrorCode.OUT_OF_MEMORY, "the statement needs more memory");
    }
  }

  @Override
  public long now() {
    return Clock.now();
  }

  @Override
  public void releaseMemory(long bytes) {
    memory.addAndGet(-bytes);
  }
}
