package dev.kakehashi.pgtests.container;

class Debian13WithPostgresql17Test extends ContainerContract {
  Debian13WithPostgresql17Test() {
    super("trixie", "13", 17);
  }
}
