package dev.kakehashi.tools.application;

import picocli.CommandLine.Command;

/// `app`: deploys native applications, and looks at them.
@Command(
    name = "app",
    description = {
      "Native applications of the engine. APPLICATION is a name as SQL writes it.",
      "\"kakehashi app run\" of the endpoint runs one in an endpoint of its own, to try it."
    },
    mixinStandardHelpOptions = true,
    subcommands = {
      AppDeployCommand.class,
      AppListCommand.class,
      AppVersionsCommand.class,
      AppUseCommand.class,
      AppDropCommand.class,
      AppLogsCommand.class,
      AppCallsCommand.class,
      AppCallCommand.class
    })
public final class AppCommand {}
