package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationSystem;
import dev.kakehashi.engine.api.bulk.BulkAccess;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.ddl.DeploymentRun;
import dev.kakehashi.scheduler.TaskScheduler;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Native applications of an engine: tells their system what is committed, and has the thread on which new code is looked at. Thread-safe.
final class EngineApplications implements AutoCloseable {
  private static final long IDLE_SECONDS = 10;

  private final @Nullable ApplicationSystem system;
  private final TableShapes shapes = new TableShapes();

  /// One look at a time; its thread ends when there is none for a while.
  private final ThreadPoolExecutor deployments =
      new ThreadPoolExecutor(
          1,
          1,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(),
          Thread.ofPlatform().daemon().name("kakehashi-deploy").factory());

  /// Definitions that the system knows; null: it has not started. Guarded by this.
  private @Nullable List<ApplicationDefinition> told;

  /// The newest committed version. Guarded by this.
  private @Nullable CatalogSnapshot newest;

  EngineApplications(ApplicationSystem.Opener opener) {
    system = opener.open();
    deployments.allowCoreThreadTimeOut(true);
  }

  /// Begins what is committed; before it, nothing is told.
  void start(EmbeddedEngine engine) {
    ApplicationSystem present = system;
    if (present == null) {
      return;
    }
    List<ApplicationDefinition> defined = engine.catalogSnapshot().applicationDefinitions();
    present.start(new EngineApplicationHost(engine), defined);
    synchronized (this) {
      told = defined;
      CatalogSnapshot since = newest;
      newest = null;
      if (since != null) {
        committed(since);
      }
    }
  }

  /// A version of the catalogue is committed; called in the order of commits.
  void committed(CatalogSnapshot catalog) {
    ApplicationSystem present = system;
    if (present == null) {
      return;
    }
    synchronized (this) {
      List<ApplicationDefinition> before = told;
      if (before == null) {
        newest = catalog;
        return;
      }
      List<ApplicationDefinition> now = catalog.applicationDefinitions();
      if (!now.equals(before)) {
        told = now;
        present.define(now);
      }
    }
  }

  /// System that knows the code; null: this engine runs no applications.
  @Nullable ApplicationSystem system() {
    return system;
  }

  /// Tables that calls have named lately.
  TableShapes shapes() {
    return shapes;
  }

  /// Surroundings for a statement that brings code.
  DeploymentRun.Surroundings deploying(BulkAccess files, TaskScheduler scheduler) {
    return new DeploymentRun.Surroundings(system, files, deployments, scheduler);
  }

  /// Ends looks that have not begun, and all calls.
  @Override
  public void close() {
    deployments.shutdownNow();
    ApplicationSystem present = system;
    if (present != null) {
      present.close();
    }
  }
}
