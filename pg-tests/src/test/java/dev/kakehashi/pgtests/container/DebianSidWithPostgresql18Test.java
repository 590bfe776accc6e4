package dev.kakehashi.pgtests.container;

import org.junit.jupiter.api.condition.EnabledIf;

@EnabledIf(
    value = "dev.kakehashi.pgtests.container.Docker#unstableAvailable",
    disabledReason =
        "no Docker daemon answers, or it has no image kakehashi-test/packages-sid, which .make/docker.sh images makes if Debian's mirror lets it")
class DebianSidWithPostgresql18Test extends ContainerContract {
  DebianSidWithPostgresql18Test() {
    super("sid", "sid", 18);
  }
}
