package dev.kakehashi.server;

import dev.kakehashi.console.Console;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.protocol.capability.Capability;
import dev.kakehashi.requests.RequestCore;
import dev.kakehashi.requests.RequestUser;
import dev.kakehashi.requests.Requests;
import dev.kakehashi.rest.application.DeployRoutes;
import dev.kakehashi.rest.application.RouteTable;
import dev.kakehashi.rest.bulk.CopyRoutes;
import dev.kakehashi.rest.bulk.RowRoutes;
import dev.kakehashi.rest.bulk.SentFiles;
import dev.kakehashi.rest.bulk.UploadRoutes;
import dev.kakehashi.rest.job.JobSettings;
import dev.kakehashi.rest.job.Jobs;
import dev.kakehashi.rest.job.http.JobMetrics;
import dev.kakehashi.rest.job.http.JobRoutes;
import dev.kakehashi.rest.monitor.LogRoute;
import dev.kakehashi.rest.queue.QueueRoutes;
import dev.kakehashi.rest.route.Route;
import dev.kakehashi.rest.server.DoorContent;
import dev.kakehashi.rest.server.HttpConfig;
import dev.kakehashi.rest.server.HttpDoor;
import dev.kakehashi.rest.server.HttpListener;
import dev.kakehashi.rest.sql.SqlLimits;
import dev.kakehashi.rest.sql.SqlRoutes;
import dev.kakehashi.rest.sql.SqlService;
import dev.kakehashi.rest.sql.StatementDoor;
import dev.kakehashi.rest.sql.TableRoutes;
import dev.kakehashi.rest.sql.TransactionOutcomes;
import dev.kakehashi.rest.sql.TransactionRoutes;
import dev.kakehashi.scheduler.TaskScheduler;
import dev.kakehashi.server.report.EndpointMetrics;
import dev.kakehashi.transport.endpoint.TransportEndpoint;
import dev.kakehashi.transport.os.Credentials;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The HTTP door with all that is behind it. Closed before what it uses.
final class HttpInterface implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HttpInterface.class);
  private static final String DIRECTORY = "http";

  /// Parts of the endpoint that the door is put before.
  record Parts(
      Engine engine,
      TaskScheduler scheduler,
      TransportEndpoint transport,
      RequestCore core,
      Requests requests,
      SentFiles files) {}

  /// Tasks take milliseconds.
  private static final long UNSERVED_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final ArrayDeque<AutoCloseable> parts = new ArrayDeque<>();
  private final HttpDoor door;

  private HttpInterface(HttpSettings settings, Parts behind, Path data, boolean peers)
      throws IOException {
    boolean opened = false;
    try {
      door = open(settings, behind, data, peers);
      opened = true;
    } finally {
      if (!opened) {
        close();
      }
    }
  }

  /// Opens the listeners; whoever reaches them is served when this returns.
  ///
  /// @param peers see [HttpUsers]
  /// @throws IOException a listener cannot be opened, or results cannot be read
  static HttpInterface start(HttpSettings settings, Parts behind, Path data, boolean peers)
      throws IOException {
    return new HttpInterface(settings, behind, data, peers);
  }

  /// Where a data directory has the files of the interface.
  static Path directory(Path data) {
    return data.resolve(DIRECTORY);
  }

  private HttpDoor open(HttpSettings settings, Parts behind, Path data, boolean peers)
      throws IOException {
    Path directory = directory(data);
    PrivateDirectory.prepare(directory);
    SqlService statements =
        new SqlService(behind.requests(), settings.sqlLimits(), settings.answerBytes());
    parts.push(statements);
    Jobs jobs = Jobs.open(directory, settings.jobSettings(), new TransactionOutcomes(statements));
    parts.push(jobs);
    HttpUsers users = new HttpUsers(behind.engine().roles(), new UserFile(data), peers);
    JobRoutes jobRoutes = new JobRoutes(jobs, users);
    List<Route> routes = new ArrayList<>();
    SqlRoutes sqlRoutes = new SqlRoutes(statements, jobs, jobRoutes);
    routes.addAll(sqlRoutes.routes());
    QueueRoutes queueRoutes = new QueueRoutes(sqlRoutes);
    Engine engine = behind.engine();
    routes.addAll(new LogRoute(users, engine, to -> BackupSocket.send(data, engine, to)).routes());
    routes.addAll(needing(engine, Capability.QUEUES, queueRoutes.routes()));
    routes.addAll(new TransactionRoutes(statements, sqlRoutes, jobs).routes());
    routes.addAll(new TableRoutes(statements).routes());
    routes.addAll(jobRoutes.routes());
    StatementDoor statementDoor = new StatementDoor(statements, jobs, jobRoutes);
    List<Route> files = new ArrayList<>(new CopyRoutes(statementDoor).routes());
    files.addAll(new RowRoutes(statementDoor, behind.files()).routes());
    files.addAll(new UploadRoutes(behind.files(), jobs).routes());
    routes.addAll(needing(engine, Capability.COPY_FILES, files));
    routes.addAll(
        needing(
            engine,
            Capability.APPLICATIONS,
            new DeployRoutes(engine::applicationDefinitions, sqlRoutes).routes()));
    HttpConfig config = settings.config();
    RequestUser operator = new RequestUser(Credentials.ownUserName(), true);
    HttpDoor opened =
        HttpDoor.start(
            config,
            new DoorContent(
                users,
                settings.loginLimits(),
                routes,
                List.of(),
                new RouteTable(engine::applicationDefinitions, sqlRoutes),
                settings.hasConsole() ? new Console(statements, operator) : null,
                List.of(
                    new EndpointMetrics(
                        engine,
                        behind.scheduler(),
                        behind.transport(),
                        behind.core(),
                        statements,
                        jobs),
                    new JobMetrics(jobs)),
                () -> obstacle(behind.scheduler()),
                EndpointServer.version(),
                limits(settings.sqlLimits(), settings.jobSettings(), behind.files())));
    parts.push(opened);
    // The door waits for its requests: long polls are answered first.
    parts.push(jobs::stopWaiting);
    parts.push(queueRoutes::stopWaiting);
    LOG.info("HTTP listens on {}", places(config, opened));
    return opened;
  }

  /// Why requests are not served; empty: they are.
  static String obstacle(TaskScheduler scheduler) {
    long busy = scheduler.allBusyNanos();
    return busy < UNSERVED_NANOS
        ? ""
        : "all workers have been running the same tasks for %d s, and nothing else is served"
            .formatted(TimeUnit.NANOSECONDS.toSeconds(busy));
  }

  /// Routes of what an engine need not have: without it each is refused with its name.
  private static List<Route> needing(Engine engine, Capability capability, List<Route> routes) {
    return routes.stream().map(route -> route.checked(() -> engine.require(capability))).toList();
  }

  private static String places(HttpConfig config, HttpDoor door) {
    List<String> places = new ArrayList<>();
    for (int i = 0; i < config.listeners().size(); i++) {
      places.add(
          config.listeners().get(i) instanceof HttpListener.UnixSocket unix
              ? unix.path().toString()
              : door.uri(i).toString());
    }
    return String.join(", ", places);
  }

  private static Map<String, Long> limits(SqlLimits sql, JobSettings jobs, SentFiles files) {
    Map<String, Long> limits = new LinkedHashMap<>();
    limits.put("statementBytes", (long) sql.statementBytes());
    limits.put("parameterBytes", (long) sql.parameterBytes());
    limits.put("parameterRows", (long) sql.parameterRows());
    limits.put("rowBytes", (long) sql.batchBytes());
    limits.put("inlineBytes", sql.inlineBytes());
    limits.put("jobsOfUser", (long) jobs.jobsPerUser());
    limits.put("runningJobsOfUser", (long) jobs.runningPerUser());
    limits.put("resultBytesOfUser", jobs.bytesPerUser());
    limits.put("resultFileBytes", jobs.fileBytes());
    limits.put("resultRetentionSeconds", jobs.retention().toSeconds());
    limits.put("keyRetentionSeconds", jobs.keyRetention().toSeconds());
    limits.put("uploadBytesOfUser", files.maxBytes());
    return limits;
  }

  /// Routes that it answers, for tests.
  List<Route> routes() {
    return door.routes().all();
  }

  /// Where a TCP listener is reached; the loopback one first.
  URI uri(int listener) {
    return door.uri(listener);
  }

  @Override
  public void close() throws IOException {
    while (!parts.isEmpty()) {
      AutoCloseable part = parts.pop();
      try {
        part.close();
      } catch (Exception e) {
        LOG.error("shutdown: could not close {}", part, e);
      }
    }
  }
}
