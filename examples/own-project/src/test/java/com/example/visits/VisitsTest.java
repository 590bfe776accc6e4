package com.example.visits;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.testkit.KakehashiExtension;
import dev.kakehashi.testkit.TestPlatform;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(60)
class VisitsTest {
  @RegisterExtension
  static final KakehashiExtension KAKEHASHI =
      KakehashiExtension.builder()
          .sql("CREATE TABLE visits (page text PRIMARY KEY, hits bigint NOT NULL)")
          .sql("CREATE QUEUE sighting")
          .application("visits", Visits.class)
          .build();

  private final TestPlatform platform = KAKEHASHI.platform();

  @BeforeEach
  void empty() {
    platform.execute("DELETE FROM visits");
  }

  private void await(String page, long hits) {
    while (!platform
        .query("SELECT hits FROM visits WHERE page = $1", Long.class, page)
        .equals(List.of(hits))) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  @Test
  void shouldCountByTheProcess() {
    for (int i = 0; i < 3; i++) {
      assertEquals(List.of(true), platform.call("visit", Boolean.class, "/home"));
    }
    await("/home", 3);
  }

  @Test
  void shouldCountByTheQueue() {
    for (int i = 0; i < 3; i++) {
      platform.query("SELECT enqueue('sighting', '{\"page\": \"/about\"}')", Long.class);
    }
    await("/about", 3);
    assertTrue(
        platform.query("SELECT page FROM visits WHERE page = '/home'", String.class).isEmpty());
  }
}
