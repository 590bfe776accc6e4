package dev.kakehashi.testkit;

import dev.kakehashi.application.Application;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/// An endpoint for the tests of a class (a static field with `@RegisterExtension`), or of each test (another field).
///
/// ```java
/// @RegisterExtension
/// static final KakehashiExtension KAKEHASHI =
///     KakehashiExtension.builder()
///         .sql("CREATE TABLE orders (id bigint PRIMARY KEY, customer text NOT NULL)")
///         .application("shop", Shop.class)
///         .build();
/// ```
///
/// The steps of the builder happen in their order. Used by one thread at a time.
public final class KakehashiExtension
    implements BeforeAllCallback, AfterAllCallback, BeforeEachCallback, AfterEachCallback {
  private final List<String> settings;
  private final List<Consumer<TestPlatform>> steps;
  private @Nullable TestPlatform platform;
  private boolean forClass;

  private KakehashiExtension(Builder builder) {
    this.settings = List.copyOf(builder.settings);
    this.steps = List.copyOf(builder.steps);
  }

  public static Builder builder() {
    return new Builder();
  }

  /// Collects the steps before the tests.
  public static final class Builder {
    private final List<String> settings = new ArrayList<>();
    private final List<Consumer<TestPlatform>> steps = new ArrayList<>();

    private Builder() {}

    /// A setting of the endpoint, as in kakehashi.conf.
    public Builder setting(String key, String value) {
      settings.add(key);
      settings.add(value);
      return this;
    }

    /// Runs a statement.
    public Builder sql(String statement) {
      steps.add(platform -> platform.execute(statement));
      return this;
    }

    /// Deploys an application with the classes beside this one.
    ///
    /// @param name in SQL
    public Builder application(String name, Class<? extends Application> application) {
      return application(name, application, "");
    }

    /// @param options of CREATE APPLICATION, as `isolation = 'process', max_calls = 4`; empty: none
    public Builder application(
        String name, Class<? extends Application> application, String options) {
      steps.add(platform -> platform.deploy(name, application, options));
      return this;
    }

    public KakehashiExtension build() {
      return new KakehashiExtension(this);
    }
  }

  /// The endpoint; there from the beginning of the test or class until its end.
  ///
  /// @throws NullPointerException at any other time
  public TestPlatform platform() {
    return Objects.requireNonNull(platform, "the endpoint runs during tests alone");
  }

  private void start() {
    TestPlatform started = TestPlatform.start(settings);
    platform = started;
    steps.forEach(step -> step.accept(started));
  }

  private void stop() {
    TestPlatform stopping = platform;
    platform = null;
    if (stopping != null) {
      stopping.close();
    }
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    forClass = true;
    start();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    stop();
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    if (!forClass) {
      start();
    }
  }

  @Override
  public void afterEach(ExtensionContext context) {
    if (!forClass) {
      stop();
    }
  }
}
