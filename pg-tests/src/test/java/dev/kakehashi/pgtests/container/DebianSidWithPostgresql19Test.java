package dev.kakehashi.pgtests.container;

import org.junit.jupiter.api.condition.EnabledIf;

@EnabledIf(
    value = "dev.kakehashi.pgtests.container.Docker#experimentalAvailable",
    disabledReason =
        "no Docker daemon answers, or it has no image kakehashi-test/packages-experimental, which .make/docker.sh images makes if Debian's mirror lets it")
class DebianSidWithPostgresql19Test extends ContainerContract {
  DebianSidWithPostgresql19Test() {
    super("kakehashi-test/experimental", "sid", "sid", 19);
  }

  /// `make check-next` runs the others.
  @Override
  String scripts() {
    return CHOSEN_SCRIPTS + "; " + DIFFERING_SCRIPTS;
  }
}
