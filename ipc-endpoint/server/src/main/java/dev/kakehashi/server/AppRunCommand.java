package dev.kakehashi.server;

import ch.qos.logback.classic.Level;
import dev.kakehashi.protocol.Directories;
import dev.kakehashi.server.start.Logging;
import dev.kakehashi.transport.os.Umask;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `kakehashi app run`: an application on an endpoint of its own, for who develops it.
@Command(
    name = "run",
    description = {
      "Starts an endpoint, deploys a jar, and says how to reach it; until Ctrl-C.",
      "Its data are gone then, unless --data-directory says where they stay."
    })
final class AppRunCommand implements Callable<Integer> {
  /// `kakehashi app` of the endpoint's program; the other commands are the tools'.
  @Command(name = "app", description = "Native applications.", subcommands = AppRunCommand.class)
  static final class Group implements Runnable {
    @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

    @Override
    public void run() {
      throw new CommandLine.ParameterException(
          java.util.Objects.requireNonNull(spec).commandLine(), "a command is required");
    }
  }

  private static final String USER = "developer";
  private static final int PASSWORD_BYTES = 12;

  @CommandLine.Mixin private Main.Common common = new Main.Common();

  @Parameters(paramLabel = "JAR", description = "the application")
  private Path jar = Path.of("");

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "of the application; without it, that of the file")
  private String name = "";

  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "0",
      description = "of HTTP; 0: any that is free")
  private int port;

  @Override
  public Integer call() throws Exception {
    byte[] bytes = Files.readAllBytes(jar);
    String application = name.isEmpty() ? nameOf(jar) : name;
    Path root = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-app-");
    try {
      Settings settings = common.settings();
      if (!common.hasDataDirectory()) {
        settings.set(Setting.DATA_DIRECTORY.key(), root.resolve("data").toString());
      }
      settings.set(Setting.RUNTIME_DIRECTORY.key(), root.resolve("run").toString());
      settings.set(Setting.HTTP_PORT.key(), Integer.toString(port));
      Umask.keepPrivate();
      PrivateDirectory.prepare(settings.dataDirectory());
      Logging.configure(settings.dataDirectory(), Level.INFO);
      run(settings, application, bytes);
    } finally {
      Directories.delete(root);
    }
    return 0;
  }

  private static void run(Settings settings, String application, byte[] bytes) throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    Thread main = Thread.currentThread();
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  asked.countDown();
                  try {
                    ended.await();
                    main.join(1000);
                  } catch (InterruptedException interrupted) {
                    Thread.currentThread().interrupt();
                  }
                },
                "kakehashi-shutdown"));
    try (EndpointServer server = EndpointServer.start(settings, new EmbeddedEngineFactory())) {
      byte[] random = new byte[PASSWORD_BYTES];
      new SecureRandom().nextBytes(random);
      String password = HexFormat.of().formatHex(random);
      server.addUser(USER, password);
      deploy(server.httpAddress(), password, application, bytes);
      System.out.printf(
          Locale.ROOT,
          """
          application %s runs; Ctrl-C ends it
            HTTP    curl -u %s:%s %s/v1/apps/%s/...
            SQL     kakehashi sql --runtime-directory %s
            logs    kakehashi app logs %s --runtime-directory %s
          """,
          application,
          USER,
          password,
          server.httpAddress(),
          application,
          settings.runtimeDirectory(),
          application,
          settings.runtimeDirectory());
      System.out.flush();
      asked.await();
    } finally {
      ended.countDown();
    }
  }

  private static void deploy(URI address, String password, String application, byte[] bytes)
      throws IOException, InterruptedException {
    String credentials =
        Base64.getEncoder()
            .encodeToString((USER + ":" + password).getBytes(StandardCharsets.UTF_8));
    HttpRequest request =
        HttpRequest.newBuilder(address.resolve("/v1/applications/" + application))
            .header("Authorization", "Basic " + credentials)
            .header("Content-Type", "application/java-archive")
            .PUT(HttpRequest.BodyPublishers.ofByteArray(bytes))
            .build();
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
      if (answer.statusCode() >= 300) {
        throw new SettingsException("the jar was refused: " + answer.body());
      }
    }
  }

  /// `order-service-1.0.jar` is `order_service`.
  static String nameOf(Path file) {
    String text = String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT);
    text = text.replaceFirst("\\.jar$", "").replaceFirst("-[0-9].*$", "");
    text = text.replaceAll("[^a-z0-9_]", "_");
    return text.matches("[a-z_].*") ? text : "app_" + text;
  }
}
