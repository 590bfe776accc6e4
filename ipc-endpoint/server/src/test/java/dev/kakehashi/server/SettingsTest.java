package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
  void shouldRefuseValueOutOfRangeOrWithoutUnit() {
    Settings settings = Settings.defaults();
    assertThrows(SettingsException.class, () -> settings.set("max_sessions", "0"));
    assertThrows(SettingsException.class, () -> settings.set("batch_bytes", "1000000"));
    assertThrows(SettingsException.class, () -> settings.set("lease", "fast"));
    assertEquals(250_000_000L, settings.set("lease", "250ms").number(Setting.LEASE));
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
    assertEquals(expected, documented);
  }
}
