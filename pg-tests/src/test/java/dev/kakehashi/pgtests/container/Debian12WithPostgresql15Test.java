package dev.kakehashi.pgtests.container;

class Debian12WithPostgresql15Test extends ContainerContract {
  Debian12WithPostgresql15Test() {
    super("bookworm", "12", 15);
  }
}
