/// API for users' own Java inside the endpoint. It needs `java.base` alone.
module dev.kakehashi.application {
  requires static org.jspecify;

  exports dev.kakehashi.application;
}
