package dev.kakehashi.applications;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.queue.Payload;
import dev.kakehashi.testsupport.Await;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProcessesAndHandlersTest {
  private static boolean hasLogged(PlatformRig rig, String line) {
    return rig.system.log().stream().anyMatch(each -> each.line().equals(line));
  }

  @Test
  void shouldRunProcessesThatTalkToEachOther() throws InterruptedException {
    try (PlatformRig rig = new PlatformRig()) {
      LoadedApplication loaded =
          rig.system.load(
              rig.deploy(
                  UserJar.shop(
                          """
                          it.process("root", Root::new);
                          it.process("child", Child::new).autostart(false);
                          it.procedure("poke", String.class, Integer.class, (call, text) -> {
                            List<Long> pids = call.processes("root");
                            for (long pid : pids) call.send(pid, text);
                            return pids.size();
                          });
                          """,
                          """
                          static final class Root implements ApplicationProcess {
                            int answers;
                            public Next step(Context context) {
                              for (Event event = context.receive(); event != null; event = context.receive()) {
                                switch (event.type()) {
                                  case DATA -> {
                                    if (event.tag() == 7) {
                                      if (context.pid() == 0 || (Long) event.data() == 0) throw new IllegalStateException("pid 0");
                                      answers++;
                                      if (answers == 3) context.work(1, (call, own) -> { call.log("three"); return "saved"; });
                                    } else if (event.tag() == 8) {
                                      String line = (String) event.data();
                                      context.work(2, (call, own) -> { call.log(line); throw new ApplicationException("AB001", "no"); });
                                    } else if (event.data().equals("go")) {
                                      for (int i = 0; i < 3; i++) context.spawn("child", context.pid());
                                    }
                                  }
                                  case END -> {
                                    if (event.tag() == 3) {
                                      if (event.data() != null) throw new IllegalStateException("data of work without a result");
                                      return Next.END;
                                    }
                                    if (event.data().equals("saved")) context.after(Duration.ofMillis(5), 8, "alarm");
                                  }
                                  case ERROR -> {
                                    String line = event.tag() + " " + event.error().sqlstate();
                                    context.work(3, (call, own) -> { call.log(line); return null; });
                                  }
                                  case CANCEL -> { return Next.END; }
                                }
                              }
                              return context.isEnding() ? Next.END : Next.WAIT;
                            }
                          }
                          static final class Child implements ApplicationProcess {
                            long parent;
                            public void init(Context context, Object argument) { parent = (Long) argument; }
                            public Next step(Context context) {
                              context.send(parent, 7, context.pid());
                              throw new IllegalStateException("enough");
                            }
                          }
                          """)
                      .content()));
      Await.until("a root", () -> (int) rig.call(loaded, "poke", "go").succeeded().get(0)[0] == 1);
      Await.until(
          "its end",
          () -> hasLogged(rig, "three") && hasLogged(rig, "alarm") && hasLogged(rig, "2 AB001"));
      Await.until(
          "it has ended", () -> (int) rig.call(loaded, "poke", "?").succeeded().get(0)[0] == 0);
      assertEquals(
          3,
          rig.system.failures().stream()
              .filter(each -> each.member().equals("process child"))
              .count());
    }
  }

  @Test
  void shouldStopAStepThatLoops() throws InterruptedException {
    try (PlatformRig rig = new PlatformRig()) {
      rig.deploy(
          new dev.kakehashi.engine.api.application.ApplicationOptions(
              1_000, 10, 1_000, 10, 10, 1 << 20, 1 << 20, 30),
          UserJar.shop(
                  """
                  it.process("loops", () -> context -> { while (true) { COUNT++; } });
                  it.process("next", () -> context -> {
                    context.work((call, own) -> { call.log("works"); return null; });
                    return ApplicationProcess.Next.END;
                  });
                  """,
                  "static volatile long COUNT;")
              .content());
      Await.until(
          "the loop ends",
          () -> rig.system.failures().stream().anyMatch(f -> f.member().equals("process loops")));
      Await.until("others go on", () -> hasLogged(rig, "works"));
    }
  }

  @Test
  void shouldHandleTasksOfAQueue() throws InterruptedException {
    try (PlatformRig rig = new PlatformRig()) {
      LoadedApplication loaded =
          rig.system.load(
              rig.deploy(
                  UserJar.shop(
                          """
                          it.handler("mail", Mail.class, (call, task) -> {
                            if (task.value().to().isEmpty()) throw new ApplicationException("AB001", "no address");
                            call.log(task.value().to() + " " + task.value().copies() + " " + task.key().orElse("-"));
                            if (task.value().to().equals("slow")) Thread.sleep(120);
                          }).concurrency(3).lease(Duration.ofMillis(60));
                          it.procedure("mail", Mail.class, Long.class, (call, mail) ->
                            call.queue("mail", Mail.class).add(mail, TypedQueue.Options.key("k")));
                          """,
                          "record Mail(String to, int copies, byte[] picture) {}")
                      .content()));
      rig.call(loaded, "mail", "ann", 2, new byte[] {1}).succeeded();
      Await.until("it was handled", () -> rig.host.completed.size() == 1);
      assertTrue(hasLogged(rig, "ann 2 k"));
      rig.call(loaded, "mail", "", 1, null).succeeded();
      Await.until("it has failed", () -> rig.host.failed.size() == 1);
      assertEquals("no address", rig.host.failed.values().iterator().next());
      rig.call(loaded, "mail", "slow", 1, null).succeeded();
      Await.until("it was handled", () -> rig.host.completed.size() == 2);
      assertTrue(rig.host.extended.get() > 0, "the lease was renewed");
      rig.system.define(List.of());
      Await.until("the handler has ended", () -> rig.system.calls().isEmpty());
      assertTrue(rig.host.leased.isEmpty());
    }
  }

  @Test
  void shouldFailATaskWhosePayloadIsNone() throws InterruptedException {
    try (PlatformRig rig = new PlatformRig()) {
      rig.deploy(
          UserJar.shop(
                  """
                  it.handler("mail", Mail.class, (call, task) -> {});
                  """,
                  "record Mail(String to, int copies) {}")
              .content());
      MemoryHost.Work work = rig.host.begin("x", "READ COMMITTED");
      for (String text :
          List.of(
              "{\"to\": 3, \"copies\": 1}",
              "{\"to\": \"x\"}",
              "[",
              "{\"to\": \"x\", \"copies\": 1e9999}")) {
        work.enqueue(
            "mail",
            dev.kakehashi.engine.api.queue.NewTask.of(
                new Payload(true, text.getBytes(StandardCharsets.UTF_8))));
      }
      work.commit();
      Await.until("all have failed", () -> rig.host.failed.size() == 4);
      assertTrue(
          rig.host.failed.values().stream()
              .allMatch(error -> error.contains("payload of the task")),
          rig.host.failed.values().toString());
    }
  }
}
