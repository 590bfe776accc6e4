package dev.kakehashi.server.console;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;
import org.openqa.selenium.JavascriptExecutor;
import org.openqa.selenium.Keys;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/// Debian's Chromium without a window, driven by its own driver. One thread.
final class Browser implements AutoCloseable {
  private static final File CHROMIUM = new File("/usr/bin/chromium");
  private static final File DRIVER = new File("/usr/bin/chromedriver");
  private static final long PATIENCE_NANOS = Duration.ofSeconds(20).toNanos();

  /// Where pictures of the pages go; none: they are not taken.
  private static final @Nullable String PICTURES = System.getProperty("kakehashi.screenshots");

  private final ChromeDriver driver;
  private final URI uri;

  private Browser(ChromeDriver driver, URI uri) {
    this.driver = driver;
    this.uri = uri;
  }

  /// Whether the machine has a browser.
  static boolean isThere() {
    return CHROMIUM.canExecute() && DRIVER.canExecute();
  }

  /// @param profile directory that is made for what the browser keeps
  static Browser start(URI uri, Path profile) {
    ChromeOptions options = new ChromeOptions();
    options.setBinary(CHROMIUM);
    options.addArguments(
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-extensions",
        "--no-first-run",
        "--no-proxy-server",
        "--lang=en",
        "--force-color-profile=srgb",
        "--user-data-dir=" + profile);
    LoggingPreferences logs = new LoggingPreferences();
    logs.enable(LogType.BROWSER, Level.ALL);
    options.setCapability("goog:loggingPrefs", logs);
    ChromeDriverService service =
        new ChromeDriverService.Builder().usingDriverExecutable(DRIVER).usingAnyFreePort().build();
    return new Browser(new ChromeDriver(service, options), uri);
  }

  /// How large the window is, and which colours its user likes.
  void show(int width, int height, boolean dark) {
    driver.executeCdpCommand(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", width < 600));
    driver.executeCdpCommand(
        "Emulation.setEmulatedMedia",
        Map.of(
            "features",
            List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"))));
  }

  void open(String path) {
    driver.get(uri.resolve(path).toString());
  }

  String path() {
    return URI.create(Objects.requireNonNull(driver.getCurrentUrl())).getPath();
  }

  String text() {
    return value("document.body.innerText");
  }

  private @Nullable Object script(String javaScript) {
    return ((JavascriptExecutor) driver).executeScript(javaScript);
  }

  void run(String statement) {
    script(statement);
  }

  /// A value of the page, as a text.
  String value(String expression) {
    return String.valueOf(script("return " + expression));
  }

  /// Whether something is true of the page.
  boolean holds(String expression) {
    return value("!!(" + expression + ")").equals("true");
  }

  /// Presses keys, where the focus is.
  void press(CharSequence... keys) {
    new Actions(driver).sendKeys(keys).perform();
  }

  /// Presses keys together.
  void chord(Keys held, Keys key) {
    new Actions(driver).keyDown(held).sendKeys(key).keyUp(held).perform();
  }

  /// Presses Tab until what has the focus fulfils a condition.
  ///
  /// @param condition JavaScript over `it`
  void tabTo(String condition) {
    for (int i = 0; i < 200; i++) {
      if (Boolean.TRUE.equals(
          script("const it = document.activeElement; return !!(" + condition + ")"))) {
        return;
      }
      press(Keys.TAB);
    }
    throw new AssertionError("the keyboard does not reach " + condition);
  }

  /// Waits until something holds.
  void await(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("in vain waited until " + what + "\n" + text());
      }
      Thread.onSpinWait();
    }
  }

  /// Messages of the console since the last call.
  List<String> messages() {
    List<String> messages = new ArrayList<>();
    for (LogEntry entry : driver.manage().logs().get(LogType.BROWSER)) {
      messages.add(entry.toString());
    }
    return messages;
  }

  /// Takes a picture of the whole page, if they are wanted.
  void picture(String name) throws IOException {
    if (PICTURES == null) {
      return;
    }
    String height =
        value("Math.min(2400, Math.max(innerHeight, document.documentElement.scrollHeight))");
    String width = value("innerWidth");
    driver.executeCdpCommand(
        "Emulation.setDeviceMetricsOverride",
        Map.of(
            "width",
            Integer.parseInt(width),
            "height",
            Integer.parseInt(height),
            "deviceScaleFactor",
            1,
            "mobile",
            false));
    Path directory = Files.createDirectories(Path.of(PICTURES));
    Files.write(directory.resolve(name + ".png"), driver.getScreenshotAs(OutputType.BYTES));
  }

  @Override
  public void close() {
    driver.quit();
  }
}
