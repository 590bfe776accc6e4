package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.requests.IdleLimits;
import dev.kakehashi.scheduler.RateLimit;
import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class SettingsTest {
  @Test
  void shouldRefuseUnknownKeyWithNearest() {
    SettingsException e =
        assertThrows(SettingsException.class, () -> Settings.defaults().set("max_session", "10"));
    assertTrue(String.valueOf(e.getMessage()).contains("did you mean \"max_sessions\""));
  }

  @Test
  void shouldSuggestNothingThatIsAnotherWord() {
    assertEquals("unknown setting \"foo\"; kakehashi.conf lists all settings", refused("foo", "1"));
  }

  @Test
  void shouldRefuseValueOutOfRangeOrWithoutUnit() {
    Settings settings = Settings.defaults();
    assertThrows(SettingsException.class, () -> settings.set("max_sessions", "0"));
    assertThrows(SettingsException.class, () -> settings.set("batch_bytes", "1000000"));
    assertThrows(SettingsException.class, () -> settings.set("lease", "fast"));
    assertEquals(250_000_000L, settings.set("lease", "250ms").number(Setting.LEASE));
  }

  @Test
  void shouldReadHowLongUsersMayBeIdle() {
    Settings settings = Settings.defaults();
    settings.set("idle_in_transaction_timeout", "1min");
    settings.set("idle_in_transaction_timeout_roles", "web = 30s,batch=0s");
    assertEquals(
        new IdleLimits(60_000_000_000L, Map.of("web", 30_000_000_000L, "batch", 0L)),
        settings.idleLimits());
    for (String wrong : List.of("web", "=1s", "web=soon", "web=1s, web=2s", "web=25h")) {
      settings.set("idle_in_transaction_timeout_roles", wrong);
      assertThrows(SettingsException.class, settings::idleLimits, wrong);
    }
  }

  @Test
  void shouldDocumentEverySettingWithItsDefault() throws IOException {
    Map<String, String> documented = new TreeMap<>();
    Matcher line =
        Pattern.compile("(?m)^#(\\w+) = *([^\\s#]*)")
            .matcher(Files.readString(Path.of("src/main/dist/kakehashi.conf")));
    while (line.find()) {
      documented.put(line.group(1), line.group(2));
    }
    Map<String, String> expected = new TreeMap<>();
    for (Setting setting : Setting.values()) {
      expected.put(setting.key(), setting.defaultValue());
    }
    expected.putAll(SchedulerSettings.defaults());
    assertEquals(expected, documented);
  }

  @Test
  void shouldPassEveryParameterOfTheSchedulerOn() {
    Settings settings = Settings.defaults();
    SchedulerSettings.defaults().forEach(settings::set);
    SchedulerConfig config = SchedulerSettings.config(settings);
    for (Parameter parameter : Parameter.values()) {
      assertEquals(parameter.defaultValue(), config.get(parameter), parameter.key());
    }
    settings
        .set("worker_threads", "3")
        .set("scheduler_local_order", "fifo")
        .set("scheduler_distribution", "role")
        .set("scheduler_stealing", "true")
        .set("scheduler_victim_locality", "off")
        .set("scheduler_pin_workers", "on")
        .set("scheduler_hang_after", "2min")
        .set("scheduler_task_polling_wait", "5us");
    config = SchedulerSettings.config(settings);
    assertEquals(3, config.workers());
    assertEquals(SchedulerConfig.LocalOrder.FIFO, config.localOrder());
    assertEquals(SchedulerConfig.Distribution.ROLE, config.distribution());
    assertEquals(0, config.get(Parameter.VICTIM_LOCALITY));
    assertEquals(1, config.get(Parameter.PIN_WORKERS));
    assertEquals(120_000, config.get(Parameter.HANG_AFTER));
    assertEquals(5, config.get(Parameter.TASK_POLLING_WAIT));
  }

  private static String refused(String key, String value) {
    Settings settings = Settings.defaults();
    return String.valueOf(
        assertThrows(SettingsException.class, () -> settings.set(key, value)).getMessage());
  }

  @Test
  void shouldRefuseWhatTheSchedulerCannotDo() {
    assertTrue(
        refused("scheduler_spin_limits", "1us").contains("did you mean \"scheduler_spin_limit\""));
    assertTrue(refused("scheduler_spin_limit", "40").contains("scheduler_spin_limit"));
    assertTrue(refused("scheduler_spin_limit", "1500ns").contains("whole us"));
    assertTrue(refused("scheduler_local_capacity", "1000").contains("power of two"));
    assertTrue(refused("scheduler_distribution", "roles").contains("ROLE"));
    assertTrue(refused("scheduler_pin_workers", "perhaps").contains("must be true or false"));
    assertTrue(refused("scheduler_spin_limit", "off").contains("scheduler_spin_limit"));
    Settings contradicting =
        Settings.defaults()
            .set("scheduler_distribution", "role")
            .set("scheduler_busy_worker", "true");
    assertThrows(SettingsException.class, () -> SchedulerSettings.config(contradicting));
  }

  @Test
  void shouldTurnTheLimitsOfASessionIntoARateLimit() {
    assertTrue(SchedulerSettings.sessionLimit(Settings.defaults()).isUnlimited());
    RateLimit limit =
        SchedulerSettings.sessionLimit(
            Settings.defaults()
                .set("session_rate", "100")
                .set("session_max_concurrent_requests", "2"));
    assertEquals(new RateLimit(100, 20, 2), limit);
  }

  @Test
  void shouldLetBuffersThatAreSetBoundTheLongestRow() {
    assertEquals(256 << 20, Settings.defaults().transport("1").buffers().maxBatchBytes());
    var small = Settings.defaults().set("session_buffers", "64MB").transport("1").buffers();
    assertEquals(32 << 20, small.maxBatchBytes());
    var user = Settings.defaults().set("user_buffers", "200MB").transport("1").buffers();
    assertEquals(100 << 20, user.maxBatchBytes());
    assertEquals(200L << 20, user.sessionBytes());
    Settings contradicting =
        Settings.defaults().set("max_batch_bytes", "64MB").set("session_buffers", "64MB");
    assertThrows(SettingsException.class, () -> contradicting.transport("1"));
  }
}
